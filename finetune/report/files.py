"""The files that a person takes away of runs: points, figures, summaries, a report."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pandas as pd
from jinja2 import Environment
from markupsafe import Markup

from finetune.report import generalisation as of_generalisation
from finetune.report.command_line import command
from finetune.report.inoculation import (
    CAUTION,
    SELECTION_TITLES,
    by_panel,
    challenge_title,
    counted,
    counter_lines,
    counter_titles,
    details,
    interval,
    meaning,
    measure_of,
    missing_texts,
    model_name,
    model_title,
    panels,
    point_rows,
    run_label,
    short,
    summary,
    telling_command,
)
from finetune.report.repair import (
    KINDS,
    Figure,
    by_set,
    by_transform,
    diagrams,
    figure_svg,
    matrices,
    on_broken_texts,
)
from finetune.trials import (
    calibration,
    debiasing,
    generalisation,
    inoculation,
    mitigation,
    transfer,
)
from finetune.trials.inoculation import InoculationRun, Selection
from probe.errors import RunError, writing
from probe.pictures.curves import ALONE, PANEL_SIZE, of_panels
from probe.pictures.reliability import Diagram, diagrams_svg
from probe.pictures.svg import captioned, figure_files, png_file
from probe.runs.run import Json, StoredRun

WORDS = (
    "Solid: {} on the challenge in percent, with its 95 % interval.",
    "Dashed: {} on the original set. Across: examples shown.",
)
"""What the lines are, where the measure is filled in."""
COUNTER_WORDS = "Dots, then dots and strokes: {}."


def curves(runs: Sequence[InoculationRun], selection: Selection) -> Markup:
    """Draw a panel for each challenge. Raises RunError where no run has a point."""
    runs_of = by_panel(runs)
    drawn, style = panels(runs, selection, PANEL_SIZE if len(runs_of) > 1 else ALONE)
    if not drawn:
        raise RunError("no cell is finished yet, so there is nothing to draw")
    titles = {name: challenge_title(own[0]) for name, own in runs_of.items()}
    words = [line.format(measure_of(runs)) for line in WORDS]
    words[1] += f" {counted(n for panel in drawn.values() for n in panel.frame['n'])}."
    if others := counter_titles(drawn.values()):
        words.append(COUNTER_WORDS.format(" · ".join(others.values())))
    return of_panels([(titles[name], panel) for name, panel in drawn.items()], style, words)


def _drawn(figure: Figure) -> Markup:
    """Draw a figure over the sentence that says how to read it, and of how many texts it is."""
    return captioned(figure_svg(figure), figure.title, figure.sentence)


def reliability_svg(run: StoredRun) -> Markup:
    """Draw the diagram of each method side by side."""
    drawn = [
        replace(each.drawn, words=(each.title, each.badge[1]))
        for each in diagrams(run).values()
        if isinstance(each.drawn, Diagram)
    ]
    return diagrams_svg(drawn, "Reliability")


def _calibrated(point: calibration.Point) -> Json:
    """Return its calibration on clean test, and agreement by transform."""
    numbers = ("n", "accuracy", "confidence", "ece", "brier", "log_loss")
    return {
        **vars(point.cell),
        **{name: getattr(point.calibration, name) for name in numbers},
        "temperature": point.temperature,
        "agreement": point.agreement,
        **_stays(point),
        "seconds": point.seconds,
    }


def _stays(point: calibration.Point | mitigation.Point) -> Json:
    shares = {f"agreement_{name}": each.share for name, each in point.salad.items()}
    return shares | {f"confidence_{name}": each.confidence for name, each in point.salad.items()}


def _mitigated(point: mitigation.Point) -> Json:
    """Return clean accuracy, and what is found, by transform."""
    return {
        **vars(point.cell),
        "n": point.clean.n,
        "clean": point.clean.share,
        "rejected": point.rejected.share,
        "invalid_found": point.invalid_found,
        **_found(point),
        "threshold": point.threshold,
        "temperature": point.temperature,
        "collapsed": mitigation.collapsed(point),
        **_stays(point),
        "seconds": point.seconds,
    }


def _debiased(point: debiasing.Point) -> Json:
    """Return what is right of each test set, by gold label too, and how often the weak model is."""
    parts = {
        debiasing.part_key(part): hits
        for name, clusters in point.clusters.items()
        for scores in [generalisation.summed(clusters)]
        for part, hits in [
            ((name, None), generalisation.total(scores)),
            *(((name, label), hits) for label, hits in scores.items()),
        ]
    }
    return {
        **vars(point.cell),
        **{f"right_{name}": hits.right / hits.n for name, hits in parts.items()},
        **{f"n_{name}": hits.n for name, hits in parts.items()},
        "weak": point.weak.share,
        "majority": point.majority.share,
        "seconds": point.seconds,
    }


def _taught(point: transfer.Point) -> Json:
    """Return what it was trained on, clean accuracy, and what is found."""
    return {
        "trained_on": transfer.row_of(point.cell),
        "size": point.cell.size,
        "seed": point.cell.seed,
        "n": point.clean.n,
        "clean": point.clean.share,
        **_found(point),
        "seconds": point.seconds,
    }


def _found(point: mitigation.Point | transfer.Point) -> Json:
    shares = {f"found_{name}": each.share for name, each in point.found.items()}
    return shares | {f"n_{name}": each.n for name, each in point.found.items()}


Rows = Callable[[StoredRun], Iterable[Json]]
FILES: Mapping[str, tuple[Rows, str, Callable[[StoredRun], Markup]]] = {
    inoculation.KIND: (
        lambda run: point_rows([inoculation.inoculation_run(run)]),
        "curve",
        lambda run: curves([inoculation.inoculation_run(run)], "oracle_lr"),
    ),
    generalisation.KIND: (
        lambda run: of_generalisation.point_rows(generalisation.generalisation_run(run)),
        "figure",
        lambda run: of_generalisation.figure(generalisation.generalisation_run(run)),
    ),
    calibration.KIND: (
        lambda run: map(_calibrated, calibration.points_of(run)),
        "reliability",
        reliability_svg,
    ),
    mitigation.KIND: (
        lambda run: map(_mitigated, mitigation.points_of(run)),
        "invalid",
        lambda run: _drawn(by_transform(run)),
    ),
    debiasing.KIND: (
        lambda run: map(_debiased, debiasing.points_of(run)),
        "by-set",
        lambda run: _drawn(by_set(run)),
    ),
    transfer.KIND: (
        lambda run: map(_taught, transfer.points_of(run)),
        "transfer",
        lambda run: _drawn(matrices(run).ours),
    ),
}
"""The rows of a kind's points, how its figure is called, and what draws it."""


