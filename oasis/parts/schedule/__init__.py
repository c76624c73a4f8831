"""What Oasis does by itself: at a time, again and again, or when something happened on the router."""

from __future__ import annotations


def has_enabled(data: bytes | None) -> bool:
    """Return whether the file of the entries may have one that is enabled, or whose plan waited when the daemon ended.

    Nothing else is loaded for it.
    """
    return data is not None and (b'"enabled":true' in data or b'"state":"waiting"' in data)
