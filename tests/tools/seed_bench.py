"""A workspace of a user without rights, with the tools of the seed in a registry; and what a call of one gives."""

import json
import os
import pwd
import shutil
import tempfile

from oasis.system.root import Root
from oasis.tools.seed import Seed
from tests.tools.kit import Hands, Store, registry

NAMES = ("shell_exec", "file_read", "file_write", "file_list", "file_delete", "file_stat", "http_fetch", "web_search")
_PERMIT = {"server": "seed", "enable": "1", "approval": "allow"}


class Bench:
    """`call(name, …)` gives (result, is_error, taint). Made by root it works as nobody, elsewhere as who we are."""

    def __init__(self, commands=(), more="", on=NAMES, ask=None, key=""):
        self.user = "nobody" if os.geteuid() == 0 else ""
        # Below /tmp itself: the folders of pytest are closed for others.
        self.root = Root(tempfile.mkdtemp(prefix="oasis-seed-"))
        os.chmod(self.root.folder, 0o711)
        os.makedirs(self.root.folder + "/tmp")
        os.chmod(self.root.folder + "/tmp", 0o711)
        self.folder = self.root.folder + "/tmp/oasis-work"
        lines = ["config workspace 'workspace'", *["\tlist command '%s'" % one for one in commands], "", more, ""]
        permits = "".join(
            "config tool\n" + "".join("\toption %s '%s'\n" % one for one in {**_PERMIT, "name": name}.items()) + "\n"
            for name in on
        )
        self.store = Store("\n".join(lines) + permits)
        self.seed = Seed(self.root, self.store.sections, self.user, ask, lambda: key)
        self.registry = registry(self.seed, store=self.store)
        self.hands = Hands()

    def call(self, name, /, **arguments):
        text, is_error, taint = self.registry.call(name, arguments, self.hands)
        return json.loads(text), is_error, taint

    def put(self, name, text):
        """Write a file into the workspace as its user would."""
        self.call("file_list")
        path = self.folder + "/" + name
        with open(path, "w", encoding="utf-8") as handle:
            handle.write(text)
        if self.user:
            os.chown(path, pwd.getpwnam(self.user).pw_uid, -1)

    def close(self):
        shutil.rmtree(self.root.folder, ignore_errors=True)
