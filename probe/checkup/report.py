"""A check-up as one JSON object, and how it compares with an older one of the same model."""

import json
import math
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime, timezone
from itertools import chain
from pathlib import Path

from probe.checkup.conclusions import (
    HOW,
    Tests,
    advice,
    compared,
    families_of,
    findings,
    points,
)
from probe.checkup.measuring import (
    ASKED,
    BEFORE,
    GROUPS,
    Asked,
    Figure,
    Plan,
    by_kind,
    figure_from,
    known,
    plan_from,
)
from probe.errors import FileError, reading
from probe.runs.run import Json, StoredRun
from probe.settings import ASSETS
from probe.tasks.task import Task, task_named

FORMAT = 2
"""The number of the form of a report."""
OLDER = (1,)
"""Forms whose figures mean the same, so that a report can be set beside one of theirs."""
SAYS_NOTHING: Json = {"findings": [], "tones": [], "advice": [], "tests": [], "how_tested": HOW}
"""What a report says before there is anything to say, or as a reference."""
REFERENCES = ASSETS / "checkups"
"""Reports of the bundled models, without the scores of single texts."""


def report_of(run: StoredRun) -> Json:
    """Return the report of a check-up, or of the parts of it that are measured by now.

    `missing` are the parts that are not, `left_out` the transforms that cannot run here. Before the
    texts as they are have been measured it says nothing.
    """
    plan, facts, task = plan_from(run.plan), run.artefacts, task_named(run.plan["task"])
    rows = [row for result in run.results for row in result["figures"]]
    own, said = {row["name"]: figure_from(row) for row in rows}, SAYS_NOTHING
    if task.measure.lower() in own:
        others = references(task, facts["sets"]["test"]["sha256"], plan.model)
        tests = families_of(task, own, others)
        found = findings(task, plan.model, own, tests)
        said = {
            "findings": [each.sentence for each in found],
            "tones": [each.tone for each in found],
            "advice": [asdict(each) for each in advice(task, plan.model, own, tests)],
            "tests": json_of_tests(tests),
            "how_tested": HOW,
        }
    revisions = [result["revision"] for result in run.results]
    return {
        "format": FORMAT,
        "model": {
            "name": plan.model,
            "revision": next(filter(None, revisions), None),
            "sha256": facts["model"],
        },
        "task": plan.task,
        "data": {"name": plan.file or "bundled", **facts["sets"]["test"]},
        "asked": asdict(plan.asked),
        "made": datetime.fromtimestamp(run.created, timezone.utc).isoformat(timespec="seconds"),
        "environment": {**run.environment, "precision": plan.asked.precision},
        "command": command(plan),
        "seconds": math.fsum(result["seconds"] for result in run.results),
        "figures": rows,
        "reliability": [each for result in run.results for each in result.get("bins", ())],
        "examples": {
            cell.key["part"]: cell.result["examples"]
            for cell in run.cells
            if cell.result and cell.result.get("examples")
        },
        "missing": [cell.key["part"] for cell in run.cells if cell.result is None],
        "left_out": facts["left_out"],
        **said,
    }


def json_of_tests(tests: Tests) -> list[Json]:
    """Return a row for each test: what against what, the difference, p as it is and corrected."""
    return [
        {
            "family": family,
            "name": name,
            "title": each.after.title,
            "against": each.before.title,
            **{end: known(value) for end, value in asdict(each.found).items()},
            "p": known(each.p),
            "adjusted": known(each.adjusted),
            "remains": each.remains,
        }
        for family, members in tests.items()
        for name, each in members.items()
    ]


def conclude(run: StoredRun) -> Json | None:
    """Return the verdict of a check-up: what it says and advises; None before all is measured."""
    if len(run.results) < len(run.cells):
        return None
    report = report_of(run)
    said = {name: report[name] for name in ("findings", "advice")}
    return {"name": "Checked up", "explanation": report["findings"][0], **said}


