"""What files will be after operations are staged and committed, computed from their bytes alone; touches no disk."""

from __future__ import annotations

from oasis.errors import UciError
from oasis.uci import delta, model, operations
from oasis.uci.package import Package


def preview(files: dict[str, bytes], steps: list[operations.Operation]) -> dict[str, bytes]:
    """Return the files' bytes after these operations, with nothing else staged; an untouched file keeps its bytes.

    Shape: files {package: bytes of its file}; the same keys come back.
    Raises: UciError naming the operation's number, counted from 1, and its package.section.option.
    """
    result = dict(files)
    for name, package in _perform(files, steps).items():
        fresh = model.parse(files[name], name)
        # A commit reads the file again and replays the records; what it does not take back must not show here either.
        if delta.replay(fresh, [record for record in package.delta if delta.is_kept(record)]):
            result[name] = model.file_text(fresh)
    return result


def _perform(files: dict[str, bytes], steps: list[operations.Operation]) -> dict[str, Package]:
    packages: dict[str, Package] = {}
    for number, operation in enumerate(steps, 1):
        try:
            operations.check(operation)
            name = str(operation["package"])
            if name not in packages:
                packages[name] = _parse(files, name)
            operations.apply(operation, packages[name])
        except UciError as error:
            raise UciError(f"operation {number}: {error.message}", error.hint)
    return packages


def _parse(files: dict[str, bytes], name: str) -> Package:
    if name not in files:
        raise UciError(f"{name}: Entry not found", "there is no such package; uci never makes one")
    try:
        return model.parse(files[name], name)
    except UciError as error:
        raise UciError(f"{name}: {error.message}", error.hint)
