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

import os

from oasis.core import jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from oasis.change.harmless import Router
    from oasis.change.shapes import (
        Action,
        Any,
        Callable,
        Difference,
        PolicyRules,
        SectionRule,
        ServiceRule,
        ServiceRules,
    )
    from oasis.uci.model import Package, Section

_FOLDER = os.path.dirname(os.path.abspath(__file__))
APPROVALS = ("risky", "all", "none")


class Policy:
    """The rules, with what the owner's settings override.

    `confirm_s` and `management_s`, when given, replace the windows of the data (seconds).
    """

    def __init__(self, approval: str = "risky", confirm_s: int = 0, management_s: int = 0) -> None:
        self._data: PolicyRules = _read("policy.json")
        self.set(approval, confirm_s, management_s)

    def set(self, approval: str, confirm_s: int, management_s: int) -> None:
        """Take over other settings of the owner's; a change that waits already keeps its window."""
        self.approval = approval
        self._confirm_s = confirm_s or self._data["confirm_s"]
        self._management_s = management_s or confirm_s or self._data["management_s"]

    def judge(
        self, differences: list[Difference], allows_code: bool = False, router: Router | None = None
    ) -> tuple[str, list[str]]:
        """Return the class ("low", "risky" or "forbidden") of what a change does, and why: only what is true of it.

        Nothing is low without a look at the router: each place that may be has a check (harmless.py). What runs code
        is only risky where it is allowed: to an undo, which brings back what the owner had there, and to the owner who
        forces it. Shape of differences: see oasis.change.diff.difference.
        """
        from oasis.change.diff import references  # as below: an idle daemon has none

        worst, gone = "low", _gone(differences)
        reasons: list[str] = []
        places: list[str] = []
        elsewhere: list[str] = []
        sections: dict[tuple[object, object], list[Difference]] = {}
        for item in differences:
            sections.setdefault((item["package"], item["section"]), []).append(item)
        for item in differences:
            package, option = str(item["package"]), str(item.get("option", ""))
            risk, reason = self._judge_one(item, _is_code(item, gone), allows_code)
            if not risk:
                risk, reason = self._by_place(item, sections[item["package"], item["section"]], router)
            found = references.destinations(item)
            if found and not reason:
                elsewhere.append("%s.%s to %s" % (package, option, " and ".join(found)))
            if reason and reason not in reasons:
                reasons.append(reason)
            elif risk == "risky" and not reason and not found and package not in places:
                places.append(package)
            if _ORDER.index(risk) > _ORDER.index(worst):
                worst = risk
        told = ["sends traffic or logs elsewhere: " + "; ".join(dict.fromkeys(elsewhere))] if elsewhere else []
        return worst, [*reasons, *told, *self._places(places)]

    def _places(self, packages: list[str]) -> list[str]:
        """Return the one reason that the places of a change are: the owner's way to the router before all others."""
        way = [name for name in packages if name in self._data["management"]]
        if way:
            be = "is" if len(way) == 1 else "are"
            return ["%s %s on the way by which you reach the router" % (" and ".join(way), be)]
        return ["%s can interrupt somebody's connection" % " and ".join(packages)] if packages else []

    def code(self, differences: list[Difference]) -> list[str]:
        """Return the places, package.section.option, where a change sets what runs code or has no entry."""
        gone = _gone(differences)
        return [
            "%s.%s.%s" % (item["package"], item["section"], item["option"])
            for item in differences
            if _is_code(item, gone)
        ]

    def _judge_one(self, item: Difference, is_code: bool, allows_code: bool) -> tuple[str, str]:
        """Return the class of one difference, and a reason of its own: what is forbidden, what runs code."""
        package, kind, option = str(item["package"]), str(item["type"]), str(item.get("option", ""))
        for name in (package, package + "." + kind):
            if name in self._data["forbidden"]:
                return "forbidden", self._data["forbidden"][name]
        if is_code:
            if allows_code:
                return "risky", "%s.%s runs code or names a file" % (package, option)
            return "forbidden", "%s.%s.%s runs code or names a file: only the owner changes it, by hand" % (
                package,
                item["section"],
                option,
            )
        from oasis.catalogue import check  # what judges plans comes with the first one: an idle daemon has none

        is_outward = bool(option) and check.mark(package, kind, option) == "outward"
        return "risky" if is_outward else "", ""

    def _by_place(self, item: Difference, mine: list[Difference], router: Router | None) -> tuple[str, str]:
        """Return the class of a change that sends nothing elsewhere, and why, "" where its package says it all."""
        place = "%s.%s" % (item["package"], item["type"])
        rows = {row["path"]: row for row in self._data["places"]}
        row = rows.get("%s.%s" % (place, item.get("option", "")), rows.get(place))
        if row is None:
            return "risky", ""
        if "check" not in row:
            return "risky", str(row["reason"])
        if router is None:
            return "risky", "%s was not looked at on the router" % row["path"]
        from oasis.change import harmless  # an idle daemon does without

        reason = harmless.CHECKS[row["check"]](item, mine, router, row)
        return ("risky", reason) if reason else ("low", "")

    def is_stop(self, name: str, action: str) -> bool:
        """Return whether an action ends a service by which the owner and everybody else reach something."""
        return action in _STOPS and name in self._data["stops"]

    def judge_service(self, name: str, action: str = "restart") -> tuple[str, list[str]]:
        """Return the class of an action on a service by itself, and why."""
        if name in self._data["forbidden_services"]:
            return "forbidden", [self._data["forbidden_services"][name]]
        if self.is_stop(name, action):
            return "risky", ["without %s %s" % (name, self._data["stops"][name])]
        if action in _STOPS:
            return "risky", ["what %s does is not done any more" % name]
        if name in self._data["restarts"]:
            return "risky", ["%s of %s %s" % (action, name, self._data["restarts"][name])]
        if name not in {rule["name"] for rule in services()["services"]}:
            return "risky", ["what restarting %s does is not known here" % name]
        return "risky", ["what %s does stops for a moment" % name]

    def openings(self, before: Package, after: Package) -> list[str]:
        """Return a sentence for each section of a service by which a change lets somebody in, or takes a barrier away.

        Data, for the services that reach/admission.py does not know; what that one judges has no entry here.
        """
        from oasis.change.diff.pairing import Pairing

        pairs = Pairing(before, after)
        found = [
            _OPENS % (_named(after, one), _which(one, rule))
            for rule in self._rules("openings", after.name)
            for one in after.sections
            if _fits(one, rule) and not _fits(pairs.old_of(one), rule)
        ] + [
            _UNBARS % (_named(before, one), _which(one, rule))
            for rule in self._rules("barriers", before.name)
            for one in before.sections
            if _fits(one, rule) and not _fits(pairs.new_of(one), rule)
        ]
        return list(dict.fromkeys(found))

    @property
    def switches(self) -> dict[str, list[str]]:
        """What turns a section on, see harmless.py."""
        return self._data["switches"]

    def _rules(self, kind: Literal["openings", "barriers"], package: str) -> list[SectionRule]:
        return [rule for rule in self._data[kind] if rule["package"] == package]

    def needs_approval(self, risk: str, is_asked: bool = False) -> bool:
        """Return whether a plan of that class waits for the owner; one to be asked about does under every setting."""
        return is_asked or self.approval == "all" or (risk != "low" and self.approval != "none")

    def confirm_s(self, packages: list[str], risk: str) -> int:
        """Return the seconds that an applied change waits to be kept; 0 when it need not be."""
        if risk == "low" or not packages:
            return 0
        on_the_way = [name for name in packages if name in self._data["management"]]
        return int(self._management_s if on_the_way else self._confirm_s)

    def services(self, packages: list[str], has: Callable[[str], bool]) -> list[Action]:
        """Return what to reload after a commit, in order, each service once; `has(name)` tells what is installed.

        A package that the data does not know reloads the service of its own name.
        """
        data = services()
        known = [rule["package"] for rule in data["services"]] + list(data["none"])
        unknown: list[ServiceRule] = [
            {"package": name, "name": name, "action": "reload"} for name in packages if name not in known
        ]
        found: list[Action] = []
        for rule in data["services"] + unknown:
            item: Action = {"name": rule["name"], "action": rule["action"]}
            if rule["package"] in packages and item not in found and has(rule["name"]):
                found.append(item)
        return found


