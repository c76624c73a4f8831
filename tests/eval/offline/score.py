"""How well the offline intents understand sentences that their grammar has not seen.

    python tests/eval/offline/score.py                    the held-out files: counts only, never a sentence
    python tests/eval/offline/score.py --training en      a training file: also each sentence that was read wrongly
    python tests/eval/offline/score.py --json FILE --markdown FILE

A sentence is right when its intents are the wanted ones with equal slots: at once, or in a question that says exactly
that back and waits for a yes. Both are counted apart. Devices, services and places are compared by what they mean on
the router that all sentences talk about.
"""

import argparse
import collections
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(os.path.dirname(os.path.dirname(HERE))), HERE]

from skeleton import skeleton  # noqa: E402 - beside this file, which is a program too

from oasis.parts.offline import provider  # noqa: E402
from oasis.parts.offline.clause import Names, Scanner  # noqa: E402
from oasis.parts.offline.provider import Session  # noqa: E402
from oasis.parts.offline.reading import kinds_of  # noqa: E402
from oasis.parts.offline.slots import Problem, World  # noqa: E402
from tests.parts.offline.stock import GUEST, HOME, NOW_S, Router, assistant  # noqa: E402

LANGUAGES = ("en", "de", "es", "ja", "zh")
DEVICES = (
    "pixel-7", "office-printer", "anna-laptop", "living-room-tv", "annas-iphone", "johns-iphone", "xbox", "nas",
    "kids-tablet", "garage-camera",
)  # fmt: skip
MACS = {"nas": "00:05", "xbox": "00:04"}  # as the configuration knows them
LEASES = "".join(
    f"1795300000 aa:bb:cc:00:{MACS.get(name, f'01:{at:02x}')} 192.168.1.{110 + at} {name} *\n"
    for at, name in enumerate(DEVICES)
)
SERVICES = ("dnsmasq", "dropbear", "firewall", "log", "network", "uhttpd", "odhcpd", "sysntpd", "cron", "wpad")
SAME = {"located": "time_zone", "wifi_password_what": "wifi_password_shown"}
# What older sentences call by a name that covers more: a complaint about one device is a diagnosis, too.
WIDER = {
    "trouble_device": "diagnose", "trouble_place": "diagnose", "trouble_app": "diagnose", "usage_now": "traffic",
    "stranger": "devices",
}  # fmt: skip
NOW, ASKED, WRONG_NOW, WRONG_ASKED, NOTHING = "right", "asked", "wrong", "wrongly asked", "not understood"


