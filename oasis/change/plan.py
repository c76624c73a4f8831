"""A plan: everything a change will do, worked out before anything is touched, and bound by one hash.

A plan begins as a Draft, which its makers fill in. `bind` freezes it: the hash is HMAC-SHA256 over the canonical JSON
of all BOUND values, so an approval fits what would happen and the words that the owner read, and nothing else. A change
of a bound plan is another plan: `bind(plan, key=value)`. Planning reads the router and writes nothing.

Three rules refuse a plan and yet have an exception, which only the owner lets through (FORCES): an option that runs
code (`exec`), a change after which they would not reach the router (`reachability`), names and values that the
catalogue does not know or calls bad (`unknown`). An option without an entry is both: unknown, and code until shown
otherwise. Who may force says so by a method of their own (methods.py); no setting, no tool and no text of a model leads
here. What policy.json forbids is none of them. Shape of needs: {one of FORCES: [what breaks that rule]}, where needed.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from oasis.change.plan_card import CLIENT, FORCE_WORDS
from oasis.change.policy import UNREVIEWED
from oasis.core import jsonl, when
from oasis.core.clean import shown as plain
from oasis.errors import ApplyError, MistakeError, PolicyError, UciError, UsageError
from oasis.redaction import secret_options
from oasis.system.digest import hmac_sha256, sha256
from oasis.uci import model
from oasis.uci.model import tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from oasis.change.apply.journal import Journal
    from oasis.change.policy import Policy
    from oasis.change.reach.shapes import Answer
    from oasis.change.shapes import Call, CalledTool, Difference, Draft, Images, LineDiff, NewId, Operation, Plan
    from oasis.change.text_origin import Texts
    from oasis.core.shapes import Json
    from oasis.shapes import ErrorReply
    from oasis.system.files import KnownFiles
    from oasis.system.root import Machine

# What an approval is for: all that would happen, and every word that the owner reads of it.
BOUND = (
    "id", "run", "chat", "operations", "services", "before", "after", "is_restore", "undoes", "until_unix_s", "ends",
    "forces", "call", "is_asked", "is_automatic", "tainted", "confirm_s", "needs_approval",
    "summary", "words", "uci", "diff", "risk", "reasons", "secrets", "verdict", "new_address", "untrusted",
    "unconfined", "typed_word", "choice",
)  # fmt: skip
# The images have their sums in `before` and `after`; `expires_s` is of this process, and the nonce is on no card.
UNBOUND = ("images", "expires_s", "nonce", "hash")
# Part of every hash: no approval outlives a change of what BOUND means.
FORMAT = 5
# Long enough to read a diff and ask somebody; short enough that the router has not become another one.
EXPIRES_S = 600
# Of a plan's words, commands and difference: with all else they fit into a reply of the bus (256 KiB).
CARD_CHARS = 160 * 1024
# Of a call of a tool: nobody reads more before they say yes.
ARGUMENT_CHARS = 16 * 1024
# What an approval of a risky plan carries while the worker is not confined; one word in every language.
TYPED_WORD = "risky"
# The script that is asked for a proof of life takes 32 hexadecimal digits.
_NONCE_BYTES = 16
TAINTED = "text from devices or networks was in the conversation"
# What whoever binds a plan again may say otherwise than policy does.
_SETTLED = ("needs_approval", "confirm_s", "expires_s")
# Where rpcd keeps the files of an apply. Source: rpcd's uci.c.
_SNAPSHOTS = "/var/run/rpcd/snapshot-files"
# What packages of the firmware came with. Source: OpenWrt's overlay, base-files' preinit.
_DEFAULTS = "/rom/etc/config/"

# Reasons in one message; front ends get them all.
_IN_A_MESSAGE = 5
_HINTS = {  # the first that is needed is given
    "unknown": "correct these and propose the whole change again",
    "exec": "leave that part out; only the owner does it: oasis apply --force exec",
    "reachability": "ask for a change that leaves your own way open, or come in by another way first",
}
_UNREACHABLE = "you would not reach the router any more: %s"
_FORCED = {
    "exec": "forced: " + FORCE_WORDS + " (%s)",
    "reachability": "forced: " + _UNREACHABLE,
    "unknown": "forced: %s",
}


class RefusedError(PolicyError):
    """A plan is refused that the owner may force: `forces` are the kinds that are missing, `reasons` all that is wrong.

    `uci` are the commands with secrets masked, `revisions` the sha256 of each package that they were meant for,
    `is_mistake` whether nothing but names and values that are not there is wrong.
    """

    def __init__(
        self, forces: list[str], reasons: list[str], uci: list[str], revisions: dict[str, str] | None = None, *,
        is_mistake: bool = False, hint: str = "",
    ) -> None:  # fmt: skip
        hint = hint or next(hint for kind, hint in _HINTS.items() if kind in forces)
        super().__init__("; ".join(reasons[:_IN_A_MESSAGE]), hint)
        self.forces, self.reasons, self.uci = forces, reasons, uci
        self.revisions, self.is_mistake = revisions or {}, is_mistake

    def as_dict(self) -> ErrorReply:
        return {**super().as_dict(), "force": self.forces}


def _refuse(self: object, *arguments: object, **named: object) -> NoReturn:
    raise TypeError("a bound plan does not change: bind another one")


class FrozenDict(dict):  # type: ignore[type-arg]
    """A dict that refuses to be changed, for the values of a bound plan."""

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse


class FrozenList(list):  # type: ignore[type-arg]
    """A list that refuses to be changed."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = append = clear = extend = _refuse
    insert = pop = remove = reverse = sort = _refuse


