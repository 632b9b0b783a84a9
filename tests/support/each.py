"""One test for a table of cases: each is tried, and all that fail are named."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Any], Any]:
    """Call the decorated test for each case, whose values are for the parameters of these names.

    Other parameters are fixtures. Decorators on one another try every combination.
    """
    parameters = (names,) if isinstance(names, str) else names

    def decorate(test: Any) -> Any:
        def every(**fixtures: Any) -> None:
            failed, skipped, tried = [], "", 0
            for case in cases:
                values = (case,) if isinstance(names, str) else case
                try:
                    test(**dict(zip(parameters, values, strict=True)), **fixtures)
                except pytest.skip.Exception as absent:
                    skipped = str(absent)
                except Exception as problem:
                    failed.append(f"{values!r:.300}: {type(problem).__name__}: {problem}")
                tried += 1
            assert not failed, f"{len(failed)} of {tried} cases:\n" + "\n".join(failed)
            if skipped:
                pytest.skip(skipped)

        given = inspect.signature(test).parameters.values()
        rest = [each for each in given if each.name not in parameters]
        every.__signature__ = inspect.Signature(rest)  # type: ignore[attr-defined]  # pytest's way
        every.__name__, every.__doc__, every.__module__ = (
            test.__name__, test.__doc__, test.__module__
        )  # fmt: skip
        every.pytestmark = getattr(test, "pytestmark", [])  # type: ignore[attr-defined]
        return every

    return decorate
