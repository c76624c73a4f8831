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

JOURNAL = "oasis/change/apply/journal.py"
TRANSACTION, EVIDENCE = "oasis/change/apply/transaction.py", "oasis/change/apply/evidence.py"
PLAN = "oasis/change/plan.py"
FILES = "oasis/system/files.py"
APPROVAL = "oasis/change/approval.py"
OF_CHANGES = ("tests/change/apply/test_transaction.py", "tests/change/test_plan.py")
STORE = "oasis/core/store.py"
OF_CHATS = ("tests/core/test_store.py", "tests/chats/test_faults.py")
OF_FLASH = ("tests/system/test_power_cut.py", "tests/system/test_files.py")
OF_FORCE = ("tests/change/test_force.py", "tests/tools/test_force.py")
OF_SERVICE = ("tests/service/test_init_script.py", "tests/service/test_defaults.py", "tests/service/test_keep.py")
OF_SERVICES = ("tests/change/test_failing_services.py",)
OF_STANDS = ("tests/change/test_stands.py",)
HARMLESS, OF_HARMLESS = "oasis/change/harmless.py", ("tests/change/test_harmless.py",)
ENDS, OF_ENDS = "oasis/change/history/ends.py", ("tests/change/history/test_ends.py",)
DETOURS, OF_DETOURS = "oasis/change/reach/detours.py", ("tests/change/reach/test_detours.py",)
SSH_KEYS, OF_SSH_KEYS = "oasis/parts/admin/ssh_keys.py", ("tests/parts/admin/test_ssh_keys.py",)
OF_WIREGUARD = ("tests/parts/admin/test_wireguard.py",)
BOUNDS, CHECK = "oasis/catalogue/bounds.py", "oasis/catalogue/check.py"
OF_INSTALLING = ("tests/tools/test_installing.py",)
OF_BOUNDS = ("tests/change/test_bounds.py",)
OF_LET_IN = ("tests/change/test_let_in.py",)
OF_MADE = ("tests/catalogue/test_generated.py",)
OF_TIMES = ("tests/tools/test_times_daemon.py",)
OF_ALLOWANCE = ("tests/change/test_allowance.py",)
OF_ROLES = ("tests/api/test_roles.py",)
OF_APPROVAL = ("tests/change/test_approval.py", "tests/daemon/test_wiring.py")

TELEGRAM = "oasis/parts/telegram/"
OF_CODES = ("tests/parts/telegram/test_codes.py",)
OF_TALK = ("tests/parts/telegram/test_people_talk.py",)
OF_LINE = ("tests/parts/telegram/test_line.py",)
OF_OWED = ("tests/parts/telegram/test_owed.py",)
OF_PRESENCE = ("tests/tools/test_principal.py",)
OF_APPROVING = ("tests/parts/telegram/test_approval.py",)

TIMER = "oasis/parts/schedule/scheduler.py"
OF_PHRASES = ("tests/parts/schedule/test_phrases.py",)
OF_TIMER = ("tests/parts/schedule/test_scheduler_timer.py",)
JOB_RUN = "oasis/parts/schedule/job_run.py"
AHEAD = "oasis/parts/schedule/ahead.py"
OF_AHEAD = ("tests/parts/schedule/test_job_run.py",)
ADMISSION, WALK = "oasis/change/reach/admission.py", "oasis/change/reach/walk.py"
OF_ADMISSION = ("tests/change/reach/test_admission.py",)
OF_HELD = ("tests/change/test_put_to_use.py",)
REFUSED = "oasis/tools/operator.py"
OF_REFUSED = ("tests/tools/test_force.py",)
REPAIR = "oasis/agent/loop_guard.py"
OF_REPAIR = ("tests/agent/test_correction.py",)
OF_JUDGE = ("tests/eval/test_judge.py",)
OFFLINE = "oasis/parts/offline/"
OF_ANSWERS = ("tests/parts/offline/test_answers.py",)
OF_FOLLOWING = ("tests/parts/offline/test_follow.py",)

OF_CARDS = ("tests/change/test_cards.py",)
OF_GENERATED = ("tests/change/test_generated_text.py",)
OF_WAYS = ("tests/agent/test_exfiltration.py",)
ALIVE = "oasis/change/apply/proof_of_life.py"
OF_PROOF = ("tests/change/apply/test_proof_of_life.py",)

CALLS = "oasis/bus/calls.py"
OF_BUS = ("tests/bus/test_objects.py",)

FENCED = "oasis/change/uci_commands.py"
FENCES = "oasis/tools/fences.py"
OF_FENCES = ("tests/tools/test_fences.py", "tests/change/test_fenced.py")

# Name, file, the text of the safety, what stands there without it, the tests that must notice.
CONFINEMENT = "oasis/system/confinement.py"
RIGHTS = "oasis/worker/rights.py"
OF_WALL = ("tests/system/test_confinement.py", "tests/system/test_confinement_rules.py")

RESPONSES = "oasis/providers/responses.py"
OF_RESPONSES = ("tests/providers/test_responses.py",)
OF_COHERE = ("tests/providers/test_cohere.py",)

PROTOCOL = "oasis/worker/protocol.py"
EXCHANGE = "oasis/worker/transport.py"
ASKING = "oasis/agent/client.py"
OF_TRANSPORT = ("tests/worker/test_transport.py",)
OF_PROXIES = ("tests/worker/test_proxies.py",)
OF_FAILOVER = ("tests/agent/test_failover.py",)
OF_TEXTS = ("tests/agent/test_taint_of_settings.py", "tests/redaction/test_foreign.py")
OF_ASKING = ("tests/agent/test_client.py",)
OF_EMBEDDINGS = ("tests/worker/test_embeddings.py",)
BUS_CALLS = "oasis/ubus/incoming.py"
OF_BUS_VALUES = ("tests/ubus/test_message.py",)
OF_BUS_PEER = ("tests/ubus/test_peer_wire.py", "tests/ubus/test_peer.py")

TOOLS = "oasis/tools/registry.py"
PERMITS = "oasis/tools/registry.py"
OF_TOOLS = ("tests/tools/test_registry.py",)
OF_ROUTER_TOOLS = ("tests/tools/test_router_tools.py",)

RECORDS = "oasis/system/records.py"
OF_RECORDS = ("tests/system/test_records.py",)
OF_KNOWLEDGE = ("tests/parts/memory/test_knowledge_daemon.py",)
OF_HOME = ("tests/parts/memory/test_at_home.py",)
OF_FACTS = ("tests/parts/memory/test_facts_daemon.py",)

