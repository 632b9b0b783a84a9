"""A check-up as one JSON object, and how it compares with an older one of the same model."""

import json
import shlex
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from probe.checkup.difference import difference, is_sure, points
from probe.checkup.figure import Figure, figure_from, figure_json
from probe.checkup.findings import advice, findings
from probe.checkup.measure import Asked, measure, parts_of
from probe.errors import FileError
from probe.models.classifier import resolve
from probe.models.hashes import model_hash, pairs_hash
from probe.models.library import AnyModel, locate
from probe.runs.environment import environment
from probe.runs.run import Json
from probe.settings import ASSETS
from probe.tasks.task import Task, task_named

FORMAT = 1
"""The number of the form of a report."""
REFERENCES = ASSETS / "checkups"
"""Reports of the bundled models, without the scores of single texts."""


def check_up(
    model: AnyModel,
    name: str,
    examples: Sequence[Any],
    asked: Asked,
    file: Path | None = None,
    told: Callable[[str, int, int], None] = lambda part, done, total: None,
) -> Json:
    """Measure a model and return its report; `told` hears of each part that is finished.

    `name` is the model's on the command line, `file` where the examples are from, None for the
    bundled ones.
    """
    began, figures, parts = time.monotonic(), list[Figure](), parts_of(model)
    for done, (part, found) in enumerate(measure(model, examples, asked), 1):
        figures += found
        told(part, done, len(parts))
    task, data = model.task, pairs_hash(examples)
    own = {figure.name: figure for figure in figures}
    return {
        "format": FORMAT,
        "model": {"name": name, "revision": model.revision, "sha256": model_hash(locate(name)[0])},
        "task": task.name,
        "data": {"name": file.name if file else "bundled", "n": len(examples), "sha256": data},
        "asked": {**asdict(asked), "precision": resolve(asked.precision)},
        "environment": environment(),
        "command": command(name, asked, file),
        "seconds": time.monotonic() - began,
        "figures": [figure_json(figure) for figure in figures],
        "findings": findings(task, figures, references(task, data, name)),
        "advice": [asdict(each) for each in advice(task, name, own)],
    }


def command(name: str, asked: Asked, file: Path | None) -> str:
    """Return the command that repeats a check-up."""
    words = ["python", "-m", "probe", "checkup", name, *([file.name] if file else [])]
    options = {"--n": asked.n, "--per-subcase": asked.per_subcase, "--seed": asked.seed}
    for option, value in options.items():
        words += [option, str(value)]
    return shlex.join([*words, "--precision", asked.precision, "--out", "checkup"])


def references(task: Task, data: str, name: str) -> dict[str, dict[str, Figure]]:
    """Return the figures of the other bundled models of a task on the same examples, by model."""
    reports = [read_report(path) for path in sorted(REFERENCES.glob("*.json"))]
    return {
        report["model"]["name"]: figures_of(report)
        for report in reports
        if (report["task"], report["data"]["sha256"]) == (task.name, data)
        and report["model"]["name"] != name
    }


def read_report(path: Path) -> Json:
    """Read a report. Raises FileError where the file is none."""
    try:
        report: Json = json.loads(path.read_text(encoding="utf-8"))
        if report["format"] != FORMAT:
            raise FileError(f"{path.name} is a check-up of another form ({report['format']})")
        figures_of(report)
    except FileNotFoundError:
        raise FileError(f"there is no file {path}") from None
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise FileError(f"{path.name} is no report of a check-up") from problem
    return report


def figures_of(report: Json) -> dict[str, Figure]:
    """Return the figures of a report by their names."""
    return {row["name"]: figure_from(row) for row in report["figures"]}


def without_rows(report: Json) -> Json:
    """Return a report without the scores of single texts and without what they say of others."""
    figures = [{**row, "rows": []} for row in report["figures"]]
    return {**report, "figures": figures, "findings": [], "advice": []}


def against(old: Json, new: Json) -> list[Json]:
    """Return what got better and what worse: differences whose interval excludes 0.

    Texts are compared one by one where both reports are of the same examples, drawn alike. Raises
    FileError for a report of another task.
    """
    if old["task"] != new["task"]:
        raise FileError(
            f"the older report is about {task_named(old['task']).title.lower()}, this one about "
            f"{task_named(new['task']).title.lower()}"
        )
    drawn = [
        (each["data"]["sha256"], each["asked"]["n"], each["asked"]["seed"]) for each in (old, new)
    ]
    before, after = (
        figures_of(each if drawn[0] == drawn[1] else without_rows(each)) for each in (old, new)
    )
    changed = []
    for name, figure in after.items():
        if name not in before or name.endswith(".before"):
            continue
        found = difference(before[name], figure)
        if is_sure(found):
            better = (found.value > 0) == figure.more_is_better
            changed.append(
                {
                    "name": name,
                    "better": better,
                    **asdict(found),
                    "sentence": _sentence(before[name], figure, points(found), better),
                }
            )
    return changed


def _sentence(before: Figure, after: Figure, size: str, better: bool) -> str:
    return (
        f"{'Better' if better else 'Worse'}: {after.title} went from {100 * before.value:.1f} to "
        f"{100 * after.value:.1f} %, {size}."
    )


def too_low(report: Json, limits: Mapping[str, float]) -> list[str]:
    """Return a sentence for each figure that is on the wrong side of its limit.

    A figure of which less is better, as of word salad, must not be above it. Raises FileError for a
    figure that the report does not have.
    """
    own = figures_of(report)
    if unknown := [name for name in limits if name not in own]:
        raise FileError(f"the check-up has no figure {unknown[0]!r}; it has: {', '.join(own)}")
    return [
        _missed(own[name], limit) for name, limit in limits.items() if _misses(own[name], limit)
    ]


def _misses(figure: Figure, limit: float) -> bool:
    return figure.value < limit if figure.more_is_better else figure.value > limit


def _missed(figure: Figure, limit: float) -> str:
    side = "under" if figure.more_is_better else "above"
    return f"{figure.title} is {100 * figure.value:.1f} %, {side} {100 * limit:g} %"


def changes_words(changes: Iterable[Json]) -> list[str]:
    """Return the sentences of what changed, what got worse first."""
    rows = sorted(changes, key=lambda each: (each["better"], -abs(each["value"])))
    return [row["sentence"] for row in rows] or ["Nothing changed that can be measured."]
