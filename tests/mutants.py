"""`make mutants`: takes one safety after another out of a copy of the repository; each must turn a test red.

    python3 tests/mutants.py [--seconds N] [WORD…]     only the mutants whose name holds one of the words

Exit status: 0 every mutant was killed, 1 one survived, 2 the tests fail without any mutant or a text was not found.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LEFT_OUT = (".git", ".venv", "build", "node_modules", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache")
Mutant = tuple[str, str, str, str, tuple[str, ...]]  # its name, a file, a text in it, what stands there then, the tests
# Longer than the slowest of the files below; a mutant that makes them hang is killed as well.
TIMEOUT_S = 300

JOURNAL = "oasis/change/journal.py"
TRANSACTION, GUARD = "oasis/change/transaction.py", "oasis/change/guard.py"
PLAN = "oasis/change/plan.py"
FILES = "oasis/system/files.py"
APPROVAL = "oasis/change/approval.py"
OF_CHANGES = ("tests/change/test_transaction.py", "tests/change/test_plan.py")
STORE = "oasis/core/store.py"
OF_CHATS = ("tests/core/test_store.py", "tests/chats/test_faults.py")
OF_FLASH = ("tests/system/test_power_cut.py", "tests/system/test_files.py")
OF_FORCE = ("tests/change/test_force.py", "tests/test_force.py")
OF_SERVICE = ("tests/service/test_init_script.py", "tests/service/test_defaults.py", "tests/service/test_keep.py")
OF_APPROVAL = ("tests/change/test_approval.py", "tests/test_daemon.py")

TELEGRAM = "oasis/frontends/telegram"
OF_CODES = ("tests/telegram/test_codes.py",)
OF_TALK = ("tests/telegram/test_people_talk.py",)
OF_LINE = ("tests/telegram/test_line.py",)
OF_PRESENCE = ("tests/test_presence.py",)
OF_APPROVING = ("tests/telegram/test_approval.py",)

CLOCKWORK = "oasis/schedule/clockwork.py"
OF_CLOCKWORK = ("tests/schedule/test_clockwork.py",)
STANDING, UNATTENDED = "oasis/schedule/standing.py", "oasis/schedule/unattended.py"
OF_STANDING = ("tests/schedule/test_standing.py",)
HELD = "oasis/change/held.py"
OF_HELD = ("tests/change/test_held.py",)
REFUSED = "oasis/tools/refused.py"
OF_REFUSED = ("tests/test_force.py",)
REPAIR = "oasis/repair.py"
OF_REPAIR = ("tests/test_repair.py",)
OF_JUDGE = ("tests/eval/test_judge.py",)
OFFLINE = "oasis/offline/"
OF_ANSWERS = ("tests/offline/test_answers.py",)
OF_FOLLOWING = ("tests/offline/test_follow.py",)

ALIVE = "oasis/change/alive.py"
OF_PROOF = ("tests/change/test_alive.py",)

CALLS = "oasis/frontends/bus_calls.py"
OF_BUS = ("tests/frontends/test_bus.py",)

FENCED = "oasis/change/fenced.py"
FENCES = "oasis/tools/fences.py"
OF_FENCES = ("tests/tools/test_fences.py", "tests/change/test_fenced.py")

# Name, file, the text of the safety, what stands there without it, the tests that must notice.
CONFINEMENT = "oasis/system/confinement.py"
RIGHTS = "oasis/worker/rights.py"
OF_WALL = ("tests/system/test_confinement.py", "tests/system/test_fence.py")

RESPONSES = "oasis/providers/responses_answer.py"
OF_RESPONSES = ("tests/providers/test_responses.py",)
OF_COHERE = ("tests/providers/test_cohere.py",)

PROTOCOL = "oasis/worker/protocol.py"
CHAT, EXCHANGE = "oasis/worker/chat.py", "oasis/worker/exchange.py"
ASKING = "oasis/asking.py"
FAILOVER = "oasis/failover.py"
OF_TRANSPORT = ("tests/worker/test_transport.py",)
OF_PROXIES = ("tests/worker/test_proxies.py",)
OF_FAILOVER = ("tests/test_failover.py",)
OF_ASKING = ("tests/test_asking.py",)
OF_EMBEDDINGS = ("tests/worker/test_embeddings.py",)
BUS_TURNS = "oasis/system/busturns.py"
OF_BUS_VALUES = ("tests/system/test_blobmsg.py",)
OF_BUS_PEER = ("tests/system/test_buspeer_wire.py", "tests/system/test_buspeer.py")

TOOLS = "oasis/tools/registry.py"
PERMITS = "oasis/tools/permits.py"
OF_TOOLS = ("tests/tools/test_registry.py",)
OF_ROUTER_TOOLS = ("tests/tools/test_router_tools.py",)

RECORDS = "oasis/memory/records.py"
OF_RECORDS = ("tests/memory/test_records.py",)
OF_KNOWLEDGE = ("tests/memory/test_knowledge_daemon.py",)
OF_HOME = ("tests/memory/test_at_home.py",)
OF_FACTS = ("tests/memory/test_facts_daemon.py",)

MUTANTS = (
    (
        "telegram-code-used-twice",
        TELEGRAM + "_codes.py",
        'if step > self._kept.get("last", 0):',
        "if step:",
        OF_CODES,
    ),
    (
        "telegram-code-without-end-of-tries",
        TELEGRAM + "_codes.py",
        "if wrong >= WRONG:",
        "if False:",
        OF_CODES,
    ),
    (
        "telegram-code-of-any-time",
        TELEGRAM + "_codes.py",
        "WINDOW = 1",
        "WINDOW = 3",
        OF_CODES,
    ),
    (
        "telegram-pairing-without-end-of-tries",
        TELEGRAM + "_people.py",
        "if self._tries <= 0:",
        "if False:",
        OF_CODES,
    ),
    (
        "telegram-owner-in-a-group",
        TELEGRAM + "_people.py",
        'return self._role if is_private or self._role != "owner" else "wrong"',
        "return self._role",
        OF_CODES,
    ),
    (
        "telegram-anybody-in-a-paired-chat",
        TELEGRAM + "_people.py",
        'if one["chat"] == chat and one["user"] == (user if is_private else 0):',
        'if one["chat"] == chat:',
        ("tests/telegram/test_people.py",),
    ),
    (
        "telegram-stranger-answered",
        TELEGRAM + "_poll.py",
        """        if role == "wrong":
""",
        """        if role != "owner":
""",
        OF_TALK,
    ),
    (
        "telegram-guest-with-all-tools",
        TELEGRAM + "_guest.py",
        "return tool in TOOLS",
        "return True",
        OF_TALK,
    ),
    (
        "telegram-guest-with-the-owner-s-words",
        TELEGRAM + "_talk.py",
        '{**asked, "taint": [WORDS]}',
        "{**asked}",
        OF_TALK,
    ),
    (
        "telegram-guest-chooses-the-service",
        TELEGRAM + "_guest.py",
        "    is_told = False",
        "    is_told = True",
        OF_PRESENCE,
    ),
    (
        "telegram-facts-out-of-what-a-worker-says",
        "oasis/exchanges.py",
        "*who.words]",
        "]",
        OF_PRESENCE,
    ),
    (
        "schedule-tells-a-model-the-names-of-devices",
        "oasis/exchanges.py",
        "is_model or who.has_teller, unattended",
        "is_model, unattended",
        ("tests/schedule/test_schedule_daemon.py",),
    ),
    (
        "telegram-update-handled-twice",
        TELEGRAM + "_poll.py",
        'if update["id"] <= self._last or',
        "if False or",
        OF_TALK,
    ),
    (
        "telegram-press-for-every-chat",
        TELEGRAM + "_card.py",
        'if found is None or found["chat"] != chat:',
        "if found is None:",
        OF_TALK,
    ),
    (
        "telegram-approve-on-by-itself",
        TELEGRAM + ".py",
        '"approve": "0", "notices"',
        '"approve": "1", "notices"',
        ("tests/telegram/test_faults.py",),
    ),
    (
        "telegram-approve-without-a-code",
        TELEGRAM + "_approval.py",
        'return bool(card["risk"] != "low" or card.get("tainted") or card.get("untrusted"))',
        "return False",
        OF_APPROVING,
    ),
    (
        "telegram-code-left-in-the-chat",
        TELEGRAM + "_talk.py",
        """        self._line.tell("deleteMessage", {"chat_id": update["chat"], "message_id": update["message"]})
