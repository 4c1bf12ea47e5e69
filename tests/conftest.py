"""One Hypothesis profile for everybody: the same examples on every run."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "book",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("book")
