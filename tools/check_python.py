"""Refuse a Python that the lock does not cover, before anything is installed."""

import sys

if not (3, 11) <= sys.version_info[:2] <= (3, 13):
    found = ".".join(map(str, sys.version_info[:3]))
    sys.exit(
        f"This book needs Python 3.11, 3.12 or 3.13; {sys.executable} is {found}.\n"
        "Name another one: make PYTHON=python3.12 book"
    )
try:
    import ensurepip  # noqa: F401
    import venv  # noqa: F401
except ImportError:
    sys.exit("This Python has no venv module. On Debian: apt-get install python3-venv")
