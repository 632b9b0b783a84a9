"""The files a person takes away: points, the figure, the report; a run's summary and curve."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from markupsafe import Markup

from finetune.report.inoculation import (
    CAUTION,
    SELECTION_TITLES,
    by_panel,
    challenge_title,
    command,
    counter_lines,
    counter_titles,
    details,
    interval,
    meaning,
    measure_of,
    missing_texts,
    model_name,
    panels,
    points_frame,
    run_label,
    short,
    summary,
    telling_command,
)
from finetune.trials.inoculation_plan import InoculationRun, Selection
from probe.errors import RunError, writing
from probe.pictures.curves import (
    ALONE,
    PANEL_SIZE,
    of_panels,
)
from probe.pictures.svg import (
    png_file,
    svg_file,
)
from probe.runs.run import Json

WORDS = (
    "Solid: {} on the challenge in percent, with its 95 % interval.",
    "Dashed: {} on the original set. Across: examples shown.",
)
"""What the lines are, where the measure is filled in."""
COUNTER_WORDS = "Dots, then dots and strokes: {}."


def figure(runs: Sequence[InoculationRun], selection: Selection) -> Markup:
    """Draw a panel for each challenge. Raises RunError where no run has a point."""
    runs_of = by_panel(runs)
    drawn, style = panels(runs, selection, PANEL_SIZE if len(runs_of) > 1 else ALONE)
    if not drawn:
        raise RunError("no cell is finished yet, so there is nothing to draw")
    titles = {name: challenge_title(own[0]) for name, own in runs_of.items()}
    words = [line.format(measure_of(runs)) for line in WORDS]
    if others := counter_titles(drawn.values()):
        words.append(COUNTER_WORDS.format(" · ".join(others.values())))
    return of_panels([(titles[name], panel) for name, panel in drawn.items()], style, words)


NOTHING = Markup("")
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
POLICY = Markup(
    "default-src 'none'; style-src 'unsafe-inline'"
)  # the file asks nobody for anything


def report(runs: Sequence[InoculationRun]) -> Markup:
    """Return the report as HTML. Runs without a finished cell are named and say why."""
    drawn = [run for run in runs if run.results]
    figures = [_figure(drawn, selection) for selection in SELECTION_TITLES] if drawn else []
    return Markup(
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="{}">'
        '<meta name="viewport" content="width=device-width"><title>Inoculation report</title>'
        "<style>{}</style></head><body><h1>Inoculation by fine-tuning</h1><p>{} {}</p>"
        "{}{}{}</body></html>\n"
    ).format(
        POLICY, STYLE, ABOUT, CAUTION, _outcomes(runs), _join(figures), _join(map(_section, runs))
    )


def _join(parts: Iterable[Markup]) -> Markup:
    return Markup("").join(parts)


def _each(template: Markup, values: Iterable[object]) -> Markup:
    return _join(template.format(value) for value in values)


def _figure(runs: Sequence[InoculationRun], selection: Selection) -> Markup:
    return Markup(
        "<figure>{}<figcaption>The learning rate of each size is the one {}. Intervals are "
        "Wilson's for accuracy, Student's for F1.</figcaption></figure>"
    ).format(figure(runs, selection), SELECTION_TITLES[selection])


def _outcomes(runs: Sequence[InoculationRun]) -> Markup:
    heads = (
        *("challenge", "model", "mode"),
        *("outcome, as published", "outcome, rate by original dev"),
        *("gap", "closed, %", "drop", "n", "run"),
    )
    rows = [_outcome(run) for run in runs if run.verdict]
    return Markup("<h2>Outcomes</h2>{}").format(_table(heads, rows)) if rows else NOTHING


def _outcome(run: InoculationRun) -> tuple[object, ...]:
    published = run.verdict["oracle_lr"]
    return (
        run.plan.challenge,
        model_name(run),
        run.plan.mode,
        *(short(run.verdict[name]["headline"]) for name in SELECTION_TITLES),
        *(interval(published[name]) for name in ("gap", "closed", "drop")),
        published["gap"]["n"],
        run_label(run),
    )


def _section(run: InoculationRun) -> Markup:
    trouble = Markup("<p><b>{}</b> {}</p>").format(run.state, run.error) if run.error else NOTHING
    return Markup(
        "<section><h2>{} on {} ({})</h2>{}{}"
        "<h3>The command that repeats it</h3><pre>{}</pre>"
        "<h3>Settings</h3>{}<h3>Ran on</h3>{}{}{}</section>"
    ).format(
        run.plan.challenge,
        model_name(run),
        run_label(run),
        trouble,
        _verdict(run),
        command(run),
        _facts(asdict(run.plan)),
        _facts(run.environment),
        _hashes(run),
        _points(run),
    )


def _verdict(run: InoculationRun) -> Markup:
    """Say the outcome in words, or how many cells are finished until there is one."""
    if not run.verdict:
        return Markup("<p>{} of {} cells are finished: no outcome yet.</p>").format(
            len(run.results), len(run.cells)
        )
    result, warnings = run.verdict["oracle_lr"], run.verdict["warnings"]
    lines = [
        summary(result),
        meaning(result),
        *filter(None, [missing_texts(result), telling_command(run, "oracle_lr")]),
        *counter_lines(run.verdict),
        *details(run.verdict, "oracle_lr"),
    ]
    listed = Markup("<h3>Warnings</h3><ul>{}</ul>").format(_each(Markup("<li>{}</li>"), warnings))
    return Markup("<p><b>{}.</b></p>{}{}").format(
        result["headline"], _each(Markup("<p>{}</p>"), lines), listed if warnings else NOTHING
    )


def _hashes(run: InoculationRun) -> Markup:
    if not run.artefacts:
        return NOTHING
    return Markup("<h3>Sources and hashes</h3>{}").format(_facts(run.artefacts))


def _points(run: InoculationRun) -> Markup:
    frame = points_frame([run]).drop(columns=["run", "model", "challenge", "mode"], errors="ignore")
    if frame.empty:
        return NOTHING
    rows = frame.astype(object).where(frame.notna(), "").itertuples(index=False, name=None)
    return Markup("<h3>Points</h3>{}").format(_table(tuple(frame.columns), list(rows)))


def _facts(facts: Mapping[str, object]) -> Markup:
    """Show names and values, those within values joined by dots."""
    return _table((), _flat("", facts))


def _flat(before: str, facts: Mapping[str, object]) -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    for name, value in facts.items():
        path = f"{before}.{name}" if before else name
        rows += _flat(path, value) if isinstance(value, Mapping) else [(path, _text(value))]
    return rows


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> Markup:
    head = _each(Markup('<th scope="col">{}</th>'), heads)
    body = _each(
        Markup("<tr>{}</tr>"), (_each(Markup("<td>{}</td>"), map(_short, row)) for row in rows)
    )
    return Markup('<div class="wide"><table>{}<tbody>{}</tbody></table></div>').format(
        Markup("<thead><tr>{}</tr></thead>").format(head) if heads else NOTHING, body
    )


def _short(value: object) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def export(runs: Sequence[InoculationRun], selection: Selection, folder: Path) -> list[Path]:
    """Write points.csv, figure.svg, figure.png and report.html; return their places.

    Raises RunError where no cell is finished, FileError where they cannot be written.
    """
    drawn = figure(runs, selection)
    vector, bitmap, page = (folder / name for name in ("figure.svg", "figure.png", "report.html"))
    points = write_points(runs, folder)
    with writing(folder):
        vector.write_text(svg_file(drawn), encoding="utf-8")
        bitmap.write_bytes(png_file(drawn))
        page.write_text(report(runs), encoding="utf-8")
    return [points, vector, bitmap, page]


def write_points(runs: Sequence[InoculationRun], folder: Path) -> Path:
    """Write points.csv, a row for each finished cell, and return its place."""
    path = folder / "points.csv"
    with writing(path):
        points_frame(runs).to_csv(path, index=False, lineterminator="\n")
    return path


def write_summary(run: InoculationRun, folder: Path) -> Json:
    """Write summary.json and curve.svg of a judged run, and return the summary."""
    facts = {name: run.artefacts[name] for name in ("model", "sets")}
    summary = {
        **run.verdict,
        "n": {name: fact["n"] for name, fact in facts["sets"].items()},
        "plan": asdict(run.plan),
        "artefacts": facts,
        "environment": run.environment,
    }
    text = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False)
    with writing(folder):
        (folder / "summary.json").write_text(text + "\n", encoding="utf-8")
        drawn = svg_file(figure([run], "oracle_lr"))
        (folder / "curve.svg").write_text(drawn + "\n", encoding="utf-8")
    return summary
