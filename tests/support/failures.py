"""One test for many cases: all are tried, and those that fail are named together."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest


def failures(check: Callable[..., object], cases: Iterable[Any]) -> dict[str, str]:
    """Return by its case what each failing check raises; a case is a mapping, a tuple or a value.

    # Any: what the check takes
    """
    failed = {}
    for case in cases:
        try:
            if isinstance(case, Mapping):
                check(**case)
            elif isinstance(case, tuple):
                check(*case)
            else:
                check(case)
        except (Exception, pytest.fail.Exception) as error:  # `raises` has its own
            failed[repr(case)[:300]] = f"{type(error).__name__}: {error}"
    return failed