def _write(path: Path, content: str | bytes) -> Path:
    with writing(path):
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def _write_rows(rows: Iterable[Json], folder: Path) -> Path:
    frame = pd.DataFrame(rows)
    return _write(folder / "points.csv", frame.to_csv(index=False, lineterminator="\n"))


def write_points(run: StoredRun, folder: Path) -> Path:
    """Write points.csv, a row for each finished cell, and return its place. Raises FileError."""
    return _write_rows(FILES[run.kind][0](run), folder)


def write_files(
    runs: Sequence[StoredRun], folder: Path, beside: InoculationRun | None = None
) -> list[Path]:
    """Write points and figure of each run, and its summary once it is judged.

    Several have a folder each. `beside` is an inoculation on the phenomenon of a generalisation.
    Raises FileError, and RunError where nothing is finished that can be drawn.
    """
    paths = list[Path]()
    for run in runs:
        own, (_, figure, draw) = folder if len(runs) == 1 else folder / run.id, FILES[run.kind]
        with writing(own):
            own.mkdir(parents=True, exist_ok=True)
        paths.append(write_points(run, own))
        drawn = {figure: draw(run)}
        if run.kind in KINDS:
            drawn |= {each.name: figure_svg(each) for each in on_broken_texts(run)}
        for stem, each in drawn.items():
            paths += [_write(own / name, file) for name, file in figure_files(stem, each).items()]
        if run.verdict:
            facts = json.dumps(_summary(run, beside), indent=1, ensure_ascii=False, allow_nan=False)
            paths.append(_write(own / "summary.json", facts + "\n"))
    return paths


