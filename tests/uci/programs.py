"""The two programs that must be equal: the real `uci` when one is on PATH, and our stand-in, run in this process."""

import io
import os
import shutil
import subprocess
from pathlib import Path

from tests.uci.uci_program import main

Result = tuple[int, bytes, bytes]


def real_program() -> str | None:
    """Return the path of the real `uci`, or None."""
    return shutil.which("uci")


def run_real(arguments: list[str], stdin: bytes = b"") -> Result:
    """Run the real `uci`; it names itself `uci` in messages whatever its path is."""
    done = subprocess.run(
        ["uci", *arguments], executable=real_program(), input=stdin, capture_output=True, timeout=30, check=False
    )
    return done.returncode, done.stdout, done.stderr


def run_ours(arguments: list[str], stdin: bytes = b"") -> Result:
    """Run the stand-in without starting an interpreter."""
    stdout, stderr = io.BytesIO(), io.BytesIO()
    status = main(arguments, io.BytesIO(stdin), stdout, stderr)
    return status, stdout.getvalue(), stderr.getvalue()


def run(argv: list[str], stdin: bytes | None = None) -> Result:
    """Start a program: the `run` that the program backend is given."""
    done = subprocess.run(argv, input=stdin or b"", capture_output=True, timeout=30, check=False)
    return done.returncode, done.stdout, done.stderr


def run_as_program(argv: list[str], stdin: bytes | None = None) -> Result:
    """Stand in for starting `uci`: our own one, in this process."""
    return run_ours(argv[1:], stdin or b"")


class Folders:
    """A configuration folder and a save folder, with what is in them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.config = root / "config"
        self.save = root / "save"
        self.config.mkdir(parents=True)

    def options(self) -> list[str]:
        """Return the options that lead `uci` here."""
        return ["-c", str(self.config), "-t", str(self.save)]

    def write(self, files: dict[str, bytes], deltas: dict[str, bytes] | None = None) -> None:
        """Put files and deltas in place."""
        for name, data in files.items():
            (self.config / name).write_bytes(data)
        if deltas:
            self.save.mkdir()
        for name, data in (deltas or {}).items():
            (self.save / name).write_bytes(data)

    def write_more(self, extra: dict[str, bytes], override: dict[str, bytes], data: bytes) -> None:
        """Put in place what the options -p, -P, -C and -f can point at."""
        for folder, files in (("extra", extra), ("override", override), ("", {"input": data})):
            (self.root / folder).mkdir(exist_ok=True)
            for name, content in files.items():
                (self.root / folder / name).write_bytes(content)

    def named(self, arguments: list[str]) -> list[str]:
        """Return the arguments with EXTRA, OVERRIDE and INPUT replaced by paths here."""
        return [str(self.root / word.lower()) if word in ("EXTRA", "OVERRIDE", "INPUT") else word for word in arguments]

    def everything(self) -> dict[str, dict[str, tuple[int, bytes]]]:
        """Return mode and bytes of each file in each folder."""
        return {name: _contents(self.root / name) for name in ("config", "save", "extra", "override")}

    def files(self) -> dict[str, tuple[int, bytes]]:
        """Return mode and bytes of each file of the configuration folder, hidden ones too."""
        return _contents(self.config)

    def deltas(self) -> dict[str, tuple[int, bytes]]:
        """Return mode and bytes of each delta file, the empty ones too."""
        return _contents(self.save)


def _contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    if not folder.is_dir():
        return {}
    return {
        name: ((folder / name).stat().st_mode & 0o777, (folder / name).read_bytes())
        for name in sorted(os.listdir(folder))
    }
