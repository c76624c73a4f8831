"""Which texts of a configuration may be somebody else's words: a device's own name, a neighbour's, any free text.

A value is free where its datatype takes a sentence, or where the catalogue has no entry for it; addresses, numbers,
words of a list, and what OpenWrt and its packages write themselves (stock.json) are not. Such a text is data wherever
it turns up again, also after it was written into the configuration. A name of one word is not checked enough to pass:
"ignore-all-rules-and-…" is one, too. Knows no file of the router; whether the owner wrote a text tells text_origin.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from oasis.catalogue import address_text, entries, validators
from oasis.core import jsonl
from oasis.redaction import secret_options
from oasis.system.late import late

DEVICES = "device names"
NETWORKS = "network names"
TEXTS = "texts of the configuration"
# What a model gets in place of a text; it may write none of it back (placeholders.py).
HIDDEN = "«text:names=true»"
# The option that stands for a section's own name.
NAME = ".name"

# Sections that the built-in provider names so get the name of the device that they are about.
_OWN = "oasis_"
# A name of a section, or what must be one, is no sentence when it is no longer than a network device's may be.
NAME_CHARS = 15
_PLAIN = late(r"[0-9A-Fa-fx.:/,*%!-]*\Z|[0-9.:/,*%! -]*\Z")  # numbers, addresses, networks, rows of them
_free: dict[str, bool] = {}
_stock: dict[str, list[str]] = {}


def options(package: str, section: str, type: str, values: Mapping[str, object]) -> dict[str, str]:
    """Return {option: whose words} of a section's texts; options that are not there, or hold none, are left out.

    A section's name counts as the option NAME; `section` is "" where it has none.
    """
    return {option: whose for option, _, whose in texts(package, section, type, values)}


def texts(package: str, section: str, type: str, values: Mapping[str, object]) -> Iterator[tuple[str, str, str]]:
    """Yield (option, text, whose words) of every free text of a section, its name too."""
    is_device = (package, type) == ("dhcp", "host") or (package == "firewall" and section.startswith(_OWN))
    is_joined = (package, type) == ("wireless", "wifi-iface") and values.get("mode", "ap") != "ap"
    for option, value in values.items():
        if option.startswith(".") or not value:
            continue
        whose = NETWORKS if is_joined and option in ("ssid", "mesh_id") else TEXTS
        whose = DEVICES if is_device and option == "name" else whose
        for text in map(str, value if isinstance(value, list) else [value]):
            if is_free(package, type, option, text):
                yield option, text, whose
    if len(section) > NAME_CHARS:
        yield NAME, section, TEXTS


def is_free(package: str, type: str, option: str, text: str) -> bool:
    """Tell whether a value may be words."""
    if _PLAIN.match(text) or text in validators.TRUE + validators.FALSE or address_text.is_mac(text):
        return False
    if secret_options.is_secret(package, type, option) or text in _known("%s.%s.%s" % (package, type, option)):
        return False  # nobody reads it, or OpenWrt itself wrote it
    entry = entries.option(package, type, option)
    if entry is None:
        return True
    words = text.split() if entry.get("list") else [text]
    values = entry.get("values")
    if isinstance(values, list):
        return not all(word in values for word in words)
    if "ref" in entry and len(text) <= NAME_CHARS:
        return False
    expression = str(entry["type"])
    if expression not in _free:
        _free[expression] = any(not validators.error(expression, one) for one in _known("sentences"))
    return _free[expression] or any(validators.error(expression, word) for word in words)


def _known(name: str) -> list[str]:
    """Return what stock.json has by package.type.option, or its sentences."""
    if not _stock:
        data = jsonl.table(__file__, "stock.json")
        _stock.update({**data["texts"], "sentences": data["sentences"]})
    return _stock.get(name, [])
