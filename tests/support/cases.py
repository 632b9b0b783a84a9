"""One test over many cases: it runs them all, and its failure names each that fails."""

import inspect
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import update_wrapper
from pathlib import Path
from typing import Any

import pytest

Test = Callable[..., None]


def each(names: str, cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test for each case as `pytest.mark.parametrize` does, but as one item.

    A case has its own `tmp_path`, and its own `monkeypatch`, undone behind it.
    """
    parts, known = [name.strip() for name in names.split(",")], list(cases)

    def decorate(test: Test) -> Test:
        def run(**fixtures: Any) -> None:
            failures = []
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
                    except (Exception, pytest.fail.Exception) as problem:
                        failures.append(f"{case!r}: {type(problem).__name__}: {problem}")
            assert not failures, "\n".join(failures)

        update_wrapper(run, test)
        del run.__wrapped__  # type: ignore[attr-defined]  # else pytest asks for the cases' names
        signature = inspect.signature(test)
        left = [each for name, each in signature.parameters.items() if name not in parts]
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run

    return decorate