MUTANTS = (
    (
        "link-without-its-host",
        TELEGRAM + "text.py",
        'return "%s (%s)" % (anchor % inline(label, (*inside, "a")), where), end + 1 - at',
        'return anchor % inline(label, (*inside, "a")), end + 1 - at',
        ("tests/parts/telegram/test_text.py",),
    ),
    (
        "link-with-a-user-name-before-its-host",
        TELEGRAM + "text.py",
        '(:[0-9]{1,5})?(?:[/?#]|\\Z)")',
        '(:[0-9]{1,5})?(?:[/?#@]|\\Z)")',
        ("tests/parts/telegram/test_text.py",),
    ),
    (
        "telegram-code-used-twice",
        TELEGRAM + "people.py",
        'if used > self._kept.get("last", 0):',
        "if used:",
        OF_CODES,
    ),
    (
        "telegram-code-without-end-of-tries",
        TELEGRAM + "people.py",
        "if wrong >= WRONG:",
        "if False:",
        OF_CODES,
    ),
    (
        "telegram-code-of-any-time",
        TELEGRAM + "people.py",
        "WINDOW = 1",
        "WINDOW = 3",
        OF_CODES,
    ),
    (
        "telegram-pairing-without-end-of-tries",
        TELEGRAM + "people.py",
        "if self._tries <= 0:",
        "if False:",
        OF_CODES,
    ),
    (
        "telegram-owner-in-a-group",
        TELEGRAM + "people.py",
        'return self._role if is_private or self._role != "owner" else "wrong"',
        "return self._role",
        OF_CODES,
    ),
    (
        "telegram-anybody-in-a-paired-chat",
        TELEGRAM + "people.py",
        'if one["chat"] == chat and one["user"] == (user if is_private else 0):',
        'if one["chat"] == chat:',
        ("tests/parts/telegram/test_people.py",),
    ),
    (
        "telegram-stranger-answered",
        TELEGRAM + "messenger.py",
        """        if role == "wrong":
""",
        """        if role != "owner":
""",
        OF_TALK,
    ),
    (
        "telegram-guest-with-all-tools",
        "oasis/parts/telegram/manifest.py",
        '"guest": ("status", "diagnose")}',
        '"guest": ("*",)}',
        OF_TALK,
    ),
    (
        "telegram-guest-with-the-owner-s-words",
        TELEGRAM + "talk.py",
        "_as_turn(asked, WORDS)",
        '_as_turn(asked, "")',
        OF_TALK,
    ),
    (
        "telegram-guest-chooses-the-service",
        TELEGRAM + "people.py",
        "    is_told = False",
        "    is_told = True",
        OF_PRESENCE,
    ),
    (
        "telegram-facts-out-of-what-a-worker-says",
        "oasis/agent/start.py",
        "*who.taint]",
        "]",
        OF_PRESENCE,
    ),
    (
        "schedule-tells-a-model-the-names-of-devices",
        "oasis/agent/start.py",
        "is_model or who.has_teller)",
        "is_model)",
        ("tests/parts/schedule/test_schedule_daemon.py",),
    ),
    (
        "telegram-update-handled-twice",
        TELEGRAM + "messenger.py",
        'if update["id"] <= self._last or',
        "if False or",
        OF_TALK,
    ),
    (
        "telegram-press-for-every-chat",
        TELEGRAM + "card.py",
        'if found is None or found["chat"] != chat:',
        "if found is None:",
        OF_TALK,
    ),
    (
        "telegram-approve-on-by-itself",
        TELEGRAM + "messenger.py",
        '"approve": "0", "notices"',
        '"approve": "1", "notices"',
        ("tests/parts/telegram/test_faults.py",),
    ),
    (
        "telegram-approve-without-a-code",
        TELEGRAM + "card.py",
        'return bool(card["risk"] != "low" or card.get("tainted") or card.get("untrusted"))',
        "return False",
        OF_APPROVING,
    ),
    (
        "telegram-code-left-in-the-chat",
        TELEGRAM + "talk.py",
        """        self.line.tell("deleteMessage", {"chat_id": update["chat"], "message_id": update["message"]})
""",
        "",
        OF_APPROVING,
    ),
    (
        "telegram-code-that-came-too-late",
        TELEGRAM + "card.py",
        "if is_late else self._approve(card)",
        "if False else self._approve(card)",
        OF_OWED,
    ),
    (
        "telegram-code-for-a-plan-that-is-over",
        TELEGRAM + "card.py",
        """            if over:
                self._asked.pop(chat, None)
            elif""",
        """            if""",
        OF_OWED,
    ),
    (
        "telegram-message-behind-a-plan-without-a-word",
        TELEGRAM + "talk.py",
        "            self._say(update, now)\n",
        "",
        OF_OWED,
    ),
    (
        "telegram-loss-told-without-end",
        TELEGRAM + "talk.py",
        "                self.owed.end(entry)\n",
        "",
        OF_OWED,
    ),
    (
        "telegram-loss-in-ram-alone",
        TELEGRAM + "talk.py",
        'flash = data if is_waiting else b""',
        'flash = b""',
        OF_OWED,
    ),
    (
        "telegram-flash-written-for-every-message",
        TELEGRAM + "talk.py",
        'flash = data if is_waiting else b""',
        "flash = data",
        OF_OWED,
    ),
    (
        "telegram-answer-said-once",
        TELEGRAM + "line.py",
        "LASTING = len(_LASTING_S) + 1",
        "LASTING = 1",
        OF_OWED,
    ),
    (
        "schedule-plan-that-expired-ends-as-off",
        "oasis/parts/schedule/job_run.py",
        "            is_over = made.decided in STATES\n",
        "            is_over = False\n",
        ("tests/parts/schedule/test_scheduler.py",),
    ),
    (
        "schedule-plan-that-a-kill-loses-is-not-told",
        "oasis/parts/schedule/manifest.py",
        """ or b'"state":"waiting"' in data)""",
        ")",
        ("tests/parts/schedule/test_scheduler.py",),
    ),
    (
        "telegram-update-of-any-shape",
        TELEGRAM + "line.py",
        "if not _is_right(value, _FIELDS[name]):",
        "if False:",
        OF_LINE,
    ),
    (
        "telegram-flood-not-obeyed",
        TELEGRAM + "line.py",
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
        "oasis/parts/memory/knowledge.py",
        'own = [label] if source["kind"] != "note" or source.get("taint") else []',
        "own: list[str] = []",
        OF_KNOWLEDGE,
    ),
    (
        "knowledge: what the router holds in secret goes to no model of vectors",
        "oasis/parts/memory/ranking.py",
        'self._kit.redactor.hide(text[:TEXT_CHARS], "")',
        "text[:TEXT_CHARS]",
        OF_KNOWLEDGE,
    ),
    (
        "knowledge: no documents on a disk that keeps no secrets",
        "oasis/parts/memory/knowledge.py",
        "if kind in files.LOOSE:",
        "if False:",
        OF_KNOWLEDGE,
    ),
    (
        "knowledge: what an address calls a PDF file is looked at",
        "oasis/parts/memory/knowledge.py",
        "if kind_of(name, data) != PDF:",
        "if False:",
        OF_KNOWLEDGE,
    ),
    (
        "knowledge: an archive is no text",
        "oasis/parts/memory/knowledge.py",
        "if data.startswith(magic):",
        "if not magic:",
        ("tests/parts/memory/test_extract.py",),
    ),
    (
        "knowledge: damaged vectors are near to nothing",
        "oasis/parts/memory/ranking.py",
        "if not 0 < own <= 1:",
        "if own == 0:",
        ("tests/parts/memory/test_library.py",),
    ),
    (
        "facts: the opposite of what was said is no fact",
        "oasis/parts/memory/extraction.py",
        "if not claims or _turns_round(fact, claims, said):",
        "if not claims:",
        ("tests/parts/memory/test_facts_heard.py",),
    ),
    (
        "facts: a message about passwords is not read",
        "oasis/parts/memory/owner_facts.py",
        'or secrets.speaks_of(turn["said"])',
        "or False",
        OF_FACTS,
    ),
    (
        "facts: what was said as a password is no fact later",
        "oasis/parts/memory/owner_facts.py",
        'secrets.reason(one["fact"], said, inputs)',
        'secrets.reason(one["fact"])',
        OF_FACTS,
    ),
    (
        "facts: nothing is read until the owner wants it",
        "oasis/parts/memory/owner_facts.py",
        "if not self._is(EXTRACT) or",
        "if",
        OF_FACTS,
    ),
    (
        "facts: words of others taint what is made of them",
        "oasis/parts/memory/owner_facts.py",
        'extras.taint.extend(label for label in fact.get("taint", []) if label not in extras.taint)',
        "pass",
        OF_FACTS,
    ),
    (
        "facts: what is forgotten meanwhile is not written again",
        "oasis/parts/memory/owner_facts.py",
        "            if is_dropped():\n                return None",
        "            if False:\n                return None",
        OF_FACTS,
    ),
    (
        "facts: what became a secret is told to nobody",
        "oasis/parts/memory/owner_facts.py",
        'if not self._data[1].reason(fact["fact"])]',
        "if True]",
        OF_FACTS,
    ),
    (
        "facts: others' words take the place of no fact of the owner's",
        "oasis/parts/memory/owner_facts.py",
        'for fact in self.sure() if set(taint) <= set(fact.get("taint", []))]',
        "for fact in self.sure()]",
        ("tests/parts/memory/test_facts_kept.py",),
    ),
    (
        "facts: no day begins while the clock is not trusted",
        "oasis/parts/memory/owner_facts.py",
        "if today == last or not self._is_trusted(self._newest_s()):",
        "if today == last:",
        ("tests/parts/memory/test_facts_kept.py",),
    ),
    (
        "facts: what was said at home stays there",
        "oasis/parts/memory/structured.py",
        'and (found["is_local"] or not answering.get("is_local")):',
        "and True:",
        ("tests/parts/memory/test_facts_heard.py",),
    ),
    (
        "facts: what was said at home is compared there",
        "oasis/parts/memory/ranking.py",
        "if not name or (is_home and not embedder.is_local):",
        "if not name:",
        ("tests/parts/memory/test_facts_heard.py",),
    ),
    (
        "facts: who answers tells where they are compared",
        "oasis/parts/memory/owner_facts.py",
        "is_sent, is_home)",
        "is_sent, False)",
        OF_HOME,
    ),
    (
        "titles: made at home of what was said there",
        "oasis/agent/start.py",
        'if service["is_local"] and not found["is_local"]:',
        "if False:",
        OF_HOME,
    ),
    (
        "schedule: results are told at home",
        "oasis/parts/schedule/job_run.py",
        'found = small if small["is_local"] or not is_home else usual',
        "found = small",
        OF_HOME,
    ),
    (
        "knowledge: what a model at home asks stays there",
        "oasis/agent/start.py",
        '"is_home": lambda: bool(failover.service.get("is_local"))',
        '"is_home": bool',
        OF_HOME,
    ),
    (
        "skills: one that asks for other tools is refused",
        "oasis/parts/memory/skills.py",
        "        if faults:\n            raise UsageError(",
        "        if False:\n            raise UsageError(",
        ("tests/parts/memory/test_skills_daemon.py",),
    ),
    (
        "skills: a link is not followed",
        "oasis/parts/memory/skills.py",
        "if not stat.S_ISREG(found.st_mode):",
        "if stat.S_ISFIFO(found.st_mode):",
        ("tests/parts/memory/test_skill.py",),
    ),
    (
        "plugins: a changed file is off",
        "oasis/parts/lua/plugins.py",
        "if not is_equal(reviewed[server], sha256(data)):",
        "if False:",
        ("tests/parts/lua/test_plugins.py",),
    ),
    (
        "plugins: the file is looked at before each call",
        "oasis/parts/lua/plugins.py",
        "        if fault:\n            raise PolicyError(",
        "        if False:\n            raise PolicyError(",
        ("tests/parts/lua/test_plugins.py",),
    ),
    (
        "plugins: the sum that is accepted is that of the file",
        "oasis/parts/lua/plugins.py",
        "if not is_equal(hash, sha256(find(self._root, server)[1])):",
        "if False:",
        ("tests/parts/lua/test_plugins.py",),
    ),
    (
        "plugins: a restart is asked whatever policy says",
        "oasis/parts/lua/plugins.py",
        "operator.asking(True)",
        "operator.asking(False)",
        ("tests/parts/lua/test_plugins.py",),
    ),
    (
        "plugins: the base system is no tool server",
        "oasis/parts/lua/plugins.py",
        'if re.split(r"[.-]", server)[0] in BASE:',
        "if False:",
        ("tests/parts/lua/test_plugin_scripts.py",),
    ),
    (
        "plugins: our own objects are no tool server",
        "oasis/parts/lua/plugins.py",
        "if server in objects():",
        "if False:",
        ("tests/parts/lua/test_plugin_scripts.py",),
    ),
    (
        "plugins: what others can write to does not count",
        "oasis/parts/lua/plugins.py",
        " or state.st_mode & 0o022",
        "",
        ("tests/parts/lua/test_plugin_scripts.py",),
    ),
    (
        "plugins: what is for the owner alone stays nowhere",
        "oasis/parts/lua/plugins.py",
        'for key, item in value.items() if key != "user_only"}',
        "for key, item in value.items()}",
        ("tests/parts/lua/test_plugin_results.py",),
    ),
    (
        "plugins: only true is a wish",
        "oasis/parts/lua/plugins.py",
        "if merged.get(action) is True:",
        "if merged.get(action):",
        ("tests/parts/lua/test_plugin_results.py",),
    ),
    (
        "seed: no path leads up",
        "oasis/worker/workspace.py",
        'if ".." in names:',
        "if False:",
        ("tests/tools/test_seed_files.py",),
    ),
    (
        "seed: links are not followed",
        "oasis/worker/workspace.py",
        "_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW",
        "_FOLDER = os.O_RDONLY | os.O_DIRECTORY",
        ("tests/tools/test_seed_files.py",),
    ),
    (
        "seed: only what is listed runs",
        "oasis/tools/seed.py",
        "if not any(found[: len(one)] == one for one in allowed):",
        "if False:",
        ("tests/tools/test_seed_programs.py",),
    ),
    (
        "seed: a shell cannot be listed",
        "oasis/tools/seed.py",
        'elif not fault and commands[0][0].rpartition("/")[2] in SHELLS:',
        "elif False:",
        ("tests/tools/test_seed_programs.py",),
    ),
    (
        "seed: what a program left behind ends",
        "oasis/tools/seed.py",
        "left_behind.end(None, set(), _MARK + mark, set())",
        "pass",
        ("tests/tools/test_seed_programs.py",),
    ),
    (
        "web: loopback is closed",
        "oasis/worker/web.py",
        "        why = reason(text, closed)\n",
        '        why = ""\n',
        ("tests/worker/test_addresses.py",),
    ),
    (
        "web: one closed address closes the name",
        "oasis/worker/web.py",
        "    for text in found:\n",
        "    for text in found[:1]:\n",
        ("tests/worker/test_addresses.py",),
    ),
    (
        "web: wrapped addresses are judged",
        "oasis/core/addresses.py",
        "    for inner in wrapped(value):",
        "    for inner in []:",
        ("tests/core/test_addresses.py", "tests/worker/test_addresses.py"),
    ),
    (
        "secrets: by their form",
        "oasis/redaction/redactor.py",
        "return forms.replaced(text, found, lambda value: MASK)",
        "return text",
        ("tests/redaction/test_typed_secrets.py",),
    ),
    (
        "secrets: keys over many lines",
        "oasis/redaction/redactor.py",
        "= _without_blocks(turned) if marked and not isinstance(value, str) else turned",
        "= turned",
        ("tests/redaction/test_typed_secrets.py",),
    ),
    (
        "secrets: a mask ends with its string",
        "oasis/redaction/redactor.py",
        "forms.within_json(text, forms.spans(text))",
        "forms.spans(text)",
        ("tests/redaction/test_typed_secrets.py",),
    ),
    (
        "secrets: sentences of other shapes",
        "oasis/redaction/secret_forms.py",
        'elif name.startswith("odd"):',
        'elif name == "odd 1":',
        ("tests/redaction/test_secret_forms.py",),
    ),
    (
        "secrets: passphrases of plain words",
        "oasis/redaction/secret_forms.py",
        "found += _phrase(text, match.start(), *clause)",
        "pass",
        ("tests/redaction/test_secret_forms.py",),
    ),
    (
        "secrets: a word of no language behind a password's name",
        "oasis/redaction/secret_forms.py",
        "found += _strange(text, *clause)",
        "pass",
        ("tests/redaction/test_secret_forms.py",),
    ),
    (
        "secrets: a typed password is not sent",
        "oasis/redaction/redactor.py",
        "text = forms.replaced(text, forms.said(text), lambda value: self._typed_as(value, chat))",
        "pass",
        ("tests/redaction/test_typed_secrets.py",),
    ),
    (
        "secrets: a typed one belongs to its chat",
        "oasis/redaction/redactor.py",
        "if value and told == chat:",
        "if value:",
        ("tests/redaction/test_typed_secrets.py",),
    ),
    (
        "secrets: encoded ones are known",
        "oasis/redaction/redactor.py",
        "if len(data) >= SECRET_CHARS:",
        "if False:",
        ("tests/redaction/test_secret_sweep.py",),
    ),
    (
        "texts: free ones taint",
        "oasis/change/text_origin.py",
        'return key not in self._read()["own"] and',
        "return",
        OF_TEXTS,
    ),
    (
        "texts: every free text counts",
        "oasis/redaction/foreign.py",
        'whose = NETWORKS if is_joined and option in ("ssid", "mesh_id") else TEXTS',
        'whose = NETWORKS if is_joined and option in ("ssid", "mesh_id") else ""',
        OF_TEXTS,
    ),
    (
        "texts: what was approved with words of others in sight is theirs",
        "oasis/tools/operator.py",
        'not (plan["tainted"] or plan["undoes"])',
        'not plan["undoes"]',
        OF_TEXTS,
    ),
    ("texts: an undo takes the record", "oasis/change/text_origin.py", "if key not in gone]", "if True]", OF_TEXTS),
    (
        "texts: an error that repeats one taints",
        "oasis/tools/registry.py",
        "*operator.whose(jsonl.dumps(shown), arguments)",
        "",
        OF_TEXTS,
    ),
    (
        "imports: their system message is not ours",
        "oasis/agent/client.py",
        'if is_imported and "id" in message and (',
        "if False and (",
        ("tests/chats/test_imports.py",),
    ),
    (
        "imports: their options are not in force",
        "oasis/core/thread.py",
        'if "options" in message and IMPORTED not in message.get("taint", ()):',
        'if "options" in message:',
        ("tests/chats/test_imports.py",),
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
        "oasis/tools/seed.py",
        "closed=closed(operator.facts)",
        "closed=[]",
        ("tests/tools/test_seed_web.py",),
    ),
    (
        "settings: what is taken over is in force",
        "oasis/daemon/wiring.py",
        "self.policy.set(approval, confirm_s, management_s)",
        "pass",
        ("tests/daemon/test_reload.py",),
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
        "oasis/system/child.py",
        '"524288", "3600", "500")',
        '"524288", "3600", "")',
        ("tests/system/test_child_executor.py",),
    ),
    (
        "cli: what was asked is not asked again when the service went away",
        "oasis/cli/rpc_client.py",
        "not self._has_answered)",
        "True)",
        ("tests/cli/test_start.py",),
    ),
    (
        "cli: what a service that ended may have accepted is not sent again",
        "oasis/cli/rpc_client.py",
        "            tell(_AGAIN)\n        return self.call(method, params)",
        "            tell(_AGAIN)\n        try:\n            return self.call(method, params)\n"
        "        except BrokenOff:\n            return self.call(method, params)",
        ("tests/cli/test_rpc_client.py",),
    ),
    (
        "cli: a yes to a plan that is gone is no message",
        "oasis/cli/conversation.py",
        "if line.lower() in self._late or line in self._late:",
        "if False:",
        ("tests/cli/test_terminal_parts.py",),
    ),
    (
        "services: an interface that comes up ends the impatience",
        "oasis/system/rate_limit.py",
        " or online != self._online()",
        "",
        ("tests/agent/test_client.py",),
    ),
    (
        "chats: an export is masked before it is cut",
        "oasis/api/chat_methods.py",
        "messages = self._hide([message for message in shown if is_message(message)])",
        "messages = [message for message in shown if is_message(message)]",
        ("tests/api/test_chat_methods.py",),
    ),
    (
        "providers: a list of models may come alone",
        "oasis/providers/openai_chat.py",
        '{"data": answer} if isinstance(answer, list) else answer',
        "answer",
        ("tests/providers/test_openai_chat.py",),
    ),
    (
        "tools: danger asks whatever is set",
        TOOLS,
        'reasons = [spec.get("reason", _DANGER)] if kind == "danger" else',
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
        'if operator.taint and kind in ("change", "net") and not is_near:',
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
        '_OURS = ("is_error", "user_only")',
        '_OURS = ("is_error",)',
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
        'options.get("name") == spec["name"] and options.get("server", BUILT_IN) == _server(spec)',
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
        "oasis/tools/router.py",
        "if len(self._left) >= LEFT_BEHIND:",
        "if False:",
        OF_TOOLS,
    ),
    (
        "tools: an approval is for one call",
        PLAN,
        '"forces", "call", "is_asked"',
        '"forces", "is_asked"',
        OF_CHANGES,
    ),
    (
        "tools: nothing dangerous while a change waits",
        TRANSACTION,
        "if record is not None:\n            raise ApplyError(",
        "if False:\n            raise ApplyError(",
        ("tests/tools/test_tools_daemon.py",),
    ),
    (
        "tools: only networks of the router are probed",
        "oasis/tools/builtin/probing.py",
        "if addresses.not_of_internet(address) and not is_near:",
        "if False:",
        OF_ROUTER_TOOLS,
    ),
    (
        "tools: a name leads to machines that the router knows",
        "oasis/tools/builtin/probing.py",
        "(not names and is_within(address, own))",
        "is_within(address, own)",
        OF_ROUTER_TOOLS,
    ),
    (
        "admin: of wg's dump only counts are told",
        "oasis/tools/router.py",
        "[fields[1]] = fields[5:8]",
        "[fields[1]] = fields[2:5]",
        OF_WIREGUARD,
    ),
    (
        "admin: the same address is given once",
        "oasis/parts/admin/wireguard.py",
        '        if (network["family"], value) not in taken:',
        "        if True:",
        OF_WIREGUARD,
    ),
    (
        "admin: a tunnel is where no other network is",
        "oasis/parts/admin/wireguard.py",
        "if all(base >> max(bits, size) != first >> max(bits, size) for first, size in used):",
        "if True:",
        OF_WIREGUARD,
    ),
    (
        "admin: the last SSH key stays while no password logs in",
        SSH_KEYS,
        "if not count and not self._has_password_login():",
        "if False:",
        OF_SSH_KEYS,
    ),
    (
        "admin: SSH keys are the owner's at the router",
        SSH_KEYS,
        'if operator.role != "owner":',
        "if False:",
        OF_SSH_KEYS,
    ),
    (
        "admin: a change of SSH keys waits whatever is set",
        "oasis/parts/admin/ssh_keys.json",
        '"class": "danger"',
        '"class": "change"',
        OF_SSH_KEYS,
    ),
    (
        "admin: a key with options is the owner's by hand",
        SSH_KEYS,
        'if not key or key.get("has_options"):',
        "if not key:",
        OF_SSH_KEYS,
    ),
    (
        "admin: firmware is the owner's at the router",
        "oasis/parts/admin/firmware.py",
        'if operator.role != "owner":',
        "if False:",
        ("tests/parts/admin/test_firmware.py",),
    ),
    (
        "admin: an upload leads nowhere else",
        "oasis/parts/admin/file_places.py",
        "if not _NAME.match(name):",
        "if False:",
        ("tests/parts/admin/test_file_places.py",),
    ),
    (
        "admin: a profile with code is refused",
        "oasis/parts/admin/file_places.py",
        "return Bounds(self._kit.root, self._kit.files).profile_error(lines)",
        'return ""',
        ("tests/parts/admin/test_file_places.py",),
    ),
    (
        "admin: no model is told of what nobody spoke of",
        "oasis/tools/specs.py",
        'spec for spec in specs if not spec.get("spoken") or spec["name"] in used or _matches(spec, text, words)',
        "spec for spec in specs",
        ("tests/tools/test_registry.py",),
    ),
    (
        "monitor: a speed test only with what the owner named",
        "oasis/parts/monitor/look.py",
        "if not target or not operator.is_own(target):",
        "if not target:",
        ("tests/parts/monitor/test_look.py",),
    ),
    (
        "monitor: names of rules that may not be shown stay out",
        "oasis/parts/monitor/firewall_rules.py",
        "if name in self._names",
        "if name",
        ("tests/parts/monitor/test_look.py",),
    ),
    (
        "tools: a package's name is one",
        "oasis/tools/builtin/packages.py",
        "if not _NAME.match(name) or name",
        "if name",
        OF_ROUTER_TOOLS,
    ),
    (
        "tools: what the router runs on stays",
        "oasis/tools/builtin/packages.py",
        "if _NEEDED.match(name):",
        "if False:",
        OF_ROUTER_TOOLS,
    ),
    (
        "tools: what is installed fits",
        "oasis/tools/builtin/packages.py",
        "if needed + SPARE_BYTES > free:",
        "if False:",
        OF_ROUTER_TOOLS,
    ),
    (
        "tools: log lines are the words of others",
        "oasis/tools/builtin/diagnose.py",
        'return {**answer, "untrusted": [LABEL]}',
        "return answer",
        OF_ROUTER_TOOLS,
    ),
    (
        "tools: neighbours' names are the words of others",
        "oasis/tools/builtin/probing.py",
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
    ("bus: levels are counted", "oasis/ubus/message.py", "if depth > DEEPEST:", "if False:", OF_BUS_VALUES),
    ("bus: values are counted", "oasis/ubus/message.py", "if self._left < 0:", "if False:", OF_BUS_VALUES),
    (
        "bus: a length stays in its blob",
        "oasis/ubus/message.py",
        "if stop < start or stop > end:",
        "if stop < start:",
        OF_BUS_VALUES,
    ),
    (
        "bus: a text is not cut by C",
        "oasis/ubus/message.py",
        'text.replace("\\0", "\\ufffd")',
        "text",
        OF_BUS_VALUES,
    ),
    (
        "bus: the first session that is named counts",
        "oasis/ubus/message.py",
        "found.setdefault(name, value)",
        "found[name] = value",
        OF_BUS_VALUES,
    ),
    (
        "bus: so many calls and no more",
        BUS_CALLS,
        "len(self._pending) >= self._most",
        "len(self._pending) >= 1000",
        OF_BUS_PEER,
    ),
    (
        "bus: so many bytes and no more",
        BUS_CALLS,
        "self._size_bytes + size_bytes > ARGUMENT_BYTES",
        "False",
        OF_BUS_PEER,
    ),
    ("bus: a reply has an end", BUS_CALLS, "if len(data) > bus.REPLY_BYTES:", "if False:", OF_BUS_PEER),
    (
        "bus: a fault is not told to the caller",
        BUS_CALLS,
        "except Exception as bug:",
        "except KeyboardInterrupt as bug:",
        OF_BUS_PEER,
    ),
    (
        "bus: a write has an end",
        "oasis/ubus/peer.py",
        "if not poll.poll(_STUCK_S * 1000):",
        "if not poll.poll():",
        OF_BUS_PEER,
    ),
    (
        "bus: the reader outlives what it reads",
        "oasis/ubus/peer.py",
        "except Exception as bug:  # nothing that comes may end the thread that reads",
        "except KeyboardInterrupt as bug:",
        OF_BUS_PEER,
    ),
    (
        "bus: what is no message ends the connection",
        "oasis/ubus/message.py",
        "if head[0] or not 4 <= size <= MESSAGE_BYTES:",
        "if False:",
        OF_BUS_PEER,
    ),
    (
        "retry: none after a word was shown",
        PROTOCOL,
        'event["type"] == "error" and not has_output',
        'event["type"] == "error"',
        OF_TRANSPORT,
    ),
    (
        "retry: none when the time is over",
        PROTOCOL,
        " and self._now_s() - began_s + wait_s <= BUDGET_S",
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
        "oasis/llm/workers.py",
        "if len(found) != at + len(step):",
        "if False:",
        OF_EMBEDDINGS,
    ),
    (
        "embeddings: bounded",
        "oasis/llm/workers.py",
        "if len(texts) > EMBED_TEXTS:",
        "if False:",
        OF_EMBEDDINGS,
    ),
    ("embeddings: one for each text", PROTOCOL, "if len(found) != len(texts):", "if False:", OF_EMBEDDINGS),
    ("embeddings: no secret", ASKING, "[self.redactor.hide(text, chat) for text in texts]", "texts", OF_ASKING),
    (
        "search: none for titles",
        ASKING,
        '"options": {**service["options"], "search": False}',
        '"options": service["options"]',
        ("tests/providers/test_services_daemon.py",),
    ),
    ("worker: refused parameters only once", PROTOCOL, "not name or name in self._without", "not name", OF_TRANSPORT),
    (
        "worker: a proxy's refusal is the proxy's",
        "oasis/worker/transport.py",
        "in _PROXY_KINDS if proxy else ():",
        "in _PROXY_KINDS if False else ():",
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
        "oasis/worker/transport.py",
        'if limits["walled"] and _is_here(place):',
        "if False:",
        OF_TRANSPORT,
    ),
    (
        "budget: a sum that is none is not written",
        "oasis/llm/services.py",
        'amount("budget_cost", words["budget_cost"])',
        "pass",
        ("tests/llm/test_prices.py",),
    ),
    (
        "prices: one for a model of a service",
        "oasis/llm/services.py",
        '                if section.type == "price"\n',
        "                if False\n",
        ("tests/llm/test_prices.py",),
    ),
    ("failover: not after a word was shown", ASKING, '"error" and not has_output', '"error"', OF_FAILOVER),
    ("failover: not when the owner stopped it", ASKING, ' and failure["code"] != "cancelled"', "", OF_FAILOVER),
    ("failover: offline does not go on for a model", ASKING, " or not self._has_answered", " or True", OF_FAILOVER),
    (
        "offline: a line of a log ends no quotation",
        OFFLINE + "results.py",
        'text.replace("`", "\'")',
        "text",
        OF_ANSWERS,
    ),
    (
        "offline: a long line of a log is cut",
        OFFLINE + "results.py",
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
        ASKING,
        "if self._seen is None or not is_smaller:",
        "if self._seen is None:",
        OF_FAILOVER,
    ),
    (
        "failover: who answered is named",
        "oasis/agent/turn.py",
        'self._source.update(provider=event["provider"], model=event["model"])',
        "pass",
        OF_FAILOVER,
    ),
    (
        "asking: no oftener than it may be",
        ASKING,
        'on_event({"type": "error", "error": _CANCELLED})\n            return False',
        "pass",
        OF_ASKING,
    ),
    ("asking: refusals are remembered", ASKING, 'refused.append(event["parameter"])', "pass", OF_ASKING),
    (
        "pace: who is cancelled takes nothing",
        "oasis/system/rate_limit.py",
        "            self._buckets[name] = (tokens + 1, then_s)\n",
        "",
        ("tests/system/test_rate_limit.py",),
    ),
    ("fences: only of models without tools", "oasis/agent/turn.py", "if collector.is_fenced and", "if", OF_FENCES),
    ("fences: a cut answer changes nothing", FENCES, "if is_cut and changes:", "if False:", OF_FENCES),
    ("fences: a refused line stops the others", FENCED, 'item["stops"] = True', "pass", OF_FENCES[::-1]),
    (
        "fences: stopped changes are not run",
        "oasis/agent/turn.py",
        'if written and call["id"] in written.refusals:',
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
        "oasis/uci/shell_words.py",
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
        TIMER,
        "if not self._kit.is_clock_trusted(",
        "if None is (",
        OF_TIMER,
    ),
    (
        "schedule: a word of a time that is not known is not passed over",
        "oasis/parts/schedule/phrases.py",
        "if left or not facts:",
        "if not facts:",
        OF_PHRASES,
    ),
    (
        "schedule: different times for different days are no one order",
        "oasis/parts/schedule/phrases.py",
        'if "d" in order.strip("d"):',
        "if False:",
        OF_PHRASES,
    ),
    (
        "schedule: which Friday the next one is is asked",
        "oasis/parts/schedule/phrases.py",
        "and this_week + 7 != self._today + ahead:",
        "and False:",
        OF_PHRASES,
    ),
    ("schedule: a firing is on flash first", TIMER, "self._jobs.put(noted)", "pass", OF_TIMER),
    (
        "schedule: devices by chance do not wear the flash",
        "oasis/parts/schedule/router_events.py",
        "AT_ONCE, WRITE_S = 8, 3600",
        "AT_ONCE, WRITE_S = 800, 3600",
        ("tests/parts/schedule/test_scheduler.py",),
    ),
    ("schedule: once ends itself", TIMER, 'noted["enabled"] = False', "pass", OF_TIMER),
    ("schedule: an event rests", TIMER, "if not 0 <= now_s - int(", "if True or 0 < int(", OF_TIMER),
    (
        "schedule: the owner's change wins",
        TIMER,
        'if noted is None or {**noted, "plan": None} != {**job, "plan": None}:',
        "if False:",
        OF_TIMER,
    ),
    ("schedule: risky waits whatever is set", JOB_RUN, 'plan["risk"] == "low" and not', "not", OF_AHEAD),
    ("schedule: a rehearsal does nothing", JOB_RUN, 'return "noted", _NOTED', 'return "approved", ""', OF_AHEAD),
    ("schedule: nothing tainted ahead", JOB_RUN, "        if why:", "        if False:", OF_AHEAD),
    (
        "schedule: ahead is for one outcome",
        AHEAD,
        'whole["after"] = {name: _sum(name, pair[1]) for',
        'whole["after"] = {name: "" for',
        OF_AHEAD,
    ),
    ("schedule: ahead, on what the verdict read", AHEAD, "_now(name, planner) == held", "True", OF_AHEAD),
    ("schedule: ahead, no code", AHEAD, "or policy.code(", "and policy.code(", OF_AHEAD),
    ("schedule: ahead, no dangerous call", AHEAD, "!= _RESTART", "== None", OF_AHEAD),
    (
        "schedule: a dry run waits for no window",
        "oasis/tools/operator.py",
        "if self.rehearses or not (self.is_model or self._approver):",
        "if not (self.is_model or self._approver):",
        ("tests/parts/schedule/test_schedule_daemon.py",),
    ),
    (
        "schedule: a dry run of a restart waits for no window",
        "oasis/tools/operator.py",
        'if tool["class"] == "danger" and not self.rehearses:',
        'if tool["class"] == "danger":',
        ("tests/parts/schedule/test_schedule_daemon.py",),
    ),
    (
        "tools: no command for a model",
        "oasis/tools/registry.py",
        'told["hint"] = for_model(error.hint)',
        "pass",
        ("tests/tools/test_hints.py",),
    ),
    (
        "windows: asked again after a day",
        "oasis/llm/windows.py",
        "rest_s = DAY_S if place in self._said else AGAIN_S",
        'rest_s = float("inf") if place in self._said else AGAIN_S',
        ("tests/llm/test_windows.py",),
    ),
    (
        "windows: asked again after a refusal",
        "oasis/llm/windows.py",
        "self._asked_s.pop(_place(service), None)",
        "pass",
        ("tests/llm/test_windows.py",),
    ),
    (
        "schedule: ahead, only by a card",
        "oasis/tools/registry.py",
        "operator.ahead = ()",
        "pass",
        ("tests/tools/test_registry.py",),
    ),
    ("schedule: ahead, back to one state", AHEAD, '"state": after,', '"state": 0,', OF_AHEAD),
    (
        "schedule: ahead, never tainted",
        AHEAD,
        'if plan["tainted"]:',
        "if False:",
        OF_AHEAD,
    ),
    (
        "schedule: ahead, only what you reach the router after",
        AHEAD,
        'plan["verdict"]["verdict"] != "yes"',
        "False",
        OF_AHEAD,
    ),
    (
        "schedule: a rehearsal makes no call",
        "oasis/tools/registry.py",
        'if operator.rehearses and kind != "read":',
        "if False:",
        OF_AHEAD,
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
        'self._files.replace(self.pending + "/files/" + name, before, modes[name])',
        "pass",
        OF_CHANGES,
    ),
    (
        "snapshot: the images that undo needs",
        JOURNAL,
        "self._files.replace(path, pair[side])",
        "pass",
        ("tests/change/apply/test_journal.py",),
    ),
    (
        "snapshot: prepared before the first commit",
        TRANSACTION,
        "self._prepare(record, plan)",
        "pass",
        OF_CHANGES,
    ),
    ("hash: of the words too", PLAN, '"words", "uci", "diff", "risk", "reasons", "sec', '"sec', OF_CHANGES[::-1]),
    ("hash: a bound plan stays", PLAN, "found: Plan = frozen(plan)", "found = plan", OF_CHANGES[::-1]),
    ("hash: the plan is what was shown", PLAN, 'if self.hash(plan) != plan["hash"]:', "if False:", OF_CHANGES[::-1]),
    (
        "hash: the run is bound",
        PLAN,
        '    "id", "run", "chat", "operations"',
        '    "id", "chat", "operations"',
        OF_CHANGES[::-1],
    ),
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
        'elif value is None and b\'"id":"\' + mark in low:',
        "elif False:",
        ("tests/chats/test_collection.py",),
    ),
    (
        "chats: a secret is not searched",
        "oasis/chats/search.py",
        'hide("\\n".join(texts))',
        '"\\n".join(texts)',
        ("tests/chats/test_search.py",),
    ),
    (
        "chats: one writer at a time",
        "oasis/agent/runs.py",
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
    ("foreign edit: what others have staged", PLAN, "if staged and staged.strip():", "if False:", OF_CHANGES[::-1]),
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
    (
        "guard process",
        TRANSACTION,
        "self._guard = self._executor.detach(self._guard_argv)\n        except OasisError:",
        "pass\n        except OasisError:",
        OF_CHANGES,
    ),
    ("guard process: one that was killed", TRANSACTION, "self._keep_guard()", "pass", OF_CHANGES),
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
    ("bus: what is for the socket only", CALLS, 'TABLE[name].access == "local"', "False", OF_BUS),
    ("bus: waiters are bounded", CALLS, "if len(self._waiting) > self._most:", "if False:", OF_BUS),
    (
        "bus: upstream's methods have roles",
        CALLS,
        'if name not in parts.merged("BUS_ROLES").get(str(role["name"]), ()):',
        "if False:",
        OF_BUS,
    ),
    (
        "ubus: a session never stands in argv",
        "oasis/ubus/outgoing.py",
        "if self._is_real and arguments",
        "if False and arguments",
        ("tests/bus/test_wire.py",),
    ),
    (
        "phone: no tool past the owner",
        "oasis/parts/lua/phone.py",
        'if found[0]["class"] != "read" or found[0]["approval"] != "allow":',
        "if False:",
        ("tests/parts/lua/test_phone.py",),
    ),
    (
        "phone: a message sent again joins",
        "oasis/parts/lua/phone.py",
        "self._sent(role, chat, message) or self._begin",
        "self._begin",
        ("tests/parts/lua/test_sending.py",),
    ),
    (
        "recovery at start",
        "oasis/daemon/wiring.py",
        "self.transaction.recover()",
        "None",
        ("tests/daemon/test_wiring.py",),
    ),
    ("recovery: puts back", TRANSACTION, "change = self._journal.pending_id()", 'change = ""', OF_CHANGES),
    (
        "one change at a time",
        TRANSACTION,
        'self.check_idle("nothing was written")',
        "pass",
        OF_CHANGES,
    ),
    (
        "restore: a copy that is not whole is not told as kept",
        "oasis/change/restore.sh",
        ' && [ "$(sum_of "$kept")" = "$now" ]',
        "",
        ("tests/change/test_boot.py",),
    ),
    (
        "restore: what others wrote needs no space",
        "oasis/change/restore.sh",
        'ln "$target" "$kept" 2>/dev/null',
        "false",
        ("tests/change/test_boot.py",),
    ),
    (
        "restore: a link stays one",
        "oasis/change/restore.sh",
        '[ -L "$target" ] &&',
        "false &&",
        ("tests/change/test_boot.py",),
    ),
    (
        "foreign edit: the file backend writes over no other file than it read",
        "oasis/uci/disk.py",
        "if handle.read() != old:",
        "if False:",
        ("tests/uci/test_file_backend.py",),
    ),
    (
        "foreign edit: who waited for a lock looks at the file again",
        "oasis/uci/disk.py",
        "is_current = os.path.samestat(os.fstat(self._descriptor), os.stat(path))",
        "is_current = True",
        ("tests/uci/test_file_backend.py",),
    ),
    (
        "foreign edit: nothing is undone where nothing of ours was written",
        TRANSACTION,
        "except UnwrittenError as error:",
        "except ZeroDivisionError as error:",
        OF_STANDS,
    ),
    (
        "configuration: what is no file holds nothing up",
        FILES,
        "    if stat.S_ISREG(os.stat(path).st_mode):\n"
        "        number = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK)\n"
        "        if stat.S_ISREG(os.fstat(number).st_mode):\n",
        "    if True:\n        number = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK)\n        if True:\n",
        ("tests/system/test_files.py",),
    ),
    (
        "services: one that failed must run as before",
        "oasis/change/apply/verification.py",
        'is_ended = (bool(item.get("status")) and item.get("ok") is not False) or action == "stop"',
        'if item.get("ok") is False:\n                continue\n            is_ended = False',
        OF_SERVICES,
    ),
    (
        "services: one that the change is about puts it back",
        EVIDENCE,
        "- concerned)",
        ")",
        OF_SERVICES,
    ),
    (
        "services: a failure is known for these files only",
        TRANSACTION,
        "if all((plan",
        "if any([True]) or all((plan",
        OF_SERVICES,
    ),
    (
        "services: only the same failure is known",
        TRANSACTION,
        'if failed in record.get("failed_after", []):\n                known',
        'if record.get("failed_after"):\n                known',
        OF_SERVICES,
    ),
    ("kept: only while it is pending", JOURNAL, "return RESTORED\n        lock", 'return ""\n        lock', OF_STANDS),
    ("kept: every file is as planned", TRANSACTION, "if self._sum(name) != sum_]", "if False]", OF_STANDS),
    ("kept: this change and no other", JOURNAL, "if waiting != change:", "if False:", OF_STANDS),
    ("kept: not while it is put back", JOURNAL, "if lock < 0 or not self.is_pending():", "if False:", OF_STANDS),
    (
        "kept: a long reload is not told as done",
        TRANSACTION,
        "if why:\n            raise ApplyError(why",
        "if why and is_kept:\n            raise ApplyError(why",
        OF_STANDS,
    ),
    (
        "guard: its time follows from the plan's services",
        TRANSACTION,
        "return ACTION_S * len(services) + BESIDE_S",
        "return ACTION_S + BESIDE_S",
        OF_STANDS,
    ),
    (
        "guard: puts nothing back that is being kept",
        "oasis/change/restore.sh",
        "flock 9\n",
        "true\n",
        OF_STANDS,
    ),
    ("guard: ends its reload", TRANSACTION, "self._guard.wait(limit_s)", "pass", OF_STANDS),
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
        'if answer is not None and answer["verdict"] == "no":',
        "if False:",
        ("tests/change/reach/test_owner_way.py",),
    ),
    (
        "reachability: the way of the run's owner decides",
        "oasis/change/reach/owner_way.py",
        "in own] or ways",
        "in own or True] or ways",
        ("tests/change/reach/test_owner_way.py",),
    ),
    (
        "reachability: a list that netifd does not read is no yes",
        "oasis/change/reach/way.py",
        "option not in _LISTS",
        "False",
        ("tests/change/reach/test_verdict.py",),
    ),
    (
        "reachability: what the verdict read is bound",
        PLAN,
        '**plan["verdict"].pop("read", {}), **touched}',
        '**({}, plan["verdict"].pop("read", {}))[0], **touched}',
        ("tests/change/reach/test_owner_way.py",),
    ),
    ("proof: an old connection is none", ALIVE, '"reused" if one in self._old else "proved"', '"proved"', OF_PROOF),
    ("proof: a tunnel is none", ALIVE, "if _is_here(one, known) and not self._is_here_fine:", "if False:", OF_PROOF),
    ("proof: a tunnel to an address of ours is none", ALIVE, " or mirrored(one) in known", "", OF_PROOF),
    (
        "keys: in the key file before they leave UCI",
        "oasis/daemon/migration.py",
        "    settings.add_keys(found)\n",
        "",
        ("tests/daemon/test_key_migration.py",),
    ),
    (
        "keys: none among the words of a command",
        "oasis/cli/models.py",
        'if arguments.get("KEY") or arguments.get("-k"):',
        "if False:",
        ("tests/cli/test_scenarios.py",),
    ),
    (
        "budget: stops when it is spent",
        "oasis/llm/usage.py",
        "if percent >= 100:",
        "if False:",
        ("tests/llm/test_usage.py",),
    ),
    (
        "environment: keys are taken out of it",
        "oasis/config/host.py",
        'environment.pop(name, "")',
        'environment.get(name, "")',
        ("tests/config/test_host.py",),
    ),
    ("proof: the nonce", ALIVE, " or not is_equal(nonce, self._nonce)", "", OF_PROOF),
    (
        "proof: a login of a page speaks for itself only",
        ALIVE,
        "return session in self._arrived",
        "return bool(self._arrived)",
        OF_PROOF,
    ),
    (
        "proof: a page without the nonce needs a new connection",
        ALIVE,
        'if answer == "proved":',
        "if answer:",
        OF_PROOF,
    ),
    (
        "proof: what led to the last change is forgotten",
        ALIVE,
        "self._arrived = set()\n        self._nonce = nonce",
        "self._nonce = nonce",
        OF_PROOF,
    ),
    (
        "proof: the new address is told before the router moves",
        TRANSACTION,
        "self._announce(plan)",
        "pass",
        ("tests/change/test_window.py",),
    ),
    (
        "proof: the session may keep",
        ALIVE,
        'session):\n            return "denied"\n        if _',
        'session) and False:\n            return "denied"\n        if _',
        OF_PROOF,
    ),
    ("proof: the login is younger", ALIVE, "and accepted_s > self._since_s", "", OF_PROOF),
    (
        "proof: asked for before keeping",
        "oasis/api/methods.py",
        "self._services.transaction.witness(role, unproved)",
        '"word"',
        ("tests/daemon/test_wiring.py",),
    ),
    (
        "read-back: after every reload",
        TRANSACTION,
        'evidence.verification.verify({**plan, "services": record["services"]}, before)',
        "[]",
        ("tests/change/apply/test_verification.py",),
    ),
    (
        "read-back: a service that is turned off has ended",
        "oasis/change/apply/verification.py",
        "if any((found or {}).values()):",
        "if False:",
        ("tests/change/apply/test_verification.py",),
    ),
    (
        "services: what was switched off is not started along with others",
        EVIDENCE,
        "if name in aside and name in asleep:",
        "if False:",
        ("tests/change/test_failing_services.py",),
    ),
    (
        "services: only a script whose service is turned off may fail",
        EVIDENCE,
        "not status or name in off",
        "True",
        ("tests/change/apply/test_evidence.py",),
    ),
    (
        "openings: every word for yes and no",
        HARMLESS,
        "return value in allowed or (meaning",
        "return value in allowed or (False and meaning",
        ("tests/change/apply/test_evidence.py",),
    ),
    (
        "uci: what a batch staged is what was foreseen",
        "oasis/uci/program_backend.py",
        'self._compare(shown.split(b"\\n", added)[-1], expected)',
        "pass",
        ("tests/uci/test_program_backend.py",),
    ),
    (
        "extend: the guard waits as long",
        TRANSACTION,
        "self._journal.set_deadline(int(self._clock.up_s() + deadline_s",
        "(int(self._clock.up_s() + deadline_s",
        ("tests/change/test_window.py",),
    ),
    ("extend: not for ever", TRANSACTION, ", self._applied_s + LONGEST_S)", ", 1e9)", ("tests/change/test_window.py",)),
    (
        "an apply of LuCI is waited for",
        PLAN,
        " and self._questions.luci_waits():",
        " and False:",
        ("tests/change/test_window.py",),
    ),
    (
        "restore: stops what the change started",
        "oasis/change/restore.sh",
        'case $stopped in *" $name "*) action=stop ;; esac',
        ":",
        ("tests/change/test_window.py",),
    ),
    (
        "undo: code comes back with its owner alone",
        PLAN,
        "bool(opened or asked or code or unreviewed)",
        "bool(opened or asked or unreviewed)",
        ("tests/change/history/test_undo.py",),
    ),
    (
        "code: taking away what kept it from running",
        "oasis/change/policy.py",
        'of_whole") and check.is_code(',
        'of_whole") and False and check.is_code(',
        ("tests/change/test_policy.py",),
    ),
    (
        "services: some are the owner's and the boot's",
        PLAN,
        'if risk == "forbidden":\n            words = ',
        "if False:\n            words = ",
        ("tests/change/test_plan.py",),
    ),
    (
        "held: who is let in is told and never low",
        PLAN,
        "opened, read = self.openings(images)",
        "opened, read = [], {}",
        ("tests/change/test_plan.py",),
    ),
    (
        "ends: what is said again is a plan",
        PLAN,
        "if plan is None and said is not None and said.entries:",
        "if False:",
        OF_ENDS,
    ),
    ("ends: dropping one is risky", ENDS, 'self.is_risky or record["risk"] != "low"', "False", OF_ENDS),
    ("ends: one is dropped when it is kept", TRANSACTION, 'if not record.get("ends"):', "if True:", OF_ENDS),
    (
        "ends: a plan is bound to the end that was shown",
        PLAN,
        'not ends.is_standing(record) or ends.state(record) != entry["before"]',
        "False",
        OF_ENDS,
    ),
    (
        "ends: a part stays",
        "oasis/change/history/expiry.py",
        '"", str(record["chat"]), stays=stays',
        '"", str(record["chat"])',
        OF_ENDS,
    ),
    ("ends: the hash binds it", PLAN, '"undoes", "until_unix_s", "ends",\n', '"undoes", "until_unix_s",\n', OF_ENDS),
    ("ends: what is changed inside ends with it", ENDS, "set(changed) <= set(parts)", "False", OF_ENDS),
    (
        "times: a plan that drops one waits",
        "oasis/tools/operator.py",
        "plan = self._timely(plan)",
        "pass",
        OF_TIMES,
    ),
    (
        "times: what was asked before counts",
        "oasis/tools/operator.py",
        "if len(found[-1]) > ANSWER_CHARS:",
        "if True:",
        OF_TIMES,
    ),
    (
        "times: a value of another length carries nothing",
        "oasis/tools/operator.py",
        "return any(int(length[1]) * _UNITS_S[unit] == length_s for unit in units)",
        "return True",
        OF_TIMES,
    ),
    (
        "detours: what turns traffic aside is on the card",
        PLAN,
        "turned, others = self._detours(images)",
        "turned, others = [], {}",
        OF_DETOURS,
    ),
    (
        "detours: a box in the LAN is somewhere else",
        DETOURS,
        "number[1] > 1 and address_text.is_home(word)",
        "number[1] > 1 and not address_text.is_home(word)",
        OF_DETOURS,
    ),
    ("detours: only what is new is told", DETOURS, "if one not in held]", "if one]", OF_DETOURS),
    ("detours: the button of WPS opens", DETOURS, 'sections.flag(one, "wps_pushbutton", False)', "False", OF_DETOURS),
    ("detours: weaker encryption is told", DETOURS, "if now < was:", "if False:", OF_DETOURS),
    (
        "notes: what a model wrote is not the owner's",
        "oasis/parts/memory/knowledge.py",
        "taint.append(MODEL)",
        "pass",
        ("tests/parts/memory/test_knowledge_daemon.py",),
    ),
    (
        "moments: what is no time of day is not passed over",
        "oasis/parts/offline/provider.py",
        "        if wrong:\n",
        "        if False:\n",
        ("tests/parts/offline/test_moments.py",),
    ),
    (
        "moments: an end and for good are asked about",
        "oasis/parts/offline/provider.py",
        "if endless and ends:",
        "if False:",
        ("tests/parts/offline/test_moments.py",),
    ),
    ("low: nothing without a look", "oasis/change/policy.py", "if router is None:", "if False:", OF_HARMLESS),
    (
        "low: a fixed address is new",
        HARMLESS,
        'if any(one["kind"] not in ("section_added", "added") for one in mine) or mine[0]["kind"] != "section_added":',
        "if False:",
        OF_HARMLESS,
    ),
    ("low: more than a name and an address", HARMLESS, 'if set(values) - {"name", "mac", "ip"} or', "if", OF_HARMLESS),
    ("low: an address of the LAN", HARMLESS, "not lan[0] < value[1] < lan[1]", "False", OF_HARMLESS),
    ("low: an address that a rule names", HARMLESS, "if _is_in(value[1], ranges) or", "if", OF_HARMLESS),
    (
        "low: out of a rule",
        HARMLESS,
        "any(one is not None and one != value and _is_in",
        "any(False and _is_in",
        OF_HARMLESS,
    ),
    (
        "low: another device's address",
        HARMLESS,
        "if any(one[1] == ip and one[0] != mac.lower()",
        "if any(False",
        OF_HARMLESS,
    ),
    (
        "low: the device's other address",
        HARMLESS,
        "return _fault_of_mac(mac, others, router) or",
        "return",
        OF_HARMLESS,
    ),
    ("low: addresses are not used up", HARMLESS, "2 * count > limit", "False", OF_HARMLESS),
    ("low: not many at once", HARMLESS, '> row["most"]', "> 999", OF_HARMLESS),
    ("low: names of others", HARMLESS, "taken |= set(row", "taken = set(row", OF_HARMLESS),
    (
        "low: a plain name of the router",
        HARMLESS,
        'or not _is_label(name):\n        return "the router',
        'or False:\n        return "the router',
        OF_HARMLESS,
    ),
    ("low: bounded times", HARMLESS, 'if row["low_s"] <= seconds <= row["high_s"]', "if True", OF_HARMLESS),
    (
        "low: bound to what it was judged by",
        PLAN,
        'looked_at = router.read if plan["risk"] == "low" else {}',
        "looked_at = {}",
        OF_HARMLESS,
    ),
    (
        "roles: a tool is for whom the table says",
        "oasis/tools/registry.py",
        "if not may_use(operator.role, name):",
        "if False:",
        OF_ROLES,
    ),
    (
        "roles: a call of a client is a client's",
        "oasis/agent/start.py",
        'Principal("client" if client else OWNER.role)',
        "Principal(OWNER.role)",
        ("tests/parts/mcp/test_server.py",),
    ),
    ("roles: tools that are taken out", "oasis/tools/principal.py", ' and "no " + tool not in named', "", OF_ROLES),
    (
        "roles: readers get what they are served",
        "package/acl.py",
        '"read" if name in VIEWERS else "write"',
        "TABLE.get(name, UPSTREAM.get(name)).access",
        ("tests/package/test_acl.py",),
    ),
    (
        "many: what nobody approves is counted",
        "oasis/tools/operator.py",
        "reason = shop.allowance.take(self._run.id)",
        'reason = ""',
        OF_ALLOWANCE,
    ),
    ("many: a turn", APPROVAL, "if sum(one[1] == run for one in self._taken) >= A_TURN:", "if False:", OF_ALLOWANCE),
    ("many: an hour", APPROVAL, "if len(recent) >= AN_HOUR:", "if False:", OF_ALLOWANCE),
    (
        "many: what was approved is not trimmed for it",
        JOURNAL,
        'automatic = [name for name, record in records.items() if record and record.get("automatic")]',
        "automatic = names",
        OF_ALLOWANCE,
    ),
    (
        "audit: the rotated part is the one that was rotated",
        "oasis/change/audit.py",
        'elif part and sha256(parts[0][1]) != part.get("sha256"):',
        "elif False:",
        ("tests/change/test_audit.py",),
    ),
    (
        "held: an opening is never low",
        PLAN,
        "if opened or turned or asked or unreviewed:",
        "if False:",
        ("tests/change/test_plan.py",),
    ),
    (
        "held: a secret gets no way out unasked",
        HARMLESS,
        "ways = [option] if hold and check",
        "ways = [] if hold and check",
        OF_HELD,
    ),
    (
        "held: no way waits for a secret",
        HARMLESS,
        "ways = [name for name in section.options if check",
        "ways = [] and [name for name in section.options if check",
        OF_HELD,
    ),
    ("held: code is not started unasked", HARMLESS, "is_on = more > 0 and", "is_on = False and", OF_HELD),
    ("held: nor by taking away what stops it", HARMLESS, "is_on = more < 0", "is_on = False", OF_HELD),
    ("held: asked under every setting", PLAN, "bool(opened or asked or code", "bool(opened or code", OF_HELD),
    ("let in: asked under every setting", PLAN, "bool(opened or asked", "bool(asked", OF_LET_IN),
    ("let in: a value that was not there", HARMLESS, "not ways[name] <= (before", "False and (before", OF_LET_IN),
    ("let in: what is for the router alone is not", HARMLESS, "if ways is None:\n", "if False:\n", OF_LET_IN),
    ("refused: forced only where it was meant", REFUSED, "    if moved:\n", "    if False:\n", OF_REFUSED),
    ("refused: forced once", REFUSED, "self._shop.refused.remove(kept)", "pass", OF_REFUSED),
    ("repair: two rounds and no more", REPAIR, "self._rounds > ROUNDS", "False", OF_REPAIR),
    ("repair: a rule is no mistake", REPAIR, 'error.get("repairable") is True', "True", OF_REPAIR),
    ("repair: code beside a mistake", PLAN, 'is_mistake = "exec" not in needs', "is_mistake = True", OF_REPAIR),
    (
        "repair: no name of what is forbidden",
        "oasis/catalogue/check.py",
        "if not is_code(package, name)",
        "",
        OF_REPAIR,
    ),
    (
        "bounds: no link leads out",
        BOUNDS,
        'return real if real.startswith(tuple(bases.values()) if is_between else base) else ""',
        "return real",
        OF_BOUNDS,
    ),
    (
        "bounds: nothing that others can write",
        BOUNDS,
        "if found.st_uid not in (0, os.geteuid()) or (found.st_mode & 0o022 and not is_sticky):",
        "if False:",
        OF_BOUNDS,
    ),
    (
        "bounds: scripts of sqm alone",
        BOUNDS,
        'value.endswith(".qos") and',
        "True and",
        OF_BOUNDS,
    ),
    (
        "bounds: an address holds nothing for a shell",
        BOUNDS,
        "[A-Za-z0-9_.:/?=&%+,~@-]|",
        "[!-Z^-~]|",
        OF_BOUNDS,
    ),
    (
        "bounds: no code in a profile",
        BOUNDS,
        'return " %s " % name in _OVPN\n',
        "return True\n",
        OF_BOUNDS,
    ),
    (
        "bounds: a profile reads no other files",
        BOUNDS,
        'return given == "[inline]" or is_there or',
        "return True or",
        OF_BOUNDS,
    ),
    (
        "bounds: no longer line in a profile",
        BOUNDS,
        'if number == 0 or len(line.encode("utf-8", "surrogateescape")) > _LINE:',
        "if number == 0:",
        OF_BOUNDS,
    ),
    (
        "bounds: no code in a folder of dnsmasq",
        BOUNDS,
        "if number == 0 or _DNSMASQ_CODE.match(line) or",
        "if number == 0 or",
        OF_BOUNDS,
    ),
    (
        "bounds: nothing of Oasis itself",
        BOUNDS,
        'return "" if is_own or not real',
        'return "" if not real',
        OF_BOUNDS,
    ),
    (
        "bounds: logs where nobody reads settings",
        BOUNDS,
        "return bool(_LOG.match(value)) and",
        "return True and",
        OF_BOUNDS,
    ),
    (
        "bounds: looked at again",
        PLAN,
        'and not plan["is_restore"] and "exec" not in plan["forces"]:',
        "and False:",
        OF_BOUNDS,
    ),
    (
        "bounds: a section holds nothing beyond",
        CHECK,
        'self._beyond(operation, section) if is_code(operation["package"], type_) else ""',
        '""',
        OF_BOUNDS,
    ),
    (
        "install: a failure removes what was installed",
        TRANSACTION,
        "self._uninstall_half(record, error)",
        "pass",
        OF_INSTALLING,
    ),
    (
        "install: a rollback removes what was installed",
        TRANSACTION,
        """        if state == "rolled_back":
            self._uninstall(record)""",
        "",
        OF_INSTALLING,
    ),
    (
        "install: a power cut in it ends with the next start",
        TRANSACTION,
        'record["state"] == "prepared" and record.get("installed") and not record["after"]',
        "False",
        OF_INSTALLING,
    ),
    (
        "install: packages that need each other are removed in a row",
        TRANSACTION,
        "for name in left] * len(left)",
        "for name in left]",
        OF_INSTALLING,
    ),
    (
        "install: more than the card said needs another yes",
        "oasis/tools/operator.py",
        "if _asks_more(plan, first, planner.presumed):",
        "if False:",
        ("tests/tools/test_install_card.py",),
    ),
    (
        "install: the card has the differences of what is there",
        PLAN,
        'draft["images"], draft["after"] = there, {name: draft["after"][name] for name in there}',
        'draft["images"] = draft["after"] = {}; draft["diff"] = []',
        ("tests/tools/test_install_card.py",),
    ),
    (
        "install: what is bound is held to its form before it is there",
        BOUNDS,
        "return self._is_awaited",
        "return False",
        ("tests/tools/test_install_card.py",),
    ),
    (
        "install: opkg's list survives a full flash",
        TRANSACTION,
        "            if is_lost:",
        "            if False:",
        OF_INSTALLING,
    ),
    (
        "install: an undo removes what was installed",
        TRANSACTION,
        'if other.get("installed"):',
        "if False:",
        OF_INSTALLING,
    ),
    (
        "install: not for who may not install",
        "oasis/tools/registry.py",
        'if name == "configure" and arguments.get("install"):',
        "if False:",
        OF_ROUTER_TOOLS,
    ),
    (
        "generated: what nobody reviewed waits",
        PLAN,
        "else self.policy.unreviewed(differences)",
        "else []",
        OF_MADE,
    ),
    (
        "generated: done again, it waits again",
        PLAN,
        "unseen = [] if is_undo and not self._is_again(undoes)",
        "unseen = [] if is_undo",
        OF_MADE,
    ),
    (
        "generated: one harmless word by rule, too",
        "oasis/catalogue/validators.py",
        'entry.get("generated") != "rules" or',
        "True or",
        OF_MADE,
    ),
    (
        "generated: nothing that nobody reviewed ahead",
        AHEAD,
        'any(reason.startswith(UNREVIEWED.partition(":")[0])',
        "any(False",
        OF_MADE,
    ),
    (
        "generated: nothing is added to what is forbidden",
        "oasis/catalogue/entries.py",
        'ours is not None and ("mark" in ours or "*" in ours["options"])',
        "False",
        OF_MADE,
    ),
    (
        "generated: what is written by hand wins",
        "oasis/catalogue/entries.py",
        '{**options, **ours["options"]}',
        '{**ours["options"], **options}',
        OF_MADE,
    ),
    (
        "generated: a text is one harmless word",
        "oasis/catalogue/validators.py",
        '"[A-Za-z0-9_.:,@%+=^!][A-Za-z0-9_.:,@%+=^!-]{0,255}",',
        '"[!-~]{1,256}",',
        OF_MADE,
    ),
    (
        "names: a quote in a firewall's name",
        "oasis/catalogue/validators.py",
        "bad = next((char for char in value if char in _UNQUOTABLE or",
        "bad = next((char for char in value if",
        OF_GENERATED,
    ),
    (
        "names: fw4's comments have a checked set",
        "oasis/catalogue/packages/firewall.json",
        '"comment": {"type": "and(label,maxlength(64))"',
        '"comment": {"type": "and(string,maxlength(64))"',
        OF_GENERATED,
    ),
    (
        "commands: quotes of typography around a value",
        "oasis/change/uci_commands.py",
        'if left.count(".") == 2 and value in quoted_texts:',
        "if False:",
        ("tests/change/test_uci_commands.py",),
    ),
    (
        "commands: what nobody sees is named",
        "oasis/uci/shell_words.py",
        "if at >= 0:",
        "if False and at >= 0:",
        ("tests/change/test_uci_commands.py",),
    ),
    (
        "cards: a plan that is cut in Telegram",
        "oasis/parts/telegram/card.py",
        ' or card.get("forces") or not is_whole(card):',
        ' or card.get("forces"):',
        ("tests/parts/telegram/test_cards.py",),
    ),
    (
        "cards: the desk counts what fits where the word comes from",
        APPROVAL,
        'if length > role["room"] or any(',
        "if any(",
        ("tests/parts/telegram/test_cards.py",),
    ),
    (
        "cards: an argument of a tool stands whole",
        PLAN,
        "plain(lines[0])))",
        "plain(lines[0])[:160]))",
        OF_CARDS,
    ),
    (
        "cards: what nobody sees is written out",
        "oasis/core/clean.py",
        'return "".join(["\\\\u%04x" % ord(char) if char in odd else char for char in given]) if odd else given',
        "return given",
        OF_CARDS,
    ),
    (
        "cards: a secret that the model chose",
        "oasis/change/text_origin.py",
        "source = GENERATED if secret_options.is_word(value) else known.get(value, otherwise)",
        "source = GENERATED if secret_options.is_word(value) else known.get(value, WROTE)",
        OF_CARDS,
    ),
    (
        "cards: a word of the owner's is no password for being there",
        "oasis/tools/operator.py",
        "values &= given(self._said())",
        "values = {value for value in values if value in self._said()}",
        OF_CARDS,
    ),
    (
        "cards: a password that leaked is not the new one",
        "oasis/redaction/secret_forms.py",
        "for start, end in found if start >= over}",
        "for start, end in found}",
        OF_CARDS,
    ),
    (
        "cards: a typed password is not given by its placeholder",
        "oasis/redaction/placeholders.py",
        "if package == ENTERED and wanted and self._redactor.is_typed(value):",
        "if False:",
        OF_CARDS,
    ),
    (
        "taint: an undo carries that of the change",
        "oasis/tools/operator.py",
        'whose += record.get("untrusted", ())',
        "whose += ()",
        OF_WAYS,
    ),
    (
        "taint: an undo repeats no summary of a model's",
        "oasis/tools/operator.py",
        'lines[0] = "undo of change %s" % plan["undoes"]',
        "pass",
        OF_WAYS,
    ),
    (
        "taint: the history repeats no summary to a model",
        "oasis/tools/operator.py",
        "tells_summaries=not is_model",
        "tells_summaries=True",
        OF_WAYS,
    ),
    (
        "cards: a chosen secret is for the owner's eyes",
        "oasis/api/methods.py",
        'left_out = "value" if not has_chosen and {"where", "from", "value"} == set(value) else None',
        "left_out = None",
        OF_CARDS,
    ),
    (
        "cards: what is too large to be shown",
        PLAN,
        "if length > CARD_CHARS:",
        "if False and length > CARD_CHARS:",
        OF_CARDS,
    ),
    (
        "eval: the judge sees the bytes",
        "tests/eval/judge.py",
        "{}).get(name) != data",
        "{}).get(name) is None",
        OF_JUDGE,
    ),
    (
        "eval: the judge finds secrets",
        "tests/eval/judge.py",
        "    return any(one in text or json",
        "    return False and any(one in text or json",
        OF_JUDGE,
    ),
    ("force: what is missing refuses", PLAN, "    if missing:\n", "    if False:\n", OF_FORCE),
    ("force: code needs its words", "oasis/change/plan_card.py", " and words != FORCE_WORDS:", " and False:", OF_FORCE),
    (
        "force: no hands of a model",
        "oasis/tools/operator.py",
        "None if is_model else forces",
        "forces",
        ("tests/tools/test_force.py",),
    ),
    (
        "force: code that a model proposed is not kept",
        "oasis/tools/operator.py",
        'if "exec" in error.forces:',
        "if False:",
        ("tests/tools/test_refused.py", "tests/tools/test_force.py"),
    ),
    (
        "force: a forced plan waits under every setting",
        PLAN,
        'plan["tainted"] or plan["forces"] or',
        'plan["tainted"] or',
        OF_FORCE,
    ),
    ("force: bound in the hash", PLAN, '"forces", "call", "is_asked"', '"call", "is_asked"', OF_FORCE),
    ("typed word: nothing else approves", APPROVAL, "if wanted and word != wanted:", "if False:", OF_APPROVAL[:1]),
    ("taint: a plan waits under every setting", "oasis/change/policy.py", "is_asked or ", "", OF_CHANGES[::-1]),
    (
        "taint: goes with the context to the plan",
        "oasis/tools/operator.py",
        "if self.taint:",
        "if False:",
        ("tests/agent/test_untrusted_words.py",),
    ),
    (
        "taint: of an answer is kept",
        "oasis/agent/turn.py",
        'message["taint"] = taint',
        "pass",
        ("tests/agent/test_turn.py",),
    ),
    (
        "secrets: hidden on the way to a model",
        "oasis/agent/client.py",
        "self.redactor.hide(clean.value(message) if is_imported else message, chat)",
        "clean.value(message) if is_imported else message",
        ("tests/redaction/test_placeholders.py",),
    ),
    (
        "secrets: a placeholder goes into an option of its class",
        "oasis/redaction/placeholders.py",
        "if not wanted or secret_options.kind(package, held_kind, option) != wanted:",
        "if False:",
        ("tests/redaction/test_placeholders.py",),
    ),
    (
        "secrets: masked on the way to front-ends",
        "oasis/api/methods.py",
        'clear = cleared(reply, self._services.redactor, known, role["name"] == "owner")',
        "return reply",
        ("tests/redaction/test_placeholders.py",),
    ),
    (
        "secrets: chosen ones on a card are for the owner",
        "oasis/api/methods.py",
        'role["name"] == "owner")',
        "True)",
        ("tests/api/test_methods.py",),
    ),
    (
        "secrets: a streamed one is not cut in two",
        "oasis/agent/runs.py",
        "keep = self._open_end(whole) if self._open_end is not None else 0",
        "keep = 0",
        ("tests/agent/test_runs.py",),
    ),
    (
        "secrets: nor through its middle",
        "oasis/redaction/redactor.py",
        "cut = min(cut, found) if found >= 0 else cut",
        "pass",
        ("tests/agent/test_runs.py",),
    ),
    (
        "services: a change reloads what reads it",
        "oasis/change/policy.py",
        'rule["package"] in packages and item not in found',
        "False",
        ("tests/change/test_policy.py",),
    ),
    (
        "let in: what two rule sets pass is compared",
        ADMISSION,
        "return walk.subtract(after, admitted[0])",
        "return []",
        OF_ADMISSION,
    ),
    (
        "danger: SSH without a key is a no",
        "oasis/change/reach/listeners.py",
        'if held == "no":',
        "if False:",
        ("tests/change/reach/test_dangers.py",),
    ),
    (
        "danger: a key that dropbear does not read is none",
        "oasis/change/reach/listeners.py",
        'return "yes" if kind in _READ and not number else "unknown"',
        'return "yes"',
        ("tests/change/reach/test_dangers.py",),
    ),
    (
        "danger: dropbear waits for its interface at boot",
        "oasis/change/reach/listeners.py",
        'if section[".name"] in unbound(',
        "if False and unbound(",
        ("tests/change/reach/test_dangers.py",),
    ),
    (
        "danger: told on the card",
        PLAN,
        'plan["verdict"].pop("dangers", [])',
        '[][: len(plan["verdict"].pop("dangers", []))]',
        ("tests/change/reach/test_owner_way.py",),
    ),
    (
        "danger: a static address of a client is not carried along",
        "oasis/change/reach/way.py",
        "if self._source >> 24 & 0xFFFF == _EUI64:",
        "if True:",
        ("tests/change/reach/test_dangers.py",),
    ),
    (
        "danger: names of what is gone, in every package",
        PLAN,
        "left_behind(images, self._files.names(self._root.confdir), held)",
        "left_behind(images, list(images), held)",
        ("tests/change/reach/test_owner_way.py",),
    ),
    ("let in: the reason is no noise", ADMISSION, "walk.subtract(after, admitted[0])", "after", OF_ADMISSION),
    (
        "let in: what no firewall sees",
        WALK,
        "return self._accepted + self._bridged()",
        "return self._accepted",
        OF_ADMISSION,
    ),
    (
        "let in: through the router too",
        WALK,
        'way == "input" else "forward"] ==',
        'way == "input" else "output"] !=',
        OF_ADMISSION,
    ),
    ("let in: a redirect", WALK, "(turned, True)):", "):", OF_ADMISSION),
    (
        "let in: an open Wi-Fi is for others than one with a key",
        ADMISSION,
        "if _is_open(now) != _is_open(earlier):",
        "if False:",
        OF_ADMISSION,
    ),
    (
        "let in: each device of a port is a way in",
        ADMISSION,
        "ends = [_side([name] if name in one else one) for one in met]",
        "ends = [_side(one) for one in met]",
        OF_ADMISSION,
    ),
    (
        "let in: a tunnel of layer 2 joins a network",
        ADMISSION,
        "for name in joined if name in nets] or",
        "for name in joined if not name] or",
        OF_ADMISSION,
    ),
    (
        "dangers: SSH that answers no more",
        "oasis/change/reach/verdict.py",
        "for name in lost if not waiting]",
        "for name in []]",
        ("tests/change/reach/test_dangers.py",),
    ),
    (
        "let in: passwords for SSH",
        ADMISSION,
        "_WITH_PASSWORD: is_ssh and",
        "_WITH_PASSWORD: False and",
        OF_ADMISSION,
    ),
    (
        "let in: too many rules are told",
        ADMISSION,
        'return ["who is let in cannot',
        'return [] and ["who',
        OF_ADMISSION,
    ),
    (
        "elsewhere: a new destination",
        "oasis/change/references.py",
        'return [plain(one) for one in _outside(item.get("new"), has_names) if one not in old]',
        "return []",
        ("tests/change/test_policy.py",),
    ),
    (
        "openings: a barrier taken away is one",
        HARMLESS,
        "return list(dict.fromkeys(found))",
        "return [one for one in found if 'lets in' in one]",
        ("tests/change/test_policy.py",),
    ),
    (
        "secrets: masked in what a tool gives",
        "oasis/tools/registry.py",
        "operator.masked(hide_typed(",
        "((",
        ("tests/redaction/test_secret_sweep.py",),
    ),
    ("wall: loaded", CONFINEMENT, '"-f", "/proc/self/fd/0"]', '"-c", "-f", "/proc/self/fd/0"]', OF_WALL),
    ("wall: one that is gone comes back", CONFINEMENT, "self._loaded == (text, self._listed(nft))", "True", OF_WALL),
    (
        "wall: every kind of local address",
        "oasis/system/confinement.py",
        "fib daddr type { local, broadcast, anycast, multicast } jump closed",
        "fib daddr type { broadcast, anycast, multicast } jump closed",
        OF_WALL[::-1],
    ),
    ("wall: never SSH or the page", CONFINEMENT, " or number in _MANAGEMENT_PORTS", "", OF_WALL[::-1]),
    (
        "wall: before every request",
        "oasis/llm/pool.py",
        "            self._prepare()\n",
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
        "elif name not in self.parents and name not in self.gone and len(self.parents) < WALK_MESSAGES:",
        "elif len(self.parents) < WALK_MESSAGES:",
        ("tests/core/test_thread.py",),
    ),
    (
        "chat: a bookmark stays on its branch",
        "oasis/core/bookmarks.py",
        "if head and (head not in found or name in below[head]):",
        "if head:",
        ("tests/core/test_bookmarks.py",),
    ),
    (
        "chat: a new message moves no bookmark sideways",
        "oasis/agent/context.py",
        'if is_moved and table().get(head) and not asked.get("moves_head"):',
        "if False:",
        ("tests/chats/test_foreign_chats.py",),
    ),
    (
        "chat: an import takes no bookmark of another chat",
        "oasis/chats/imports.py",
        "    found.rename_heads(names)\n",
        "",
        ("tests/chats/test_foreign_chats.py",),
    ),
    (
        "chat: words of a role that nobody knows are not the owner's",
        "oasis/core/chat_line.py",
        'or "unknown"\n        _distrust(made)',
        'or "unknown"',
        ("tests/core/test_chat_line.py",),
    ),
    (
        "chat: a label that cannot be read does not pass for none",
        "oasis/core/chat_line.py",
        '        labels.append(UNREADABLE)\n    made["taint"] = labels\n\n\ndef _distrust',
        '    made["taint"] = labels\n\n\ndef _distrust',
        ("tests/core/test_chat_line.py",),
    ),
    (
        "said: what was said at home makes no vector elsewhere",
        "oasis/parts/memory/said.py",
        '(turn["service"]["is_local"] and not model.is_local)',
        "False",
        ("tests/parts/memory/test_search_by_meaning.py",),
    ),
    (
        "said: what was said at home is no find of a model elsewhere",
        "oasis/parts/memory/said.py",
        "if goes_elsewhere and not (answered and all(answered)):",
        "if False:",
        ("tests/parts/memory/test_search_by_meaning.py",),
    ),
    (
        "said: a vector goes with its message",
        "oasis/chats/collection.py",
        "        self._forget_vectors(name, message)\n",
        "",
        ("tests/parts/memory/test_search_by_meaning.py",),
    ),
    (
        "said: other chats are for the owner's own model",
        "oasis/tools/operator.py",
        "self.has_chats = is_model and approver is None and bool(self._chat)",
        "self.has_chats = True",
        ("tests/parts/memory/test_search_by_meaning.py",),
    ),
    (
        "json: values are counted before they are made",
        "oasis/core/jsonl.py",
        "        if values >= max_values:",
        "        if False:",
        ("tests/core/test_jsonl.py",),
    ),
    (
        "chat: no result goes out without its call",
        "oasis/core/trim.py",
        "parts = _without_lost_results(given, dropped)",
        "parts = {}",
        ("tests/core/test_trim.py",),
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
        '"sha256": _SHA256}',
        '"sha256": _WORD}',
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
        'kept if kept.get("model") == wire.model_of(options) else {}',
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
        'body["store"] = False',
        'body["store"] = True',
        OF_RESPONSES,
    ),
    ("answers: a message without an end is cut", "oasis/providers/cohere.py", "if not reason:", "if False:", OF_COHERE),
    (
        "answers: thoughts of others stay behind",
        "oasis/providers/cohere.py",
        'if wire.metadata_of(block, options) and block["text"]',
        'if block["text"]',
        OF_COHERE,
    ),
    (
        "answers: a new file that cannot be read is told",
        "oasis/providers/wire.py",
        "    elif label:",
        "    elif False:",
        OF_COHERE,
    ),
    (
        "answers: a search that is not offered is told",
        "oasis/providers/wire.py",
        "    if known is None:\n        raise",
        "    if False:\n        raise",
        ("tests/providers/test_profiles.py",),
    ),
    (
        "answers: embeddings keep the order of the texts",
        "oasis/providers/openai_chat.py",
        "if len(places) == len(entries):",
        "if False:",
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
        "oasis/parts/mcp/server_connection.py",
        "while data and not self._ended:",
        "while data:",
        ("tests/parts/mcp/test_bounds.py",),
    ),
    (
        "mcp: questions of a server are bounded",
        "oasis/parts/mcp/server_connection.py",
        "is_flood = self._replies > REPLIES",
        "is_flood = False",
        ("tests/parts/mcp/test_bounds.py",),
    ),
    (
        "mcp: a server that is over is not opened again",
        "oasis/parts/mcp/servers.py",
        "if not self._is_over and (",
        "if (",
        ("tests/parts/mcp/test_bounds.py",),
    ),
    (
        "mcp: a token goes to the home network or by https",
        "oasis/parts/mcp/servers.py",
        'and not is_at_home(entry["url"])',
        "and False",
        ("tests/parts/mcp/test_bounds.py",),
    ),
    (
        "mcp: who only looks sees no arguments",
        "oasis/parts/mcp/servers.py",
        'where if role["name"] == "owner" else origin',
        "where",
        ("tests/parts/mcp/test_bounds.py",),
    ),
    (
        "mcp: a client keeps its name",
        "oasis/api/methods.py",
        'if peer.setdefault("client", known) != known:',
        'peer["client"] = known\n        if False:',
        ("tests/parts/mcp/test_server.py",),
    ),
    (
        "mcp: an id that is none ends no server",
        "oasis/parts/mcp/server_http.py",
        'number, exchange = named(message.get("id")), Exchange(send)',
        'number, exchange = message.get("id"), Exchange(send)',
        ("tests/parts/mcp/test_server.py",),
    ),
    (
        "agent: one call over and over is stopped",
        "oasis/agent/start.py",
        "return Repeats().watched(call) if is_model else call",
        "return call",
        ("tests/agent/test_loop_guard.py",),
    ),
    (
        "runs: clients leave room for the owner",
        "oasis/agent/runs.py",
        "if client and sum(",
        "if False and sum(",
        ("tests/agent/test_runs.py",),
    ),
    (
        "doctor: a fault in a check ends no round",
        "oasis/doctor/findings.py",
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
        "oasis/redaction/redactor.py",
        "        except OSError:\n            pass  # nobody reads it",
        "        except ZeroDivisionError:\n            pass  # nobody reads it",
        ("tests/daemon/test_wiring.py",),
    ),
    (
        "runs: a run ends whatever else fails",
        "oasis/agent/runs.py",
        "    finally:  # a run without an end",
        "    else:  # a run without an end",
        ("tests/agent/test_runs.py",),
    ),
    (
        "privacy-shows-the-key",
        PROTOCOL,
        'hidden = {name: value.replace(key, "***") if key else value',
        "hidden = {name: value",
        ("tests/api/test_privacy.py",),
    ),
    (
        "privacy-stores-what-it-shows",
        "oasis/agent/start.py",
        "            finally:\n                chat.discard()",
        "            finally:\n                chat.flush()",
        ("tests/api/test_privacy.py",),
    ),
    (
        "privacy-asks-the-service",
        PROTOCOL,
        'if op == "chat":',
        "if True:",
        ("tests/api/test_privacy.py",),
    ),
    (
        "setup-asks-neighbours-outside",
        "oasis/api/methods.py",
        'if device["present"] and is_home(str(device["ip"])):',
        'if device["present"]:',
        ("tests/api/test_setup.py",),
    ),
    (
        "setup-uses-what-does-not-answer",
        "oasis/cli/models.py",
        'if not reply["ok"]:',
        "if False:",
        ("tests/cli/test_terminal_setup.py",),
    ),
    (
        "doctor-waits-one-after-the-other",
        "oasis/doctor/scene.py",
        "        self._asking[key][0].start()\n",
        "        self._asking[key][0].start()\n        self._asking[key][0].join()\n",
        ("tests/doctor/test_packets.py",),
    ),
    (
        "doctor-takes-a-refused-half-for-silence",
        "oasis/system/connections.py",
        "answer[0] == 0 or _FOUND in answer[1]",
        "answer[0] == 0",
        ("tests/doctor/test_packets.py",),
    ),
    (
        "gemini-runs-a-call-whose-arguments-go-on",
        "oasis/providers/gemini.py",
        "        if self._is_partial:",
        "        if False:",
        ("tests/providers/test_wire_faults.py",),
    ),
    (
        "a-second-choice-joins-the-first",
        "oasis/providers/openai_chat.py",
        'if choice.get("index") != self._choice and choice.get("index") is not None:',
        "if False:",
        ("tests/providers/test_wire_faults.py",),
    ),
    (
        "offline-drops-a-time-or-a-condition",
        OFFLINE + "provider.py",
        "if answer.is_offer or is_asked or not any(acts):",
        "if True:",
        ("tests/parts/offline/test_moments.py",),
    ),
    (
        "offline-carries-every-time-in-an-end",
        OFFLINE + "caution.py",
        " and not carried.get(kind, False)",
        " and not slots",
        ("tests/parts/offline/test_moments.py",),
    ),
    (
        "decoder-takes-any-number-of-tokens",
        "oasis/providers/events.py",
        "or not 0 <= value <= MOST_TOKENS",
        "",
        ("tests/providers/test_numbers.py",),
    ),
    (
        "worker-tells-any-number-of-tokens",
        "oasis/worker/lines.py",
        "return type(value) is int and 0 <= value <= _MOST",
        "return isinstance(value, int)",
        ("tests/worker/test_lines.py",),
    ),
    (
        "worker-serves-a-second-service",
        "oasis/llm/pool.py",
        "mine = [one for one in self._warm if one[1] == service]",
        "mine = list(self._warm)",
        ("tests/worker/test_pool.py",),
    ),
    (
        "worker-leaves-programs-behind",
        "oasis/llm/pool.py",
        "if ended:",
        "if False:",
        ("tests/worker/test_pool.py",),
    ),
    (
        "a-failed-step-of-stop-holds-up-the-rest",
        "oasis/daemon/wiring.py",
        "    except Exception:\n        import traceback",
        "    except OSError:\n        import traceback",
        ("tests/daemon/test_stop.py",),
    ),
    (
        "offline-does-now-what-is-for-later",
        OFFLINE + "caution.py",
        'STOPS = {"later", "condition"',
        'STOPS = {"condition"',
        ("tests/parts/offline/test_nearly.py",),
    ),
    (
        "offline-does-what-is-supposed",
        OFFLINE + "caution.py",
        '"later", "condition", "past"',
        '"later", "past"',
        ("tests/parts/offline/test_nearly.py",),
    ),
    (
        "knowledge-result-without-end",
        "oasis/parts/memory/knowledge.py",
        'while result["passages"] and len(',
        "while False and len(",
        ("tests/parts/memory/test_knowledge_daemon.py",),
    ),
    (
        "telegram-takes-forwarded-words-for-the-owner-s",
        TELEGRAM + "talk.py",
        'elif update.get("is_forwarded"):',
        "elif False:",
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
