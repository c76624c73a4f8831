"""What a change breaks for people who are not connected now: SSH that is shut or silent, servers that do not start.

Pure, as verdict.py: packages before and after and facts in, sentences out; only what the change itself brought about.
"""

from __future__ import annotations

from oasis.catalogue import address_text
from oasis.change.reach import firewall, listeners, logins, network, ruleset, sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import Any, Config, Facts, Network, Networks, Ruleset, Subnet


def dangers(before: dict[str, bytes], after: dict[str, bytes], facts: Facts) -> list[str]:
    """Return a sentence for each danger. Raises: UciError for a file that is none."""
    old, new = sections.read(before), sections.read(after)
    nets = (network.networks(old, facts, old), network.networks(new, facts, old))
    waiting = _unbound(old, new, nets)
    # One that waits for its interface is told already, and why.
    silent = [] if waiting else _silenced((old, new), nets, facts)
    return [*_logins(old, new, facts), *waiting, *silent, *_strayed(old, new, nets)]


def _logins(old: Config, new: Config, facts: Facts) -> list[str]:
    """Return where passwords go off and nothing that surely works is left."""
    found = []
    for section in sections.typed(new.get("dropbear", {}), "dropbear"):
        earlier = old.get("dropbear", {}).get(section[".name"], {})
        is_on = sections.flag(section, "enable", True)
        why = logins.shut(earlier, section, facts)[1] if is_on and earlier else ""
        if why and not (logins.keys(facts.get("keys")) == "yes" and sections.flag(section, "RootLogin", True)):
            found.append(why)
    return found


def _unbound(old: Config, new: Config, nets: tuple[Networks, Networks]) -> list[str]:
    earlier = listeners.unbound(old, nets[0])
    return [why for name, why in listeners.unbound(new, nets[1]).items() if name not in earlier]


def _silenced(sides: tuple[Config, Config], nets: tuple[Networks, Networks], facts: Facts) -> list[str]:
    """Return where at home SSH answers no more: surely did, and surely does not."""
    added = facts.get("firewall", [])
    rules = [ruleset.compile_rules(side["firewall"], own, added) if "firewall" in side else None
             for side, own in zip(sides, nets, strict=True)]  # fmt: skip
    heard = [_ssh(side, own) for side, own in zip(sides, nets, strict=True)]
    found = []
    for name, now in nets[0].items():
        then = nets[1].get(name)
        if then is None or not _at_home(then):
            continue  # another matter than SSH
        if _answers(now, nets[0], heard[0], rules[0]) == "yes" and _answers(then, nets[1], heard[1], rules[1]) == "no":
            found.append("SSH will no longer answer in the network %s" % name)
    return found


def _ssh(config: Config, nets: Networks) -> list[dict[str, Any]]:
    return [one for one in listeners.listeners(config, nets) if one["service"] == "dropbear"]


def _at_home(one: Network) -> list[Subnet]:
    """Return the home addresses of a network that is up and leads to no router above."""
    is_near = one["proto"] == "static" and one["is_up"] and "gateway" not in one["options"]
    return [held for held in one["addresses"] if is_near and held[0] == 4 and address_text.is_private4(held[1])]


def _answers(one: Network, nets: Networks, heard: list[dict[str, Any]], rules: Ruleset | None) -> str:
    """Return whether SSH answers somebody in a network: "yes", "no" or "cannot_tell"."""
    found = {"no"}
    for family, address, bits in _at_home(one):
        rest = (1 << (32 - bits)) - 1
        packet = {
            "family": family, "device": one["device"], "source": (address & ~rest, address | rest), "address": address,
            "source_port": (1024, 65535), "mac": "",
        }  # fmt: skip
        for port in {one["port"] for one in heard}:
            end = {"state": "yes", "address": address, "port": port}
            if rules is not None:
                end = firewall.judge(rules, {**packet, "port": port}, lambda told: network.owns(nets, *told), set())
            is_met = any(
                other["port"] == end["port"] and listeners.hears(other, family, end["address"], one["device"])
                for other in heard
            )
            found.add(str(end["state"]) if is_met else "no")
    return next(state for state in ("yes", "cannot_tell", "no") if state in found)


def _strayed(old: Config, new: Config, nets: tuple[Networks, Networks]) -> list[str]:
    """Return the addresses on which uhttpd listens and which were the router's, or are new in its list, and are not."""
    found = []
    for section in sections.typed(new.get("uhttpd", {}), "uhttpd"):
        for option in ("listen_http", "listen_https"):
            for word in sections.texts(section, option):
                number = address_text.number(word.rpartition(":")[0].strip("[]"))
                if number is None or number[1] == 0 or network.owns(nets[1], *number):
                    continue
                is_new = word not in sections.texts(old.get("uhttpd", {}).get(section[".name"], {}), option)
                if network.owns(nets[0], *number) or (is_new and address_text.is_home(address_text.text_of(*number))):
                    found.append(
                        "uhttpd.%s.%s %s: the router has no such address then, so nobody is heard there"
                        % (section[".name"], option, word)
                    )
    return found