def _unreviewed(differences: list[Difference], images: Images, default: Callable[[str], bytes]) -> list[str]:
    """Return why changes of options that nobody has looked at wait, with the line where each stands; [] for none.

    The option may stand in its section, in another one of the type, or in what the package came with (`default`).
    """
    places = []
    for item in differences:
        package = item["package"]
        files = {"/etc/config/" + package: images[package][0], "/rom/etc/config/" + package: default(package)}
        lines = {path: _line(data, item) for path, data in files.items()}
        where = next((" (%s, line %d)" % (path, line) for path, line in lines.items() if line), "")
        places.append("%s.%s.%s%s" % (package, item["section"], item["option"], where))
    return [UNREVIEWED % ", ".join(dict.fromkeys(places))] if places else []


def _line(data: bytes, item: Difference) -> int:
    """Return the line of a file at which an option of a section begins, or of one of its type; 0 when it has none."""
    held = tables(model.parse(data, item["package"]))
    places = list(held.values())
    names = [(name, model.label(held, section)) for name, section in held.items()]
    found, place = 0, -1
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        words = line.replace("'", " ").replace('"', " ").split()
        place += words[:1] == ["config"]
        if place >= 0 and words[:1] in (["option"], ["list"]) and words[1:2] == [item["option"]]:
            if item["section"] in names[place]:
                return number
            if places[place][".type"] == item["type"]:
                found = found or number
    return found


def _are_of(reasons: list[str], mistakes: list[str]) -> bool:
    """Return whether reasons tell nothing but that values are wrong which mistakes name with their options."""
    paths = [path for path in (one.partition(" ")[0] for one in mistakes) if path.count(".") > 1]
    return all(any(reason.startswith(path + " ") and "is no " in reason for path in paths) for reason in reasons)


def frozen(value: Any) -> Any:
    """Return a copy of dicts and lists, at every depth, that nothing can change."""
    if isinstance(value, dict):
        return FrozenDict({key: frozen(one) for key, one in value.items()})
    if isinstance(value, (list, tuple)):
        made = [frozen(one) for one in value]
        return FrozenList(made) if isinstance(value, list) else tuple(made)
    return value


