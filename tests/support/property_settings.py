"""Property tests draw the same examples every time, and no deadline fails on a busy machine."""

from hypothesis import settings

STEADY = settings(derandomize=True, deadline=None, max_examples=60)
