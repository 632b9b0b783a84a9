"""Refusing what cannot run, by a table of what may be wrong with it."""

from collections.abc import Mapping

from probe.errors import ExperimentError


def refuse(problems: Mapping[str, object]) -> None:
    """Raise ExperimentError with the first sentence that is true, where there is one."""
    for sentence, is_true in problems.items():
        if is_true:
            raise ExperimentError(sentence)