def _summary(run: StoredRun, beside: InoculationRun | None) -> Json:
    """Return what a judged run came to, its plan, its inputs' hashes and its environment.

    Of a generalisation `before` is the table before training, by set and gold label, `inoculation`
    what one beside it came to at its largest size.
    """
    about = {"plan": run.plan, "artefacts": run.artefacts, "environment": run.environment}
    if run.kind == generalisation.KIND:
        verdict = dict(run.verdict)
        apart = {name: verdict.pop(name) for name in ("grid", "before")}
        return {**apart, "verdict": verdict, "inoculation": beside and _told(beside), **about}
    about["artefacts"] = {name: run.artefacts.get(name) for name in ("model", "sets")}
    if run.kind == inoculation.KIND:
        about = {"n": {name: it["n"] for name, it in run.artefacts["sets"].items()}, **about}
    return {**run.verdict, **about}


def _told(run: InoculationRun) -> Json:
    names = ("outcome", "name", "headline", "explanation", "gap", "closed", "drop")
    about = {"run": run.id, "challenge": run.plan.challenge, "size": max(run.plan.sizes)}
    return about | {name: run.verdict[name] for name in names}


def export(runs: Sequence[InoculationRun], selection: Selection, folder: Path) -> list[Path]:
    """Write points, figure and report of inoculations, and return their places.

    Raises RunError where no cell is finished, FileError where they cannot be written.
    """
    drawn = curves(runs, selection)
    return [
        _write_rows(point_rows(runs), folder),
        *(_write(folder / name, file) for name, file in figure_files("figure", drawn).items()),
        _write(folder / "figure.png", png_file(drawn)),
        _write(folder / "report.html", report(runs) + "\n"),
    ]


ABOUT = (
    "After Liu, Schwartz and Smith (2019): a model is fine-tuned on a little of a challenge and "
    "tested on the challenge and on its original set."
)
STYLE = Markup("""
body { font: 15px/1.45 system-ui, sans-serif; color: #16202b; max-width: 62rem; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; } h3 { font-size: 1rem; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid #d9dee4;
  vertical-align: top; max-width: 34rem; overflow-wrap: break-word; }
.wide { overflow-x: auto; } svg { max-width: 100%; height: auto; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f4f6f8; padding: .6rem; }
figure { margin: 0; break-inside: avoid; } tr { break-inside: avoid; }
@media print { body { margin: 0; max-width: none; } .wide { overflow: visible; } }
""")
TEMPLATE = Markup("""
{% macro table(heads, rows) %}<div class="wide"><table>
{% if heads %}<thead><tr>{% for head in heads %}<th scope="col">{{ head }}</th>{% endfor %}</tr>
</thead>{% endif %}<tbody>
{% for row in rows %}<tr>{% for it in row %}<td>{{ it | written }}</td>{% endfor %}</tr>{% endfor %}
</tbody></table></div>{% endmacro %}
<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width"><title>Inoculation report</title>
<style>{{ style }}</style></head><body><h1>Inoculation by fine-tuning</h1><p>{{ about }}</p>
{% if outcomes %}<h2>Outcomes</h2>{{ table(outcomes[0], outcomes[1:]) }}{% endif %}
{% for title, drawn in figures %}<figure>{{ drawn }}<figcaption>
The learning rate of each size is the one {{ title }}.
 Intervals are Wilson's for accuracy, Student's for F1 and over several seeds.</figcaption></figure>
{% endfor %}{% for run in runs %}
<section><h2>{{ model_title(run) }}: {{ challenge_title(run) }}</h2>
<p><code>{{ run.plan.challenge }} on {{ model_name(run) }}, {{ run_label(run) }}</code></p>
{% if run.error %}<p><b>{{ run.state }}</b> {{ run.error }}</p>{% endif %}
{% if run.verdict %}<p><b>{{ run.verdict.oracle_lr.headline }}.</b></p>
{% for line in lines(run) %}<p>{{ line }}</p>{% endfor %}
{% if run.verdict.warnings %}<h3>Warnings</h3><ul>
{% for line in run.verdict.warnings %}<li>{{ line }}</li>{% endfor %}</ul>{% endif %}
{% else %}<p>{{ run.results | length }} of {{ run.cells | length }} cells are finished:
 no outcome yet.</p>
{% endif %}<h3>The command that repeats it</h3><pre>{{ command(run) }}</pre>
<h3>Settings</h3>{{ table((), asdict(run.plan) | flat) }}
<h3>Ran on</h3>{{ table((), run.environment | flat) }}
{% if run.artefacts %}<h3>Sources and hashes</h3>{{ table((), run.artefacts | flat) }}{% endif %}
{% if run.results %}<h3>Points</h3>{{ table(*points(run)) }}{% endif %}
</section>{% endfor %}</body></html>
""")
"""The report, whose lines follow each other without a break. It asks nobody for anything."""
OUTCOME_HEADS = (
    *("challenge", "model", "mode", "outcome, as published", "outcome, rate by original dev"),
    *("gap", "closed, %", "drop", "n", "run"),
)


