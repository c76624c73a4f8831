"""Make held-out sentences with a real model: it says our sentences in other words, a reader judges, this program errs.

    paraphrase.py ask URL FILE... [--each N]   candidates, one JSON a line; URL of a llama-server, FILE held_xx.jsonl
    paraphrase.py typos FILE                   the same lines with ids, about half of them with one or two typos

Between the two a reader strikes every candidate that does not ask for what its seed asks for. The model never sees
a name or password: a stand-in takes its place. A candidate that lost or made up a value or a number, or that is its
seed again, is dropped at once. Samples and typos come from fixed seeds.
"""

import argparse
import concurrent.futures
import json
import os
import random
import re
import sys
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from skeleton import skeleton, value_pattern

# A name or password that an owner made up is a puzzle to a small model; these words it copies.
STAND_INS = {"ssid": "ALPHA", "key": "BRAVO", "hostname": "CHARLIE", "name": "DELTA", "text": "ECHO"}
ANSWER_TOKENS = 32
TOGETHER = 4  # requests at a time: what llama-server works on side by side
TYPO_SHARE = 0.5
HEADS = {
    "en": "Each line says a request to a home router twice, in different words with the same meaning.",
    "de": "Jede Zeile sagt eine Bitte an den Router zweimal, mit anderen Worten und gleichem Sinn.",
    "es": "Cada línea dice dos veces lo mismo al router, con otras palabras y el mismo sentido.",
    "ja": "各行は、ルーターへの同じ依頼を別の言い方で二回書いたものです。",
    "zh": "每一行用不同的说法把对路由器的同一个要求写两遍，意思相同。",
}
PAIRS = {
    "en": (
        ("turn off the 5 GHz wifi", "please switch the 5 GHz wifi off"),
        ("What is my public IP address?", "tell me the public IP address I have"),
        ("block the xbox until 18:00", "the xbox must be blocked till 18:00"),
        ("I'd like the wifi to be called ALPHA.", "change the name of the wifi to ALPHA"),
        ("dnsmasq needs a restart", "can you restart dnsmasq"),
        ("how long has the router been up?", "since when is the router running"),
        ("show me the log of dropbear", "I want to see what dropbear has logged"),
        ("BRAVO shall be the password of the wifi", "set the wifi password to BRAVO"),
        ("let anna-laptop use the internet again", "unblock anna-laptop please"),
        ("open port 8080 for the nas", "port 8080 should be forwarded to the nas"),
        ("oh no, go back to how it was", "undo this please"),
    ),
    "de": (
        ("schalte das 5-GHz-WLAN aus", "bitte mach das WLAN mit 5 GHz aus"),
        ("Wie lautet meine öffentliche IP?", "sag mir, welche öffentliche IP ich habe"),
        ("sperr die xbox bis 18:00", "die xbox soll bis 18:00 gesperrt sein"),
        ("Das WLAN soll ALPHA heißen.", "ändere den Namen vom WLAN in ALPHA"),
        ("dnsmasq muss neu gestartet werden", "kannst du dnsmasq neu starten"),
        ("Wie lange läuft der Router schon?", "seit wann ist der Router an"),
        ("nimm als WLAN-Passwort BRAVO", "das Passwort fürs WLAN soll BRAVO sein"),
        ("mach alles wieder wie vorher", "nimm das bitte zurück"),
    ),
    "es": (
        ("apaga el wifi de 5 GHz", "por favor, desconecta el wifi de 5 GHz"),
        ("¿Cuál es mi IP pública?", "dime qué IP pública tengo"),
        ("bloquea la xbox hasta las 18:00", "la xbox tiene que estar bloqueada hasta las 18:00"),
        ("El wifi se tiene que llamar ALPHA.", "cambia el nombre del wifi a ALPHA"),
        ("hay que reiniciar dnsmasq", "¿puedes reiniciar dnsmasq?"),
        ("¿Cuánto lleva encendido el router?", "desde cuándo funciona el router"),
        ("usa BRAVO como contraseña del wifi", "la contraseña del wifi debe ser BRAVO"),
        ("déjalo todo como estaba antes", "deshaz eso, por favor"),
    ),
    "ja": (
        ("5GHzのWi-Fiを切って", "5GHzのWi-Fiをオフにしてください"),
        ("グローバルIPアドレスは何ですか", "外から見えるIPアドレスを教えて"),
        ("xboxを18:00までブロックして", "18:00までxboxが使えないようにしてください"),
        ("Wi-Fiの名前をALPHAにしたい", "Wi-FiをALPHAという名前に変えて"),
        ("dnsmasqを再起動してください", "dnsmasqの再起動をお願い"),
        ("Wi-FiのパスワードはBRAVOで", "Wi-FiのパスワードをBRAVOに変えてください"),
    ),
    "zh": (
        ("关掉5 GHz的WiFi", "请把5 GHz的WiFi关闭"),
        ("我的公网IP是多少？", "告诉我现在的公网IP"),
        ("把xbox屏蔽到18:00", "18:00之前不让xbox上网"),
        ("WiFi的名字改成ALPHA", "我想让WiFi叫ALPHA"),
        ("dnsmasq需要重启", "请重启一下dnsmasq"),
        ("WiFi密码用BRAVO", "请把WiFi密码设成BRAVO"),
    ),
}
# Words that carry a value without being one; they get no typos either.
VALUE_WORDS = {
    "laptop", "iphone", "tablet", "telly", "living", "room", "printer", "camera", "garage", "office", "hour", "hours",
    "minute", "minutes", "half", "past", "eight", "twelve", "evening", "monday", "thursday", "saturdays", "sundays",
    "ireland", "austria", "españa", "madrid", "wien", "other", "first", "second",
}  # fmt: skip
NEIGHBOURS = {
    letter: keys[max(place - 1, 0)] + keys[min(place + 1, len(keys) - 1)]
    for keys in ("qwertyuiop", "asdfghjkl", "zxcvbnm")
    for place, letter in enumerate(keys)
}


