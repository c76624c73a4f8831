"""Record what the real fw4 makes of the kinds of kinds.py into rulesets.json; run by hand where fw4 is:

    PYTHONPATH=. FIREWALL4=… python3 tests/change/reach/record.py

The cases with numbers were recorded on a router and stay as they are. Rulesets are cut down to what the tests load.
"""

import json
import os
import re
import tempfile

from oasis.uci import model
from oasis.uci.model import tables
from tests.change.reach import fw4, test_corpus
from tests.change.reach.kinds import KINDS

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rulesets.json")


def cut(ruleset):
    """Return what a ruleset says of packets to the router and their answers, without comments and files to include."""
    text = re.sub(r"\tct helper \S+ \{.*?\n\t\}\n", "", ruleset, flags=re.S)
    text = re.sub(r"\tflowtable ft \{.*?\n\t\}\n", "", text, flags=re.S)
    text = re.sub(r"\tchain (?:helper_|forward|srcnat|mangle_|raw_|prerouting)\S* \{.*?\n\t\}\n", "", text, flags=re.S)
    lines = [line for line in text.split("\n") if not re.match(r"\s*(#|include |$)", line)]
    lines = [line for line in lines if " jump helper_" not in line and "flow offload" not in line]
    return "\n".join(re.sub(r' comment "!fw4: [^"]*"', "", line) for line in lines)


def package_of(recorded, commands):
    """Return the text of the recorded stock firewall after commands."""
    stock = recorded["cases"][0]["firewall"].partition("\n")[2].encode()
    return test_corpus.apply({"firewall": stock}, commands)["firewall"].decode()


def made(recorded, commands, folder):
    """Return (text of the package, ruleset cut down) as fw4 gives it now."""
    text = package_of(recorded, commands)
    package = tables(model.parse(text.encode(), "firewall"))
    return text, cut(fw4.render(package, recorded["interfaces"], folder)[0])


def main():
    with open(FILE) as handle:
        recorded = json.load(handle)
    kept = [one for one in recorded["cases"] if isinstance(one["case"], int)]
    with tempfile.TemporaryDirectory() as folder:
        for name, commands in KINDS.items():
            text, ruleset = made(recorded, commands, folder)
            kept.append({"case": name, "firewall": "package firewall\n" + text, "ruleset": ruleset})
    recorded["cases"] = kept
    with open(FILE, "w") as handle:
        json.dump(recorded, handle, indent=0)
        handle.write("\n")


if __name__ == "__main__":
    main()
