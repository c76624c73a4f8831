"""A second opinion: somebody else's stand-in for Telegram (telegram-test-api, npm), with a real daemon and worker."""

import json
import os
import shutil
import subprocess
import time
import urllib.request

import pytest

from tests.parts.telegram.bot_api import TOKEN
from tests.parts.telegram.kit import Scene

HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "node_modules")
USER = 77

pytestmark = pytest.mark.skipif(
    not shutil.which("node") or not os.path.isdir(MODULES + "/telegram-test-api"),
    reason="telegram-test-api is not installed: npm install --prefix tests",
)


class Peer:
    """The other server, by its own API for people."""

    def __init__(self):
        env = {**os.environ, "NODE_PATH": MODULES}
        self.child = subprocess.Popen(
            ["node", HERE + "/peer.js"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, text=True
        )
        self.url = self.child.stdout.readline().strip()

    def _post(self, path, value):
        asked = urllib.request.Request(
            f"{self.url}/{path}", json.dumps(value).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(asked, timeout=30) as reply:
            return json.loads(reply.read())

    def _common(self):
        who = {"id": USER, "first_name": "Anna", "username": "anna", "is_bot": False}
        return {"botToken": TOKEN, "from": who, "chat": {"id": USER, "type": "private", "first_name": "Anna"}}

    def says(self, text):
        self._post("sendMessage", {**self._common(), "date": int(time.time()), "text": text})

    def presses(self, message, data):
        told = {"message_id": message, "chat": self._common()["chat"], "from": self._common()["from"]}
        self._post("sendCallback", {**self._common(), "message": told, "data": data})

    def of_bot(self):
        history = self._post("getUpdatesHistory", {"token": TOKEN})["result"]
        return [one for one in history if "chat_id" in one["message"]]

    def waits(self, words, seconds=60):
        until_s = time.monotonic() + seconds
        while time.monotonic() < until_s:
            for one in self.of_bot():
                if words in one["message"]["text"]:
                    return one
            time.sleep(0.1)
        raise AssertionError(self.of_bot())

    def close(self):
        self.child.stdin.close()
        self.child.wait(10)


@pytest.fixture
def peer():
    made = Peer()
    yield made
    made.close()


def test_a_server_of_somebody_else_pairs_talks_and_takes_back(peer, tmp_path):
    scene = Scene(tmp_path, base_url=peer.url, notices="0").start()
    try:
        scene.until(lambda: scene.call("telegram.list")["state"] == "on")
        peer.says(scene.call("telegram.pair")["code"])
        peer.waits("Paired: you are the owner")
        peer.says("call this router attic")
        peer.waits("Done: rename the router to attic.")
        card = peer.waits("<b>Done:</b> rename the router to attic")
        (row,) = card["message"]["reply_markup"]["inline_keyboard"]
        peer.presses(card["messageId"], row[0]["callback_data"])
        scene.until(lambda: "'attic'" not in scene.config("system"))
        assert "Traceback" not in scene.daemon.log()
    finally:
        scene.close()