def mask(text, parts):
    """Return the text with stand-ins and {stand-in: what it stands for}."""
    stood = {}
    for part in parts:
        for slot, word in STAND_INS.items():
            found = value_pattern(part["slots"].get(slot, "")).search(text) if word not in stood else None
            if found:
                stood[word] = found.group()
                text = text[: found.start()] + word + text[found.end() :]
    return text, stood


def unmask(text, stood):
    for word, value in stood.items():
        text = text.replace(word, value)
    return text


def is_worth_judging(masked, answer, stood, parts):
    """Return whether an answer kept each value and number, and is another sentence."""
    numbers = [sorted(re.findall(r"\d+", text)) for text in (masked, answer)]
    held = [value for part in parts for value in _texts(part) if value_pattern(value).search(masked)]
    return (
        bool(answer)
        and numbers[0] == numbers[1]
        and all(answer.count(word) == 1 for word in stood)
        and not any(word in answer for word in set(STAND_INS.values()) - set(stood))
        and all(value_pattern(value).search(answer) for value in held)
        and skeleton(answer, parts) != skeleton(masked, parts)
        and answer.lower() not in {said.lower() for pairs in PAIRS.values() for pair in pairs for said in pair}
    )


def _texts(part):
    for value in part["slots"].values():
        yield from value if isinstance(value, list) else [value] if isinstance(value, str) and len(value) > 2 else []


class Model:
    """A llama-server that goes on with lines of text; no chat template, so it may be any small model."""

    def __init__(self, url):
        self.url = url.rstrip("/").removesuffix("/v1") + "/completion"

    def say(self, text, language, number):
        pairs = "".join(f"{one} = {other}\n" for one, other in PAIRS[language])
        prompt = f"{HEADS[language]}\n\n{pairs}{text} ="
        body = {"prompt": prompt, "n_predict": ANSWER_TOKENS, "stop": ["\n", " = "], "cache_prompt": True}
        body.update(temperature=0.7, top_p=0.9, seed=number)
        request = urllib.request.Request(self.url, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["content"].strip()


def candidates(model, line, each):
    """Return what is worth a reader's look of `each` samples for one seed line."""
    masked, stood = mask(line["text"], line["parts"])
    found = {}
    for number in range(each):
        answer = model.say(masked, line["language"], number)
        if is_worth_judging(masked, answer, stood, line["parts"]):
            found.setdefault(skeleton(answer, line["parts"]), unmask(answer, stood))
    kept = {key: line[key] for key in ("language", "before", "parts") if key in line}
    return [{"seed": line["id"], "text": text, **kept} for text in found.values()]


def typo(text, parts, chance):
    """Return the text with one letter swapped, dropped, doubled or mistaken, outside of values and short words."""
    taken = [found.span() for part in parts for value in _texts(part) for found in value_pattern(value).finditer(text)]
    words = [
        word
        for word in re.finditer(r"[^\W\d_]{4,}", text)
        if word.group().lower() not in VALUE_WORDS and not any(_meet(word.span(), span) for span in taken)
    ]
    if not words:
        return text
    word = chance.choice(words)
    at = chance.randrange(word.start() + 1, word.end() - 1)
    one, two = text[at], text[at + 1]
    slip = chance.choice((two + one, two, one + one + two, chance.choice(NEIGHBOURS.get(one, one)) + two))
    return text[:at] + slip + text[at + 2 :]


def _meet(one, other):
    return one[0] < other[1] and other[0] < one[1]


def with_typos(lines):
    for number, line in enumerate(lines, 1):
        chance = random.Random(line["seed"] + line["text"])
        text = line["text"]
        # A script without spaces has no letters to mistype.
        if chance.random() < TYPO_SHARE and line["language"] in ("en", "de", "es"):
            for _ in range(chance.choice((1, 1, 2))):
                text = typo(text, line["parts"], chance)
        named = {"id": "model-%03d" % number, "language": line["language"], "source": "model"}
        yield {**named, **line, "text": text, "typo": text != line["text"]}


def read(paths):
    for path in paths:
        with open(path, encoding="utf-8") as handle:
            yield from map(json.loads, handle)


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    ask = commands.add_parser("ask")
    ask.add_argument("url")
    ask.add_argument("files", nargs="+")
    ask.add_argument("--each", type=int, default=12)
    commands.add_parser("typos").add_argument("files", nargs=1)
    chosen = parser.parse_args(argv)
    lines = asked(chosen) if chosen.command == "ask" else with_typos(read(chosen.files))
    for line in lines:
        print(json.dumps(line, ensure_ascii=False), flush=True)


def asked(chosen):
    model = Model(chosen.url)
    with concurrent.futures.ThreadPoolExecutor(TOGETHER) as pool:
        for found in pool.map(lambda line: candidates(model, line, chosen.each), read(chosen.files)):
            yield from found


if __name__ == "__main__":
    main(sys.argv[1:])
