"""Nothing that leaves the daemon holds a key: every export of a chat, every list, every error about a key."""

import json

from oasis.daemon.wiring import Daemon
from oasis.errors import OasisError
from oasis.system.root import Root
from tests.oasisd import copy_root, proposer

KEY = "sk-export-00aa11bb"
OWNER = {"name": "owner", "terminal": True}


def test_no_export_list_or_error_holds_a_key(tmp_path):
    root = copy_root(str(tmp_path / "router"))
    daemon = Daemon(Root(root, [root + "/bin", "/usr/bin", "/bin"]))

    def call(method, /, **params):
        try:
            return daemon.methods.call(method, params, OWNER)
        except OasisError as error:
            return error.as_dict()

    try:
        replies = [call("service.add", name="openai", key=KEY, model="m", endpoint="http://127.0.0.1:1/v1")]
        replies.append(call("service.key", identifier="openai", key=KEY + " and more"))
        replies.append(call("service.key", identifier="gone", key=KEY))
        replies.append(call("service.add", name="nobody", key=KEY))
        replies.append(call("service.change", identifier="openai", key=KEY))
        replies.append(call("service.test", identifier="openai"))
        replies.append(call("service.models", identifier="openai"))
        started = call("run.start", message="help", service=proposer())
        daemon.runs.wait_ended(10)
        for form in ("oasis", "upstream", "markdown"):
            replies.append(call("chat.export", id=started["chat"], form=form))
        for name in ("service.list", "service.providers", "alias.list", "usage.list", "info", "audit.list"):
            replies.append(call(name))
        assert daemon.settings.key("openai") == KEY
        assert KEY not in json.dumps(replies)
        assert replies[1]["code"] == "usage" and replies[4]["code"] == "usage"
    finally:
        daemon.stop()
