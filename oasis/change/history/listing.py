"""What was changed, for those who ask: the records chosen by time, chat or package, and the whole of one of them."""

from __future__ import annotations

from oasis.errors import UsageError
from oasis.uci import model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.apply.journal import Journal
    from oasis.change.shapes import LineDiff, Record


def chosen(records: list[Record], since_unix_s: int = 0, chat: str = "", package: str = "") -> list[Record]:
    """Return the records made since a time, in a chat, to a package; no argument leaves none out."""
    return [
        record
        for record in records
        if record["when_unix_s"] >= since_unix_s
        and (not chat or record["chat"] == chat)
        and (not package or package in record["packages"])
    ]


def diff(journal: Journal, record: Record) -> list[LineDiff]:
    """Return the line differences of a change's packages, from its images.

    Secrets are masked; a package without both images is left out.
    """
    from oasis.change.diff import difference  # an idle daemon does without

    found: list[LineDiff] = []
    for name in record["packages"]:
        try:
            images = [journal.image(str(record["id"]), which, name) for which in ("before", "after")]
        except UsageError:
            continue
        before, after = (model.parse(data, name) for data in images)
        found.append({"package": name, "lines": difference.diff_lines(before, after, name)})
    return found
