"""Every judge says what it is missing: a reasoned skip at home, a failure in CI."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

from tools.archives import MissingArchive


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup() -> Generator[None, object, object]:
    """Leave out the tests whose archive is missing, and say which it is."""
    try:
        return (yield)
    except (MissingArchive, ModuleNotFoundError) as error:
        if os.environ.get("CI"):
            pytest.fail(f"CI must not leave a judge out. {error}", pytrace=False)
        pytest.skip(f"a judge is missing: {error}")
