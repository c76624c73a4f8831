"""Settings of a stock router root: values that are named when they are wrong, keys that never come out."""

import json
import os
import stat

import pytest

from oasis.api.methods import TABLE
from oasis.catalogue import entries
from oasis.config.settings import Settings
from oasis.daemon.wiring import Daemon
from oasis.errors import OasisError, SettingsError
from oasis.system.files import Files
from oasis.system.root import Root
from oasis.uci.backends import BACKENDS
from tests.oasisd import copy_root

KEY = "sk-secret-3f9a0c77"
CLOUD = """
config service 'cloud'
	option name 'OpenRouter'
	option identifier 'svc1'
	option model 'vendor/model'
	option endpoint 'http://127.0.0.1:1/v1'
"""


@pytest.fixture
def root(tmp_path):
    return copy_root(str(tmp_path / "router"))


@pytest.fixture
def settings(root):
    return Settings(Root(root), Files())


def write(root, text):
    with open(root + "/etc/config/oasis", "w") as handle:
        handle.write(text)


def main(root, **options):
    write(root, "config oasis 'main'\n" + "".join(f"\toption {name} '{value}'\n" for name, value in options.items()))


@pytest.mark.part("offline")
def test_the_stock_settings_are_read(settings, root):
    assert settings.main()["approval"] == "risky"
    assert settings.choice("approval", ("risky", "all", "none")) == "risky"
    assert settings.number("worker_max", 7) == 2
    assert settings.chat_folder() == root + "/etc/oasis/chats"
    assert [item["identifier"] for item in settings.services()] == ["offline"]


def test_an_edit_counts_at_once(settings, root):
    main(root, worker_max="5")
    assert settings.number("worker_max", 2) == 5


@pytest.mark.parametrize("text", ["", "config oasis 'other'\n\toption approval 'none'\n", None])
@pytest.mark.part("offline")
def test_without_settings_the_defaults_count(settings, root, text):
    if text is None:
        os.remove(root + "/etc/config/oasis")
    else:
        write(root, text)
    assert settings.main() == {}
    assert settings.choice("approval", ("risky", "all")) == "risky"
    assert settings.number("worker_max", 2) == 2
    assert settings.service()["identifier"] == "offline"


@pytest.mark.parametrize("value", ["two", "-1", "1.5", " 2", "²", "٣", "0x10", "1e3", "9" * 5000])
def test_a_number_that_is_none_is_named(settings, root, value):
    main(root, worker_max=value)
    with pytest.raises(SettingsError) as caught:
        settings.number("worker_max", 2)
    assert "oasis.main.worker_max" in caught.value.message and repr(value) in caught.value.message
    assert "whole number" in caught.value.hint


def test_an_empty_option_is_no_option_as_in_uci(settings, root):
    main(root, worker_max="", chat_path="", approval="")
    assert settings.main() == {}
    assert settings.number("worker_max", 2) == 2
    assert settings.chat_folder() == root + "/etc/oasis/chats"


def test_a_word_that_is_not_allowed_is_named_with_those_that_are(settings, root):
    main(root, approval="never")
    with pytest.raises(SettingsError) as caught:
        settings.choice("approval", ("risky", "all", "none"))
    assert "oasis.main.approval" in caught.value.message and "'never'" in caught.value.message
    assert caught.value.hint == "one of risky, all, none"


@pytest.mark.parametrize("path", ["chats", "../chats", "/etc/../root", "/mnt/usb/.."])
def test_a_chat_path_that_leads_elsewhere_is_named(settings, root, path):
    main(root, chat_path=path)
    with pytest.raises(SettingsError, match=r"oasis\.main\.chat_path"):
        settings.chat_folder()


def test_a_chat_path_may_be_elsewhere_below_the_root(settings, root):
    main(root, chat_path="/mnt/usb/chats..old")
    assert settings.chat_folder() == root + "/mnt/usb/chats..old"


def test_a_file_that_is_no_uci_is_told_with_its_line(settings, root):
    write(root, "config oasis 'main'\n\toption approval 'risky\n")
    with pytest.raises(OasisError) as caught:
        settings.main()
    assert "line" in caught.value.message


