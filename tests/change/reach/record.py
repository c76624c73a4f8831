"""Cut recorded rulesets of the real fw4 down to what the tests load; run by hand: record.py RECORDED >rulesets.json.

RECORDED: {"network", "interfaces", "cases": [{"case", "firewall", "ruleset", ...}]}.
"""

import json
import re
import sys


def cut(ruleset):
    """Return what a ruleset says of packets to the router and their answers, without comments and files to include."""
    text = re.sub(r"\tct helper \S+ \{.*?\n\t\}\n", "", ruleset, flags=re.S)
    text = re.sub(r"\tflowtable ft \{.*?\n\t\}\n", "", text, flags=re.S)
    text = re.sub(r"\tchain (?:helper_|forward|srcnat|mangle_|raw_|prerouting)\S* \{.*?\n\t\}\n", "", text, flags=re.S)
    lines = [line for line in text.split("\n") if not re.match(r"\s*(#|include |$)", line)]
    lines = [line for line in lines if " jump helper_" not in line and "flow offload" not in line]
    return "\n".join(re.sub(r' comment "!fw4: [^"]*"', "", line) for line in lines)


def main():
    with open(sys.argv[1]) as handle:
        recorded = json.load(handle)
    cases = [
        {"case": one["case"], "firewall": one["firewall"], "ruleset": cut(one["ruleset"])} for one in recorded["cases"]
    ]
    made = {
        "source": recorded["source"],
        "network": recorded["network"],
        "interfaces": recorded["interfaces"],
        "cases": cases,
    }
    json.dump(made, sys.stdout, indent=0)
    print()


main()
