"""Write a plan into the configuration: stage in a private save folder, compare, commit.

The expected file was worked out when the plan was made; what the staging produced must export to the same text, else
it is reverted and nothing is written (`uci batch` always exits 0). Knows nothing of approval or journal.
"""

from __future__ import annotations

from oasis.errors import ApplyError
from oasis.uci import model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Callable, Plan
    from oasis.system.files import Files
    from oasis.system.root import Root
    from oasis.uci.cursor import Cursor


class Committer:
    """Callable that writes one plan. `cursor()` opens a UCI cursor on the private save folder."""

    def __init__(self, root: Root, files: Files, cursor: Callable[[], Cursor]) -> None:
        self._root = root
        self._files = files
        self._cursor = cursor

    def __call__(self, plan: Plan) -> None:
        """Write the plan.

        Raises: ApplyError; files committed before the failing one are the journal's to put back.
        """
        if plan["is_restore"]:
            self._write_images(plan)
            return
        cursor = self._cursor()
        packages = list(plan["images"])
        for package in packages:
            cursor.revert(package)  # ours alone: what a killed daemon left staged must not come along
        cursor.stage(plan["operations"])
        for package in packages:
            expected = model.export_text(model.parse(plan["images"][package][1], package))
            if cursor.export(package) != expected:
                self._drop(cursor, packages)
                raise ApplyError("staging %s gave another result than planned; nothing was written" % package)
        for package in packages:
            cursor.commit(package)

    def _write_images(self, plan: Plan) -> None:
        import os

        for package, (_, after) in plan["images"].items():
            path = self._root.confdir + "/" + package
            self._files.replace(path, after, os.stat(path).st_mode & 0o777)

    def _drop(self, cursor: Cursor, packages: list[str]) -> None:
        for package in packages:
            cursor.revert(package)
