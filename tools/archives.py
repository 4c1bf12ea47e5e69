"""Fetch the archives that the judges read: `python -m tools.archives`.

They hold other people's tests and recordings: none of their content is committed. Each is
pinned by name, version and hash in requirements/archives.txt, taken with pip into a cache that
every clone on the machine shares, and only ever unpacked in memory, never installed.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PINS = ROOT / "requirements" / "archives.txt"
PIN = re.compile(r"(?P<name>[a-z0-9-]+)==(?P<version>\S+) --hash=sha256:(?P<digest>\w{64})")


class MissingArchive(Exception):
    """An archive is not in the cache: the text says which and how to get it."""


@dataclass(frozen=True)
class Pin:
    """One archive: its name, version and the hash of the one file that is meant."""

    name: str
    version: str
    digest: str

    @property
    def line(self) -> str:
        """The requirement as pip reads it."""
        return f"{self.name}=={self.version} --hash=sha256:{self.digest}"


def cache() -> Path:
    """Return the folder that holds the archives, shared by all clones of one user."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "apisurface" / "archives"


def pins() -> list[Pin]:
    """Read requirements/archives.txt."""
    lines = [line for line in PINS.read_text().splitlines() if line and line[0] != "#"]
    return [Pin(**match.groupdict()) for match in map(PIN.fullmatch, lines) if match]


def archive(name: str) -> Path:
    """Return the cached file of one archive; `MissingArchive` says how to get it."""
    pin = next(pin for pin in pins() if pin.name == name)
    path = cache() / pin.digest
    if not path.is_file():
        raise MissingArchive(
            f"{pin.name} {pin.version} is not in the cache: run `make test-judges`"
        )
    return path


def members(name: str, suffix: str = "") -> Iterator[tuple[str, bytes]]:
    """Yield path and content of an archive's files that end in `suffix`, sorted by path."""
    path = archive(name)
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as wheel:
            for inside in sorted(n for n in wheel.namelist() if n.endswith(suffix)):
                yield inside, wheel.read(inside)
        return
    with tarfile.open(path) as source:
        files = [m for m in source.getmembers() if m.isfile() and m.name.endswith(suffix)]
        found = {m.name: m for m in files}
        for inside in sorted(found):
            stream = source.extractfile(found[inside])
            assert stream is not None
            yield inside, stream.read()


def fetch(pin: Pin) -> None:
    """Take one archive with pip and keep it only when its hash is the pinned one."""
    with tempfile.TemporaryDirectory() as folder:
        asked = Path(folder) / "asked.txt"
        asked.write_text(pin.line + "\n")
        got = Path(folder) / "got"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--disable-pip-version-check", "--require-hashes", "-r", str(asked)]
        subprocess.run([*command, "-d", str(got)], check=True)
        (file,) = got.iterdir()
        content = file.read_bytes()
        if hashlib.sha256(content).hexdigest() != pin.digest:
            sys.exit(f"{pin.name}: the file is not the pinned one")
        partial = cache() / f"{pin.digest}.{os.getpid()}"
        partial.write_bytes(content)
        partial.replace(cache() / pin.digest)


def main() -> None:
    """Fetch what is missing, one after the other."""
    cache().mkdir(parents=True, exist_ok=True)
    for pin in pins():
        if not (cache() / pin.digest).is_file():
            print(f"==> fetching {pin.name} {pin.version}", flush=True)
            fetch(pin)


if __name__ == "__main__":
    main()
