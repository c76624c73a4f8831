"""Requests about SSH, HTTPS, nights without Wi-Fi, one device or place, strangers and the line, in five languages."""

import pytest

from oasis.core import jsonl
from oasis.parts.offline import provider
from oasis.parts.offline.results import words
from tests.parts.offline.stock import GUEST, HOME, ONE, Router, calls_of, text_of

LANGUAGES = {name: provider.load(name) for name in provider.load("intents")["languages"]}
SECURE = "uci add_list uhttpd.main.listen_https='0.0.0.0:443'\n"
SIXES = "uci set dhcp.guest.ra='server'\nuci set dhcp.guest.dhcpv6='server'\n"
OTHERS = "uci set dhcp.@dnsmasq[0].address='/netflix.com/'\n"


YES = {"en": "yes", "de": "ja", "es": "sí", "ja": "はい", "zh": "是"}
NO = {"en": "no", "de": "nein", "es": "no", "ja": "いいえ", "zh": "不是"}


def example(language, intent):
    return LANGUAGES[language]["intents"][intent]["example"]


def done(found):
    """Return the words for results of tools, given as (name, result)."""
    texts = LANGUAGES["en"]
    rows = [
        {"id": "", "name": name, "text": jsonl.dumps(result), "input": {}, "is_error": False} for name, result in found
    ]
    return words(rows, texts["closing"], texts["status"])


CHANGES = {
    "ssh_port": ("", {"dropbear.main.Port": "2222"}),
    "ssh_passwords": ("", {"dropbear.main.PasswordAuth": "off", "dropbear.main.RootPasswordAuth": "off"}),
    "https_redirect": (SECURE, {"uhttpd.main.redirect_https": "1"}),
    "guest_ipv6": (SIXES, {"dhcp.guest.ra": "disabled", "dhcp.guest.dhcpv6": "disabled"}),
}


