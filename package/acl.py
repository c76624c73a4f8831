"""Write the ACL files from the method tables, of the core and of each part: `python3 package/acl.py`.

usr/share/rpcd/acl.d/oasis.json            group `oasis`: everything, for whoever calls over the web (the phone app)
usr/share/rpcd/acl.d/luci-app-oasis.json   group `luci-app-oasis`: what the pages call
usr/share/rpcd/acl.d/oasis-PART.json       both, for the methods of a part; rpcd adds up what files say of a group
usr/share/acl.d/oasis.json, oasis-PART.json   ubusd's: what a web server that is not root may hand on. It has asked
                                           rpcd for the session's right before, and the daemon asks again
"""

import json
import os
import sys

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, REPOSITORY)

from oasis import parts  # noqa: E402
from oasis.api.table import ROLES, TABLE, Method  # noqa: E402
from oasis.bus.calls import WEB_USER  # noqa: E402
from oasis.bus.objects import OTHER_METHODS  # noqa: E402

WEB = REPOSITORY + "/files/usr/share/rpcd/acl.d/"
BUS = REPOSITORY + "/files/usr/share/acl.d/"
PAGES = ("luci-app-oasis", "Grant access to Oasis: chat, plans, changes and undo")
CALLERS = ("oasis", "Grant access to all methods of Oasis, those of its phone app too")

Table = dict[str, Method]
# Who may only look: a right that rpcd gives and the daemon then refuses would be a promise that is none.
VIEWERS = {*ROLES["viewer"], *parts.merged("BUS_ROLES").get("viewer", ())}


def rights(table: Table) -> dict[str, dict[str, list[str]]]:
    """Return {access: {object: [method]}} of all methods but the local ones, each named by itself.

    `read` is what the daemon serves to viewers; what it keeps for the owner is `write`, though it may only look.
    """
    found: dict[str, dict[str, list[str]]] = {"read": {}, "write": {}}
    for name, row in table.items():
        if row.access == "local":
            continue
        where, _, method = ("oasis." + name).rpartition(".")
        found["read" if name in VIEWERS else "write"].setdefault(where, []).append(method)
    return found


def group(name: str, description: str, table: Table) -> dict[str, object]:
    """Return an ACL file of rpcd's with one group."""
    found = rights(table)
    return {name: {"description": description, **{access: {"ubus": found[access]} for access in ("read", "write")}}}


def bus(table: Table) -> dict[str, object]:
    """Return the ACL file of ubusd."""
    found = rights(table)
    objects = sorted({*found["read"], *found["write"]})
    methods = {name: sorted(found["read"].get(name, []) + found["write"].get(name, [])) for name in objects}
    return {"user": WEB_USER, "access": {name: {"methods": methods[name]} for name in objects}}


def texts() -> dict[str, str]:
    """Return {path: text} of all files."""
    own = {name: row for name, row in TABLE.items() if name not in parts.merged("ROWS")}
    found: dict[str, object] = {
        WEB + "luci-app-oasis.json": group(*PAGES, own), WEB + "oasis.json": group(*CALLERS, own),
        BUS + "oasis.json": bus(own),
    }  # fmt: skip
    for manifest in parts.manifests():
        name = "oasis-%s.json" % manifest.__name__.split(".")[2]
        rows = {key: TABLE[key] for key in getattr(manifest, "ROWS", {})}
        others = {key: OTHER_METHODS[key] for key in getattr(manifest, "BUS_METHODS", {})}
        if rows or others:
            found[WEB + name] = {**group(*PAGES, rows), **group(*CALLERS, {**rows, **others})}
            found[BUS + name] = bus({**rows, **others})
    return {path: json.dumps(value, indent="\t", ensure_ascii=False) + "\n" for path, value in found.items()}


if __name__ == "__main__":
    for path, text in texts().items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as handle:
            handle.write(text)