def _gone(differences: list[Difference]) -> set[tuple[object, object]]:
    return {(item["package"], item["section"]) for item in differences if item["kind"] == "section_removed"}


def _is_code(item: Difference, gone: set[tuple[object, object]]) -> bool:
    from oasis.catalogue import check

    option = str(item.get("option", ""))
    if not option:
        return False
    if item["kind"] == "removed":  # what it ran is gone, but what else its section runs is run otherwise
        is_whole = (item["package"], item["section"]) in gone
        return not is_whole and check.is_code(str(item["package"]), str(item["type"]))
    return check.mark(str(item["package"]), str(item["type"]), option) == "exec"


_SERVICES: ServiceRules = {}


def services() -> ServiceRules:
    """Return services.json, which is read with the first change: what a change of each package reloads."""
    if not _SERVICES:
        _SERVICES.update(_read("services.json"))
    return _SERVICES


def _read(name: str) -> Any:
    with open(_FOLDER + "/" + name, "rb") as handle:
        return jsonl.shipped(handle.read())


def _fits(section: Section | None, rule: SectionRule) -> bool:
    """Return whether a section is of a rule's kind; an option that is not set counts as ""."""
    if section is None or section.type != rule["type"]:
        return False
    options = section.options
    is_meant = all(_is_one_of(options.get(name, ""), allowed) for name, allowed in rule["has"].items())
    return is_meant and not any(_is_one_of(options.get(name, ""), allowed) for name, allowed in rule["unless"].items())


def _is_one_of(value: object, allowed: list[str]) -> bool:
    """Return whether a value is among others; all words for yes count as one, and all for no."""
    from oasis.catalogue import validators

    meaning = validators.truth(value)
    return value in allowed or (meaning is not None and meaning in [validators.truth(one) for one in allowed])


def _named(package: Package, section: Section) -> str:
    from oasis.change.diff.difference import label

    return "%s.%s" % (package.name, label(package, section))


def _which(section: Section, rule: SectionRule) -> str:
    """Return what makes a section fit a rule; the values are words of the rule, never a foreign text."""
    told = ["%s %s" % (name, section.options.get(name) or "not set") for name in rule["has"]]
    return " (%s)" % ", ".join([section.type, *told])


_ORDER = ("low", "risky", "forbidden")
_STOPS = ("stop", "disable")
_OPENS = "%s%s lets in somebody who could not come in before"
_UNBARS = "%s%s no longer keeps out those that it kept out"
