"""Find the engine that is tried: the module or file `LAB_MODULE`, yours when it is not set."""

import importlib
import importlib.util
import os
from pathlib import Path
from types import ModuleType

YOURS = "book.lab.engine"


def engine_name() -> str:
    """Return the name of the engine that is tried."""
    return os.environ.get("LAB_MODULE") or YOURS


def load_engine(name: str) -> ModuleType:
    """Import an engine by module name or by the path of its file."""
    if not name.endswith(".py"):
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(Path(name).stem, name)
    if spec is None or spec.loader is None:
        raise ImportError(f"LAB_MODULE={name} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