def lines(path):
    """Return the lines of a file, [] when there is none."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as handle:
        return [json.loads(line) for line in handle if line.strip()]


class Reader:
    """The provider before the router of the sentences; `read` gives the data of its intents."""

    def __init__(self, read=provider.load):
        self.provider = provider.Provider(read)
        self.facts = Router(HOME + GUEST, leases=LEASES).facts
        self.facts.services = lambda: {name: {"enabled": True, "running": True} for name in SERVICES}
        self.seconds = []

    def answer(self, line):
        """Return the answer to a sentence after what was said before it, and the language it was read in."""
        messages = []
        for text in line.get("before", []):
            messages.append({"role": "user", "content": text})
            messages.append(assistant(self.provider.reply(messages, self.facts, NOW_S)))
        messages.append({"role": "user", "content": line["text"]})
        session = Session(self.provider, self.facts)
        start = time.perf_counter()
        found = session.follow(messages)
        self.seconds.append(time.perf_counter() - start)
        return found, session.language_name

    def world(self, language):
        known = self.provider
        world = World(self.facts, known.grammar(language).language, known.providers, known.places)
        world.lexicon = lambda: self.provider.words(language).lexicon
        return world

    def understood(self, found, language):
        """Return the parts of an answer as they are compared."""
        world = self.world(language)
        parts = []
        for part in found.instead_of or found.parts:
            kinds = kinds_of(self.provider.intents[part.intent])
            slots = {}
            for slot, raw in part.slots.items():
                try:
                    checked = world.value(kinds.get(slot, "text"), *raw)
                except Problem:
                    checked = raw[0]
                slots[slot] = plain(kinds.get(slot, "text"), checked, world)
            parts.append((SAME.get(part.intent, part.intent), slots))
        return parts

    def wanted(self, line):
        world = self.world(line["language"])
        parts = []
        for part in line["parts"]:
            kinds = kinds_of(self.provider.intents.get(part["intent"], {}))
            slots = {slot: plain(kinds.get(slot, "text"), one, world) for slot, one in part["slots"].items()}
            parts.append((part["intent"], slots))
        return parts

    def verdict(self, line, wanted=None):
        """Return (verdict, wanted, understood) of a sentence; `wanted` when another reader has said what is wanted."""
        found, language = self.answer(line)
        wanted, understood = wanted or self.wanted(line), self.understood(found, language)
        is_asked = found.is_guess or (bool(found.parts) and not found.is_sure and not found.calls)
        if not understood:
            return NOTHING, wanted, understood
        wider = [(WIDER[name], {}) if name in WIDER else (name, slots) for name, slots in understood]
        if compared(wanted) in (compared(understood), compared(wider)):
            return (ASKED if found.is_guess and not found.instead_of else NOW), wanted, understood
        return (WRONG_ASKED if is_asked else WRONG_NOW), wanted, understood


def compared(parts):
    return sorted(json.dumps([intent, slots], sort_keys=True) for intent, slots in parts)


def spoken(words, world):
    """Return the device that is called so in other words (the telly in the living room), else the words."""
    names = Names(world.facts.devices())
    lexicon = world.lexicon()
    tokens = lexicon.tokens(words)
    found = [one.values["device"] for one in Scanner(lexicon, names, tokens).segments() if "device" in one.values]
    try:
        return world.device(found[0]) if len(found) == 1 else words
    except Problem:
        return words


def plain(kind, one, world):
    """Return a value in the form in which two are compared."""
    if kind == "devices":
        return sorted(plain("device", item, world) for item in (one if isinstance(one, list) else [one]))
    if kind == "device":
        if isinstance(one, str):
            try:
                one = world.device(one)
            except Problem:
                one = spoken(one, world)
                if isinstance(one, str):
                    return one.casefold()
        return one.get("mac") or one.get("ip") or one.get("label")
    if kind == "place":
        zone = one.get("zonename") if isinstance(one, dict) else (world.zone(one) or [one])[0]
        return zone
    if kind == "days":
        days = one if isinstance(one, list) else one.split()
        order = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
        days = list(order[:5]) if days == ["weekdays"] else days
        return [day for day in order if day in days]
    if kind == "open":
        return bool(one)
    if kind in ("servers", "ports"):
        return sorted(str(item) for item in (one if isinstance(one, list) else str(one).split(", ")))
    if kind == "service":
        return world.service(one)
    if kind in ("ssid", "key"):
        return one
    if kind in ("host", "hostlabel", "domain"):
        try:
            one = world.value(kind, str(one), True)
        except Problem:
            pass
    return str(one).casefold()


def score(reader, sentences, shows=False):
    """Return the counts of a file: overall, by intent, by skeleton."""
    overall, by_intent, skeletons = collections.Counter(), collections.defaultdict(collections.Counter), set()
    by_source = collections.defaultdict(collections.Counter)
    for line in sentences:
        verdict, wanted, understood = reader.verdict(line)
        overall[verdict] += 1
        by_source[line.get("source", "hand")][verdict] += 1
        skeletons.add(skeleton(line["text"], line["parts"]))
        for intent in {intent for intent, _ in wanted}:
            by_intent[intent][verdict] += 1
        if shows and verdict != NOW:
            print(f"{verdict:15} {line['text']}\n    wanted {wanted}\n    read   {understood}")
    return {
        "sentences": len(sentences), "skeletons": len(skeletons), "verdicts": dict(overall),
        "right": share(overall), "by_source": {name: share(counts) for name, counts in by_source.items()},
        "intents": {name: dict(counts) for name, counts in sorted(by_intent.items(), key=lambda one: share(one[1]))},
    }  # fmt: skip


def share(counts):
    total = sum(counts.values())
    return round((counts.get(NOW, 0) + counts.get(ASKED, 0)) / total, 4) if total else 0.0


def outside(reader, sentences, shows=False):
    """Return how many sentences that ask for no intent were taken for one."""
    counts, kinds = collections.Counter(), collections.defaultdict(collections.Counter)
    for line in sentences:
        found, _ = reader.answer(line)
        verdict = "none"
        if found.calls:
            verdict = "done"
        elif found.parts and found.is_sure and not found.is_guess:
            verdict = "answered"
        elif found.parts:
            verdict = "asked"
        counts[verdict] += 1
        kinds[line["language"] + " " + line.get("kind", "")][verdict] += 1
        if shows and verdict != "none":
            print(f"{verdict:10} {line['text']} -> {[part.intent for part in found.parts]}")
    total = sum(counts.values())
    accepted = counts["done"] + counts["answered"]
    return {
        "sentences": total, "verdicts": dict(counts), "false_accepts": round(accepted / total, 4) if total else 0.0,
        "asked": round(counts["asked"] / total, 4) if total else 0.0,
        "kinds": {name: dict(found) for name, found in sorted(kinds.items())},
    }  # fmt: skip


def of_file(reader, path, shows=False):
    """Return the counts of a file of sentences as text, intents by their share, the worst first."""
    name = os.path.basename(path)
    if ".out." in name:
        return f"{name}: " + json.dumps(outside(reader, lines(path), shows))
    found = score(reader, lines(path), shows)
    worst = [f"{intent} {counts}" for intent, counts in found["intents"].items() if share(counts) < 1]
    return f"{name}: {found['sentences']} sentences, {found['right']:.1%} right, {found['verdicts']}\n  " + "\n  ".join(
        worst
    )


MEMORY = """
import sys, json
sys.path.insert(0, sys.argv[1])
def rss():
    with open("/proc/self/status") as handle:
        return next(int(line.split()[1]) for line in handle if line.startswith("VmRSS"))
