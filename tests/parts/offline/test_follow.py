"""In every language: what is unsure is asked, yes does exactly that, and the next message goes on from the last."""

import pytest

from oasis.parts.offline import provider
from tests.parts.offline.stock import GUEST, HOME, NOW_S, Router, assistant, calls_of, reply, text_of

LANGUAGES = list(provider.load("intents")["languages"])
OFF = {"2g": {"wireless.radio0.disabled": "1"}, "5g": {"wireless.radio1.disabled": "1"}}
BOTH = {**OFF["2g"], **OFF["5g"]}
BLOCKED = "firewall.oasis_block_2.src_mac"
# A wish with a word that nobody knows: the first of them that is asked about counts.
UNSURE = {
    "en": ("zorblax turn off the wifi", "turn the wifi zorblax off", "wifi frobnicate off", "gleeb wifi off blorp"),
    "de": ("irgendwie rosa schalte das WLAN aus", "schalte das WLAN aus irgendwie rosa", "WLAN zorblax aus"),
    "es": ("apaga el wifi rosadito", "rosadito apaga el wifi", "wifi zorblax apagar"),
    "ja": ("ピンク クジラ Wi-Fiをオフにして ゾウ", "ピンク クジラ IPv6をオフにして ゾウ"),
    "zh": ("无线 粉红 关闭 蓝鲸 紫苏 大象",),
}
YES = {"en": "yes", "de": "ja", "es": "sí", "ja": "はい", "zh": "是"}
NO = {"en": "no", "de": "nein", "es": "no", "ja": "いいえ", "zh": "不是"}
OTHER_BAND = {
    "en": ("turn off the 5 GHz wifi", "and the other band too"),
    "de": ("schalte das 5-GHz-WLAN aus", "und das andere Band auch"),
    "es": ("apaga el wifi de 5 GHz", "y la otra banda también"),
    "ja": ("5GHzのWi-Fiをオフにして", "もう一方の帯域も"),
    "zh": ("关闭5GHz无线", "另一个频段也关掉"),
}
WIDTH = {
    "en": ("set the 5 GHz channel width to 40 MHz", "make it 20 MHz"),
    "de": ("setze die Kanalbreite auf 5 GHz auf 40 MHz", "mach 20 MHz daraus"),
    "es": ("pon el ancho de canal de 5 GHz a 40 MHz", "ponlo a 20 MHz"),
    "ja": ("5GHzのチャンネル幅を40MHzにして", "20MHzにして"),
    "zh": ("把5GHz信道宽度设为40MHz", "改成20MHz"),
}
ANOTHER = {
    "en": ("block nas", "no, the printer"),
    "de": ("sperre nas", "nein, den hp-printer"),
    "es": ("bloquea nas", "no, la impresora"),
    "ja": ("nasをブロックして", "いや、プリンターを"),
    "zh": ("屏蔽nas", "不对，是打印机"),
}
TWO = {
    "en": "call this router attic and turn off the 5 GHz wifi",
    "de": "nenne den Router attic und schalte das 5-GHz-WLAN aus",
    "es": "llama al router attic y apaga el wifi de 5 GHz",
    "ja": "ルーターの名前をatticにして、5GHzのWi-Fiをオフにして",
    "zh": "把路由器改名为attic，再关闭5GHz无线",
}


def unsure(language):
    """Return (the router, the chat up to the question) of the first sentence that is asked about."""
    router = Router(HOME)
    for sentence in UNSURE[language]:
        messages = [{"role": "user", "content": sentence}]
        events = reply(messages, router.facts, NOW_S)
        asked = text_of(events)
        if not calls_of(events) and asked.startswith(confirm_of(language)):
            return router, [*messages, assistant(events)]
    raise AssertionError("nothing of %s is asked about: %s" % (language, asked))


def confirm_of(language):
    return provider.load(language)["texts"]["confirm"].partition("{")[0]


def on(router, messages, said):
    return reply([*messages, {"role": "user", "content": said}], router.facts, NOW_S)


@pytest.mark.parametrize("language", LANGUAGES)
def test_yes_does_exactly_what_was_asked(language):
    router, messages = unsure(language)
    events = on(router, messages, YES[language])
    assert [name for name, _ in calls_of(events)] == ["configure"], text_of(events)
    assert calls_of(events)[0][1]["summary"] in messages[-1]["content"][0]["text"]
    assert router.changes(events)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_does_nothing(language):
    router, messages = unsure(language)
    events = on(router, messages, NO[language])
    assert not calls_of(events) and text_of(events)
    assert not text_of(events).startswith(confirm_of(language))


@pytest.mark.parametrize("language", LANGUAGES)
def test_yes_after_something_else_does_nothing(language):
    router, messages = unsure(language)
    between = on(router, messages, NO[language])
    messages += [{"role": "user", "content": NO[language]}, assistant(between)]
    assert not calls_of(on(router, messages, YES[language]))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_other_band_follows(language):
    router = Router(HOME)
    before, after = OTHER_BAND[language]
    assert router.changes(router.ask(before)) == OFF["5g"]
    events = router.ask(before, after)
    assert router.changes(events) in (OFF["2g"], BOTH), text_of(events)


@pytest.mark.parametrize("language", LANGUAGES)
def test_another_value_follows(language):
    router = Router(HOME)
    before, after = WIDTH[language]
    assert router.changes(router.ask(before)) == {"wireless.radio1.htmode": "HE40"}
    events = router.ask(before, after)
    if not calls_of(events):  # it may be asked about first
        assert text_of(events).startswith(confirm_of(language))
        events = router.ask(before, after, YES[language])
    changes = router.changes(events)
    assert changes["wireless.radio1.htmode"] == "HE20" and set(changes) <= {"wireless.radio1.htmode"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_another_device_follows(language):
    router = Router(HOME + GUEST)
    before, after = ANOTHER[language]
    assert router.changes(router.ask(before))[BLOCKED] == "aa:bb:cc:00:00:05"
    events = router.ask(before, after)
    assert router.changes(events)[BLOCKED] == "aa:bb:cc:00:00:07", text_of(events)


@pytest.mark.parametrize("language", LANGUAGES)
def test_two_requests_become_one_plan(language):
    router = Router(HOME)
    events = router.ask(TWO[language])
    assert [name for name, _ in calls_of(events)] == ["configure"], text_of(events)
    assert router.changes(events) == {"system.@system[0].hostname": "attic", **OFF["5g"]}


@pytest.mark.parametrize("language", LANGUAGES)
def test_answer_of_somebody_else_is_not_gone_on_from(language):
    # A yes to a question that this provider did not ask means nothing here.
    router, messages = unsure(language)
    messages[-1] = {"role": "assistant", "content": "Shall I reset everything?"}
    assert not calls_of(on(router, messages, YES[language]))


@pytest.mark.parametrize("language", LANGUAGES)
def test_yes_with_words_that_nobody_knows_is_no_yes(language):
    router, messages = unsure(language)
    assert not calls_of(on(router, messages, YES[language] + " zorblax frobnicate"))