class Questions:
    """What a planner asks the rest of the daemon.

    `reach(images, run)` judges whether the owner still reaches the router (reach/owner_way.py). `unconfined()` says why
    nothing keeps the worker away from the router, "" when something does; without, the owner types a word before
    anything risky happens. `texts()` knows whose words a plan holds (text_origin.py). `luci_waits()` tells whether an
    apply of LuCI waits for its confirmation; it is asked only where there are files of one. `warnings(images, whether
    packages come with it)` says in sentences what would be unusable afterwards (tools/warnings.py).
    """

    def __init__(
        self, reach: Callable[[Images, str], Answer | None] | None = None, unconfined: Callable[[], str] = lambda: "",
        texts: Callable[[], Texts] | None = None, luci_waits: Callable[[], bool] = lambda: True,
        warnings: Callable[[Images, bool], list[str]] = lambda images, brings_packages: [],
    ) -> None:  # fmt: skip
        self.reach, self.unconfined, self.texts, self.luci_waits = reach, unconfined, texts, luci_waits
        self.warnings = warnings


class Planner:
    """Make plans for one router.

    `key` is the HMAC key made at install, `new_id()` gives an xid; `journal` knows which changes end by themselves.
    """

    def __init__(
        self, machine: Machine, policy: Policy, key: bytes, new_id: NewId, journal: Journal | None = None,
        questions: Questions | None = None,
    ) -> None:  # fmt: skip
        self._root, self._files = machine.root, machine.files
        self._known = machine.known  # before a plan is applied, what it rests on is read from the files themselves
        self.policy, self._key, self.new_id, self._journal = policy, key, new_id, journal
        self._now_s = machine.clock.now_s
        self._questions = questions or Questions()
        self.texts = self._questions.texts
        # Files that are not there yet, see before_unpacking, and those of which something goes that nobody knows.
        self.presumed: dict[str, bytes] = {}
        self._unseen: set[str] = set()
        self._brings_packages = False

    def propose(
        self, operations: list[Operation], run: str, chat: str, summary: str = "", until_unix_s: int = 0,
        forces: tuple[str, ...] = (),
    ) -> Plan | None:  # fmt: skip
        """Return the plan of UCI operations, None when they change nothing; it may end by itself at a time.

        Operations that say again what an earlier change says that ends set the end of that change (ends.py).

        `forces` are those that the owner lets through; those that it needs are in the plan.
        Raises: UciError or UsageError for what UCI itself would refuse, PolicyError for what is not allowed; of these
        RefusedError for what the owner could force.
        """
        before = {str(item["package"]): b"" for item in operations}
        for package in before:
            risk, reasons = self.policy.judge([{"kind": "set", "package": package, "type": "", "section": ""}])
            if risk == "forbidden":
                raise PolicyError("%s may not be changed here" % package, "; ".join(reasons))
        before = {package: self.read(package, self._known) for package in before}
        read: dict[str, bytes] = {}
        needs: dict[str, list[str]] = {}
        mistakes = self._check_catalogue(operations, read, needs)
        is_mistake = "exec" not in needs  # what has no entry counts as code from here on
        try:
            after = model.preview(before, operations)
        except UciError:
            if mistakes:  # the catalogue says it better
                kind = MistakeError if is_mistake else PolicyError
                raise kind("; ".join(mistakes[:_IN_A_MESSAGE]), _HINTS["unknown"])
            raise
        images = {name: (before[name], after[name]) for name in before}
        plan = self._plan(images, run, chat, summary, needs)
        revisions = {name: sha256(data) for name, data in before.items()}
        from oasis.change.history import ends  # an idle daemon does without

        said = ends.Said(self._journal, operations, until_unix_s, self.read) if self._journal is not None else None
        if plan is None and said is not None and said.entries:
            plan = self.empty(run, chat, summary)
            plan["before"] = revisions
        uci = _commands(operations, images)
        missing = sorted(set(needs) - set(forces))
        if missing:
            # The operations hold no known code, and only names and values are wrong.
            unreachable = [] if _are_of(needs.get("reachability", []), mistakes) else needs["reachability"]
            is_mistake = is_mistake and "unknown" in needs and not unreachable
            wrong = list(mistakes)
            if "exec" in needs and not mistakes:
                wrong.append("%s runs code or names a file" % ", ".join(needs["exec"]))
            if unreachable:
                wrong.append(_UNREACHABLE % "; ".join(unreachable))
            raise RefusedError(missing, wrong, uci, revisions, is_mistake=is_mistake)
        if plan is None:
            return None
        if needs:  # never low, and each rule that it breaks is among its reasons
            plan["forces"], plan["risk"] = sorted(needs), "risky"
            plan["reasons"] += [_FORCED[kind] % "; ".join(needs[kind]) for kind in sorted(needs)]
        plan["operations"], plan["uci"] = operations, uci
        for name, data in read.items():
            plan["before"].setdefault(name, sha256(data))
        if said is not None:
            until_unix_s = said.until_unix_s
            plan.update(ends.changes(plan, said.entries, said.words, said.is_risky))  # type: ignore[typeddict-item]
            plan["untrusted"] += said.untrusted
        if until_unix_s and plan["images"]:
            plan["until_unix_s"] = until_unix_s
            plan["words"].append("until %s: then all of this is undone by itself" % when.shown(until_unix_s))
        length = len(jsonl.dumps([plan["words"], plan["uci"], plan["diff"]]))
        if length > CARD_CHARS:
            raise PolicyError(
                "showing all that this changes takes %d characters, %d can be shown" % (length, CARD_CHARS),
                "do it in smaller steps",
            )
        return self.bind(plan)

    def restore(
        self, images: Images, operations: list[Operation], run: str, chat: str, summary: str, undoes: str
    ) -> Plan | None:
        """Return the plan that undoes a change: packages as read and as they were; None when nothing would differ.

        `operations` are for show: what makes the difference where not the old bytes come back.
        """
        needs: dict[str, list[str]] = {}
        plan = self._plan(images, run, chat, summary, needs, undoes)
        if plan is None:
            return None
        if needs:
            raise PolicyError(_UNREACHABLE % "; ".join(needs["reachability"]), _HINTS["reachability"])
        uci = _commands(operations, images)
        return self.bind(plan, is_restore=True, undoes=undoes, operations=operations, uci=uci)

    def service(self, name: str, action: str, run: str, chat: str) -> Plan:
        """Return the plan that only acts on a service."""
        self._root.init_script(name)
        risk, reasons = self.policy.judge_service(name, action)
        if risk == "forbidden":
            words = "the service %s is not touched here: %s" % (name, reasons[0])
            raise PolicyError(words, "the owner does it, by hand")
        plan = self.empty(run, chat, "%s %s" % (action, name))
        plan["risk"], plan["reasons"] = risk, reasons
        plan["words"] = ["service %s: %s" % (name, action)]
        plan["services"] = [{"name": name, "action": action}]
        plan["is_asked"] = self.policy.is_stop(name, action)
        return self.bind(plan)

    def call(
        self, tool: CalledTool, arguments: dict[str, Json], run: str, chat: str, reasons: list[str], words: list[str]
    ) -> Plan:
        """Return the plan for a call of a tool that changes no configuration, which always waits for the owner.

        `reasons` say why they are asked, `words` what the call would do. The plan has no images: who asked for it makes
        the call once it is approved. What is bound is the tool, where it is from, and its arguments to the letter.
        Raises: PolicyError for arguments that are too long to be read.
        """
        length = len(jsonl.dumps(arguments))
        if length > ARGUMENT_CHARS:
            raise PolicyError(
                "%s asks the owner, and its arguments are %d characters long" % (tool["name"], length),
                "at most %d can be shown: do it in parts" % ARGUMENT_CHARS,
            )
        plan = self.empty(run, chat, words[0] if words else "call the tool %s" % tool["name"])
        plan["call"] = {"name": tool["name"], "source": tool["source"], "class": tool["class"], "arguments": arguments}
        plan["words"] = ["tool %s (%s)" % (tool["name"], tool["source"]), *words]
        for name, value in arguments.items():
            lines = (value if isinstance(value, str) else jsonl.dumps(value)).split("\n")
            if len(lines) == 1:
                plan["words"].append("%s: %s" % (plain(name), plain(lines[0])))
            else:  # each line of a longer text is marked, so that none looks like an argument
                plan["words"].append("%s (%d lines):" % (plain(name), len(lines)))
                plan["words"] += ["| " + plain(line) for line in lines]
        plan["risk"] = "risky" if tool["class"] in ("change", "danger") else "low"
        plan["reasons"], plan["is_asked"] = list(reasons), True
        return self.bind(plan)

    def before_unpacking(self, operations: list[Operation]) -> Planner:
        """Return a planner for operations on packages that will be installed, some of whose files are not there yet."""
        from oasis.change import presumed  # an idle daemon does without

        made = object.__new__(type(self))
        vars(made).update(vars(self))
        names = dict.fromkeys(item["package"] for item in operations)
        absent = [name for name in names if self._files.read(self._root.confdir + "/" + name) is None]
        made._brings_packages, made.presumed = True, presumed.files(operations, absent)
        made._unseen = {item["package"] for item in operations if item["op"] not in ("set", "add", "add_list")}
        made._unseen &= {*absent}
        return made

    def installation(
        self, plan: Plan | None, operations: list[Operation], run: str, chat: str, words: list[str], call: Call
    ) -> Plan:
        """Return what is shown before packages are installed and configured, by the planner of `before_unpacking`.

        `plan` is what it made of the operations, None when they change nothing; `words` and `call` are what is
        installed. Of packages that are not there yet it has what the owner reads, and no image.
        """
        draft: Draft = {**(plan or self.empty(run, chat, words[0]))}
        there = {name: pair for name, pair in draft["images"].items() if name not in self.presumed}
        draft["images"], draft["after"] = there, {name: draft["after"][name] for name in there}
        draft["before"] = {name: sum_ for name, sum_ in draft["before"].items() if name not in self.presumed}
        draft["diff"] = [one for one in draft["diff"] if one["package"] not in self.presumed]
        unseen = _commands([one for one in operations if one["package"] in self._unseen], {})
        draft["words"] = [*words, *draft["words"], *unseen, "enables and starts the services that come with it"]
        reason = "packages run code as root; they are removed again if the rest fails, or with an undo"
        draft["reasons"] = [reason, *draft["reasons"]]
        draft.update({"call": call, "operations": operations, "risk": "risky", "is_asked": True})
        draft["uci"] = draft["uci"] or _commands(operations, {})
        return self.bind(draft)

    def read(self, package: str, files: KnownFiles | None = None) -> bytes:
        """Return the bytes of a package's file.

        Raises: UciError when the router has no such package.
        """
        data = (files or self._files).read(self._root.confdir + "/" + package)
        data = self.presumed.get(package) if data is None else data
        if data is None:
            there = ", ".join(model.listed(self._files.names(self._root.confdir)))
            from oasis.catalogue import entries

            if package in entries.packages():
                hint = "install the package first, mostly called so too; a model may name it in `install`"
                raise UciError("%s is not installed: there is no /etc/config/%s" % (package, package), hint)
            raise UciError("there is no configuration package %r" % package, "there are: " + there)
        return data

    def _check_catalogue(
        self, operations: list[Operation], read: dict[str, bytes], needs: dict[str, list[str]]
    ) -> list[str]:
        """Return what is wrong with the operations; `read` gets the files that were looked at."""

        def table(package: str) -> dict[str, dict[str, object]]:
            read[package] = self._known.read(self._root.confdir + "/" + package) or self.presumed.get(package, b"")
            return tables(model.parse(read[package], package))

        # what plans need comes with the first plan: an idle daemon has none
        from oasis.catalogue import check, entries

        installed = entries.more("installed")
        if installed:
            names = dict.fromkeys(item["package"] for item in operations)
            held = {name: self.read(name, self._known) for name in names}
            # of what is presumed the values as well
            steps = [item for item in operations if item["package"] in self.presumed]
            held.update(model.preview(self.presumed, steps))
            installed.learn({name: tables(model.parse(data, name)) for name, data in held.items()}, self.presumed)
        found = []
        for item in check.check(operations, table, entries.bounds(self._root, self._files), self.presumed):
            kind = "exec" if item["kind"] == "exec" else "unknown"
            needs.setdefault(kind, []).append(str(item["where" if kind == "exec" else "message"]))
            found.append("%s (%s)" % (item["message"], item["hint"]) if item["hint"] else str(item["message"]))
        return found

    def _plan(
        self, images: Images, run: str, chat: str, summary: str, needs: dict[str, list[str]], undoes: str | None = None
    ) -> Draft | None:
        """Return what a change of packages does, None for nothing; `needs` gets what only the owner lets through.

        `undoes` is the change that it undoes, None where it is no undo.
        """
        from oasis.change import difference, harmless, references  # what judges plans comes with the first one

        is_undo = undoes is not None
        images = {name: pair for name, pair in images.items() if pair[0] != pair[1]}
        differences: list[Difference] = []
        diff: list[LineDiff] = []
        shown, asked = [], []
        router = harmless.Router(self._root, self._files, images)
        for name, (old, new) in images.items():
            before, after = model.parse(old, name), model.parse(new, name)
            # What is new is foreign only where something old comes back.
            shown += [before, after] if is_undo else [before]
            found = difference.compare(before, after, name)
            differences += found
            asked += harmless.put_to_use(after, found, self.policy.rules["switches"], router.bounds)
            diff.append({"package": name, "lines": difference.diff_lines(before, after, name)})
        if not differences:
            return None
        plan = self.empty(run, chat, summary)
        plan["images"] = images
        plan["risk"], plan["reasons"] = self.policy.judge(differences, True, router)
        if plan["risk"] == "forbidden":
            raise PolicyError("; ".join(plan["reasons"]), "leave that part out")
        looked_at = router.read if plan["risk"] == "low" else {}  # what it was judged by
        code = self.policy.code(differences)  # what is in its bound too: never without the owner
        known = [place.rpartition(".")[2] for place in needs.get("exec", [])]
        beyond = self.policy.code(differences, router.bounds)
        new_code = [place for place in beyond if place.rpartition(".")[2] not in known]
        if new_code and not is_undo:
            needs["exec"] = needs.get("exec", []) + new_code
        # What the owner removed does not come back without them.
        unseen = [] if is_undo and not self._is_again(undoes) else self.policy.unreviewed(differences)
        files = {**images, **dict.fromkeys(self.presumed, (b"", b""))}
        default = lambda name: self._files.read(self._root.path(_DEFAULTS) + name) or b""  # noqa: E731
        unreviewed = _unreviewed(unseen, files, default)
        opened, read = self.openings(images)
        plan["is_asked"] = bool(opened or asked or code or unreviewed)
        turned, others = self._detours(images)
        if opened or turned or asked or unreviewed:  # before all other reasons
            plan["risk"], plan["reasons"] = "risky", [*opened, *turned, *asked, *unreviewed, *plan["reasons"]]
        if "network" in images:
            plan["new_address"] = _new_address(*images["network"])
        reach = self._questions.reach
        answer = reach(images, run) if reach is not None and plan["risk"] != "low" else None
        if answer is not None and answer["verdict"] == "no":
            needs["reachability"] = list(answer["reasons"])
        plan["verdict"] = answer or {}
        held = lambda name: self._files.read(self._root.confdir + "/" + name) or b""  # noqa: E731
        left = references.left_behind(images, self._files.names(self._root.confdir), held)
        plan["reasons"] = [*plan["verdict"].pop("dangers", []), *left, *plan["reasons"]]
        plan["words"] = difference.sentences([item for item in differences if item["package"] not in self._unseen])
        plan["words"] += self._questions.warnings(images, self._brings_packages)
        if self.texts is not None:
            for package in shown:
                plan["untrusted"] += self.texts().told(package, plan["words"])
        plan["diff"] = diff
        touched = {name: sha256(pair[0]) for name, pair in images.items()}
        plan["before"] = {**others, **read, **looked_at, **plan["verdict"].pop("read", {}), **touched}
        plan["after"] = {name: sha256(pair[1]) for name, pair in images.items()}
        installed = self._files.names(self._root.path("/etc/init.d"))
        plan["services"] = self.policy.services(list(images), installed.__contains__)
        return plan

    def _is_again(self, undoes: str | None) -> bool:
        """Return whether undoing a change does again what it had undone."""
        try:
            return bool(undoes and self._journal is not None and self._journal.read(undoes).get("undoes"))
        except UsageError:  # too old to be in the history
            return True

    def openings(self, images: Images) -> tuple[list[str], dict[str, str]]:
        """Return a sentence for who is let in by packages before and after, and {package: sha256} of what else counted.

        Raises: UciError for a package that is none.
        """
        from oasis.change import harmless
        from oasis.change.reach import admission

        found: list[str] = []
        read: dict[str, bytes] = {}
        if any(name in admission.PACKAGES for name in images):
            held = {name: self._files.read(self._root.confdir + "/" + name) for name in admission.PACKAGES}
            read = {name: data for name, data in held.items() if data is not None and name not in images}
            sides = [{**read, **{name: pair[side] for name, pair in images.items()}} for side in (0, 1)]
            found = admission.openings(*sides)
        for name, pair in images.items():
            found += harmless.openings(model.parse(pair[0], name), model.parse(pair[1], name), self.policy.rules)
        return found, {name: sha256(data) for name, data in read.items()}

    def _detours(self, images: Images) -> tuple[list[str], dict[str, str]]:
        """Return what packages turn aside or weaken at home, and {package: sha256} of what else counted."""
        from oasis.change.reach import detours

        if not any(name in detours.PACKAGES for name in images):
            return [], {}
        # which addresses are the router's own
        others = {} if "network" in images else {"network": self._files.read(self._root.confdir + "/network") or b""}
        touched = {name: pair for name, pair in images.items() if name in detours.PACKAGES}
        sides = [{**others, **{name: pair[side] for name, pair in touched.items()}} for side in (0, 1)]
        return detours.detours(*sides), {name: sha256(data) for name, data in others.items() if data}

    def empty(self, run: str, chat: str, summary: str) -> Draft:
        """Return a plan that does nothing yet; `bind` makes it one that can be shown."""
        return {
            "id": self.new_id(), "run": run, "chat": chat, "summary": summary, "operations": [], "services": [],
            "risk": "low", "reasons": [], "words": [], "diff": [], "uci": [], "before": {}, "after": {}, "images": {},
            "is_restore": False, "is_asked": False, "is_automatic": False, "tainted": False, "untrusted": [],
            "undoes": "", "until_unix_s": 0, "ends": [], "verdict": {}, "new_address": "", "forces": [], "call": {},
            "choice": {}, "secrets": [], "nonce": os.urandom(_NONCE_BYTES).hex(),
        }  # fmt: skip

    def taint(self, plan: Plan, labels: list[str]) -> Plan:
        """Return a plan whose maker had words of others in sight: never low, and never without the owner."""
        asking = ["the MCP client %s asks for it" % one[len(CLIENT) :] for one in labels if one.startswith(CLIENT)]
        return self.bind(
            plan,
            tainted=True,
            untrusted=[*plan["untrusted"], *labels],
            risk="risky" if plan["risk"] == "low" else plan["risk"],
            reasons=[*plan["reasons"], *(asking or [TAINTED])],
        )

    def bind(self, draft: Draft, **changes: object) -> Plan:
        """Return a frozen plan: a draft or another plan with changes, what its risk means for it, and its hash.

        Of needs_approval, confirm_s and expires_s what `changes` says counts; nothing else is carried over.
        """
        plan: Plan = {**draft, **changes}  # type: ignore[typeddict-item]  # by the names of its own keys
        # An installation has no images of what it brings.
        names = [item["package"] for item in plan["operations"]] if plan["call"] else list(plan["images"])
        plan["confirm_s"] = self.policy.confirm_s(names, plan["risk"])
        plan["unconfined"] = self._questions.unconfined() if plan["risk"] != "low" else ""
        plan["typed_word"] = TYPED_WORD if plan["unconfined"] else ""
        is_asked = bool(plan["is_asked"] or plan["tainted"] or plan["forces"] or plan["typed_word"])
        plan["needs_approval"] = self.policy.needs_approval(plan["risk"], is_asked)
        plan["expires_s"] = self._now_s() + EXPIRES_S
        plan.update({key: changes[key] for key in _SETTLED if key in changes})  # type: ignore[typeddict-item]
        plan["hash"] = self.hash(plan)
        found: Plan = frozen(plan)
        return found

    def hash(self, plan: Plan) -> str:
        """Return the plan_hash of what a plan says."""
        bound: dict[str, object] = {key: plan[key] for key in BOUND}  # type: ignore[literal-required]
        bound["format"] = FORMAT
        return hmac_sha256(self._key, jsonl.canonical(bound).encode("utf-8"))

    def check_current(self, plan: Plan) -> None:
        """Raise ApplyError unless plan and router are still what was approved."""
        if self.hash(plan) != plan["hash"]:
            raise ApplyError("plan %s is not what was shown any more" % plan["id"], "ask for the change again")
        if self._now_s() > plan["expires_s"]:
            raise ApplyError("plan %s has expired" % plan["id"], "ask for the change again")
        for package, revision in plan["before"].items():
            data = self._files.read(self._root.confdir + "/" + package)
            if data is None or sha256(data) != revision:
                raise ApplyError(
                    "%s was changed by somebody else since the plan was made; nothing was written" % package,
                    "ask for the change again: it will be worked out on the new state",
                )
        if plan["ends"] and self._journal is not None:
            from oasis.change.history import ends  # an idle daemon does without

            for entry in plan["ends"]:
                record = self._journal.read(str(entry["change"]))
                if not ends.is_standing(record) or ends.state(record) != entry["before"]:
                    words = "the end of change %s is another one since the plan was made; nothing was written"
                    raise ApplyError(words % record["id"], "ask for the change again")
        if plan["is_asked"] and not plan["is_restore"] and "exec" not in plan["forces"]:
            self._check_bounds(plan)
        # The rollback of an apply that waits in rpcd would silently take ours back with its own files. An apply without
        # rollback leaves such files, too, and they stay: whether anybody waits only rpcd knows.
        if plan["images"] and self._files.names(self._root.path(_SNAPSHOTS)) and self._questions.luci_waits():
            raise ApplyError(
                "an apply in LuCI waits for its confirmation; nothing was written",
                "confirm or revert it there, then ask again",
            )
        for package in plan["images"]:
            staged = self._files.read(self._root.path("/tmp/.uci/") + package)  # noqa: S108
            if staged and staged.strip():
                lines = staged.decode("utf-8", "replace").strip().split("\n")
                raise ApplyError(
                    "%s has %d uncommitted change(s) of somebody else; nothing was written" % (package, len(lines)),
                    "look at them with `uci changes %s`, then commit or revert them" % package,
                )

    def _check_bounds(self, plan: Plan) -> None:
        """Raise ApplyError when a file that a value names is not any more as it was looked at."""
        from oasis.change import difference, harmless

        bounds = harmless.Router(self._root, self._files, {}).bounds
        for name, pair in plan["images"].items():
            before, after = (model.parse(data, name) for data in pair)
            beyond = self.policy.code(difference.compare(before, after, name), bounds)
            if beyond:
                words = "%s names something that has changed since the plan was made; nothing was written"
                raise ApplyError(words % ", ".join(beyond), "look at it, then ask for the change again")


def _new_address(before: bytes, after: bytes) -> str:
    """Return the address that the router will have on its own network, "" when that stays or is unknown."""
    found = []
    for data in (before, after):
        lan = tables(model.parse(data, "network")).get("lan", {})
        value = lan.get("ipaddr", "")
        words = str(value[0] if isinstance(value, list) else value).split() or [""]
        found.append(words[0].partition("/")[0] if lan.get("proto") == "static" else "")
    return found[1] if found[1] != found[0] else ""


def _commands(operations: list[Operation], images: Images) -> list[str]:
    """Return operations as uci commands, their secrets masked."""
    from oasis.change import difference, uci_commands

    held = {name: difference.secret_values(model.parse(pair[1], name), name) for name, pair in images.items()}
    masked: list[Operation] = []
    for item in operations:
        if "value" in item:
            package, value = item["package"], item["value"]
            is_secret = value in held.get(package, ()) or secret_options.may_hold(package, item["option"])
            is_masked = is_secret and not secret_options.is_word(value)
            item = {**item, "value": difference.NEW_MASK if is_masked else plain(value)}
        masked.append(item)
    return uci_commands.as_commands(masked)
