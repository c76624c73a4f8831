"""Values as the daemon sends them, for tests to vary."""

HASH = "8f3a2b1c" + "0123456789abcdef" * 3 + "01234567"


def plan(**changes):
    return {
        "id": "p1",
        "hash": HASH,
        "short": HASH[:8],
        "run": "r1",
        "chat": "c1",
        "summary": "rename the wireless network",
        "words": ['the wireless network "OpenWrt" is called "Home"'],
        "uci": ["uci set wireless.default_radio0.ssid='Home'"],
        "diff": [
            {
                "package": "wireless",
                "lines": [
                    {"op": " ", "text": "config wifi-iface 'default_radio0'"},
                    {"op": "-", "text": "option ssid 'OpenWrt'"},
                    {"op": "+", "text": "option ssid 'Home'"},
                ],
            }
        ],
        "risk": "risky",
        "reasons": ["wireless devices lose their connection"],
        "services": [{"name": "network", "action": "reload"}],
        "confirm_s": 90,
        "expires_in_s": 600,
        "needs_approval": True,
        **changes,
    }


def change(**changes):
    return {
        "id": "k1",
        "state": "applied",
        "chat": "c1",
        "summary": "rename the wireless network",
        "words": [],
        "packages": ["wireless"],
        "services": [{"name": "network", "action": "reload", "ok": True}],
        "risk": "risky",
        "when_unix_s": 1700000000,
        **changes,
    }


def info(**changes):
    return {
        "version": "0.2.0",
        "root": "/",
        "backend": "file",
        "provider": {"identifier": "s1", "name": "offline", "model": "intents"},
        "approval": "risky",
        "pending": None,
        "waiting": [],
        **changes,
    }


def polled(events, since=0, state="done"):
    """Return what run.poll answers; numbers the events from `since`."""
    numbered = [{"seq": since + n, **event} for n, event in enumerate(events)]
    return {"run": "r1", "chat": "c1", "state": state, "events": numbered, "next": since + len(numbered)}


def end(state="done"):
    return {"type": "end", "state": state, "stop_reason": "end_turn"}
