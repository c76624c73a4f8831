"""Write oasis/parts/known.json, by which a router without a part tells what installs it: `python3 package/known.py`."""

from __future__ import annotations

import json
import os
import sys

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, REPOSITORY)

from oasis import parts  # noqa: E402
from oasis.api.parts import OWN  # noqa: E402
from oasis.api.table import TABLE  # noqa: E402
from oasis.cli.commands import COMMANDS, HIDDEN  # noqa: E402
from oasis.cli.conversation import CHAT_COMMANDS  # noqa: E402

PATH = REPOSITORY + "/oasis/parts/known.json"
TITLES = {
    "admin": "WireGuard, keys, password and firmware",
    "lua": "compatibility with the Lua Oasis",
    "mcp": "MCP",
    "memory": "memory, documents and skills",
    "monitor": "the closer look",
    "offline": "the built-in service",
    "schedule": "the schedule",
    "telegram": "the messenger",
}
# What the owner has in a part, below /etc/oasis.
KEEPS = {
    "admin": ["wireguard.conf"], "lua": ["tool-manifest.d"], "mcp": ["mcp"], "memory": ["memory", "skills"],
    "monitor": [], "offline": [], "schedule": ["schedule.jsonl"], "telegram": ["messenger.json"],
}  # fmt: skip
# What is theirs in the settings of Oasis.
SECTIONS = {"lua": ["plugin"], "mcp": ["mcp_server", "remote_mcp_server"], "telegram": ["telegram"]}
# How tools are called that only a running part knows: those of MCP servers are SERVER___TOOL.
TOOLS = {"mcp": ["*___*"]}
_OURS = {"owner", "viewer"}


def text() -> str:
    """Return the content of the file, from the manifests of all parts."""
    own = {
        "methods": sorted({*OWN, *(name.partition(".")[0] for name in TABLE if name not in parts.merged("ROWS"))}),
        "commands": [*COMMANDS, *HIDDEN],
        "chat_commands": list(CHAT_COMMANDS),
    }
    rows = [f'"core": {json.dumps(own)}']
    for manifest in parts.manifests():
        name = manifest.__name__.split(".")[2]
        tools = list(TOOLS.get(name, []))
        for file in getattr(manifest, "TOOLS", {}).values():
            with open(f"{REPOSITORY}/oasis/{file}", encoding="utf-8") as handle:
                tools += [one["name"] for one in json.load(handle)["tools"]]
        found = {
            "title": TITLES[name],
            "commands": list(getattr(manifest, "COMMANDS", {})),
            "chat_commands": list(getattr(manifest, "CHAT_COMMANDS", {})),
            "methods": list(getattr(manifest, "METHODS", {})),
            "tools": tools,
            "roles": sorted({*getattr(manifest, "ROLE_METHODS", {}), *getattr(manifest, "ROLE_TOOLS", {})} - _OURS),
            "keeps": KEEPS[name],
            "sections": SECTIONS.get(name, []),
        }
        rows.append(f"{json.dumps(name)}: {json.dumps(found)}")
    return "{" + ",\n ".join(rows) + "}\n"


if __name__ == "__main__":
    with open(PATH, "w", encoding="utf-8") as handle:
        handle.write(text())
