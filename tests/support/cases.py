"""One test for many cases, which names every case that fails."""

from collections.abc import Callable, Mapping
from typing import TypeVar

import pytest

Case = TypeVar("Case")


def check_each(cases: Mapping[str, Case], check: Callable[[Case], object]) -> None:
    """Check all cases, and fail with the name and the reason of each that is wrong."""
    wrong = {}
    for name, case in cases.items():
        try:
            check(case)
        except (Exception, pytest.fail.Exception) as problem:
            wrong[name] = f"{type(problem).__name__}: {problem}"
    assert not wrong, "\n".join(f"{name}: {reason}" for name, reason in wrong.items())
