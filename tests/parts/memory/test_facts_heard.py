"""What is read at all, what a model is asked, what its answer holds; how alike facts are; what is never a fact."""

import json
import os
from types import SimpleNamespace

import pytest

from oasis.errors import ProviderError
from oasis.parts.memory.extraction import (
    FACT_CHARS,
    FACTS,
    Secrets,
    Words,
    asked,
    is_from,
    read,
)
from oasis.parts.memory.ranking import KEPT, SAME, Near, likeness, packed, touches, words
from oasis.parts.memory.structured import Structured, small, value

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = Words()


# The gate


@pytest.mark.parametrize(
    "text",
    ["hi", "Hello!", "  Thank you very much! ", "OK, thanks", "yes", "Guten Morgen!", "Vielen Dank.",
     "¡Muchas gracias!", "terima kasih banyak", "ありがとうございます！", "はい", "谢谢你。", "short one", "", "...",
     "👍", "What can you do?"],
)  # fmt: skip
def test_talk_is_not_read(text):
    assert DATA.is_talk(text)


@pytest.mark.parametrize(
    "text",
    ["I work from home on Fridays", "thanks, and I have two children", "Ich habe zwei Kinder", "私は在宅勤務です",
     "我有两个孩子", "Tengo dos hijos", "hello there, I am Anna"],
)  # fmt: skip
def test_what_may_hold_a_fact_is_read(text):
    assert not DATA.is_talk(text)


def test_a_model_is_shown_the_words_and_the_facts_nearby_and_is_held_to_a_schema():
    messages, schema = asked(DATA, "I have a dog" + "x" * 9999, ["The owner has a cat."])
    assert messages[0]["role"] == "system" and [message["role"] for message in messages[-2:]] == ["assistant", "user"]
    assert "- The owner has a cat." in messages[0]["content"] and len(messages[-1]["content"]) == 2000
    assert all(read(message["content"]) or "[]" in message["content"] for message in messages[2:-1:2]), "as it is read"
    item = schema["properties"]["facts"]["items"]
    assert set(item["required"]) == set(item["properties"]) == {"fact", "category", "supersedes"}


# The answer

ONE = {"fact": "The owner has a dog.", "category": "personal", "supersedes": ""}


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps({"facts": [ONE]}), json.dumps([ONE]), "```json\n" + json.dumps([ONE], indent=1) + "\n```",
        "Sure! Here they are:\n" + json.dumps([ONE]) + "\nAnything else?",
        json.dumps([{"fact": " The owner\nhas a dog. "}]),
        json.dumps([{**ONE, "category": "nonsense", "supersedes": 7, "more": []}]),
        json.dumps(["The owner has a dog."]),
        json.dumps([ONE, ONE]), json.dumps([None, 5, {}, [], {"fact": 3}, ONE]),
        json.dumps([{**ONE, "fact": "The owner\u200b has a \u202edog."}]),
    ],
)  # fmt: skip
def test_an_answer_is_read_with_patience(answer):
    assert read(answer) == [ONE]


@pytest.mark.parametrize(
    "answer",
    ["", "no facts", "[", "]", "][", "[{", '{"facts": []}', "[" * 5000 + "]" * 5000, '{"facts": "x"}',
     '[{"fact": "x"}]', json.dumps([{"fact": "y" * (FACT_CHARS + 1)}]),
     '[{"fact": "1234"}]', '[{"fact": ""}]', "{}", '["\\ud800"]'],
)  # fmt: skip
def test_an_answer_that_holds_none_gives_none(answer):
    assert read(answer) == []


def test_an_answer_gives_a_few_facts_at_most():
    assert len(read(json.dumps([{"fact": f"The owner has {number} dogs"} for number in range(50)]))) == FACTS


# Likeness


def pairs():
    with open(HERE + "/fact_pairs.jsonl", encoding="utf-8") as handle:
        return [json.loads(line) for line in handle]


def test_no_two_different_facts_are_the_same_and_most_that_say_the_same_are():
    scored = [(likeness(pair["one"], pair["other"], DATA.empty), pair) for pair in pairs()]
    assert [pair for score, pair in scored if score > SAME and not pair["same"]] == []
    same = [score > SAME for score, pair in scored if pair["same"]]
    assert len(same) >= 15 and sum(same) >= 0.85 * len(same)
    nearest_other = max(score for score, pair in scored if not pair["same"])
    assert SAME - nearest_other < 0.05, "a lower one would do: measure again"


