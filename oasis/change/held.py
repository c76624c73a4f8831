"""What a section holds already, and a change would put to use: a secret that gets a way out, code that gets started.

What the change itself sets is judged by policy.py; what it puts to use was set by somebody else, so the owner is asked
under every setting. Knows no file. Shape of switches (policy.json):
    on, off      names of options that turn their section on, by a word for yes and by one for no
    of_section   options that do it by a word for yes in one type only: package.type.option
    of_package   package.type or package.section that turns on what runs code in other sections of the package
    no_code      options that are marked exec and yet start no code with their section: package.type.option, or with
                 =value behind it where only that value is known to be none
"""

from __future__ import annotations

from oasis.catalogue import check, validators
from oasis.redaction import secret_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Difference
    from oasis.uci.model import Package, Section

    Switches = dict[str, list[str]]


def put_to_use(after: Package, differences: list[Difference], switches: Switches) -> list[str]:
    """Return a sentence for each secret or code that a package holds and that a change of it puts to use."""
    sections = _labelled(after)
    found: dict[str, None] = {}
    for item in differences:
        section = sections.get(str(item["section"]))
        if section is None or section.type != item["type"] or not item.get("option"):
            continue
        where = "%s.%s" % (after.name, item["section"])
        ways = _ways(after.name, section, str(item["option"]))
        if ways:
            found["%s holds a secret and says where it may be sent (%s)" % (where, ", ".join(ways))] = None
        if _is_turned_on(item, switches):
            new = [one.get("option") for one in differences if one["section"] == item["section"]]
            code = [name for name in _code(after, section, switches) if name not in new]
            if code:
                found["%s: this starts code that was set there before (%s)" % (where, ", ".join(code))] = None
    return list(found)


def _labelled(package: Package) -> dict[str, Section]:
    """Return the sections by what differences call them, in one pass: there may be hundreds of hosts."""
    counts: dict[str, int] = {}
    found = {}
    for section in package.sections:
        number = counts[section.type] = counts.get(section.type, -1) + 1
        found["@%s[%d]" % (section.type, number) if section.anonymous else section.name] = section
    return found


def _ways(package: str, section: Section, option: str) -> list[str]:
    """Return the options that lead outward from a section with a secret, when the option is one of these or of those.

    Either may come first: an address where a secret is, or a secret where an address waits for it.
    """
    hold = [name for name in section.options if secret_options.is_secret(package, section.type, name)]
    if option not in hold:
        return [option] if hold and check.mark(package, section.type, option) == "outward" else []
    return [name for name in section.options if check.mark(package, section.type, name) == "outward"]


def _is_turned_on(item: Difference, switches: Switches) -> bool:
    """Return whether a change of an option turns its section on, be it by taking away what turned it off."""
    option = str(item["option"])
    more = _degree(item.get("new")) - _degree(item.get("old"))
    if option in switches["off"]:
        return more < 0
    place = "%s.%s.%s" % (item["package"], item["type"], option)
    return more > 0 and (option in switches["on"] or place in switches["of_section"])


def _degree(value: object) -> int:
    """Return 1 for yes, -1 for no, 0 for what leaves it to the program."""
    meaning = validators.truth(" ".join(value) if isinstance(value, list) else value)  # as a shell reads a list
    return 0 if meaning is None else 1 if meaning else -1


def _code(package: Package, section: Section, switches: Switches) -> list[str]:
    """Return what runs code with a section: options of it, or the other sections that it turns on."""
    found = [option for option, value in section.options.items() if _runs(package, section, option, value, switches)]
    if {"%s.%s" % (package.name, name) for name in (section.type, section.name)} & set(switches["of_package"]):
        found += [name for name, one in _labelled(package).items() if check.is_code(package.name, one.type)]
    return found


def _runs(package: Package, section: Section, option: str, value: object, switches: Switches) -> bool:
    place = "%s.%s.%s" % (package.name, section.type, option)
    if place in switches["no_code"] or "%s=%s" % (place, value) in switches["no_code"]:
        return False
    # A word for no is no program and no file.
    return check.mark(package.name, section.type, option) == "exec" and validators.truth(value) is not False
