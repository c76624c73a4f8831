"""Every sentence that Oasis shows as an example works when it is said back: as an answer or as a new request."""

import glob
import json
import os
import re

import pytest

from oasis.parts.offline import provider
from tests.parts.offline.stock import GUEST, HOME, LEASES, Router, calls_of, text_of

LANGUAGES = {name: provider.load(name) for name in provider.load("intents")["languages"]}
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

with open(os.path.join(os.path.dirname(__file__), "examples.json"), encoding="utf-8") as handle:
    DATA = json.load(handle)
OPEN = DATA["open"]  # type of a value -> requests that leave it open
FORMS = {
    "en": (r"for example:? (.*?)[?.]?$", r", or | or |, "),
    "de": (r"[Zz]um Beispiel:? (.*?)[?.]?$", r", oder | oder |, "),
    "es": (r"[Pp]or ejemplo:? (.*?)[?.]?$", r", o | o |, "),
    "ja": (r"たとえば ?(.*?)(?: ?です)?。?$", r"、"),
    "zh": (r"例如 ?(.*?)。?$", r"或| 或 |、|还是"),
}
JOINED = {"clock", "servers"}  # of these the whole example is one answer


def answers(language, kind):
    """Return the example answers in a question."""
    texts = LANGUAGES[language]
    question = texts["intents"]["port_forward"]["ask"]["port"] if kind == "port" else texts["asks"][kind]
    mark, between = FORMS[language]
    found = re.search(mark, question) or re.search(r"[:：] ?(.*?)[?？。]?$", question)
    if not found:
        found = re.search(r"(?:For example) (.*?)[?.]$", question)
    assert found, question
    whole = found[1]
    return question, [whole] if kind in JOINED else [one for one in re.split(between, whole) if one]


@pytest.mark.parametrize("kind", OPEN)
@pytest.mark.parametrize("language", LANGUAGES)
def test_example_in_a_question_answers_it(language, kind):
    question, examples = answers(language, kind)
    request = OPEN[kind][language]
    router = Router(HOME + GUEST)
    asked = text_of(router.ask(request))
    assert question in asked, asked
    for example in examples:
        events = router.ask(request, example)
        assert calls_of(events) or question not in text_of(events), (example, text_of(events))
        assert LANGUAGES[language]["texts"]["unknown"] not in text_of(events), example


def shown(language):
    """Yield the sentences that the texts of a language offer: in quotes, or after words such as "write for example"."""
    texts = LANGUAGES[language]
    lines = [*texts["texts"].values(), *texts["asks"].values()]
    lines += [one.get(name, "") for one in texts["intents"].values() for name in ("text", "explain")]
    for text in lines:
        for line in text.split("\n"):
            if line.startswith("- "):
                # Several in a line have commas between them; of a name and a password none has.
                yield from re.split("[,、，] ?", line[2:]) if not re.search('["「“]', line) else [line[2:]]
        for quoted in re.findall("“([^”{}]+)”|„([^“{}]+)“|«([^»{}]+)»|「([^」{}]+)」", text):
            yield "".join(quoted)
        # A request with a password of the examples, up to the end of its sentence.
        passwords = "Pferd|horse|caballo|welcome|willkommen|bienvenidos"
        yield from re.findall(rf"(?:[:：] ?)([^{{}}\n:：。]*?(?:{passwords})[^{{}}\n。.]*)", text)


FIRST = DATA["first"]
MORE = "".join(
    f"1795300000 aa:bb:cc:00:00:0{at} 192.168.1.10{at} {name} *\n"
    for at, name in ((8, "kids-tablet"), (9, "office-printer"))
)


@pytest.mark.parametrize(
    ("language", "said"),
    [(name, said) for name in LANGUAGES for said in sorted({*shown(name)} - {*DATA["labels"][name], ""})],
)
def test_sentence_that_is_offered_is_understood(language, said):
    router = Router(HOME + GUEST, leases=LEASES + MORE)
    events = router.ask(*[FIRST[said]] if said in FIRST else [], said)
    texts = LANGUAGES[language]["texts"]
    for name in ("unknown", "confirm", "device_unknown", "missing"):
        assert not text_of(events).startswith(texts[name].partition("{")[0]), text_of(events)


def buttons():
    """Return the sentences of the welcome page's buttons, in each language of the page."""
    with open(ROOT + "/files/www/luci-static/resources/view/oasis/chat.js", encoding="utf-8") as handle:
        code = handle.read()
    row = code[code.index("examples: function()") :]
    texts = re.findall(r"_\('([^']+)'\)", row[: row.index("].map")])
    found = [("en", text, text) for text in texts]
    for path in sorted(glob.glob(ROOT + "/po/*/oasis.po")):
        with open(path, encoding="utf-8") as handle:
            words = handle.read()
        language = os.path.basename(os.path.dirname(path)).partition("_")[0]
        for text in texts:
            match = re.search('msgid "%s"\nmsgstr "(.*)"' % re.escape(text), words)
            assert match, (path, text)
            found.append((language, text, match[1]))
    return found


@pytest.mark.parametrize(("language", "button", "said"), buttons())
def test_button_of_the_welcome_page_leads_somewhere(language, button, said):
    router = Router()
    events = router.ask(said)
    if button == "Turn on a guest Wi-Fi":
        assert LANGUAGES[language]["intents"]["guest_setup"]["ask"]["ssid"] in text_of(events)
        changes = router.changes(router.ask(said, "Visitors", "welcome2024"))
        assert (changes["wireless.guest.ssid"], changes["wireless.guest.key"]) == ("Visitors", "welcome2024")
    else:
        assert calls_of(events) or len(text_of(events)) > 20
        assert LANGUAGES[language]["texts"]["unknown"] not in text_of(events)


@pytest.mark.parametrize("language", LANGUAGES)
def test_request_that_needs_a_guest_network_builds_one_where_there_is_none(language):
    said = {
        "en": "set the guest wifi password to \"welcome 2024\"",
        "de": "setze das Passwort des Gäste-WLANs auf \"welcome 2024\"",
        "es": "pon la contraseña del wifi de invitados \"welcome 2024\"",
        "ja": "ゲストWi-Fiのパスワードを「welcome 2024」にして",
        "zh": "把访客Wi-Fi的密码改成“welcome 2024”",
    }[language]  # fmt: skip
    router = Router()
    assert LANGUAGES[language]["intents"]["guest_setup"]["ask"]["ssid"] in text_of(router.ask(said))
    changes = router.changes(router.ask(said, "Visitors"))
    assert (changes["wireless.guest.ssid"], changes["wireless.guest.key"]) == ("Visitors", "welcome 2024")
