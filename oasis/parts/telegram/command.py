"""`oasis telegram`: who may write to the router's bot, and how it goes.

Contract: the bot's token is no word of a command (`oasis key telegram` asks for it); a secret for codes is shown once,
and kept only when a code that it gives came back.
"""

from __future__ import annotations

from oasis.cli.commands import DECLINED
from oasis.cli.terminal import read_line
from oasis.core import when
from oasis.errors import UsageError

if False:  # annotations only
    from oasis.cli.rpc_client import Call
    from oasis.cli.terminal import Screen
    from oasis.parts.telegram.shapes import Overview

_USAGE = "usage: oasis telegram [list|on|off|pair [guest]|forget ID|secret|approve on|off|notices on|off]"
# For the completion of shells.
ACTIONS = ("list", "on", "off", "pair", "forget", "secret", "approve", "notices")
_SWITCH = {"on": True, "off": False}


def telegram(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Do what the first word says; show how it goes without one."""
    action, word = arguments["ACTION"] or "list", arguments["WORD"]
    if action in _SWITCH and not word:
        reply = call("telegram.set", {"enabled": _SWITCH[action]})
        if _SWITCH[action] and not reply["has_token"]:
            screen.notice("it is switched on, and begins with a token")
        return _list(reply, screen)
    if action in ("approve", "notices") and word in _SWITCH:
        return _list(call("telegram.set", {action: _SWITCH[word]}), screen)
    if action == "list" and not word:
        return _list(call("telegram.list", {}), screen)
    if action == "pair" and word in ("", "owner", "guest"):
        opened = call("telegram.pair", {"who": word or "owner"})
        bot = f"@{opened['bot']}" if opened["bot"] else "your bot"
        minutes, role = opened["expires_in_s"] // 60, opened["role"]
        words = f"Send this to {bot} within {minutes} minutes; who sends it is {role} there."
        return screen.result(opened, [opened["code"], words])
    if action == "forget" and word:
        return screen.result(call("telegram.forget", {"id": word}), "forgotten: nobody answers them any more")
    if action == "secret" and not word:  # a new one is shown, and kept once the owner's authenticator has it
        if not screen.can_ask and not screen.is_json:
            raise UsageError("a secret is shown once, and kept when its first code is typed", "do it at a terminal")
        made = call("telegram.secret", {})
        screen.notice("this is shown once; put it into an authenticator, as a link or by hand")
        screen.line(made["uri"])
        code = (read_line(screen, "Code that it shows now: ") or "").replace(" ", "")
        if not code:
            screen.notice("nothing was changed")
            return DECLINED
        return screen.result(call("telegram.secret", {"code": code}), "the secret is kept; codes of an older one end")
    raise UsageError("that is not understood", _USAGE)


def _list(reply: Overview, screen: Screen) -> int:
    lines = [f"Telegram is {reply['state']}{' as ' + reply['bot'] if reply['bot'] else ''}"]
    if reply["problem"] and reply["state"] != "off":
        lines.append(f"  {reply['problem']}")
    if not reply["has_token"]:
        lines.append("  no token is set: make a bot with @BotFather, then: oasis key telegram")
    codes = "with a code" if reply["has_secret"] else "no secret for codes, so nothing risky: oasis telegram secret"
    lines += [f"  approving there: {f'on, {codes}' if reply['approve'] else 'off'}"]
    lines += [f"  notices: {'on' if reply['notices'] else 'off'}"]
    for one in reply["people"]:
        lines.append(f"{one['id']}  {one['role']:5}  {one['name']}, since {when.shown(one['paired_unix_s'])}")
    return screen.result(reply, lines if reply["people"] else [*lines, "  nobody is paired: oasis telegram pair"])
