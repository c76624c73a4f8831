"""What the part `memory` offers: facts, skills, the owner's documents, and search by meaning."""

from __future__ import annotations

METHODS = {
    "memory": "parts.memory.facts",
    "skill": "parts.memory.skills.library",
    "knowledge": "parts.memory.knowledge",
    "said": "parts.memory.said",
}
TOOLS = {"knowledge": "parts/memory/knowledge.json"}
ADDING = ("memory", "skill")
LOOKING = ("memory", "said")

CHAT_COMMANDS = {
    "/skills": ("list the guides for tasks", "parts.memory.command_skills:skills", {"ACTION": "list", "NAME": ""}),
    "/memory": (
        "list what is remembered of you",
        "parts.memory.command_memory:memory",
        {"ACTION": "list", "WORDS": ""},
    ),
}

COMMANDS = {
    "knowledge": (
        "[--title TITLE] [--limit NUMBER] [ACTION] [WORDS…]",
        "your documents and notes, and what OpenWrt's options are",
        "parts.memory.command_knowledge:knowledge",
        "ACTION is list, add FILE or URL (- is standard input), note TEXT, search WORDS, delete ID, option PATH like\n"
        "network.lan.proto, or embed. Text, Markdown and HTML are read here, a PDF by the active model. With an alias\n"
        "`embedding` (oasis alias embedding SERVICE/MODEL) search goes by meaning as well; `embed` makes what is\n"
        "missing for it.",
    ),
    "memory": (
        "[ACTION] [WORDS…]",
        "what is remembered of you: list, correct, forget",
        "parts.memory.command_memory:memory",
        "ACTION is list, on or off (facts from what you say), add FACT, change ID FACT, forget ID or all, or export.",
    ),
    "skills": (
        "[ACTION] [NAME]",
        "guides for tasks that models follow, shipped and your own",
        "parts.memory.command_skills:skills",
        "ACTION is list, show, set (from standard input), edit, delete, enable or disable.",
    ),
}
