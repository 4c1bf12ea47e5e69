# Generated from the chapters in book/: edit it there, then run `make save`.
"""The boundary between an application and a language model."""

from apisurface.exercises import Exercise, Mistake, Raises, Verdict, check

__all__ = [
    "Exercise",
    "Mistake",
    "Raises",
    "Verdict",
    "check",
]
__version__ = "0.1.0"
