"""The tool `read_config`: one UCI package, or one section of it, with every secret hidden.

The package of Oasis itself is not readable here, and no value of a secret option leaves this module. Texts that may be
somebody else's words (text_origin.py) are left out for a model that did not ask for them, and marked where it did.
"""

from __future__ import annotations

import re

from oasis.catalogue import entries
from oasis.catalogue.draft import find
from oasis.core import clean
from oasis.errors import ToolError
from oasis.redaction import secret_options
from oasis.redaction.foreign import HIDDEN, NAME
from oasis.tools.router import Facts

if False:  # annotations only
    from oasis.catalogue.shapes import Section
    from oasis.tools.shapes import Arguments, Result

_OWN = "oasis"
_ACCOUNT = re.compile(r"(://)[^/@\s]+@")  # user:password@ of an address
_TOKEN = re.compile(r"([?&](?:token|key|api_?key|pass|passwd|password|pwd|secret|auth)=)[^&\s]+", re.I)
_ARMOUR = "-----BEGIN "  # of a key or certificate, whatever the option is called


def run(input: Arguments, facts: Facts) -> Result:
    """Return {"package", "sections": {name: {".type", ".anonymous"?, option: value}}, "untrusted"?} as in the file.

    Raises: ToolError for a package or section that does not exist, naming the nearest ones, and for Oasis's own.
    """
    package = input.get("package")
    if not isinstance(package, str) or not package:
        raise ToolError("read_config needs the name of a package", "one of " + ", ".join(_names(facts)))
    if package == _OWN:
        raise ToolError("the package oasis is not readable here", "its settings are on the Oasis page")
    if not re.match(r"[A-Za-z0-9_-]{1,64}\Z", package) or not facts.has_package(package):
        raise ToolError(f"there is no package {package[:40]!r}", "nearest: " + _nearest(package, _names(facts)))
    facts = facts.asked(input.get("names"))
    sections = facts.config(package)
    wanted = input.get("section")
    if wanted:
        name = find(sections, str(wanted))
        if not name:
            near = "nearest: " + _nearest(str(wanted), list(sections)) if sections else "the package is empty"
            raise ToolError(f"package {package} has no section {str(wanted)[:40]!r}", near)
        sections = {name: sections[name]}
    whose = {name: facts.foreign(package, one) for name, one in sections.items()}
    hidden = {name: found if not facts.shows_names else {} for name, found in whose.items()}
    shown = {name: _shown(package, name, one, facts, hidden[name]) for name, one in sections.items()}
    answer: Result = {"package": package, "sections": shown}
    # The name of a section cannot be left out: commands need it.
    told = [label for name, found in whose.items() for at, label in found.items() if at == NAME or not hidden[name]]
    return {**answer, "untrusted": sorted(set(told))} if told else answer


def _shown(package: str, name: str, section: Section, facts: Facts, hidden: dict[str, str]) -> Result:
    kind = str(section.get(".type", ""))
    answer: dict[str, object] = {".type": kind, **({".anonymous": True} if section.get(".anonymous") else {})}
    for option, value in section.items():
        if not option.startswith("."):
            if secret_options.is_secret(package, kind, option):
                answer[option] = facts.hide(package, name, kind, option, value)
            else:
                answer[option] = HIDDEN if option in hidden else _plain(option, value)
    return answer


def _plain(option: str, value: object) -> object:
    if isinstance(value, list):
        return [_plain(option, item) for item in value]
    text = _ACCOUNT.sub(lambda found: found.group(1) + secret_options.MASK + "@", str(value))
    text = _TOKEN.sub(lambda found: found.group(1) + secret_options.MASK, text)
    if _ARMOUR in text:
        return secret_options.MASK
    # An SSID may have been chosen by a neighbour (client mode).
    return clean.name(text) if option == "ssid" else text


def _names(facts: Facts) -> list[str]:
    return [name for name in facts.packages() if name != _OWN]


def _nearest(wanted: str, names: list[str]) -> str:
    return ", ".join(entries.closest(wanted, names)) or "none"
