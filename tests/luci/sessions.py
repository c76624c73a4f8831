"""Login, expiry and rights of the stand-in: what rpcd's `session` object and its ACL files do.

It must not know HTTP. A session is an id of 32 hex digits, a life that each allowed call renews, and the
access groups of usr/share/rpcd/acl.d/*.json, each granted for `read` or for `read` and `write`.
A router without a root password lets any password in, as rpcd does.
"""

from __future__ import annotations

import fnmatch
import json
import os
import secrets
import threading
import time

NULL_SESSION = "0" * 32
# What the group `unauthenticated` of a stock router grants: enough to log in, nothing else.
UNAUTHENTICATED = {"session": {"access", "login"}}

Grants = dict[str, set[str]]


class Sessions:
    """Sessions of the users given, with the rights that the ACL folder names."""

    def __init__(self, acl_path: str, passwords: dict[str, str | None], life_s: float, record: str = "") -> None:
        """Shape: passwords maps a user to a password or None (any); every user but root is read-only.

        `record`: a file that tells who may do what, for the stand-in of `ubus call session access`.
        """
        self._record = record
        self._acl_path = acl_path
        self._passwords = passwords
        self._life_s = life_s
        self._lock = threading.Lock()
        self._ends_s: dict[str, float] = {}
        self._user: dict[str, str] = {}

    def login(self, user: str, password: str) -> str | None:
        """Return a new session id, or None when user or password are wrong (which one is not told)."""
        if user not in self._passwords or self._passwords[user] not in (None, password):
            return None
        session = secrets.token_hex(16)
        with self._lock:
            self._ends_s[session] = time.monotonic() + self._life_s
            self._user[session] = user
        self._write()
        return session

    def destroy(self, session: str) -> None:
        """End a session; an unknown one is fine."""
        with self._lock:
            self._ends_s.pop(session, None)
            self._user.pop(session, None)
        self._write()

    def _write(self) -> None:
        """Record the rights of all sessions: {session: {object: [method]}}."""
        if not self._record:
            return
        rights = {session: self._grants(session) for session in list(self._user)}
        text = json.dumps({one: {obj: sorted(names) for obj, names in held.items()} for one, held in rights.items()})
        os.makedirs(os.path.dirname(self._record), exist_ok=True)
        with open(self._record + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(self._record + ".new", self._record)

    def is_alive(self, session: str) -> bool:
        """Tell whether the session lives, and renew it if so."""
        with self._lock:
            if time.monotonic() > self._ends_s.get(session, 0):
                self._ends_s.pop(session, None)
                self._user.pop(session, None)
                return False
            self._ends_s[session] = time.monotonic() + self._life_s
            return True

    def remaining_s(self, session: str) -> int:
        """Return the life left, 0 for a dead session; does not renew."""
        with self._lock:
            return max(0, int(self._ends_s.get(session, 0) - time.monotonic()))

    def may_call(self, session: str, obj: str, method: str) -> bool:
        """Tell whether the session may call a method of an object."""
        if session == NULL_SESSION:
            return method in UNAUTHENTICATED.get(obj, ())
        if not self.is_alive(session):
            return False
        grants = self._grants(session)
        methods = set().union(*(grants[name] for name in grants if fnmatch.fnmatch(obj, name)))
        # root has rpcd's group `superuser`, so all of `session`; others list `unauthenticated`, as the viewer here.
        given = ("access", "login", "destroy") if self._user.get(session) == "root" else UNAUTHENTICATED["session"]
        return method in methods or "*" in methods or (obj == "session" and method in given)

    def groups(self, session: str) -> dict[str, list[str]]:
        """Return the access groups of a live session: {group: ["read"] or ["read", "write"]}."""
        if not self.is_alive(session):
            return {}
        kinds = ["read", "write"] if self._user.get(session) == "root" else ["read"]
        return dict.fromkeys(self._files(), kinds)

    def _grants(self, session: str) -> Grants:
        files = self._files()
        grants: Grants = {}
        for group, kinds in self.groups(session).items():
            for kind in kinds:
                for obj, methods in [
                    one for file in files[group] for one in file.get(kind, {}).get("ubus", {}).items()
                ]:
                    grants.setdefault(obj, set()).update(methods)
        return grants

    def _files(self) -> dict[str, list[dict[str, dict[str, dict[str, list[str]]]]]]:
        """Return what each file says of each group: rpcd grants all of it."""
        groups: dict[str, list[dict[str, dict[str, dict[str, list[str]]]]]] = {}
        for name in sorted(os.listdir(self._acl_path)) if os.path.isdir(self._acl_path) else []:
            if name.endswith(".json"):
                with open(os.path.join(self._acl_path, name), encoding="utf-8") as file:
                    for group, rights in json.load(file).items():
                        groups.setdefault(group, []).append(rights)
        return groups