def test_likeness_knows_no_order_and_bears_everything():
    for pair in pairs():
        assert likeness(pair["one"], pair["other"]) == likeness(pair["other"], pair["one"])
    assert likeness("", "") == 1.0 and likeness("", "tea") == likeness("!!", "tea") == 0.0
    assert likeness("the owner is", "The owner is", DATA.empty) == 1.0


def test_a_fact_is_touched_by_words_that_begin_alike():
    def touched(said, fact):
        return touches(words(said, DATA.empty), words(fact, DATA.empty))

    assert touched("where are my printers?", "The printer is in the office.") > 0
    assert touched("who works on Fridays?", "The owner works from home on Fridays.") > 0
    assert touched("the router is the best", "The owner is a teacher.") == 0
    assert touched("子供の時間を制限して", "オーナーには子供がいる") > 0


# Secrets


class Held:
    """A redactor that knows two secrets of the router."""

    def first_words(self, text, inputs):
        for one in ("wintergarden99", *[word for given in inputs for word in given.get("secrets", [])]):
            text = text.replace(one, "********")
        return text

    def held(self):
        return [
            ("wireless", "x", "wifi-iface", "key", "wintergarden99"),
            ("network", "m", "interface", "pincode", "plum"),
        ]


SECRETS = Secrets(DATA.secret, DATA.empty, Held())


@pytest.mark.parametrize(
    "text",
    [
        "The owner's wifi password is sunshine", "The guests' Passwort is Sommer", "Das WLAN-Passwort lautet Sommer",
        "La contraseña es verano", "le mot de passe est soleil", "Il PIN è 12", "wachtwoord: zomer", "пароль солнце",
        "パスワードは夏です", "密码是夏天", "kata sandi rumah", "The API key begins with abc", "The token is x",
        "The owner's garage code is red", "The combination of the safe is left, right, left",
        "The owner likes wintergarden99", "The owner's SIM says plum", "The owner likes ********",
        "The owner uses «secret:1a2b3c4d»", "The owner uses « secret : 12 »", "•••••••• is used",
        "The owner's key is 4f3c2b1a9d8e7f60", "The owner uses sk-abcdefghijk1234", "ghp_abcdefghijklmnop is used",
        "The owner's peer is yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=", "eyJhbGciOiJIUzI1.eyJzdWIiOiIx is used",
        "-----BEGIN OPENSSH PRIVATE KEY-----", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI is the owner's",
        "1234567890:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc belongs to the bot", "AKIAIOSFODNN7EXAMPLE is the owner's",
        "https://anna:summer@nas.lan is the owner's page", "The owner reads https://x.y/?token=abc",
        "JBSWY3DPEHPK3PXPJBSWY3DP is scanned", "The licence is ABCD-EFGH-1234-5678", "otpauth://totp/x?issuer=y",
        "WIFI:S:home;T:WPA;P:summer;;", "$6$salt$hash belongs to root", "5f4dcc3b5aa765d61d8327deb882cf99 is used",
        "The bike lock opens with 4711", "The owner's card is 4111 1111 1111 1111", "The phone number is 015112345678",
        "The account is DE89 3704 0044 0532 0130 00", "uci set wireless.default_radio0.key=summer",
        "Authorization: Bearer abcdefgh123",
    ],
)  # fmt: skip
def test_no_secret_is_a_fact_in_whatever_form(text):
    assert SECRETS.reason(text)


@pytest.mark.parametrize(
    "text",
    [
        "The owner prefers short answers.", "The owner works from home on Fridays.", "Der Besitzer hat zwei Kinder.",
        "The office printer is an HP LaserJet Pro M404dn", "The owner's daughter Anna was born in 2014.",
        "The owner goes to bed at 22:30.", "The NAS has the address 192.168.1.20", "Shopping is done on Saturdays.",
        "The owner's laptop has the MAC aa:bb:cc:dd:ee:ff", "The owner runs OpenWrt 24.10 on a GL-MT3000.",
        "The owner uses a Raspberry-Pi-4-Model-B as a media-center-in-the-living-room", "オーナーは在宅勤務をしている",
        "The owner's provider is Deutsche Telekom with 250 Mbit/s", "El dueño trabaja desde casa los viernes.",
        "The owner lives in Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch",
    ],
)  # fmt: skip
def test_what_is_no_secret_may_be_a_fact(text):
    assert SECRETS.reason(text) == ""


