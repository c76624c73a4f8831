"""What a change is: low, risky or forbidden; how long it may wait for its owner; which services it reloads.

The rules are data (policy.json, services.json, the marks of the catalogue), out of the model's reach. Knows no plan,
and of the router what it is given to look at. In policy.json every place that is not judged by its package alone has
a row:
    path      package.type or package.type.option, the longer one first
    check     what proves that a change of it is low (harmless.py); without one it never is
    reason    why it is not low, for the owner; some checks say more themselves
    why       what a hostile model could do with it at 3 a.m.: why it is, or is not, low
"""

from __future__ import annotations

from functools import cached_property

from oasis.core import jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.catalogue.bounds import Bounds
    from oasis.change.harmless import Router
    from oasis.change.shapes import Action, Callable, Difference, PolicyRules, ServiceRule, ServiceRules

UNREVIEWED = "not reviewed: Oasis does not know what %s does"
UNSEEN = ("rules", "installed")  # origins of entries that nobody has looked at
_BY_HAND = "%s.%s.%s runs code or names a file: only the owner changes it, by hand"


class Policy:
    """The rules, with what the owner's settings override.

    `confirm_s` and `management_s`, when given, replace the windows of the data (seconds).
    """

    def __init__(self, approval: str = "risky", confirm_s: int = 0, management_s: int = 0) -> None:
        self.set(approval, confirm_s, management_s)

    def set(self, approval: str, confirm_s: int, management_s: int) -> None:
        """Take over other settings of the owner's; a change that waits already keeps its window."""
        self.approval = approval
        self._confirm_s, self._management_s = confirm_s, management_s or confirm_s

    @cached_property
    def rules(self) -> PolicyRules:
        """Return the rules of the data."""
        found: PolicyRules = jsonl.table(__file__, "policy.json")
        return found

    def judge(
        self, differences: list[Difference], allows_code: bool = False, router: Router | None = None
    ) -> tuple[str, list[str]]:
        """Return the class ("low", "risky" or "forbidden") of what a change does, and why: only what is true of it.

        Nothing is low without a look at the router: each place that may be has a check (harmless.py). What runs code
        is only risky where it is allowed: to an undo, which brings back what the owner had there, and to the owner who
        forces it. Shape of differences: see oasis.change.difference.
        """
        from oasis.catalogue import entries
        from oasis.change import references  # comes with the first plan: an idle daemon has none

        worst = "low"
        reasons: list[str] = []
        places: list[str] = []
        elsewhere: list[str] = []
        sections: dict[tuple[object, object], list[Difference]] = {}
        for item in differences:
            sections.setdefault((item["package"], item["section"]), []).append(item)
        for item in differences:
            package = item["package"]
            names = [name for name in (package, "%s.%s" % (package, item["type"])) if name in self.rules["forbidden"]]
            mark = _mark(item)
            if names:
                risk, reason = "forbidden", self.rules["forbidden"][names[0]]
            elif mark == "exec" and allows_code:
                entry = entries.option(package, item["type"], item["option"])
                told = "runs code or names a file"
                if router is not None and router.bounds and entry and router.bounds.allows(entry, item.get("new")):
                    told = router.bounds.told(entry, item.get("new"))
                risk, reason = "risky", "%s.%s %s" % (package, item["option"], told)
            elif mark == "exec":
                risk, reason = "forbidden", _BY_HAND % (package, item["section"], item["option"])
            elif mark == "outward":
                risk, reason = "risky", ""
            else:
                risk, reason = self._judge_one(item, sections[package, item["section"]], router)
            found = references.destinations(item)
            if found and not reason:
                elsewhere.append("%s.%s to %s" % (package, item.get("option", ""), " and ".join(found)))
            if reason and reason not in reasons:
                reasons.append(reason)
            elif risk == "risky" and not reason and not found and package not in places:
                places.append(package)
            worst = max(worst, risk, key=_ORDER.index)
        if elsewhere:
            reasons.append("sends traffic or logs elsewhere: " + "; ".join(dict.fromkeys(elsewhere)))
        # One reason for all places: the owner's way to the router before all others.
        way = [name for name in places if name in self.rules["management"]]
        if way:
            be = "is" if len(way) == 1 else "are"
            reasons.append("%s %s on the way by which you reach the router" % (" and ".join(way), be))
        elif places:
            reasons.append("%s can interrupt somebody's connection" % " and ".join(places))
        return worst, reasons

    def code(self, differences: list[Difference], bounds: Bounds | None = None) -> list[str]:
        """Return the places, package.section.option, where a change sets or lets run code; without an entry all is.

        What is within its bound on this router is left out where `bounds` are given.
        """
        from oasis.catalogue import entries

        return [
            "%(package)s.%(section)s.%(option)s" % item
            for item in differences
            if _mark(item) == "exec" and not (bounds and bounds.allows(
                entries.option(item["package"], item["type"], item["option"]), item.get("new")))
        ]  # fmt: skip

    def unreviewed(self, differences: list[Difference]) -> list[Difference]:
        """Return the changes of options that nobody has looked at: they wait for the owner, always."""
        from oasis.catalogue import check

        known = [(item, check.origin(item["package"], item["type"], item.get("option", ""))) for item in differences]
        return [item for item, origin in known if origin in UNSEEN]

    def _judge_one(self, item: Difference, mine: list[Difference], router: Router | None) -> tuple[str, str]:
        """Return the class of a change without a mark, and why, "" where its package or its place says it all."""
        from oasis.catalogue import check

        place = "%s.%s" % (item["package"], item["type"])
        if check.origin(item["package"], item["type"], item.get("option", "")):
            return "risky", ""  # no row was written for it
        rows = {row["path"]: row for row in self.rules["places"]}
        row = rows.get("%s.%s" % (place, item.get("option", "")), rows.get(place))
        if row is None:
            return "risky", ""
        if "check" not in row:
            return "risky", str(row["reason"])
        if router is None:
            return "risky", "%s was not looked at on the router" % row["path"]
        from oasis.change import harmless

        reason = harmless.CHECKS[row["check"]](item, mine, router, row)
        return ("risky", reason) if reason else ("low", "")

    def is_stop(self, name: str, action: str) -> bool:
        """Return whether an action ends a service by which the owner and everybody else reach something."""
        return action in _STOPS and name in self.rules["stops"]

    def judge_service(self, name: str, action: str = "restart") -> tuple[str, list[str]]:
        """Return the class of an action on a service by itself, and why."""
        if name in self.rules["forbidden_services"]:
            return "forbidden", [self.rules["forbidden_services"][name]]
        if self.is_stop(name, action):
            why = "without %s %s" % (name, self.rules["stops"][name])
        elif action in _STOPS:
            why = "what %s does is not done any more" % name
        elif name in self.rules["restarts"]:
            why = "%s of %s %s" % (action, name, self.rules["restarts"][name])
        elif name not in {rule["name"] for rule in services()["services"]}:
            why = "what restarting %s does is not known here" % name
        else:
            why = "what %s does stops for a moment" % name
        return "risky", [why]

    def needs_approval(self, risk: str, is_asked: bool = False) -> bool:
        """Return whether a plan of that class waits for the owner; one to be asked about does under every setting."""
        return is_asked or self.approval == "all" or (risk != "low" and self.approval != "none")

    def confirm_s(self, packages: list[str], risk: str) -> int:
        """Return the seconds that an applied change waits to be kept; 0 when it need not be."""
        if risk == "low" or not packages:
            return 0
        on_the_way = [name for name in packages if name in self.rules["management"]]
        if on_the_way:
            return int(self._management_s or self.rules["management_s"])
        return int(self._confirm_s or self.rules["confirm_s"])

    def services(self, packages: list[str], has: Callable[[str], bool]) -> list[Action]:
        """Return what to reload after a commit, in order, each service once; `has(name)` tells what is installed.

        A package that the data does not know reloads the services that read it, or the one of its own name.
        """
        from oasis.catalogue import entries  # comes with the first plan: an idle daemon has none

        data = services()
        known = {rule["package"] for rule in data["services"]} | {*data["none"]}
        unknown: list[ServiceRule] = [
            {"package": package, "name": name, "action": "reload"}
            for package in packages
            if package not in known
            for name in entries.services(package) or [package]
        ]
        found: list[Action] = []
        for rule in data["services"] + unknown:
            item: Action = {"name": rule["name"], "action": rule["action"]}
            if rule["package"] in packages and item not in found and has(rule["name"]):
                found.append(item)
        return found


def _mark(item: Difference) -> str:
    """Return exec for a difference that sets or lets run code, outward for one that may send something elsewhere."""
    from oasis.catalogue import check

    found = check.mark(item["package"], item["type"], item["option"]) if "option" in item else ""
    if item["kind"] != "removed":
        return found
    # What it ran is gone, but what else its section runs is run otherwise.
    if not item.get("of_whole") and check.is_code(item["package"], item["type"]):
        return "exec"
    return "" if found == "exec" else found


_SERVICES: ServiceRules = {}


def services() -> ServiceRules:
    """Return services.json, which is read with the first change: what a change of each package reloads."""
    if not _SERVICES:
        _SERVICES.update(jsonl.table(__file__, "services.json"))
    return _SERVICES


_ORDER = ("low", "risky", "forbidden")
_STOPS = ("stop", "disable")
