"""Settings of property tests: the same examples every time, no deadline."""

from hypothesis import settings

STEADY = settings(derandomize=True, deadline=None, max_examples=60)
