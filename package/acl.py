"""Write the rpcd ACL file of the LuCI app from the method table: `python3 package/acl.py`."""

import json
import os
import sys

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, REPOSITORY)

from oasis.methods import TABLE  # noqa: E402

GROUP = "luci-app-oasis"
PATH = REPOSITORY + "/files/usr/share/rpcd/acl.d/luci-app-oasis.json"


def acl() -> dict[str, object]:
    """Return the ACL file: every method of the table under `read` or `write`, named one by one."""
    rights: dict[str, dict[str, list[str]]] = {"read": {}, "write": {}}
    for name, (access, _, *_) in TABLE.items():
        if access == "local":
            continue
        where, _, method = ("oasis." + name).rpartition(".")
        rights[access].setdefault(where, []).append(method)
    group: dict[str, object] = {"description": "Grant access to Oasis: chat, plans, changes and undo"}
    for access, objects in rights.items():
        group[access] = {"ubus": objects}
    return {GROUP: group}


def text() -> str:
    """Return the file's text."""
    return json.dumps(acl(), indent="\t", ensure_ascii=False) + "\n"


if __name__ == "__main__":
    with open(PATH, "w", encoding="utf-8") as handle:
        handle.write(text())
