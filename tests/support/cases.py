"""One test for many cases: it tries them all, and its failure names each that is wrong."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from functools import update_wrapper
from pathlib import Path
from typing import Any, TypeVar

import pytest

Case = TypeVar("Case")
Test = Callable[..., None]
WRONG = (Exception, pytest.fail.Exception)


def failures(check: Callable[..., object], cases: Iterable[Any]) -> dict[str, str]:
    """Return by its case what each failing check raises; mappings and tuples are its arguments."""
    failed = {}
    for case in cases:
        try:
            if isinstance(case, Mapping):
                check(**case)
            else:
                check(*case) if isinstance(case, tuple) else check(case)
        except WRONG as problem:
            failed[f"{case!r:.300}"] = f"{type(problem).__name__}: {problem}"
    return failed


def check_each(cases: Mapping[str, Case], check: Callable[[Case], object]) -> None:
    """Check all cases, and fail with the name and the reason of each that is wrong."""
    wrong = failures(lambda name: check(cases[name]), cases)
    assert not wrong, "\n".join(f"{name}: {reason}" for name, reason in wrong.items())


def each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test for each case as `pytest.mark.parametrize` does, but as one item.

    A case has its own `tmp_path`, and its own `monkeypatch`, undone behind it. Decorators on one
    another try every combination.
    """
    parts = names.replace(" ", "").split(",") if isinstance(names, str) else names
    known = list(cases)

    def decorate(test: Test) -> Test:
        def run(**fixtures: Any) -> None:
            wrong, skipped = {}, ""
            for number, case in enumerate(known):
                given = dict(zip(parts, case if len(parts) > 1 else (case,), strict=True))
                own = fixtures | given
                with ExitStack() as stack:
                    if "tmp_path" in fixtures:
                        own["tmp_path"] = Path(fixtures["tmp_path"], str(number))
                        own["tmp_path"].mkdir()
                    if "monkeypatch" in fixtures:
                        own["monkeypatch"] = stack.enter_context(fixtures["monkeypatch"].context())
                    try:
                        test(**own)
                    except pytest.skip.Exception as absent:
                        skipped = str(absent)
                    except WRONG as problem:
                        wrong[number] = f"{case!r:.300}: {type(problem).__name__}: {problem}"
            assert not wrong, f"{len(wrong)} of {len(known)}:\n" + "\n".join(wrong.values())
            if skipped:
                pytest.skip(skipped)

        update_wrapper(run, test)
        del run.__wrapped__  # type: ignore[attr-defined]  # else pytest asks for the cases' names
        signature = inspect.signature(test)
        left = [each for name, each in signature.parameters.items() if name not in parts]
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run

    return decorate
