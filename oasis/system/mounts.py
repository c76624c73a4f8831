"""On what kind of file system a folder lies, as the kernel's list of mounts tells. Reads nothing itself."""

from __future__ import annotations

LIST = "/proc/self/mounts"
# Every file belongs to everybody there, and a power cut while one is renamed may take both: of memory sticks as they
# are sold.
LOOSE = ("exfat", "fuseblk", "msdos", "ntfs", "ntfs3", "vfat")


def kind(mounts: bytes, path: str) -> str:
    """Return the type of the file system that a path is on, "" where the list does not tell.

    Source: fstab(5) and getmntent(3): fields between blanks, four characters of them as octal escapes.
    """
    found = place = ""
    for line in mounts.decode("utf-8", "replace").split("\n"):
        fields = line.split(" ")
        where = _plain(fields[1]) if len(fields) > 2 else ""
        is_above = where == "/" or path == where or path.startswith(where + "/")
        if where and is_above and len(where) >= len(place):  # of two mounts at one place the later one counts
            found, place = fields[2], where
    return found


def _plain(field: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, char)
    return field
