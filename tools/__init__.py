"""What authors and CI run over the book; each module is one command, `python -m tools.NAME`."""
