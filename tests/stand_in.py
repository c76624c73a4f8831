"""What proposes changes in a tree without the built-in service: a model that understands what the core's tests say.

The stock root has the built-in service in use. Where its part is left out, copies of the root have this one before it,
so that a test which needs somebody to propose a change runs in every tree; one that is about the built-in service has
the mark `part("offline")`. tests/parts/offline/test_stand_in.py shows that both propose the same.
"""

from __future__ import annotations

import functools
import json
import re

from tests.recorder import Recorder
from tests.scripted import said

_RADIOS = ("default_radio0", "default_radio1")


def _wifi(name: str, key: str) -> list[str]:
    found = []
    for radio in _RADIOS:
        found += [f"uci set wireless.{radio}.ssid='{name}'"] if name else []
        if key:
            found += [f"uci set wireless.{radio}.encryption='psk2'", f"uci set wireless.{radio}.key='{key}'"]
    return found


def _block(address: str, _until: str | None) -> list[str]:
    options = {
        "name": f"Block {address}", "src": "lan", "src_mac": address, "dest": "wan", "proto": "all", "target": "REJECT",
    }  # fmt: skip
    rule = "uci set firewall.oasis_block_1"
    return [f"{rule}=rule", *(f"{rule}.{name}='{value}'" for name, value in options.items())]


# A sentence, the commands that it asks for, and their summary. `until` in a sentence goes along.
SENTENCES = (
    (
        r"(?:call (?:this|the) router|set the hostname to) (\S+)",
        lambda name: [f"uci set system.@system[0].hostname='{name}'"],
        "rename the router to {}",
    ),
    (
        r"set the wifi name to (\S+) and the password to (\S+)",
        _wifi,
        "set the Wi-Fi name to {} and a new password",
    ),
    (r"(?:change|set) the wifi name to (\S+)", lambda name: _wifi(name, ""), "set the Wi-Fi name to {}"),
    (r"set the wifi password to (\S+)", lambda key: _wifi("", key), "set a new Wi-Fi password"),
    (
        r"(?:change|set) the lan address to (\S+)",
        lambda address: [f"uci set network.lan.ipaddr='{address}'"],
        "change the LAN address of the router to {}",
    ),
    (
        r"set the time zone to (Europe/Berlin)",
        lambda zone: [
            f"uci set system.@system[0].zonename='{zone}'",
            "uci set system.@system[0].timezone='CET-1CEST,M3.5.0,M10.5.0/3'",
        ],
        "set the time zone to {}",
    ),
    (
        r"channel (\d+)",
        lambda number: [f"uci set wireless.radio0.channel='{number}'"],
        "set the Wi-Fi channel to {}",
    ),
    (
        r"block ([0-9a-f:]{17})(?: until (?P<until>\S+)| for good)",
        _block,
        "block {} from the internet",
    ),
)


# A question, and of what it asks for the state.
QUESTIONS = {"status": "overview", "what is my lan address?": "addresses"}


def proposal(text: str) -> tuple[str, dict[str, object]] | None:
    """Return the call of a tool that a sentence asks for, None for any other."""
    restart = re.fullmatch(r"restart the (network|firewall)", text.strip(), re.IGNORECASE)
    if restart:
        return "service", {"name": restart[1], "action": "restart"}
    if text in QUESTIONS:
        return "status", {"what": QUESTIONS[text]}
    for words, make, summary in SENTENCES:
        match = re.fullmatch(words, text.strip(), re.IGNORECASE)
        if match:
            found = {"commands": make(*match.groups()), "summary": summary.format(*match.groups())}
            return "configure", {**found, **{name: value for name, value in match.groupdict().items() if value}}
    return None


def _answer(body: dict[str, object], _headers: str) -> object:
    """Return a model's answer to a request; see recorder.py."""
    if body["messages"][-1]["role"] == "tool":
        return _told(body["messages"][-1]["content"])
    asked = proposal(said(body))
    return [asked] if asked else "Hello. I only know some sentences."


def _told(content: str) -> str:
    """Return the words for the result of a tool; an error is told as it is."""
    try:
        result = json.loads(content)
    except ValueError:
        return content
    if result.get("what") == "addresses":
        return content
    if "internet" in result:
        return f"Internet: {result['internet'].get('ipv4')}\nMemory: {result['memory_bytes']['available']} bytes"
    is_applied = result.get("status") == "applied" and "summary" in result
    return f"Done: {result['summary']}." if is_applied else str(result.get("reason") or "Done.")


class _Model(Recorder):
    def answer(self, body: bytes, headers: str) -> tuple[int, str, bytes]:
        self.script, self.requests = [_answer], self.requests[-1:]
        return super().answer(body, headers)


@functools.cache
def _model() -> _Model:
    """Return the one of this process, which lives as long as it."""
    return _Model()


def put_before(root: str) -> None:
    """Make this model the service in use on a router root."""
    path = root + "/etc/config/oasis"
    with open(path, encoding="utf-8") as handle:
        text = handle.read()
    service = "config service 'stand_in'\n\toption name 'compatible'\n\toption identifier 'stand-in'\n"
    service += f"\toption model 'sentences'\n\toption endpoint '{_model().url}'\n\toption context_tokens '100000'\n\n"
    with open(path, "w", encoding="utf-8") as handle:
        text = text.replace("config oasis 'main'\n", "config oasis 'main'\n\toption titles 'words'\n", 1)
        handle.write(text.replace("config service", service + "config service", 1))
