"""A daemon with a messenger on the stock router, and the strict Bot API that it talks to."""

from __future__ import annotations

import json
import os

from tests.daemon import copy_root, start_daemon
from tests.telegram.bot_api import TOKEN, BotApi

OWNER, GUEST, STRANGER = 1001, 2002, 3003


class Scene:
    """`api` is Telegram, `daemon` the router; `start()` and `stop()` end and begin the latter."""

    def __init__(self, folder, **options):
        self.api = BotApi()
        self.root = copy_root(str(folder / "router"))
        os.makedirs(self.root + "/etc/oasis", exist_ok=True)
        with open(self.root + "/etc/oasis/keys.json", "w") as keys:
            json.dump({"telegram": TOKEN}, keys)
        os.chmod(self.root + "/etc/oasis/keys.json", 0o600)
        lines = {"enabled": "1", "base_url": self.api.url, **options}
        with open(self.root + "/etc/config/oasis", "a") as settings:
            settings.write("\nconfig telegram 'telegram'\n")
            settings.writelines(f"\toption {name} '{value}'\n" for name, value in lines.items())
        self.daemon = None

    def start(self):
        self.daemon = start_daemon(self.root)
        return self

    def close(self):
        if self.daemon is not None:
            self.daemon.stop()
        self.api.close()

    def call(self, method, **params):
        return self.daemon.call(method, **params)

    def pair(self, user, role="owner", chat=None):
        """Let somebody in, as the router's owner does."""
        code = self.call("telegram.pair", role=role)["code"]
        self.api.says(user, code, chat=chat)
        self.api.wait_text(chat or user, "Paired")
        return code

    def waits_for(self, what, seconds=60):
        """Wait until something that the daemon tells is so; return it."""
        return self.api.wait(what, seconds)