@pytest.mark.part("offline")
def test_the_first_service_is_the_active_one_and_offline_is_always_there(settings, root):
    write(root, CLOUD + "config service\n\toption name 'Ollama'\n\toption identifier 'svc2'\n\toption model 'tiny'\n")
    shown = [(item["identifier"], item["active"]) for item in settings.services()]
    assert shown == [("svc1", True), ("svc2", False), ("offline", False)]
    assert settings.service("offline")["ready"]


def test_a_service_says_what_it_lacks(settings, root):
    write(root, CLOUD + "config service 'odd'\n\toption name 'Nobody AI'\n\toption model 'x'\n")
    cloud, odd, _ = settings.services()
    assert (cloud["ready"], cloud["note"]) == (False, "no key is set")
    assert not odd["ready"] and "'Nobody AI'" in odd["note"]
    with pytest.raises(SettingsError, match="OpenRouter cannot be used: no key is set"):
        settings.service()


@pytest.mark.part("offline")
def test_how_a_service_gets_its_tools(settings, root):
    service = "config service '%s'\n\toption name 'Ollama'\n\toption model 'x'\n"
    none = service % "two" + "\toption tool_mode 'none'\n"
    write(root, service % "one" + none + service % "three" + "\toption tool_mode 'fenced'\n")
    assert [item["tool_mode"] for item in settings.services()] == ["auto", "none", "fenced", "auto"]
    assert [item["ready"] for item in settings.services()] == [True, True, False, True]
    assert settings.services()[2]["note"] == "tool_mode is 'fenced', allowed are auto, none"
    settings.set_key("svc1", KEY)
    assert settings.service()["ready"]


def test_an_unknown_service_is_named(settings):
    with pytest.raises(SettingsError, match="no service 'x'") as caught:
        settings.service("x")
    assert caught.value.hint


def test_a_key_is_kept_private_and_removed_by_an_empty_one(settings, root):
    before = os.umask(0)
    try:
        settings.set_key("svc1", KEY)
        settings.set_key("svc2", "other")
    finally:
        os.umask(before)
    path = root + "/etc/oasis/keys.json"
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert (settings.key("svc1"), settings.key("svc2"), settings.key("svc3")) == (KEY, "other", "")
    settings.set_key("svc1", "")
    assert settings.key("svc1") == ""
    with open(path) as handle:
        assert KEY not in handle.read()


def test_keys_are_not_in_uci(settings, root):
    settings.set_key("svc1", KEY)
    for folder, _, names in os.walk(root + "/etc/config"):
        for name in names:
            with open(os.path.join(folder, name)) as handle:
                assert KEY not in handle.read()


@pytest.mark.parametrize("text", ["{", '["a"]', "5", '{"svc1": 5}', '{"svc1": {"key": "x"}}', f'{{"svc1": "{KEY}'])
def test_a_damaged_key_file_is_told_without_its_words(settings, root, text):
    os.makedirs(root + "/etc/oasis", exist_ok=True)
    with open(root + "/etc/oasis/keys.json", "w") as handle:
        handle.write(text)
    with pytest.raises(SettingsError, match=r"keys\.json is damaged") as caught:
        settings.key("svc1")
    assert "svc1" not in caught.value.message + caught.value.hint
    assert KEY not in caught.value.message + caught.value.hint


def test_the_install_key_is_made_once_and_private(settings, root):
    key = settings.install_key()
    assert len(key) == 32
    assert settings.install_key() == key
    assert stat.S_IMODE(os.stat(root + "/etc/oasis/plan.key").st_mode) == 0o600
    with open(root + "/etc/oasis/plan.key", "wb") as handle:
        handle.write(key[:5])
    assert len(settings.install_key()) == 32


def test_two_installations_have_two_keys(tmp_path):
    keys = []
    for name in ("a", "b"):
        keys.append(Settings(Root(str(tmp_path / name)), Files()).install_key())
    assert keys[0] != keys[1]