def report(runs: Sequence[InoculationRun]) -> str:
    """Return the report as HTML. Runs without a finished cell are named and say why."""
    drawn = [run for run in runs if run.results]
    titles = SELECTION_TITLES.items() if drawn else ()
    outcomes = [
        (
            f"{challenge_title(run)} ({run.plan.challenge})",
            model_title(run),
            run.plan.mode,
            *(short(run.verdict[name]["headline"]) for name in SELECTION_TITLES),
            *(interval(run.verdict["oracle_lr"][name]) for name in ("gap", "closed", "drop")),
            run.verdict["oracle_lr"]["gap"]["n"],
            run_label(run),
        )
        for run in runs
        if run.verdict
    ]
    environment = Environment(autoescape=True)
    environment.filters |= {"flat": _flat, "written": _written}
    called = (asdict, challenge_title, command, model_name, model_title, run_label)
    environment.globals |= {each.__name__: each for each in called}
    return environment.from_string("".join(TEMPLATE.splitlines())).render(
        style=STYLE,
        about=f"{ABOUT} {CAUTION}",
        outcomes=outcomes and [OUTCOME_HEADS, *outcomes],
        figures=[(title, curves(drawn, selection)) for selection, title in titles],
        runs=runs,
        lines=_lines,
        points=_points,
    )


def _lines(run: InoculationRun) -> list[str]:
    """Say the outcome of a judged run in words."""
    result = run.verdict["oracle_lr"]
    return [
        summary(result),
        meaning(result),
        *filter(None, [missing_texts(result), telling_command(run, "oracle_lr")]),
        *counter_lines(run.verdict),
        *details(run.verdict, "oracle_lr"),
    ]


def _points(run: InoculationRun) -> tuple[Sequence[str], Sequence[object]]:
    frame = pd.DataFrame(point_rows([run])).drop(columns=["run", "model", "challenge", "mode"])
    rows = frame.astype(object).where(frame.notna(), "").itertuples(index=False, name=None)
    return tuple(frame.columns), list(rows)


def _flat(facts: Mapping[str, object], within: str = "") -> list[tuple[str, object]]:
    """Return names and values, those within values joined by dots."""
    rows: list[tuple[str, object]] = []
    for name, value in facts.items():
        if isinstance(value, Mapping):
            rows += _flat(value, f"{within}{name}.")
        else:
            several = value if isinstance(value, (list, tuple)) else (value,)
            rows.append((f"{within}{name}", ", ".join(map(str, several))))
    return rows


def _written(value: object) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)