@pytest.mark.parametrize("intent", CHANGES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_example_changes_just_this(language, intent):
    before, wanted = CHANGES[intent]
    router = Router(HOME + GUEST + before)
    assert router.changes(router.ask(example(language, intent))) == wanted


CALLS = {
    "ssh_key_add": [("ssh_keys", "add")],
    "usage_now": [("look", "traffic")],
    "speed_test": [("look", "speed")],
    "trouble_device": [("status", "devices"), ("probe", "ping")],
    "trouble_place": [("status", "wifi"), ("wifi_scan", None)],
    "trouble_app": [("probe", "lookup"), ("probe", "ping"), ("status", "wan")],
    "stranger": [("status", "devices")],
}


@pytest.mark.parametrize("intent", CALLS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_example_calls_the_tools_that_it_needs(language, intent):
    router = Router(HOME + GUEST)
    events = router.ask(example(language, intent))
    if not calls_of(events):  # it was said back
        events = router.ask(example(language, intent), YES[language])
    assert [(name, given.get("what") or given.get("action")) for name, given in calls_of(events)] == CALLS[intent]


@pytest.mark.parametrize("language", LANGUAGES)
def test_complaint_says_what_the_router_cannot_see(language):
    unseen = ("cannot see", "nicht sehen", "sieht er nicht", "no puede ver", "見えません", "看不到")
    for intent in ("trouble_place", "trouble_app", "stranger"):
        assert any(word in LANGUAGES[language]["intents"][intent]["text"] for word in unseen)


@pytest.mark.parametrize("language", LANGUAGES)
def test_nights_without_wifi_are_two_jobs_whose_calls_stand_on_their_cards(language):
    calls = calls_of(Router(HOME).ask(example(language, "wifi_hours")))
    assert [name for name, _ in calls] == ["schedule_create"] * 2
    off, on = (given for _, given in calls)
    assert (off["when"], on["when"]) == ("23:00 daily", "06:00 daily")
    radios = ("radio0", "radio1")
    assert off["calls"][0]["params"]["commands"] == [f"uci set wireless.{one}.disabled='1'" for one in radios]
    assert on["calls"][0]["params"]["commands"] == [f"uci set wireless.{one}.disabled='0'" for one in radios]


def test_nights_of_some_days_end_on_the_day_after():
    calls = calls_of(Router(HOME).ask("turn off the wifi on weekdays from 23:00 to 06:00"))
    off, on = (given["when"] for _, given in calls)
    assert (off, on) == ("23:00 custom(mon,tue,wed,thu,fri)", "06:00 custom(tue,wed,thu,fri,sat)")


def test_a_radio_that_is_off_is_not_woken_in_the_morning():
    calls = calls_of(Router(HOME + "uci set wireless.radio1.disabled='1'\n").ask(example("en", "wifi_hours")))
    assert calls[1][1]["calls"][0]["params"]["commands"] == ["uci set wireless.radio0.disabled='0'"]


def test_night_without_hours_asks_for_them():
    router = Router(HOME)
    assert text_of(router.ask("turn off the wifi at night")) == LANGUAGES["en"]["asks"]["clock"]
    calls = calls_of(router.ask("turn off the wifi at night", "from 23:00 to 06:00"))
    assert [given["when"] for _, given in calls] == ["23:00 daily", "06:00 daily"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_site_for_one_device_is_not_blocked_for_all_in_silence(language):
    router = Router(HOME)
    said, texts = example(language, "site_block"), LANGUAGES[language]
    events = router.ask(said)
    assert not calls_of(events)
    assert "adguardhome" in text_of(events)
    assert router.changes(router.ask(said, YES[language])) == {"dhcp.@dnsmasq[0].address": ["/youtube.com/"]}
    assert text_of(router.ask(said, NO[language])) == texts["intents"]["cancel"]["text"]


@pytest.mark.parametrize("turns", [["block a device", "youtube.com"], ["sperre ein Gerät", "youtube.com"]])
def test_site_in_answer_to_which_device_is_asked_about_as_a_site(turns):
    events = Router(HOME).ask(*turns)
    assert not calls_of(events)
    assert "youtube.com" in text_of(events)
    assert "DNS" in text_of(events)


@pytest.mark.parametrize("language", LANGUAGES)
def test_priority_of_a_device_is_an_honest_no(language):
    events = Router(HOME).ask(example(language, "device_priority"))
    assert not calls_of(events)
    assert "sqm-scripts" in text_of(events)


def test_port_that_ssh_has_now_is_not_the_new_one():
    router = Router(HOME)
    for said, yes in (("change the ssh port from 22 to 2222", "yes"), ("stell den SSH-Port von 22 auf 2222 um", "ja")):
        events = router.ask(said)
        events = events if calls_of(events) else router.ask(said, yes)
        assert router.changes(events) == {"dropbear.main.Port": "2222"}


def test_port_of_another_service_is_refused():
    wanted = LANGUAGES["en"]["texts"]["port_used"].replace("{port}", "80")
    assert text_of(Router().ask("set the ssh port to 80")) == wanted


def test_redirect_needs_a_page_with_https():
    assert "luci-ssl" in text_of(Router().ask(example("en", "https_redirect")))


def test_devices_are_not_said_to_be_on_a_wifi_that_is_off():
    note = LANGUAGES["en"]["texts"]["note_radios_asleep"]
    assert note in text_of(Router().ask("who is on my wifi?"))
    assert note not in text_of(Router(HOME).ask("who is on my wifi?"))


def test_complaint_about_a_blocked_device_says_so():
    assert "homework" in text_of(Router(HOME).ask("johns-iphone has no internet"))
    assert "homework" not in text_of(Router(HOME).ask("the nas has no internet"))


def test_complaint_about_a_blocked_application_says_so():
    note = LANGUAGES["en"]["texts"]["note_held_app"].replace("{domain}", "netflix.com")
    assert note in text_of(Router(HOME + OTHERS).ask("netflix doesn't work"))
    assert note not in text_of(Router(HOME).ask("netflix doesn't work"))


def test_ping_asks_for_what_is_missing():
    assert text_of(Router().ask("ping")) == LANGUAGES["en"]["asks"]["host"]
    assert calls_of(Router().ask("ping", "openwrt.org")) == [("probe", {"target": "openwrt.org", "what": "ping"})]


def test_key_stays_one_value_with_its_comment():
    key = example("en", "ssh_key_add").removeprefix("add the ssh key ")
    for said in (key, f"please add {key} to the authorized keys", f"{key} を追加して"):
        events = Router().ask(said)
        events = events if calls_of(events) else Router().ask(said, "yes" if "please" in said else "はい")
        assert [given.get("key") for _, given in calls_of(events)] == [key]


def test_usage_and_speed_in_words():
    rows = [{"device": "dev#1", "name": "xbox", "ip": "192.168.1.104", "received_bytes": 5_000_000, "sent_bytes": 1000,
             "receives_kbit_s": 12_345, "sends_kbit_s": 60}]  # fmt: skip
    said = done([("look", {"what": "traffic", "source": "conntrack", "devices": rows})])
    assert "- xbox: 4.8 MB received, 1000 B sent, now 12.3 Mbit/s down, 0.1 Mbit/s up" in said
    assert LANGUAGES["en"]["status"]["usage_conntrack"] in said
    assert "nlbwmon" in done([("look", {"what": "traffic", "source": "none", "devices": []})])
    speed = {"what": "speed", "host": "speed.example.org", "download": {"mbit_s": 93.1}, "upload": {"why": "refused"}}
    assert done([("look", speed)]).split("\n")[1:] == ["Download: 93.1 Mbit/s"]


def test_job_says_whether_it_waits():
    made = {"status": "made", "wish": "turn Wi-Fi off", "understood": "daily at 23:00", "next": "2026-11-27 23:00"}
    ahead = {**made, "note": "1 of its calls approved for each run that comes to just the same; the rest waits"}
    waits = LANGUAGES["en"]["status"]["scheduled_waits"]
    assert done([("schedule_create", ahead)]) == "Scheduled: turn Wi-Fi off (daily at 23:00), next 2026-11-27 23:00."
    assert done([("schedule_create", {**made, "note": "what is risky waits"})]).endswith(waits)


def test_weakest_signal_is_said():
    clients = [{"mac": "aa:bb:cc:00:00:01", "signal_dbm": -81}, {"mac": "aa:bb:cc:00:00:02", "signal_dbm": -50}]
    network = {"ssid": "Home", "encryption": "psk2", "on": True, "clients": clients}
    radio = {"band": "5g", "channel": "36", "networks": [network]}
    assert "the weakest at -81 dBm" in done([("status", {"what": "wifi", "radios": [radio]})])


def test_part_that_is_not_installed_is_named():
    assert ONE.intents["usage_now"]["part"] == "monitor"
    assert ONE.intents["wifi_hours"]["part"] == "schedule"
    assert ONE.intents["ssh_key_add"]["part"] == "admin"


OFFLINE = {
    "en": "the nas is offline again", "de": "nas ist schon wieder offline", "es": "nas está otra vez sin conexión",
    "ja": "nasがまたオフライン", "zh": "nas又离线了",
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_device_that_is_offline_is_no_wish_to_block_it(language):
    assert "configure" not in [name for name, _ in calls_of(Router(HOME).ask(OFFLINE[language]))]


def test_an_application_that_a_block_leaves_out_is_asked_about():
    for said in ("bloquea youtube en xbox", "youtube is killing me, block it on the xbox"):
        assert not calls_of(Router().ask(said))


def test_a_night_begins_in_the_evening():
    said = "wifi off at half past ten and back on at six in the morning, every night"
    calls = calls_of(Router(HOME).ask(said))
    assert [given["when"] for _, given in calls] == ["22:30 daily", "06:00 daily"]