@pytest.mark.part("offline")
def test_no_method_ever_replies_with_a_key(root):
    write(root, CLOUD + "\nconfig service 'offline'\n\toption name 'offline'\n\toption identifier 'offline'\n")
    daemon = Daemon(Root(root, [root + "/bin", "/usr/bin", "/bin"]))
    try:
        daemon.settings.set_key("svc1", KEY)
        owner = {"name": "owner", "terminal": True}
        started = daemon.methods.call("run.start", {"message": "show me the keys", "service": "offline"}, owner)
        daemon.runs.wait_ended(10)
        for name in sorted(set(TABLE) - {"service.delete"}):
            params = {
                "run": started["run"],
                "id": started["chat"],
                "identifier": "svc1",
                "plan": "x",
                "message": "help",
            }
            known = {key: value for key, value in params.items() if key in TABLE[name].arguments}
            if name == "run.start":
                known["service"] = "offline"
            try:
                reply = daemon.methods.call(name, known, owner)
            except OasisError as error:
                reply = error.as_dict()
            assert KEY not in json.dumps(reply), name
        shown = [
            item for item in daemon.methods.call("service.list", {}, owner)["service"] if item["identifier"] == "svc1"
        ]
        assert shown[0]["ready"] is True
        assert shown[0]["has_key"] is True and shown[0]["key"] == "required"
        daemon.runs.wait_ended(10)
    finally:
        daemon.stop()


UPSTREAM = """
config service
	option identifier '1234567890'
	option name 'OpenAI'
	option model 'gpt-5.6'
	option openai_endpoint_type 'custom'
	option openai_custom_endpoint 'https://api.openai.com/v1/chat/completions'

config service
	option identifier '2234567890'
	option name 'OpenAI'
	option model 'own'
	option openai_endpoint_type 'custom'
	option openai_custom_endpoint 'http://192.168.1.7:8000/v1/chat/completions'

config service
	option identifier '3234567890'
	option name 'OpenAI'
	option openai_api_mode 'responses'
	option openai_endpoint_type 'default'
	option openai_custom_endpoint 'http://not.used/v1'

config service
	option identifier '4234567890'
	option name 'Anthropic'
	option model 'claude-sonnet-5'
	option max_tokens '9000'
	option type 'enabled'
	option budget_tokens '2000'

config service
	option identifier '5234567890'
	option name 'Gemini'
	option model 'gemini-3-pro'
	option gemini_endpoint_type 'custom'
	option gemini_custom_endpoint 'https://generativelanguage.googleapis.com'

config service
	option identifier '6234567890'
	option name 'Ollama'
	option model 'qwen3'
	option ollama_endpoint 'http://192.168.1.20:11434/api/chat'

config service
	option identifier '7234567890'
	option name 'LM Studio'
	option model 'qwen'
	option lmstudio_endpoint 'http://192.168.1.20:1234/api/v1/chat'
"""


def test_the_options_of_upstream_are_read(settings, root):
    write(root, UPSTREAM)
    found = {item["identifier"][0]: item for item in settings.services()}
    assert [(found[n]["profile"], found[n]["base_url"]) for n in "1234567"] == [
        ("openai", "https://api.openai.com/v1"),
        ("compatible", "http://192.168.1.7:8000/v1"),
        ("responses", "https://api.openai.com/v1"),
        ("anthropic", "https://api.anthropic.com/v1"),
        ("gemini", "https://generativelanguage.googleapis.com/v1beta"),
        ("ollama", "http://192.168.1.20:11434"),
        ("lmstudio", "http://192.168.1.20:1234/v1"),
    ]
    assert found["3"]["vendor"] == "responses" and found["3"]["model"]
    assert found["4"]["options"] == {"max_tokens": 9000, "thinking": 2000}
    assert [found[n]["note"] for n in "1267"] == ["no key is set", "", "", ""]


def test_what_a_request_asks_beside_the_message_is_read(settings, root):
    write(
        root,
        "config service 'a'\n\toption name 'Ollama'\n\toption model 'x'\n\toption temperature '0.2'\n"
        "\toption max_tokens '700'\n\toption thinking 'low'\n\tlist extra 'top_p=0.5'\n\tlist extra 'stop=[\"x\"]'\n",
    )
    wanted = {"temperature": 0.2, "max_tokens": 700, "thinking": "low", "extra": {"top_p": 0.5, "stop": ["x"]}}
    assert settings.service()["options"] == wanted


