"""Saving: from marked notebook cells to modules; `tools.save` is the command."""