""",
        "",
        OF_APPROVING,
    ),
    (
        "telegram-update-of-any-shape",
        TELEGRAM + "_line.py",
        'if not is_right(update.get(name.rstrip("?"))):',
        "if False:",
        OF_LINE,
    ),
    (
        "telegram-flood-not-obeyed",
        TELEGRAM + "_line.py",
        "self._pause(chat, refused.wait_s or 5.0)",
        "self._pause(chat, 0.1)",
        OF_LINE,
    ),
    (
        "records: what a power cut left of a forgotten one goes as well",
        RECORDS,
        "kept = [place for place in self._foreign if not _holds(handle, place, without)]",
        "kept = list(self._foreign)",
        OF_RECORDS,
    ),
    (
        "records: a torn line does not spoil the next one",
        RECORDS,
        'whole = (b"\\n" if self._is_torn else b"") + data',
        "whole = data",
        OF_RECORDS,
    ),
    (
        "records: what is acknowledged is on flash",
        RECORDS,
        "self._files.append(self._path, whole, True)",
        "self._files.append(self._path, whole, False)",
        OF_RECORDS,
    ),
    (
        "knowledge: what stands in a document taints",
        "oasis/seed/knowledge.py",
        'own = [label(source)] if source["kind"] != "note" or source.get("taint") else []',
        "own: list[str] = []",
        OF_KNOWLEDGE,
    ),
    (
        "knowledge: what the router holds in secret goes to no model of vectors",
        "oasis/memory/embedding.py",
        "self._hide(text[:TEXT_CHARS])",
        "text[:TEXT_CHARS]",
        OF_KNOWLEDGE,
    ),
    (
        "knowledge: no documents on a disk that keeps no secrets",
        "oasis/seed/knowledge.py",
        "if kind in mounts.LOOSE:",
        "if False:",
        OF_KNOWLEDGE,
    ),
    (
        "knowledge: what an address calls a PDF file is looked at",
        "oasis/seed/reading.py",
        "if extract.kind(name, data) != extract.PDF:",
        "if False:",
        OF_KNOWLEDGE,
    ),
    (
        "knowledge: an archive is no text",
        "oasis/memory/extract.py",
        "if data.startswith(magic):",
        "if not magic:",
        ("tests/memory/test_extract.py",),
    ),
    (
        "knowledge: damaged vectors are near to nothing",
        "oasis/memory/vectors.py",
        "if not 0 < own <= 1:",
        "if own == 0:",
        ("tests/memory/test_library.py",),
    ),
    (
        "facts: a message about passwords is not read",
        "oasis/memory/facts.py",
        'and not secrets.speaks_of(turn["said"])',
        "and True",
        OF_FACTS,
    ),
    (
        "facts: what was said as a password is no fact later",
        "oasis/memory/facts_reading.py",
        'secrets.reason(one["fact"], said, inputs)',
        'secrets.reason(one["fact"])',
        OF_FACTS,
    ),
    (
        "facts: nothing is read until the owner wants it",
        "oasis/memory/facts.py",
        "if not self._is(EXTRACT) or",
        "if",
        OF_FACTS,
    ),
    (
        "facts: words of others taint what is made of them",
        "oasis/memory/facts.py",
        "told.taint += [label for label in taint if label not in told.taint]",
        "pass",
        OF_FACTS,
    ),
    (
        "facts: what is forgotten meanwhile is not written again",
        "oasis/memory/facts_kept.py",
        "            if is_dropped():\n                return None",
        "            if False:\n                return None",
        OF_FACTS,
    ),
    (
        "facts: what became a secret is told to nobody",
        "oasis/memory/facts.py",
        'if not self._data()[1].reason(fact["fact"])]',
        "if True]",
        OF_FACTS,
    ),
    (
        "facts: others' words take the place of no fact of the owner's",
        "oasis/memory/facts_kept.py",
        'for fact in self.sure() if set(taint) <= set(fact.get("taint", []))]',
        "for fact in self.sure()]",
        ("tests/memory/test_facts_kept.py",),
    ),
    (
        "facts: no day begins while the clock is not trusted",
        "oasis/memory/facts_kept.py",
        "if today == last or not self._is_trusted(self._newest_s()):",
        "if today == last:",
        ("tests/memory/test_facts_kept.py",),
    ),
    (
        "facts: what was said at home stays there",
        "oasis/memory/structured.py",
        'and (found["is_local"] or not answering.get("is_local")):',
        "and True:",
        ("tests/memory/test_facts_heard.py",),
    ),
    (
        "facts: what was said at home is compared there",
        "oasis/memory/facts_near.py",
        "if not name or (is_home and not embedder.is_local):",
        "if not name:",
        ("tests/memory/test_facts_heard.py",),
    ),
    (
        "facts: who answers tells where they are compared",
        "oasis/memory/facts.py",
        'is_sent, bool(service.get("is_local")))',
        "is_sent, False)",
        OF_HOME,
    ),
    (
        "titles: made at home of what was said there",
        "oasis/exchanges.py",
        'return found if found["is_local"] or not service["is_local"] else service',
        "return found",
        OF_HOME,
    ),
    (
        "schedule: results are told at home",
        "oasis/schedule/running.py",
        'return small if small["is_local"] or not is_home else usual',
        "return small",
        OF_HOME,
    ),
    (
        "knowledge: what a model at home asks stays there",
        "oasis/exchanges.py",
        'operator.is_home = lambda: bool(failover.service.get("is_local"))',
        "operator.is_home = bool",
        OF_HOME,
    ),
    (
        "skills: one that asks for other tools is refused",
        "oasis/skills/library.py",
        "        if faults:\n            raise UsageError(",
        "        if False:\n            raise UsageError(",
        ("tests/skills/test_skills_daemon.py",),
    ),
    (
        "skills: a link is not followed",
        "oasis/skills/shelf.py",
        "if not stat.S_ISREG(found.st_mode):",
        "if stat.S_ISFIFO(found.st_mode):",
        ("tests/skills/test_skill.py",),
    ),
    (
        "plugins: a changed file is off",
        "oasis/plugins/shelf.py",
        "if not is_equal(reviewed[server], sha256(data)):",
        "if False:",
        ("tests/plugins/test_plugins.py",),
    ),
    (
        "plugins: the file is looked at before each call",
        "oasis/plugins/shelf.py",
        "        if fault:\n            raise PolicyError(",
        "        if False:\n            raise PolicyError(",
        ("tests/plugins/test_plugins.py",),
    ),
    (
        "plugins: the sum that is accepted is that of the file",
        "oasis/plugins/shelf.py",
        "if not is_equal(digest, sha256(data)):",
        "if False:",
        ("tests/plugins/test_plugins.py",),
    ),
    (
        "plugins: a restart is asked whatever policy says",
        "oasis/plugins/shelf.py",
        "operator.asking(True)",
        "operator.asking(False)",
        ("tests/plugins/test_plugins.py",),
    ),
    (
        "plugins: the base system is no tool server",
        "oasis/plugins/scripts.py",
        'if re.split(r"[.-]", server)[0] in BASE:',
        "if False:",
        ("tests/plugins/test_scripts.py",),
    ),
    (
        "plugins: our own objects are no tool server",
        "oasis/plugins/scripts.py",
        "if server in OURS:",
        "if False:",
        ("tests/plugins/test_scripts.py",),
    ),
    (
        "plugins: what others can write to does not count",
        "oasis/plugins/scripts.py",
        " or state.st_mode & 0o022",
        "",
        ("tests/plugins/test_scripts.py",),
    ),
    (
        "plugins: what is for the owner alone stays nowhere",
        "oasis/plugins/results.py",
        'for key, item in value.items() if key != "user_only"}',
        "for key, item in value.items()}",
        ("tests/plugins/test_results.py",),
    ),
    (
        "plugins: only true is a wish",
        "oasis/plugins/results.py",
        "if merged.get(action) is True:",
        "if merged.get(action):",
        ("tests/plugins/test_results.py",),
    ),
    (
        "seed: no path leads up",
        "oasis/worker/workspace.py",
        'if ".." in names:',
        "if False:",
        ("tests/seed/test_files.py",),
    ),
    (
        "seed: links are not followed",
        "oasis/worker/workspace.py",
        "_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW",
        "_FOLDER = os.O_RDONLY | os.O_DIRECTORY",
        ("tests/seed/test_files.py",),
    ),
    (
        "seed: only what is listed runs",
        "oasis/seed/programs.py",
        "if not any(found[: len(one)] == one for one in allowed):",
        "if False:",
        ("tests/seed/test_programs.py",),
    ),
    (
        "seed: a shell cannot be listed",
        "oasis/seed/wishes.py",
        'if found[0][0].rpartition("/")[2] in SHELLS:',
        "if False:",
        ("tests/seed/test_programs.py",),
    ),
    (
        "seed: what a program left behind ends",
        "oasis/seed/programs.py",
        "os.kill(int(name), 9)",
        "pass",
        ("tests/seed/test_programs.py",),
    ),
    (
        "web: loopback is closed",
        "oasis/worker/addresses.py",
        "    why = reason(text, closed)\n",
        '    why = ""\n',
        ("tests/worker/test_addresses.py",),
    ),
    (
        "web: one closed address closes the name",
        "oasis/worker/addresses.py",
        "    for text in found:\n",
        "    for text in found[:1]:\n",
        ("tests/worker/test_addresses.py",),
    ),
    (
        "web: wrapped addresses are judged",
        "oasis/worker/addresses.py",
        "for inner in (address, *_inside(address)):",
        "for inner in (address,):",
        ("tests/worker/test_addresses.py",),
    ),
    (
        "web: the connection goes where it was judged to go",
        "oasis/worker/web.py",
        "socket.create_connection((address, port)",
        "socket.create_connection((host, port)",
        ("tests/worker/test_web.py",),
    ),
    (
        "web: bodies are bounded",
        "oasis/worker/web.py",
        "    while len(body) <= most:",
        "    while True:",
        ("tests/worker/test_web.py",),
    ),
    (
        "web: a key is for the first host alone",
        "oasis/worker/web.py",
        "headers = {}  # a key",
        "pass  # a key",
        ("tests/worker/test_web.py",),
    ),
    (
        "web: networks at home are told to the worker",
        "oasis/seed/net.py",
        "closed=closed(operator)",
        "closed=[]",
        ("tests/seed/test_net.py",),
    ),
    (
        "settings: what is taken over is in force",
        "oasis/takeover.py",
        "policy.set(*rules)",
        "pass",
        ("tests/test_takeover.py",),
    ),
    (
        "settings: a change of them is no restart",
        "files/etc/init.d/oasis",
        "procd_set_param reload_signal HUP",
        ":",
        OF_SERVICE,
    ),
    (
        "service: the file that may hold keys is closed",
        "files/etc/uci-defaults/60-oasis",
        'chmod 600 "$config"',
        ":",
        OF_SERVICE,
    ),
    (
        "service: a file that cannot be read stays as it is",
        "files/etc/uci-defaults/60-oasis",
        'exit "$status"',
        "exit 0",
        OF_SERVICE,
    ),
    (
        "service: what nobody had kept does not outlive a firmware",
        "files/lib/upgrade/keep.d/oasis",
        "/etc/oasis/backup\n",
        "/etc/oasis/pending\n/etc/oasis/backup\n",
        OF_SERVICE,
    ),
    (
        "service: out of memory a worker goes first",
        "oasis/system/limits.py",
        '"524288", "3600", "500")',
        '"524288", "3600", "")',
        ("tests/system/test_executor.py",),
    ),
    (
        "cli: what was asked is not asked again when the service went away",
        "oasis/frontends/client.py",
        "absent.is_absent = not self._has_answered",
        "absent.is_absent = True",
        ("tests/frontends/test_start.py",),
    ),
    (
        "services: an interface that comes up ends the impatience",
        "oasis/system/patience.py",
        " or online != self._online()",
        "",
        ("tests/test_asking.py",),
    ),
    (
        "chats: an export is masked before it is cut",
        "oasis/conversations.py",
        'messages = self._hide([message for message in shown if "role" in message])',
        'messages = [message for message in shown if "role" in message]',
        ("tests/test_conversations.py",),
    ),
    (
        "providers: a list of models may come alone",
        "oasis/providers/wire.py",
        "answer if is_bare else None",
        "None",
        ("tests/providers/test_openai_chat.py",),
    ),
    (
        "tools: danger asks whatever is set",
        TOOLS,
        'reasons = [_DANGER] if kind == "danger" else',
        'reasons = [] if kind == "danger" else',
        OF_TOOLS,
    ),
    (
        "tools: what is off does not run",
        TOOLS,
        'if not permit["enabled"]:',
        "if False:",
        OF_TOOLS,
    ),
    (
        "tools: what is denied does not run",
        TOOLS,
        'if permit["approval"] == "deny":',
        "if False:",
        OF_TOOLS,
    ),
    (
        "tools: with words of others in sight an effect asks",
        TOOLS,
        'if operator.taint and kind in ("change", "net"):',
        "if False:",
        OF_TOOLS,
    ),
    (
        "tools: words of a foreign tool are marked",
        TOOLS,
        'whose += [spec["untrusted"]] if spec.get("untrusted") else []',
        "pass",
        OF_TOOLS,
    ),
    (
        "tools: what is for the owner reaches no model",
        TOOLS,
        'for_owner = result.pop("user_only", None)',
        'for_owner = result.get("user_only")',
        OF_TOOLS,
    ),
    (
        "tools: a foreign tool that changed is off",
        PERMITS,
        'options["revision"] != revision(spec)',
        "False",
        OF_TOOLS,
    ),
    (
        "tools: a permit is for one source",
        PERMITS,
        'options.get("name") == spec["name"] and options.get("server", BUILT_IN) == server(spec["source"])',
        'options.get("name") == spec["name"]',
        OF_TOOLS,
    ),
    (
        "tools: nobody allows danger",
        PERMITS,
        'if approval == "allow" and spec["class"] == "danger":',
        "if False:",
        OF_TOOLS,
    ),
    (
        "tools: those that hang are counted",
        "oasis/tools/watch.py",
        "if len(self._left) >= LEFT_BEHIND:",
        "if False:",
        OF_TOOLS,
    ),
    (
        "tools: an approval is for one call",
        PLAN,
        '"forces", "call")',
        '"forces")',
        OF_CHANGES,
    ),
    (
        "tools: nothing dangerous while a change waits",
        "oasis/change/called.py",
        "if pending is not None:",
        "if False:",
        ("tests/test_tools.py",),
    ),
    (
        "tools: no looking for machines nearby",
        "oasis/tools/probing.py",
        "if is_near and address not in _known(facts):",
        "if False:",
        OF_ROUTER_TOOLS,
    ),
    (
        "tools: a package's name is one",
        "oasis/tools/packages.py",
        "if not _NAME.match(name) or name",
        "if name",
        OF_ROUTER_TOOLS,
    ),
    (
        "tools: what the router runs on stays",
        "oasis/tools/packages.py",
        "if _NEEDED.match(name):",
        "if False:",
        OF_ROUTER_TOOLS,
    ),
    (
        "tools: what is installed fits",
        "oasis/tools/packages.py",
        "if needed + SPARE_BYTES > free:",
        "if False:",
        OF_ROUTER_TOOLS,
    ),
    (
        "tools: log lines are the words of others",
        "oasis/tools/logs.py",
        'return {**answer, "untrusted": [LABEL]}',
        "return answer",
        OF_ROUTER_TOOLS,
    ),
    (
        "tools: neighbours' names are the words of others",
        "oasis/tools/wifi_scan.py",
        'return {**answer, "untrusted": [foreign.NETWORKS]} if is_named else answer',
        "return answer",
        OF_ROUTER_TOOLS,
    ),
    (
        "service: what everybody needs is not ended unasked",
        PLAN,
        'plan["is_asked"] = self.policy.is_stop(name, action)',
        "pass",
        ("tests/change/test_service_actions.py",),
    ),
    (
        "root: no program of the host acts in a folder",
        "oasis/system/root.py",
        "is_ours = name in PROGRAMS or",
        "is_ours = True or",
        ("tests/system/test_root.py",),
    ),
    ("bus: levels are counted", "oasis/system/blobmsg.py", "if depth > DEEPEST:", "if False:", OF_BUS_VALUES),
    ("bus: values are counted", "oasis/system/blobmsg.py", "if self._left < 0:", "if False:", OF_BUS_VALUES),
    (
        "bus: a length stays in its blob",
        "oasis/system/blobmsg.py",
        "if stop < start or stop > end:",
        "if stop < start:",
        OF_BUS_VALUES,
    ),
    (
        "bus: a text is not cut by C",
        "oasis/system/blobmsg.py",
        'text.replace("\\0", "\\ufffd")',
        "text",
        OF_BUS_VALUES,
    ),
    (
        "bus: the first session that is named counts",
        "oasis/system/blobmsg.py",
        "found.setdefault(name, value)",
        "found[name] = value",
        OF_BUS_VALUES,
    ),
    (
        "bus: so many calls and no more",
        BUS_TURNS,
        "len(self._going) >= self._most",
        "len(self._going) >= 1000",
        OF_BUS_PEER,
    ),
    ("bus: so many bytes and no more", BUS_TURNS, "self._held + turn.size > ARGUMENT_BYTES", "False", OF_BUS_PEER),
    ("bus: a reply has an end", BUS_TURNS, "if len(data) > busmessage.REPLY_BYTES:", "if False:", OF_BUS_PEER),
    (
        "bus: a fault is not told to the caller",
        BUS_TURNS,
        "except Exception as bug:",
        "except KeyboardInterrupt as bug:",
        OF_BUS_PEER,
    ),
    (
        "bus: a write has an end",
        "oasis/system/buslink.py",
        "if not poll.poll(_STUCK_S * 1000):",
        "if not poll.poll():",
        OF_BUS_PEER,
    ),
    (
        "bus: the reader outlives what it reads",
        "oasis/system/buspeer.py",
        "except Exception as bug:  # nothing that comes may end the thread that reads",
        "except KeyboardInterrupt as bug:",
        OF_BUS_PEER,
    ),
    (
        "bus: what is no message ends the connection",
        "oasis/system/busmessage.py",
        "if head[0] or not 4 <= size <= MESSAGE_BYTES:",
        "if False:",
        OF_BUS_PEER,
    ),
    (
        "retry: none after a word was shown",
        CHAT,
        'event["type"] == "error" and not has_output',
        'event["type"] == "error"',
        OF_TRANSPORT,
    ),
    (
        "retry: none when the time is over",
        CHAT,
        " or self._now_s() - began_s + wait_s > BUDGET_S",
        "",
        OF_TRANSPORT,
    ),
    ("retry: told without the key", PROTOCOL, 'str(event["text"]).replace(key, "…")', 'event["text"]', OF_TRANSPORT),
    ("worker: a dripping head is given up", EXCHANGE, "with within(head_s,", "with within(8,", OF_TRANSPORT),
    ("worker: a dripping body is given up", EXCHANGE, "with within(left_s,", "with within(8,", OF_TRANSPORT),
    (
        "worker: no redirect to another host",
        EXCHANGE,
        ' if _origin(target) == _origin(url) else ""',
        "",
        OF_TRANSPORT,
    ),
    (
        "embeddings: a text left out is noticed",
        "oasis/worker/pool.py",
        "if len(found) != at + len(step):",
        "if False:",
        OF_EMBEDDINGS,
    ),
    (
        "embeddings: bounded",
        "oasis/worker/pool.py",
        "if len(texts) > EMBED_TEXTS:",
        "if False:",
        OF_EMBEDDINGS,
    ),
    ("embeddings: one for each text", PROTOCOL, "if len(vectors) != len(texts):", "if False:", OF_EMBEDDINGS),
    ("embeddings: no secret", ASKING, "[self._redactor.hide(text, chat) for text in texts]", "texts", OF_ASKING),
    (
        "search: none for titles",
        ASKING,
        '"options": {**service["options"], "search": False}',
        '"options": service["options"]',
        ("tests/test_wire.py",),
    ),
    ("worker: refused parameters only once", CHAT, "not name or name in self._without", "not name", OF_TRANSPORT),
    (
        "worker: a proxy's refusal is the proxy's",
        "oasis/worker/failures.py",
        "            failure = _of_proxy(",
        "            failure = None and _of_proxy(",
        OF_PROXIES,
    ),
    (
        "worker: no password of a proxy in its address",
        "oasis/worker/transport.py",
        ' and "@" not in parts.netloc',
        "",
        OF_PROXIES,
    ),
    (
        "worker: the fence is named",
        "oasis/worker/failures.py",
        'if limits.get("walled") and _is_here(place):',
        "if False:",
        OF_TRANSPORT,
    ),
    (
        "budget: a sum that is none is not written",
        "oasis/services/prices.py",
        'amount("budget_cost", words["budget_cost"])',
        "pass",
        ("tests/services/test_prices.py",),
    ),
    (
        "prices: one for a model of a service",
        "oasis/services/prices.py",
        'if section.type == "price" and (',
        'if False and section.type == "price" and (',
        ("tests/services/test_prices.py",),
    ),
    ("failover: not after a word was shown", FAILOVER, " and not self._has_output", "", OF_FAILOVER),
    ("failover: not when the owner stopped it", FAILOVER, 'if failure["code"] in _STAYS:', "if False:", OF_FAILOVER),
    ("failover: offline does not go on for a model", FAILOVER, " or not self._has_answered", " or True", OF_FAILOVER),
    (
        "offline: a line of a log ends no quotation",
        OFFLINE + "answers.py",
        'text.replace("`", "\'")',
        "text",
        OF_ANSWERS,
    ),
    (
        "offline: a long line of a log is cut",
        OFFLINE + "answers.py",
        'text if len(text) <= most else text[: most - 1] + "…"',
        "text",
        OF_ANSWERS,
    ),
    (
        "offline: only a yes is a yes",
        OFFLINE + "understanding.py",
        " and all(one.concepts & allowed for one in segments)",
        "",
        OF_FOLLOWING,
    ),
    (
        "failover: no more is sent than was looked at",
        FAILOVER,
        "if self._seen is None or not is_smaller:",
        "if self._seen is None:",
        OF_FAILOVER,
    ),
    (
        "failover: who answered is named",
        "oasis/agent.py",
        'self._source.update(provider=event["provider"], model=event["model"])',
        "pass",
        OF_FAILOVER,
    ),
    (
        "asking: no oftener than it may be",
        ASKING,
        'if self._pace.wait(identifier, pace["per_s"], pace["burst"], is_cancelled):',
        "if True:",
        OF_ASKING,
    ),
    ("asking: refusals are remembered", ASKING, 'without.append(event["parameter"])', "pass", OF_ASKING),
    (
        "pace: who is cancelled takes nothing",
        "oasis/system/pace.py",
        "        self._give_back(name)\n",
        "",
        ("tests/system/test_pace.py",),
    ),
    ("fences: only of models without tools", "oasis/agent.py", "if collector.is_fenced and", "if", OF_FENCES),
    ("fences: a cut answer changes nothing", FENCES, "if is_cut and changes:", "if False:", OF_FENCES),
    ("fences: a refused line stops the others", FENCED, 'item["stops"] = True', "pass", OF_FENCES[::-1]),
    (
        "fences: stopped changes are not run",
        "oasis/agent.py",
        'if self._written and call["id"] in self._written.refusals:',
        "if False:",
        OF_FENCES,
    ),
    (
        "fences: shown again is not run again",
        FENCES,
        "is_new = not set(wanted) <= self._proposed",
        "is_new = True",
        OF_FENCES,
    ),
    ("fences: none after the last round", FENCES, "if not may_call:", "if False:", OF_FENCES),
    (
        "fences: a comment is no command",
        "oasis/change/shellwords.py",
        "if any(_BARE.match(line) for line in plain):",
        "if False:",
        OF_FENCES[::-1],
    ),
    (
        "fences: what stands in a condition is no command",
        FENCED,
        "if not (closing or depth or",
        "if not (closing or",
        OF_FENCES[::-1],
    ),
    (
        "schedule: nothing before the clock is set",
        CLOCKWORK,
        "if not self._is_trusted(",
        "if None is (",
        OF_CLOCKWORK,
    ),
    ("schedule: a firing is on flash first", CLOCKWORK, "self._records.put(noted)", "pass", OF_CLOCKWORK),
    (
        "schedule: devices by chance do not wear the flash",
        "oasis/schedule/devices.py",
        "AT_ONCE, WRITE_S = 8, 3600",
        "AT_ONCE, WRITE_S = 800, 3600",
        ("tests/schedule/test_book.py",),
    ),
    ("schedule: once ends itself", CLOCKWORK, 'noted["enabled"] = False', "pass", OF_CLOCKWORK),
    ("schedule: an event rests", CLOCKWORK, "and self._is_rested(entry, now_s)", "", OF_CLOCKWORK),
    ("schedule: the owner's change wins", CLOCKWORK, "if now != entry:", "if False:", OF_CLOCKWORK),
    ("schedule: risky waits whatever is set", UNATTENDED, 'if plan["risk"] != "low":', "if False:", OF_STANDING),
    ("schedule: a rehearsal does nothing", UNATTENDED, 'return "noted", _NOTED', 'return "approved", ""', OF_STANDING),
    ("schedule: nothing tainted ahead", UNATTENDED, "        if why:", "        if False:", OF_STANDING),
    ("schedule: ahead is for one outcome", STANDING, "_sum(name, pair[1]) for", "'' for", OF_STANDING),
    ("schedule: ahead, on what the verdict read", STANDING, "_now(name, read) == held", "True", OF_STANDING),
    (
        "schedule: ahead, never tainted",
        STANDING,
        'if plan["tainted"] or plan["until',
        'if plan["until',
        OF_STANDING,
    ),
    (
        "schedule: ahead, only what you reach the router after",
        STANDING,
        'plan["verdict"]["verdict"] != "yes"',
        "False",
        OF_STANDING,
    ),
    (
        "schedule: a rehearsal makes no call",
        "oasis/tools/registry.py",
        'if operator.rehearses and kind != "read":',
        "if False:",
        OF_STANDING,
    ),
    (
        "schedule: a device's name ends where no host name goes on",
        "files/etc/hotplug.d/dhcp/90-oasis",
        "name=${HOSTNAME%%[!A-Za-z0-9._-]*}",
        "name=$HOSTNAME",
        ("tests/service/test_hooks.py",),
    ),
    (
        "snapshot: the copies that are put back",
        JOURNAL,
        'self._files.replace(self.pending + "/files/" + str(item["name"]), item["before"], item["mode"])',
        "pass",
        OF_CHANGES,
    ),
    (
        "snapshot: the images that undo needs",
        JOURNAL,
        'self._files.replace(folder + "/" + str(item["name"]), item[image])',
        "pass",
        OF_CHANGES,
    ),
    (
        "snapshot: prepared before the first commit",
        TRANSACTION,
        "self._prepare_or_clear(record, plan)",
        "pass",
        OF_CHANGES,
    ),
    ("hash: the plan is what was shown", PLAN, 'if self.hash(plan) != plan["hash"]:', "if False:", OF_CHANGES[::-1]),
    ("hash: the run is bound", PLAN, '("id", "run", "operations"', '("id", "operations"', OF_CHANGES[::-1]),
    (
        "hash: the approval names the plan",
        APPROVAL,
        "if not is_equal(expected, hash_.lower()):",
        "if False:",
        OF_APPROVAL,
    ),
    ("approval: only the owner's counts", APPROVAL, 'if role["name"] != "owner":', "if False:", OF_APPROVAL),
    ("expiry of a plan", PLAN, 'if self._now_s() > plan["expires_s"]:', "if False:", OF_CHANGES[::-1]),
    (
        "chats: a torn tail is closed before a line is written",
        STORE,
        'b"\\n" if self._is_torn else b""',
        'b""',
        OF_CHATS,
    ),
    ("chats: what a failed write left is cut off", STORE, "self._files.cut(self._path, self._size)", "pass", OF_CHATS),
    (
        "chats: a write is synced",
        STORE,
        "self._files.append(self._path, data, self._late is None)",
        "self._files.append(self._path, data, False)",
        OF_CHATS[::-1],
    ),
    ("chats: before a plan all is on flash", STORE, "self._files.settle(self._path)", "pass", OF_CHATS),
    (
        "chats: a deleted one is gone for good",
        STORE,
        "self._files.forget(self.path(name))",
        "self._files.remove(self.path(name))",
        OF_CHATS[::-1],
    ),
    ("chats: a move is synced on both sides", FILES, "self.sync_folder(old)", "pass", OF_FLASH),
    (
        "chats: no stale archive stays",
        "oasis/chats/archive.py",
        "self.remove(name)  # what a power cut left there while it was brought back",
        "pass",
        OF_CHATS[::-1],
    ),
    (
        "chats: all of a forgotten message goes",
        STORE,
        'elif value is None and b\'"id":"\' + mark in line:',
        "elif False:",
        ("tests/chats/test_collection.py",),
    ),
    (
        "chats: a secret is not searched",
        "oasis/chats/search.py",
        'hide("\\n".join(_texts(message)))',
        '"\\n".join(_texts(message))',
        ("tests/chats/test_search.py",),
    ),
    (
        "chats: one writer at a time",
        "oasis/runs.py",
        "if chat and (chat in self._held or",
        "if chat and (",
        ("tests/chats/test_chat_methods.py",),
    ),
    ("fsync: asked of the kernel", FILES, "os.fsync(handle.fileno())", "handle.fileno()", OF_FLASH),
    ("fsync: of a folder", FILES, "os.fsync(folder)", "pass", OF_FLASH),
    (
        "fsync: before a file takes another's place",
        FILES,
        "os.chmod(temporary, mode)\n                self.sync(handle)",
        "os.chmod(temporary, mode)",
        OF_FLASH,
    ),
    (
        "fsync: of the name that was replaced",
        FILES,
        "self.rename(temporary, path)\n            self.sync_folder(path)",
        "self.rename(temporary, path)",
        OF_FLASH,
    ),
    (
        "fsync: of the owner's message",
        FILES,
        "if sync:\n                self.sync(handle)",
        "if False:\n                self.sync(handle)",
        OF_FLASH,
    ),
    (
        "foreign edit: the revision of the plan",
        PLAN,
        "if data is None or sha256(data) != revision:",
        "if data is None:",
        OF_CHANGES[::-1],
    ),
    ("foreign edit: what others have staged", PLAN, "self._check_foreign(plan)", "pass", OF_CHANGES[::-1]),
    (
        "foreign edit: kept when it is overwritten",
        TRANSACTION,
        'kept = self._journal.keep_foreign(str(record["id"]))',
        "kept = []",
        OF_CHANGES,
    ),
    (
        "timer: nobody kept the change",
        TRANSACTION,
        'threading.Thread(target=self._watch, args=(record,), name="deadline", daemon=True).start()',
        "pass",
        OF_CHANGES,
    ),
    ("guard process", GUARD, "self._process = self._executor.detach(self._argv)", "pass", OF_CHANGES),
    ("guard process: one that was killed", TRANSACTION, "self._guard.keep()", "pass", OF_CHANGES),
    (
        "bus: a session's right to the method",
        CALLS,
        "if not self._may(session, call.object, call.method):",
        "if False:",
        OF_BUS,
    ),
    (
        "bus: a session that may only read",
        CALLS,
        'is_owner = self._may(session, "oasis.run", "start")',
        "is_owner = True",
        OF_BUS,
    ),
    (
        "bus: who is not root only looks",
        CALLS,
        'name = "owner" if call.user in ("root", self._own) else "viewer"',
        'name = "owner"',
        OF_BUS,
    ),
    ("bus: what is for the socket only", CALLS, 'TABLE[name][0] == "local"', "False", OF_BUS),
    ("bus: waiters are bounded", CALLS, "if len(self._waiting) > self._most:", "if False:", OF_BUS),
    (
        "bus: upstream's methods have roles",
        CALLS,
        'if name not in ROLES.get(str(role["name"]), ()):',
        "if False:",
        OF_BUS,
    ),
    (
        "ubus: a session never stands in argv",
        "oasis/system/ubus.py",
        "if self._is_real and arguments",
        "if False and arguments",
        ("tests/frontends/test_bus_wire.py",),
    ),
    (
        "phone: no tool past the owner",
        "oasis/frontends/phone.py",
        'if found[0]["class"] != "read" or found[0]["approval"] != "allow":',
        "if False:",
        ("tests/frontends/test_phone.py",),
    ),
    (
        "phone: a message sent again joins",
        "oasis/frontends/sending.py",
        "self._sent(role, chat, message) or self._begin",
        "self._begin",
        ("tests/frontends/test_bus_sending.py",),
    ),
    ("recovery at start", "oasis/daemon.py", "self.transaction.recover()", "None", ("tests/test_daemon.py",)),
    ("recovery: puts back", TRANSACTION, "change = self._journal.pending_id()", 'change = ""', OF_CHANGES),
    (
        "one change at a time",
        TRANSACTION,
        "if self._record is not None:\n                raise",
        "if False:\n                raise",
        OF_CHANGES,
    ),
    ("what was written is compared with the plan", TRANSACTION, "self._check_written(plan)", "pass", OF_CHANGES),
    ("what cannot be finished is put back", TRANSACTION, "self._undo_half(record, plan, error)", "pass", OF_CHANGES),
    ("free space is looked at", JOURNAL, "if free < need:", "if False:", OF_CHANGES),
    (
        "restore: a damaged copy is never put back",
        "oasis/change/restore.sh",
        'if [ "$(sum_of "$copy")" != "$2" ]; then',
        "if false; then",
        OF_CHANGES,
    ),
    (
        "reachability: a certain no is refused",
        PLAN,
        'if answer["verdict"] == "no":',
        "if False:",
        ("tests/change/test_owner.py",),
    ),
    (
        "reachability: the way of the run's owner decides",
        "oasis/change/reach/paths.py",
        "in own] or ways",
        "in own or True] or ways",
        ("tests/change/test_owner.py",),
    ),
    (
        "reachability: a list that netifd does not read is no yes",
        "oasis/change/reach/doubts.py",
        "option not in _LISTS",
        "False",
        ("tests/change/reach/test_verdict.py",),
    ),
    (
        "reachability: what the verdict read is bound",
        PLAN,
        '{**plan["verdict"].pop("read", {}), **{',
        '{**({}, plan["verdict"].pop("read", {}))[0], **{',
        ("tests/change/test_owner.py",),
    ),
    ("proof: an old connection is none", ALIVE, '"reused" if one in self._old else "proved"', '"proved"', OF_PROOF),
    ("proof: a tunnel is none", ALIVE, "if is_here and not self._is_here_fine:", "if False:", OF_PROOF),
    ("proof: a tunnel to an address of ours is none", ALIVE, " or mirrored(one) in known", "", OF_PROOF),
    (
        "keys: in the key file before they leave UCI",
        "oasis/services/moving.py",
        "    settings.add_keys(found)\n    _write",
        "    _write",
        ("tests/services/test_moving.py",),
    ),
    (
        "keys: none among the words of a command",
        "oasis/frontends/cli_offers.py",
        'if arguments.get("KEY") or arguments.get("-k"):',
        "if False:",
        ("tests/cli/test_scenarios.py",),
    ),
    (
        "budget: stops when it is spent",
        "oasis/services/usage.py",
        "if percent >= 100:",
        "if False:",
        ("tests/services/test_usage.py",),
    ),
    (
        "environment: keys are taken out of it",
        "oasis/layers/host.py",
        'environment.pop(name, "")',
        'environment.get(name, "")',
        ("tests/layers/test_host.py",),
    ),
    ("proof: the nonce", ALIVE, " or not is_equal(nonce, self._nonce)", "", OF_PROOF),
    ("proof: the session may keep", ALIVE, "if not self._may_keep(session):", "if False:", OF_PROOF),
    ("proof: the login is younger", ALIVE, "and accepted_s > self._since_s", "", OF_PROOF),
    (
        "proof: asked for before keeping",
        "oasis/methods.py",
        "self._shop.transaction.witness(role, unproved)",
        '"word"',
        ("tests/test_daemon.py",),
    ),
    (
        "read-back: after every reload",
        TRANSACTION,
        'evidence.readback.verify({**plan, "services": record["services"]}, before)',
        "[]",
        ("tests/change/test_readback.py",),
    ),
    (
        "read-back: a service that is turned off has ended",
        "oasis/change/readback.py",
        "if any((found or {}).values()):",
        "if False:",
        ("tests/change/test_readback.py",),
    ),
    (
        "services: only a script whose service is turned off may fail",
        "oasis/change/services.py",
        "if status and name not in off:",
        "if False:",
        ("tests/change/test_switches.py",),
    ),
    (
        "openings: every word for yes and no",
        "oasis/change/policy.py",
        "return value in allowed or (meaning",
        "return value in allowed or (False and meaning",
        ("tests/change/test_switches.py",),
    ),
    (
        "uci: what a batch staged is what was foreseen",
        "oasis/uci/program.py",
        'self._compare(shown.split(b"\\n", added)[-1], expected)',
        "pass",
        ("tests/uci/test_program.py",),
    ),
    (
        "extend: the guard waits as long",
        TRANSACTION,
        "self._journal.set_deadline(int(self._clock.up_s() + deadline_s",
        "(int(self._clock.up_s() + deadline_s",
        ("tests/change/test_window.py",),
    ),
    ("extend: not for ever", TRANSACTION, ", self._applied_s + LONGEST_S)", ", 1e9)", ("tests/change/test_window.py",)),
    ("an apply of LuCI is waited for", PLAN, "self._check_apply()", "pass", ("tests/change/test_window.py",)),
    (
        "restore: stops what the change started",
        "oasis/change/restore.sh",
        'case $stopped in *" $name "*) action=stop ;; esac',
        ":",
        ("tests/change/test_window.py",),
    ),
    ("undo: code comes back with its owner alone", PLAN, "= bool(code)", "= False", ("tests/change/test_undo.py",)),
    (
        "code: taking away what kept it from running",
        "oasis/change/policy.py",
        "return not is_whole and catalogue.is_code(",
        "return False and catalogue.is_code(",
        ("tests/change/test_policy.py",),
    ),
    (
        "services: some are the owner's and the boot's",
        PLAN,
        'if risk == "forbidden":\n            raise PolicyError(\n',
        "if False:\n            raise PolicyError(\n",
        ("tests/change/test_plan.py",),
    ),
    (
        "card: what nobody sees is written out",
        "oasis/change/visible.py",
        "if clean.line(text) == text:",
        "if True:",
        ("tests/change/test_difference.py",),
    ),
    (
        "held: who is let in is told and never low",
        PLAN,
        "opened += self.policy.openings(before, after)",
        "pass",
        ("tests/change/test_plan.py",),
    ),
    ("held: an opening is never low", PLAN, "if opened or asked:", "if False:", ("tests/change/test_plan.py",)),
    (
        "held: a secret gets no way out unasked",
        HELD,
        "return [option] if hold and catalogue",
        "return [] if hold and catalogue",
        OF_HELD,
    ),
    (
        "held: no way waits for a secret",
        HELD,
        "return [name for name in section.options if cat",
        "return [] and [name for name in section.options if cat",
        OF_HELD,
    ),
    ("held: code is not started unasked", HELD, "if _is_turned_on(item, switches):", "if False:", OF_HELD),
    ("held: nor by taking away what stops it", HELD, "return more < 0", "return False", OF_HELD),
    ("held: asked under every setting", PLAN, 'bool(plan["is_asked"] or asked)', 'bool(plan["is_asked"])', OF_HELD),
    ("refused: forced only where it was meant", REFUSED, "    if moved:\n", "    if False:\n", OF_REFUSED),
    ("refused: forced once", REFUSED, "shop.refused.remove(kept)", "pass", OF_REFUSED),
    ("repair: two rounds and no more", REPAIR, "self._rounds > ROUNDS", "False", OF_REPAIR),
    ("repair: a rule is no mistake", REPAIR, 'error.get("repairable") is True', "True", OF_REPAIR),
    ("repair: code beside a mistake", PLAN, 'is_mistake = "exec" not in needs', "is_mistake = True", OF_REPAIR),
    (
        "repair: no name of what is forbidden",
        "oasis/change/catalogue.py",
        "if not is_code(package, name)",
        "",
        OF_REPAIR,
    ),
    (
        "eval: the judge sees the bytes",
        "tests/eval/judge.py",
        "{}).get(name) != data",
        "{}).get(name) is None",
        OF_JUDGE,
    ),
    ("eval: the judge finds secrets", "tests/eval/judge.py", "value not in said and any(", "False and any(", OF_JUDGE),
    ("force: what is missing refuses", "oasis/change/force.py", "    if missing:\n", "    if False:\n", OF_FORCE),
    ("force: code needs its words", "oasis/change/force.py", " and words != WORDS:", " and False:", OF_FORCE),
    (
        "force: no hands of a model",
        "oasis/tools/operator.py",
        "None if is_model else forces",
        "forces",
        ("tests/test_force.py",),
    ),
    (
        "force: code that a model proposed is not kept",
        "oasis/tools/refused.py",
        'if "exec" not in error.forces:',
        "if True:",
        ("tests/tools/test_refused.py", "tests/test_force.py"),
    ),
    (
        "force: a forced plan waits under every setting",
        PLAN,
        'plan["tainted"] or plan["forces"] or',
        'plan["tainted"] or',
        OF_FORCE,
    ),
    ("force: bound in the hash", PLAN, '"verdict",\n          "forces", "call")', '"verdict", "call")', OF_FORCE),
    ("typed word: nothing else approves", APPROVAL, "if wanted and word != wanted:", "if False:", OF_APPROVAL[:1]),
    ("taint: a plan waits under every setting", "oasis/change/policy.py", "is_asked or ", "", OF_CHANGES[::-1]),
    (
        "taint: goes with the context to the plan",
        "oasis/tools/operator.py",
        "if self._taint:",
        "if False:",
        ("tests/test_untrusted.py",),
    ),
    (
        "taint: of an answer is kept",
        "oasis/agent.py",
        'message["taint"] = taint',
        "pass",
        ("tests/test_agent.py",),
    ),
    (
        "secrets: hidden on the way to a model",
        "oasis/asking.py",
        "hide(_cleaned(message), chat)",
        "_cleaned(message)",
        ("tests/test_placeholders.py",),
    ),
    (
        "secrets: a placeholder goes into an option of its class",
        "oasis/change/placeholders.py",
        "if not wanted or secrets.kind(package, held_kind, option) != wanted:",
        "if False:",
        ("tests/test_placeholders.py",),
    ),
    (
        "secrets: masked on the way to front-ends",
        "oasis/methods.py",
        "return replies.shown(reply, self._shop.redactor, self._shop.facts)",
        "return reply",
        ("tests/test_placeholders.py",),
    ),
    (
        "secrets: a streamed one is not cut in two",
        "oasis/runs.py",
        "keep = self._open_end(whole) if self._open_end is not None else 0",
        "keep = 0",
        ("tests/test_runs.py",),
    ),
    (
        "secrets: nor through its middle",
        "oasis/change/redact.py",
        "cut = min(cut, found) if found >= 0 else cut",
        "pass",
        ("tests/test_runs.py",),
    ),
    (
        "services: a change reloads what reads it",
        "oasis/change/policy.py",
        'rule["package"] in packages and item not in found',
        "False",
        ("tests/change/test_policy.py",),
    ),
    (
        "openings: a barrier taken away is one",
        "oasis/change/policy.py",
        "return list(dict.fromkeys(found))",
        "return [one for one in found if 'lets in' in one]",
        ("tests/change/test_policy.py",),
    ),
    (
        "secrets: masked in what a tool gives",
        "oasis/tools/registry.py",
        "operator.masked(typed.hide(",
        "((",
        ("tests/test_secret_sweep.py",),
    ),
    ("wall: loaded", CONFINEMENT, '"-f", "/proc/self/fd/0"]', '"-c", "-f", "/proc/self/fd/0"]', OF_WALL),
    ("wall: one that is gone comes back", CONFINEMENT, "self._loaded == (text, self._listed(nft))", "True", OF_WALL),
    (
        "wall: every kind of local address",
        "oasis/system/fence.py",
        "fib daddr type { local, broadcast, anycast, multicast } jump closed",
        "fib daddr type { broadcast, anycast, multicast } jump closed",
        OF_WALL[::-1],
    ),
    ("wall: never SSH or the page", "oasis/system/fence.py", " or number in _MANAGEMENT_PORTS", "", OF_WALL[::-1]),
    (
        "wall: before every request",
        "oasis/worker/pool.py",
        "        self._prepare()\n",
        "",
        ("tests/worker/test_pool.py",),
    ),
    (
        "worker: not root",
        RIGHTS,
        "if not become(user) and is_required:",
        "if False:",
        ("tests/worker/test_rights.py",),
    ),
    ("worker: writes no file", RIGHTS, '_limit("RLIMIT_FSIZE", 0)', "pass", ("tests/worker/test_rights.py",)),
    (
        "chat: a cycle ends the walk",
        "oasis/core/thread.py",
        "name not in self.parents and name not in self.gone and self._visit(name)",
        "self._visit(name)",
        ("tests/core/test_thread.py",),
    ),
    (
        "chat: a bookmark stays on its branch",
        "oasis/core/heads.py",
        "if head and (head not in found or name in below[head]):",
        "if head:",
        ("tests/core/test_heads.py",),
    ),
    (
        "chat: no result goes out without its call",
        "oasis/core/trim.py",
        "    space.drop_results_without_call()\n    kept",
        "    kept",
        ("tests/core/test_trim.py",),
    ),
    (
        "tool outputs: words for the owner alone",
        "oasis/core/envelope.py",
        "return _clean_text(value, effects)",
        "return value",
        ("tests/core/test_envelope.py",),
    ),
    (
        "attachments: the bytes are those that were stored",
        "oasis/core/blobs.py",
        "if self._sha256(data) != digest:",
        "if False:",
        ("tests/core/test_blobs.py",),
    ),
    (
        "attachments: a hash is no path",
        "oasis/core/schema.py",
        '_need(is_sha256(block["sha256"]), path + ".sha256", "64 hex digits in lower case")',
        "pass",
        ("tests/core/test_schema.py",),
    ),
    (
        "answers: a sentinel completes no response",
        RESPONSES,
        "return self.cut() if self.is_started",
        "return self.finish() if self.is_started",
        OF_RESPONSES,
    ),
    (
        "answers: reasoning is for the model that made it",
        "oasis/providers/responses.py",
        'kept if kept.get("model") == self._model else {}',
        "kept",
        OF_RESPONSES,
    ),
    (
        "answers: a call that was cut is not run",
        RESPONSES,
        'if call.get("status") == "incomplete":',
        "if False:",
        OF_RESPONSES,
    ),
    ("answers: reasoning comes before its call", RESPONSES, 'if call["before"]:', "if False:", OF_RESPONSES),
    (
        "answers: nothing is stored at the service",
        "oasis/providers/responses.py",
        '"store": False',
        '"store": True',
        OF_RESPONSES,
    ),
    ("answers: a message without an end is cut", "oasis/providers/cohere.py", "if not reason:", "if False:", OF_COHERE),
    (
        "answers: thoughts of others stay behind",
        "oasis/providers/cohere.py",
        'if wire.metadata_of(block, profile) and block["text"]',
        'if block["text"]',
        OF_COHERE,
    ),
    (
        "answers: a new file that cannot be read is told",
        "oasis/providers/documents.py",
        "if label and data_of(block):",
        "if False:",
        OF_COHERE,
    ),
    (
        "answers: a search that is not offered is told",
        "oasis/providers/wire.py",
        "if not isinstance(known, dict):",
        "if False:",
        ("tests/providers/test_profiles.py",),
    ),
    (
        "answers: embeddings keep the order of the texts",
        "oasis/providers/openai_models.py",
        'entries.sort(key=lambda entry: int(entry["index"]))',
        "pass",
        ("tests/providers/test_embeddings.py",),
    ),
    (
        "packages: the configuration is for root alone",
        "package/manifest.json",
        '"modes": {"/etc/config/oasis": "0600"}',
        '"modes": {}',
        ("tests/package/test_build.py",),
    ),
    (
        "packages: nothing runs while an image is built",
        "package/scripts/oasis.prerm",
        '[ -n "$IPKG_INSTROOT" ] || ',
        "",
        ("tests/package/test_build.py",),
    ),
    (
        "packages: the certificates' library is a dependency",
        "package/manifest.json",
        '"python3-openssl", ',
        "",
        ("tests/package/test_dependencies.py",),
    ),
    (
        "mcp: a write to a server that does not read ends with the server",
        "oasis/mcp/stdio.py",
        "while data and not self._ended:",
        "while data:",
        ("tests/mcp/test_bounds.py",),
    ),
    (
        "mcp: questions of a server are bounded",
        "oasis/mcp/stdio.py",
        "is_flood = self._replies > REPLIES",
        "is_flood = False",
        ("tests/mcp/test_bounds.py",),
    ),
    (
        "mcp: a server that is over is not opened again",
        "oasis/mcp/servers.py",
        "if not self._is_over and (",
        "if (",
        ("tests/mcp/test_bounds.py",),
    ),
    (
        "mcp: a token goes to the home network or by https",
        "oasis/mcp/servers.py",
        'and not _is_home(entry["url"])',
        "and False",
        ("tests/mcp/test_bounds.py",),
    ),
    (
        "mcp: who only looks sees no arguments",
        "oasis/mcp/servers.py",
        "return found if is_owner else",
        "return found if True else",
        ("tests/mcp/test_bounds.py",),
    ),
    (
        "mcp: a client keeps its name",
        "oasis/methods.py",
        'if peer.setdefault("client", known) != known:',
        'peer["client"] = known\n        if False:',
        ("tests/mcp/test_server.py",),
    ),
    (
        "mcp: an id that is none ends no server",
        "oasis/frontends/mcp_stdio.py",
        '        number = named(message.get("id"))',
        '        number = message.get("id")',
        ("tests/mcp/test_server.py",),
    ),
    (
        "agent: one call over and over is stopped",
        "oasis/exchanges.py",
        "return Repeats().watched(call) if is_model else call",
        "return call",
        ("tests/test_repeats.py",),
    ),
    (
        "runs: clients leave room for the owner",
        "oasis/runs.py",
        "if client and sum(",
        "if False and sum(",
        ("tests/test_runs.py",),
    ),
    (
        "doctor: a fault in a check ends no round",
        "oasis/doctor/rounds.py",
        "except Exception as bug:",
        "except KeyboardInterrupt as bug:",
        ("tests/doctor/test_homes.py",),
    ),
    (
        "doctor: an access point is not told to close its own network",
        "oasis/doctor/scene.py",
        "if with_route and all(self.is_home(name) for name in with_route):",
        "if False:",
        ("tests/doctor/test_homes.py",),
    ),
    (
        "log: what cannot be written breaks nothing off",
        "oasis/change/redact.py",
        "    except OSError:\n        pass  # nobody reads it",
        "    except ZeroDivisionError:\n        pass  # nobody reads it",
        ("tests/test_daemon.py",),
    ),
    (
        "runs: a run ends whatever else fails",
        "oasis/runs.py",
        "    finally:  # a run without an end",
        "    else:  # a run without an end",
        ("tests/test_runs.py",),
    ),
    (
        "privacy-shows-the-key",
        CHAT,
        'hidden = {name: value.replace(key, "***") if key else value',
        "hidden = {name: value",
        ("tests/test_privacy.py",),
    ),
    (
        "privacy-stores-what-it-shows",
        "oasis/exchanges.py",
        "        finally:\n            chat.discard()",
        "        finally:\n            chat.flush()",
        ("tests/test_privacy.py",),
    ),
    (
        "privacy-asks-the-service",
        PROTOCOL,
        'chat.run() if request["op"] == "chat" else chat.show()',
        "chat.run()",
        ("tests/test_privacy.py",),
    ),
    (
        "setup-asks-neighbours-outside",
        "oasis/setup.py",
        'if device["present"] and is_home(str(device["ip"])):',
        'if device["present"]:',
        ("tests/test_setup_part.py",),
    ),
    (
        "setup-uses-what-does-not-answer",
        "oasis/frontends/cli_setup.py",
        'if not reply["ok"]:',
        "if False:",
        ("tests/frontends/test_terminal_setup.py",),
    ),
    (
        "doctor-waits-one-after-the-other",
        "oasis/doctor/scene.py",
        "        self._thread.start()\n",
        "        self._thread.start()\n        self._thread.join()\n",
        ("tests/doctor/test_packets.py",),
    ),
    (
        "doctor-takes-a-refused-half-for-silence",
        "oasis/system/probe.py",
        "said[0] == 0 or _FOUND in said[1]",
        "said[0] == 0",
        ("tests/doctor/test_packets.py",),
    ),
    (
        "offline-does-now-what-is-for-later",
        OFFLINE + "caution.py",
        'STOPS = {"later", "condition"',
        'STOPS = {"condition"',
        ("tests/offline/test_nearly.py",),
    ),
    (
        "offline-does-what-is-supposed",
        OFFLINE + "caution.py",
        '"later", "condition", "past"',
        '"later", "past"',
        ("tests/offline/test_nearly.py",),
    ),
    (
        "knowledge-result-without-end",
        "oasis/seed/knowledge.py",
        'while result["passages"] and len(',
        "while False and len(",
        ("tests/memory/test_knowledge_daemon.py",),
    ),
    (
        "telegram-takes-forwarded-words-for-the-owner-s",
        TELEGRAM + "_talk.py",
        'self._forwarded(asked) if update.get("is_forwarded") else self._ordered(asked)',
        "self._ordered(asked)",
        OF_TALK,
    ),
)


class Workplace:
    """A copy of the repository in which one text at a time is another."""

    def __init__(self, folder: str) -> None:
        self.folder = folder + "/repository"
        shutil.copytree(REPOSITORY, self.folder, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
        self._edits = 0

    def replace(self, file: str, old: str, new: str) -> str:
        """Replace the only place of a text and return the whole file as it was.

        Raises: ValueError when the text is not there exactly once.
        """
        with open(os.path.join(self.folder, file), encoding="utf-8") as handle:
            text = handle.read()
        if text.count(old) != 1:
            raise ValueError(f"{file} holds {text.count(old)} times: {old}")
        self.write(file, text.replace(old, new))
        return text

    def write(self, file: str, text: str) -> None:
        """Write a file of the copy so that no bytecode of its older version is taken for it."""
        path = os.path.join(self.folder, file)
        with open(path, "w", encoding="utf-8") as handle:
            handle.write(text)
        # Bytecode is told apart by size and second: every edit is given a second of its own.
        self._edits += 1
        moment = time.time() + 10 * self._edits
        os.utime(path, (moment, moment))

    def first_failure(self, tests: tuple[str, ...]) -> str:
        """Run tests; return the first that fails, "" when all pass.

        Raises: ValueError when they cannot be run.
        """
        argv = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        try:
            done = subprocess.run(argv, cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return f"(the tests hang: more than {TIMEOUT_S} s)"
        if done.returncode == 0:
            return ""
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
        if done.returncode != 1 or failed is None:
            raise ValueError("the tests could not be run:\n" + done.stdout[-3000:] + done.stderr[-1000:])
        return failed[1]


def judge(place: Workplace, mutant: Mutant) -> str:
    """Take one safety out, run its tests, put it back; return the test that noticed, "" when none did."""
    _, file, old, new, tests = mutant
    whole = place.replace(file, old, new)
    try:
        return place.first_failure(tests)
    finally:
        place.write(file, whole)


class Whole:
    """Which tests pass as long as nothing is missing; each file is run once."""

    def __init__(self, place: Workplace) -> None:
        self._place = place
        self._passed: set[str] = set()

    def check(self, tests: tuple[str, ...]) -> None:
        """Raise ValueError for a test that fails with every safety in place."""
        new = tuple(test for test in tests if test not in self._passed)
        failed = self._place.first_failure(new) if new else ""
        if failed:
            raise ValueError("fails with every safety in place: " + failed)
        self._passed.update(new)


def check_texts(place: Workplace, chosen: list[Mutant]) -> None:
    """Raise ValueError unless every text that is to be replaced is there."""
    gone = []
    for name, file, old, new, _ in chosen:
        try:
            place.write(file, place.replace(file, old, new))
        except ValueError as error:
            gone.append(f"{name}: {error}")
    if gone:
        raise ValueError("the code has changed, so must the list:\n" + "\n".join(gone))


def begun_today(chosen: list[Mutant]) -> list[Mutant]:
    """Return mutants beginning with another one each day: where time is short, all have their turn."""
    at = datetime.date.today().toordinal() * 37 % len(chosen) if chosen else 0
    return chosen[at:] + chosen[:at]


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("words", nargs="*", metavar="WORD", help="only mutants whose name holds one of the words")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no further one after this time")
    given = parser.parse_args(argv)
    chosen = [one for one in MUTANTS if not given.words or any(word in one[0] for word in given.words)]
    killed, survived, end_s = 0, 0, time.monotonic() + given.seconds
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the copy goes, and so do the tests in it
    with tempfile.TemporaryDirectory(prefix="oasis-mutants-") as folder:
        place = Workplace(folder)
        whole = Whole(place)
        try:
            check_texts(place, chosen)
            for mutant in begun_today(chosen):
                if time.monotonic() > end_s:
                    break
                whole.check(mutant[4])
                killer = judge(place, mutant)
                print(f"killed    {mutant[0]}  by {killer}" if killer else f"SURVIVED  {mutant[0]}", flush=True)
                killed, survived = killed + bool(killer), survived + (not killer)
        except ValueError as error:
            print(f"mutants: {error}", file=sys.stderr)
            return 2
    left = len(chosen) - killed - survived
    print(f"{killed} killed, {survived} survived" + (f", {left} not tried for lack of time" if left else ""))
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
