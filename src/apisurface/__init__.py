# Generated from the chapters in book/: edit it there, then run `make save`.
"""The boundary between an application and a language model."""

__all__: list[str] = []
__version__ = "0.1.0"