@pytest.mark.parametrize(
    ("before", "fact"),
    [
        ("set the guest wifi password to sunshine", "The owner likes sunshine."),
        ("Das Passwort soll Foo!bar sein", "The owner often writes Foo!bar"),
        ("パスワードは夏休み2026です", "オーナーは夏休み2026ですが好き"),
        ("my pin is 12ab, remember", "The owner's favourite is 12ab."),
        ("password = Blue Horse Battery", "The owner has a blue horse."),
    ],
)
def test_what_was_said_as_a_password_is_no_fact_later(before, fact):
    assert SECRETS.reason(fact) == "" and SECRETS.reason(fact, SECRETS.said([before]))
    assert SECRETS.reason("The owner prefers short answers.", SECRETS.said([before])) == ""


def test_what_a_tool_was_given_as_a_secret_is_no_fact():
    assert SECRETS.reason("The owner likes summer2026x", (), [{"secrets": ["summer2026x"]}])


# Near by vectors


class Embedder:
    """Vectors of three numbers by the words that a test knows; may fail."""

    name = "home/minilm"
    is_local = True

    def __init__(self):
        self.asked = []
        self.fault = None

    def rows(self, texts):
        self.asked.append(list(texts))
        if self.fault:
            raise ProviderError(self.fault)
        return [packed([float("tea" in text), float("dog" in text), 0.1]) for text in texts]


def fact(text):
    return {"fact": text, "confidence": 1.0}


def near(embedder, now=lambda: 0.0):
    return Near(lambda: embedder, lambda: DATA.empty, lambda text: None, now)


def test_vectors_find_what_shares_no_word_and_are_made_once():
    embedder = Embedder()
    facts = [fact("The owner has a dog."), fact("The owner drinks tea.")]
    finder = near(embedder)
    assert finder.nearest("hot leaf water, I mean tea", facts, True, True) == [facts[1]]
    assert finder.alike("tea again", facts)[1] == 0.85
    assert [len(texts) for texts in embedder.asked] == [3, 1]
    assert finder.nearest("tea", facts, False, False) and len(embedder.asked) == 2, (
        "nothing is asked where nothing is sent"
    )


def test_a_service_for_vectors_that_fails_is_left_alone_for_a_while_and_words_do():
    embedder, now = Embedder(), [0.0]
    embedder.fault = "it is down"
    facts = [fact("The owner has a dog."), fact("The owner drinks tea.")]
    finder = near(embedder, lambda: now[0])
    for _ in range(3):
        assert finder.nearest("some tea please", facts, True, True) == [facts[1]]
    assert len(embedder.asked) == 1
    embedder.fault, now[0] = None, 1000.0
    finder.nearest("some tea please", facts, True, True)
    assert len(embedder.asked) == 2


def test_messages_of_long_ago_take_no_facts_vectors_away():
    embedder = Embedder()
    facts = [fact("The owner has a dog."), fact("The owner drinks tea.")]
    finder = near(embedder)
    for number in range(KEPT + 10):
        finder.nearest(f"message {number}", facts, True, True)
    assert [len(texts) for texts in embedder.asked] == [3] + [1] * (KEPT + 9)
    assert len(finder._known) == KEPT


def test_vectors_of_another_model_are_made_anew_and_two_names_are_two_facts():
    embedder = Embedder()
    finder = near(embedder)
    facts = [fact("Anna drinks tea.")]
    scores, least = finder.alike("John drinks tea.", facts)
    assert scores == [0.0] and least == 0.85
    embedder.name = "home/other"
    finder.alike("Anna drinks much tea.", facts)
    assert embedder.asked[-1] == ["Anna drinks much tea.", "Anna drinks tea."]


def test_what_is_said_at_home_goes_to_no_service_for_vectors_elsewhere():
    embedder = Embedder()
    embedder.name, embedder.is_local = "cloud/embed", False
    finder = near(embedder)
    facts = [fact("The owner has a dog."), fact("The owner drinks tea.")]
    assert finder.nearest("some tea please", facts, True, True, True) == [facts[1]]
    assert finder.closeness("some tea", ["tea"], True) is None
    assert finder.alike("The owner drinks tea.", facts, True)[1] != 0.85
    assert embedder.asked == []
    assert finder.nearest("some tea please", facts, True, True, False) and len(embedder.asked) == 1