bare = rss()
from oasis.parts.offline import provider
class Facts:
    def config(self, package): return {}
    def devices(self): return [{"name": "xbox", "mac": "aa:bb:cc:00:00:04", "ip": "", "fixed": False, "present": True}]
    def interfaces(self): return []
    def services(self): return {}
    def ending(self): return []
one = provider.Provider()
for text in json.load(sys.stdin):
    one.reply([{"role": "user", "content": text}], Facts(), 0)
print(json.dumps({"bare_kb": bare, "used_kb": rss() - bare}))
"""


def memory(sentences):
    """Return what a process of its own takes for understanding sentences of one language, in kB."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
    texts = json.dumps([line["text"] for line in sentences[:60]])
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", MEMORY, root], input=texts, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def held_out(reader, every=1):
    """Return the scores of all held-out files; of every so many sentences alone where it must be quick."""
    found = {"languages": {}}
    everything = []
    for language in LANGUAGES:
        sentences = lines(os.path.join(HERE, f"held_{language}.jsonl"))
        sentences += [one for one in lines(os.path.join(HERE, "held_model.jsonl")) if one["language"] == language]
        if not sentences or language not in reader.provider.languages:
            continue
        sentences = sentences[::every]
        reader.seconds = []
        found["languages"][language] = score(reader, sentences)
        times = sorted(reader.seconds)
        found["languages"][language]["ms"] = {
            "median": round(times[len(times) // 2] * 1000, 1), "most": round(times[-1] * 1000, 1),
        }  # fmt: skip
        if every == 1:
            found["languages"][language]["memory"] = memory(sentences)
        everything += sentences
    total = collections.Counter()
    for one in found["languages"].values():
        total.update(one["verdicts"])
    found["overall"] = {"sentences": len(everything), "right": share(total), "verdicts": dict(total)}
    known = [
        one for one in lines(os.path.join(HERE, "out_of_scope.jsonl")) if one["language"] in reader.provider.languages
    ]
    found["out_of_scope"] = outside(reader, known[::every])
    return found


def markdown(found):
    """Return the scores as tables."""
    head = ["language", "sentences", "skeletons", "right", "at once", "by asking", "wrong", "wrongly asked"]
    head += ["not understood", "ms (median, most)", "kB beside a bare interpreter"]
    rows = ["| " + " | ".join(head) + " |", "| --- " * len(head) + "|"]
    for language, one in found["languages"].items():
        counts = one["verdicts"]
        cells = [language, one["sentences"], one["skeletons"], f"{one['right']:.1%}"]
        cells += [counts.get(name, 0) for name in (NOW, ASKED, WRONG_NOW, WRONG_ASKED, NOTHING)]
        cells += [f"{one['ms']['median']}, {one['ms']['most']}", one["memory"]["used_kb"]]
        rows.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    overall = found["overall"]
    rows.append(f"\nAll: {overall['sentences']} sentences, {overall['right']:.1%} right.")
    out = found["out_of_scope"]
    rows.append(
        f"Of {out['sentences']} sentences that ask for nothing, {out['false_accepts']:.1%} were taken for a request"
        f" and {out['asked']:.1%} asked about: {out['verdicts']}."
    )
    rows.append("\nSource: " + "; ".join(f"{name} {one['by_source']}" for name, one in found["languages"].items()))
    rows.append("\n| intent | language | right | of | verdicts |\n| --- | --- | --- | --- | --- |")
    worst = [
        (share(collections.Counter(counts)), intent, language, counts)
        for language, one in found["languages"].items()
        for intent, counts in one["intents"].items()
    ]
    for part, intent, language, counts in sorted(worst, key=lambda one: (one[0], one[1], one[2])):
        rows.append(f"| {intent} | {language} | {part:.0%} | {sum(counts.values())} | {counts} |")
    return "\n".join(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--training", metavar="LANGUAGE")
    parser.add_argument("--outside", metavar="FILE", help="sentences of one's own that ask for nothing, one a line")
    parser.add_argument(
        "--file", nargs="+", metavar="PATH", help="sentences in files of one's own; *.out.* ask for nothing"
    )
    parser.add_argument("--counts", action="store_true", help="with --file: counts alone, and no sentence")
    parser.add_argument("--json")
    parser.add_argument("--markdown")
    options = parser.parse_args()
    reader = Reader()
    if options.outside:
        with open(options.outside, encoding="utf-8") as handle:
            sentences = [{"text": line.strip(), "language": "", "parts": []} for line in handle if line.strip()]
        print(json.dumps(outside(reader, sentences, shows=True), indent=1))
        return
    if options.file:
        for path in options.file:
            print(of_file(reader, path, not options.counts))
        return
    if options.training:
        found = score(reader, lines(os.path.join(HERE, f"training_{options.training}.jsonl")), shows=True)
        found.pop("intents")
        print(json.dumps(found, indent=1))
        return
    found = held_out(reader)
    text = markdown(found)
    print(text)
    for path, content in ((options.json, json.dumps(found, indent=1, ensure_ascii=False)), (options.markdown, text)):
        if path:
            with open(path, "w", encoding="utf-8") as handle:
                handle.write(content + "\n")


if __name__ == "__main__":
    main()
