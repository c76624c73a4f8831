"""The catalogue's checks in short: operations of one line, packages of the stock router, defaults of other packages."""

import glob
import os
import re

from oasis.catalogue import check as catalogue
from oasis.uci import model
from oasis.uci.model import tables

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
CONFIG = os.path.join(TOP, "tests/router/root/etc/config")
STOCK = sorted(os.listdir(CONFIG))
DEFAULTS = os.path.join(TOP, "tests/change/defaults")
ENTRIES = sorted(glob.glob(TOP + "/oasis/catalogue/[pf]*/*.json"))


def stock(package):
    try:
        with open(os.path.join(CONFIG, package), "rb") as file:
            return tables(model.parse(file.read(), package))
    except FileNotFoundError:
        return {}


def defaults(package):
    """Return a package as it is right after its installation, the stock router's for all others."""
    path = os.path.join(DEFAULTS, package)
    if not os.path.exists(path):
        return stock(package)
    with open(path, "rb") as file:
        return tables(model.parse(file.read(), package))


def nothing(package):
    return {}


def op(text):
    """Return the operation of one line: set/add/add_list/del_list/delete/rename/reorder PATH[=VALUE]."""
    verb, _, rest = text.partition(" ")
    if verb == "add":
        package, type_ = rest.split(" ")
        return {"op": "add", "package": package, "type": type_}
    path, sign, value = rest.partition("=")
    parts = re.match(r"([^.]*)\.([^.\[]*(?:\[-?\d+\])?)(?:\.(.*))?$", path).groups()
    found = {"op": verb, "package": parts[0], "section": parts[1]}
    if parts[2]:
        found["option"] = parts[2]
    if verb == "set" and not parts[2]:
        found["type"] = value
    elif verb == "reorder":
        found["index"] = int(value)
    elif sign:
        found["name" if verb == "rename" else "value"] = value
    return found


def check(*lines, read=stock):
    return catalogue.check([op(line) for line in lines], read)


def kinds(*lines, read=stock):
    return [finding["kind"] for finding in check(*lines, read=read)]


def as_operations(package, sections):
    """Return the operations that would write these sections."""
    found = []
    for name, section in sections.items():
        found.append({"op": "set", "package": package, "section": name, "type": section[".type"]})
        for option, value in section.items():
            if not option.startswith("."):
                verb = "add_list" if isinstance(value, list) else "set"
                for item in value if isinstance(value, list) else [value]:
                    found.append({"op": verb, "package": package, "section": name, "option": option, "value": item})
    return found


def is_exec(item, sections):
    return catalogue.mark(item["package"], sections[item["section"]][".type"], item["option"]) == "exec"
