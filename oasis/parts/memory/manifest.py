"""What the part `memory` offers: facts, skills, the owner's documents, and search by meaning."""

from __future__ import annotations

VERSION = "0.2.0"

METHODS = {
    "memory": "parts.memory.owner_facts",
    "skill": "parts.memory.skills",
    "knowledge": "parts.memory.knowledge",
    "said": "parts.memory.said",
}
ROWS = {
    "knowledge.add": ("write", "knowledge.knowledge_add", {}, {"title": str, "text": str, "upload": str, "url": str}),
    "knowledge.list": ("read", "knowledge.knowledge_list", {}),
    "knowledge.search": ("read", "knowledge.knowledge_search", {"query": str}, {"limit": int}),
    "knowledge.delete": ("write", "knowledge.knowledge_delete", {"id": str}),
    "knowledge.embed": ("write", "knowledge.knowledge_embed", {}),
    "knowledge.option": ("read", "knowledge.knowledge_option", {"path": str}),
    "memory.list": ("read", "memory.memory_list", {}),
    "memory.add": ("write", "memory.memory_add", {"fact": str}, {"category": str}),
    "memory.change": ("write", "memory.memory_change", {"id": str, "fact": str}, {"category": str}),
    "memory.forget": ("write", "memory.memory_forget", {}, {"id": str, "all": bool}),
    "memory.export": ("read", "memory.memory_export", {}),
    "memory.set": ("write", "memory.memory_set", {}, {"extract": bool, "tainted": bool}),
    "skill.list": ("read", "skill.skill_list", {}),
    "skill.load": ("read", "skill.skill_load", {"name": str}),
    "skill.set": ("write", "skill.skill_set", {"name": str, "text": str}),
    "skill.delete": ("write", "skill.skill_delete", {"name": str}),
    "skill.set_enabled": ("write", "skill.skill_set_enabled", {"name": str, "enabled": bool}),
}
ROLE_METHODS = {"viewer": ("knowledge.option",)}
TOOLS = {"knowledge": "parts/memory/knowledge.json"}
ADDING = ("memory", "skill")
LOOKING = ("memory", "said")

CHAT_COMMANDS = {
    "/skills": ("list the guides for tasks", "parts.memory.command:skills", {"ACTION": "list", "NAME": ""}),
    "/memory": ("list what is remembered of you", "parts.memory.command:memory", {"ACTION": "list", "WORDS": ""}),
}

COMMANDS = {
    "knowledge": (
        "[--title TITLE] [--limit NUMBER] [ACTION] [WORDS…]",
        "your documents and notes, and what OpenWrt's options are",
        "parts.memory.command:knowledge",
        "ACTION is list, add FILE or URL (- is standard input), note TEXT, search WORDS, delete ID, option PATH like\n"
        "network.lan.proto, or embed. Text, Markdown and HTML are read here, a PDF by the active model. With an alias\n"
        "`embedding` (oasis alias embedding SERVICE/MODEL) search goes by meaning as well; `embed` makes what is\n"
        "missing for it.",
    ),
    "memory": (
        "[ACTION] [WORDS…]",
        "what is remembered of you: list, correct, forget",
        "parts.memory.command:memory",
        "ACTION is list, on or off (facts from what you say), add FACT, change ID FACT, forget ID or all, or export.",
    ),
    "skills": (
        "[ACTION] [NAME]",
        "guides for tasks that models follow, shipped and your own",
        "parts.memory.command:skills",
        "ACTION is list, show, set (from standard input), edit, delete, enable or disable.",
    ),
}