def command(plan: Plan) -> str:
    """Return the command that repeats a check-up."""
    asked, file = plan.asked, [plan.file, *plan.reading] if plan.file else []
    options = {
        "--task": plan.task if plan.labels else "",
        "--labels": ",".join(plan.labels),
        **{
            f"--{name.replace('_', '-')}": value
            for name, value in vars(asked).items()
            if not ASKED[name].values or value != getattr(Asked, name)
        },
        "--out": "checkup",
    }
    given = (str(word) for both in options.items() if both[1] != "" for word in both)
    return shlex.join(["python", "-m", "probe", "checkup", plan.opened, *file, *given])


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
    if not path.is_file():
        raise FileError(f"there is no file {path}")
    with reading(path.name, "the report of a check-up", "take the report.json that one wrote"):
        report: Json = json.loads(path.read_text(encoding="utf-8"))
        if report["format"] not in (FORMAT, *OLDER):
            raise FileError(
                f"{path.name} is a check-up of form {report['format']}, which this version does "
                "not read; check that model up again"
            )
        report["asked"] = {**BEFORE, **report["asked"]}
        figures_of(report)
        drawn_alike(report)
        task_named(report["task"])
    return report


def figures_of(report: Json) -> dict[str, Figure]:
    """Return the figures of a report by their names, and the means over kinds of word salad."""
    own = {row["name"]: figure_from(row) for row in report["figures"]}
    return own | {each.name: each for each in by_kind(task_named(report["task"]), own)}


def without_rows(report: Json) -> Json:
    """Return a report without single texts and their scores, what it says, and its time."""
    figures = [{**row, "rows": []} for row in report["figures"]]
    return {**report, "figures": figures, "examples": {}, **SAYS_NOTHING, "seconds": 0.0}


def drawn_alike(report: Json) -> tuple[str, int, int]:
    """Return what two reports share that changed the same texts: data, how many of it, the draw."""
    data, asked = report["data"], report["asked"]
    return str(data["sha256"]), int(asked["n"]), int(asked["seed"])


def against(old: Json, new: Json) -> list[Json]:
    """Return what got better and what worse: differences that remain after the correction.

    The figures of a group are a family of tests; one whose right answers were in other classes, or
    whose tokens were ranked by another sign, is in none. Texts are compared one by one where both
    reports are of the same examples, drawn alike.
    Raises FileError for a report of another task.
    """
    if old["task"] != new["task"]:
        raise FileError(
            f"the older report is about {task_named(old['task']).title.lower()}, this one about "
            f"{task_named(new['task']).title.lower()}"
        )
    alike = drawn_alike(old) == drawn_alike(new)
    before, after = (figures_of(each if alike else without_rows(each)) for each in (old, new))
    both = [
        (before[name], figure)
        for name, figure in after.items()
        if name in before
        and (before[name].merged, before[name].sign) == (figure.merged, figure.sign)
        and not name.endswith(".before")
        and figure.more_is_better is not None
    ]
    families = (compared([pair for pair in both if pair[1].group == group]) for group in GROUPS)
    return [
        {
            "name": each.after.name,
            "better": better,
            **asdict(each.found),
            "p": each.p,
            "adjusted": each.adjusted,
            "sentence": f"{'Better' if better else 'Worse'}: {each.after.title} went from "
            f"{100 * each.before.value:.1f} to {100 * each.after.value:.1f} %, "
            f"{points(each.found)}.",
        }
        for each in chain.from_iterable(families)
        if each.remains
        for better in [(each.found.value > 0) == each.after.more_is_better]
    ]


def too_low(report: Json, limits: Mapping[str, float]) -> list[str]:
    """Return a sentence for each figure that is on the wrong side of its limit.

    `limits` are by names in small letters. A figure of which less is better, as of word salad, must
    not be above its limit, any other not below. Raises FileError for a figure that the report does
    not have.
    """
    own = {name.lower(): figure for name, figure in figures_of(report).items()}
    if unknown := [name for name in limits if name not in own]:
        names = ", ".join(figure.name for figure in own.values())
        raise FileError(f"the check-up has no figure {unknown[0]!r}; it has: {names}")
    missed = []
    for name, limit in limits.items():
        figure, less = own[name], own[name].more_is_better is False
        if figure.value > limit if less else figure.value < limit:
            side, reached = "above" if less else "under", f"{100 * figure.value:.1f} %"
            missed.append(f"{figure.title} is {reached}, {side} {100 * limit:g} %")
    return missed


def changes_words(changes: Iterable[Json]) -> list[str]:
    """Return the sentences of what changed, what got worse first."""
    rows = sorted(changes, key=lambda each: (each["better"], -abs(each["value"])))
    return [row["sentence"] for row in rows] or ["Nothing changed that can be measured."]