def test_a_large_model_is_told_the_surest_too_and_a_small_one_only_what_matters():
    facts = [fact(f"The owner has {number:04}gadget.") for number in range(40)]
    embedder = Embedder()
    embedder.name = ""
    finder = near(embedder)
    found = finder.nearest("what about 0007gadget?", facts, False, True)
    assert len(found) == 15 and found[0]["fact"] == "The owner has 0007gadget."
    assert finder.nearest("what about 0007gadget?", facts, True, True) == [facts[7]]
    assert finder.nearest("rename the router", facts, True, True) == []


# Who is asked


class Settings:
    def __init__(self, **services):
        self._services = services

    def aliases(self):
        return {name: [name] for name in self._services}

    def service(self, name):
        return self._services[name]


def service(name, is_local, vendor="openai"):
    return {"identifier": name, "model": "m", "vendor": vendor, "is_local": is_local, "options": {}}


def test_what_was_said_at_home_stays_at_home():
    cloud, home = service("cloud", False), service("home", True)
    names = ("nano", "title")
    assert small(Settings(nano=cloud), home, names) == home
    assert small(Settings(nano=cloud, title=home), home, names) == home
    assert small(Settings(nano=cloud), service("other", False), names) == cloud
    assert small(Settings(nano=home), cloud, names) == home
    assert small(Settings(), service("offline", True, "offline"), names) is None


def test_a_service_that_refuses_a_schema_is_asked_without_and_one_that_is_down_is_not_asked_twice():
    seen = []

    def ask(service, chat, messages, is_cancelled):
        seen.append("extra" in service["options"])
        if seen[-1]:
            error = ProviderError("no")
            error.code = code
            raise error
        return "{}"

    kit = SimpleNamespace(turn_starter=lambda: SimpleNamespace(asking=SimpleNamespace(side_request=ask)))
    code, asks = "invalid_request", Structured(kit)
    cloud = service("cloud", False)
    assert asks.answer(cloud, [], {}, bool) == asks.answer(cloud, [], {}, bool) == "{}"
    assert seen == [True, False, False]
    code, asks = "overloaded", Structured(kit)
    with pytest.raises(ProviderError):
        asks.answer(cloud, [], {}, bool)
    assert seen[3:] == [True]
    assert asks.answer(service("claude", False, "anthropic"), [], {}, bool) == "{}", (
        "which has none that all models take"
    )


def test_an_object_is_taken_out_of_what_stands_around_it():
    assert value('So: {"skill": "a"} fine', "{", "}") == {"skill": "a"}
    assert value("none", "{", "}") is None and value("}{", "{", "}") is None


# Whether a fact was said

SAID = [
    ("I never want guests on the LAN", "The owner wants guests on the LAN.", False),
    ("I never want guests on the LAN", "The owner never wants guests on the LAN.", True),
    ("I don't like coffee, but I like tea", "The owner likes tea.", True),
    ("I don't like coffee but I like tea", "The owner likes coffee.", False),
    ("My camera is in the garden and I like tea.", "The garden camera has no tea.", False),
    ("Ich will nie Gäste im LAN", "Will Gäste im LAN.", False),
    ("Ich mag keinen Kaffee", "Mag Kaffee.", False),
    ("Nunca quiero invitados en la LAN", "Quiero invitados en la LAN.", False),
    ("No quiero invitados", "Quiero invitados.", False),
    ("コーヒーは飲みません", "コーヒーは飲みます", False),
    ("コーヒーは飲みません", "コーヒーは飲まない", True),
    ("我不喝咖啡", "我喝咖啡", False),
    ("The router at 192.168.1.1 is no longer mine", "The router 192.168.1.1 is mine.", False),
    ("No, I have a dog", "The owner has a dog.", True),
]  # fmt: skip


@pytest.mark.parametrize(("said", "fact", "is_kept"), SAID)
def test_a_fact_is_not_the_opposite_of_what_was_said(said, fact, is_kept):
    assert is_from(fact, said, DATA) is is_kept
