"""Write a plan into the configuration: stage in a private save folder, compare, commit.

The expected file was worked out when the plan was made; what the staging produced must export to the same text, else
it is reverted and nothing is written (`uci batch` always exits 0). Knows nothing of approval or journal.
"""

from __future__ import annotations

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

        Raises: UciError, StoreError; the journal restores files committed before the failing one.
        """
        if plan["is_restore"]:
            self._write_images(plan)
            return
        images = plan["images"]
        expected = {name: model.export_text(model.parse(after, name)) for name, (_, after) in images.items()}
        # What a killed daemon left staged is dropped by this: the folder is ours alone.
        self._cursor().write([one for one in plan["operations"] if one["package"] in images], expected)

    def _write_images(self, plan: Plan) -> None:
        import os

        for package, (_, after) in plan["images"].items():
            path = os.path.realpath(self._root.confdir + "/" + package)  # a link stays one
            self._files.replace(path, after, os.stat(path).st_mode & 0o777)
