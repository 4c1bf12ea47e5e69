"""What holds for every test: no network, the same examples on every run, no silent skip."""

import os
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, Phase, settings

import tools.offline.sitecustomize  # noqa: F401  refuses the network from here on

settings.register_profile(
    "book",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "fuzz", parent=settings.get_profile("book"), derandomize=False, max_examples=10_000
)
settings.register_profile(  # whether a test fails is all that is asked: the example stays long
    "mutants", parent=settings.get_profile("book"), phases=[Phase.explicit, Phase.generate]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "book"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test that is skipped without saying why in at least three words."""
    report = yield
    if report.skipped:
        if isinstance(report.longrepr, tuple):
            reason = report.longrepr[2].removeprefix("Skipped: ")
        else:
            reason = getattr(report, "wasxfail", "").removeprefix("reason: ")
        if len(reason.split()) < 3:
            report.outcome = "failed"
            report.longrepr = f"skipped without a reason of substance: {reason!r}"
            vars(report).pop("wasxfail", None)
    return report