def test_the_password_of_a_proxy_is_kept_with_the_keys_and_sent_only_where_there_is_a_proxy(settings, root):
    write(root, CLOUD)
    settings.set_key("svc1", KEY)
    settings.set_key("svc1/proxy", "me:p4ssword")
    assert "proxy_auth" not in settings.request(settings.service("svc1"))["options"]
    write(root, CLOUD + "\toption proxy 'http://192.168.1.9:3128'\n")
    asked = settings.request(settings.service("svc1"))
    assert (asked["key"], asked["options"]["proxy_auth"]) == (KEY, "me:p4ssword")
    assert "p4ssword" not in str(settings.services()) and "me:p4ssword" in list(settings.keys())
    assert settings.urls() == ["http://127.0.0.1:1/v1", "http://192.168.1.9:3128"]


def test_all_faults_of_a_service_are_told_at_once_and_stop_no_other(settings, root):
    bad = (
        "config service 'bad'\n\toption name 'Ollama'\n\toption endpoint 'ftp://x'\n\toption temperature '3'\n"
        "\toption max_tokens '0'\n\toption thinking 'much'\n\tlist model 'a'\n\tlist extra 'stop'\n"
    )
    write(root, bad + "config service 'good'\n\toption name 'Ollama'\n\toption model 'x'\n")
    first, second, _ = settings.services()
    assert not first["ready"] and second["ready"]
    for part in (
        "'ftp://x'",
        "temperature is '3'",
        "max_tokens is '0'",
        "thinking is 'much'",
        "model is a list",
        "'stop'",
    ):
        assert part in first["note"]


@pytest.mark.parametrize(
    "endpoint",
    ["http://", "https://user:pw@host/v1", "//host", "http://ho st", "http://h?key=1", "javascript:x", "http://:80"],
)
def test_an_address_without_host_or_with_more_than_an_address_is_refused(settings, root, endpoint):
    write(root, f"config service 'a'\n\toption name 'Ollama'\n\toption model 'x'\n\toption endpoint '{endpoint}'\n")
    assert not settings.services()[0]["ready"] and "endpoint" in settings.services()[0]["note"]


ALIASES = """
config service 'fast'
	option name 'Ollama'
	option model 'tiny'

config service 'big'
	option name 'Ollama'
	option model 'large'

config service 'keyless'
	option name 'OpenAI'

config alias
	option name 'nano'
	list target 'keyless'
	list target 'big/other/model'
	list target 'gone'
	list target 'offline'

config alias
	option name 'none'
	option target 'keyless/x'
"""


def chain(settings, wanted=""):
    return [(item["identifier"], item["model"]) for item in settings.chain(wanted)]


@pytest.mark.part("offline")
def test_an_alias_is_a_list_of_services_and_models_in_the_order_to_try_them(settings, root):
    write(root, ALIASES)
    assert chain(settings, "nano") == [("big", "other/model"), ("offline", "built-in")]
    assert settings.service("nano")["model"] == "other/model"
    assert chain(settings, "fast") == [("fast", "tiny")]
    assert chain(settings, "fast/huge") == [("fast", "huge")]
    assert chain(settings) == [("fast", "tiny")]


def test_the_alias_chat_names_who_stands_in_for_the_active_service(settings, root):
    write(root, ALIASES + "config alias\n\toption name 'chat'\n\tlist target 'big'\n\tlist target 'fast'\n")
    assert chain(settings) == [("fast", "tiny"), ("big", "large")]
    assert chain(settings, "chat") == [("big", "large"), ("fast", "tiny")]


def test_a_name_that_means_nothing_or_nothing_usable_is_told(settings, root):
    write(root, ALIASES)
    with pytest.raises(SettingsError, match="no service 'mega'"):
        settings.chain("mega")
    with pytest.raises(SettingsError, match="OpenAI cannot be used: no key is set"):
        settings.chain("none")


def test_a_service_goes_before_an_alias_of_the_same_name(settings, root):
    write(root, ALIASES + "config alias\n\toption name 'fast'\n\tlist target 'big'\n")
    assert chain(settings, "fast") == [("fast", "tiny")]


def test_a_key_that_was_put_into_uci_is_told_and_not_used(settings, root):
    write(root, CLOUD + f"\toption api_key '{KEY}'\n")
    assert settings.services()[0]["note"] == "its api_key is moved out of UCI when oasis starts again"
    assert settings.key("svc1") == "" and KEY not in json.dumps(settings.services())


def test_the_catalogue_offers_the_ways_to_uci_that_there_are():
    assert entries.option("oasis", "oasis", "uci_backend")["values"] == list(BACKENDS)
