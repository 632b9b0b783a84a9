"""A report of runs as one HTML file that needs nothing else: figure, outcomes, settings, points."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape

from finetune.experiments.inoculation.outcomes import EXPLANATIONS
from finetune.experiments.inoculation.run import InoculationRun
from finetune.experiments.inoculation.selection import Selection
from finetune.report.command import command
from finetune.report.figure import figure, svg_file
from finetune.report.sweep import model_name, points_frame, where
from finetune.report.text import CARE, CHOSEN, details, interval, short, summary

STYLE = """
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
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"  # the file asks nobody for anything


def report(runs: Sequence[InoculationRun]) -> str:
    """Return the report as HTML. Runs without a finished cell are named and say why."""
    drawn = [run for run in runs if run.results]
    figures = "".join(_figure(drawn, selection) for selection in CHOSEN) if drawn else ""
    sections = "".join(_section(run) for run in runs)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width"><title>Inoculation report</title>'
        f"<style>{STYLE}</style></head><body><h1>Inoculation by fine-tuning</h1>"
        "<p>After Liu, Schwartz and Smith (2019): a model is fine-tuned on a little of a challenge "
        f"and tested on the challenge and on its original set. {CARE}</p>"
        f"{_outcomes(runs)}{figures}{sections}</body></html>\n"
    )


def _figure(runs: Sequence[InoculationRun], selection: Selection) -> str:
    return (
        f"<figure>{svg_file(figure(runs, selection))}<figcaption>The learning rate of each "
        f"size is the one {escape(CHOSEN[selection])}. Bars: Wilson's 95 % intervals."
        "</figcaption></figure>"
    )


def _outcomes(runs: Sequence[InoculationRun]) -> str:
    heads = (
        *("challenge", "model", "mode"),
        *("outcome, as published", "outcome, rate by original dev"),
        *("gap", "closed, %", "drop", "n", "run"),
    )
    rows = [
        (
            run.plan.challenge,
            model_name(run),
            run.plan.mode,
            *(short(run.verdict[name]["name"]) for name in CHOSEN),
            *(interval(run.verdict["oracle_lr"][name]) for name in ("gap", "closed", "drop")),
            run.verdict["oracle_lr"]["gap"]["n"],
            where(run),
        )
        for run in runs
        if run.verdict
    ]
    return f"<h2>Outcomes</h2>{_table(heads, rows)}" if rows else ""


def _section(run: InoculationRun) -> str:
    title = f"{run.plan.challenge} on {model_name(run)} ({where(run)})"
    trouble = f"<p><b>{escape(run.state)}</b> {escape(run.error)}</p>" if run.error else ""
    return (
        f"<section><h2>{escape(title)}</h2>{trouble}{_told(run)}"
        f"<h3>The command that repeats it</h3><pre>{escape(command(run))}</pre>"
        f"<h3>Settings</h3>{_facts(asdict(run.plan))}"
        f"<h3>Ran on</h3>{_facts(run.environment)}{_hashes(run)}{_points(run)}</section>"
    )


def _told(run: InoculationRun) -> str:
    if not run.verdict:
        return f"<p>{len(run.results)} of {len(run.cells)} cells are finished: no outcome yet.</p>"
    found = run.verdict["oracle_lr"]
    lines = [summary(found), EXPLANATIONS[found["outcome"]], *details(run.verdict, "oracle_lr")]
    warnings = "".join(f"<li>{escape(one)}</li>" for one in run.verdict["warnings"])
    return (
        f"<p><b>{escape(found['name'])}.</b></p>"
        + "".join(f"<p>{escape(line)}</p>" for line in lines)
        + (f"<h3>Warnings</h3><ul>{warnings}</ul>" if warnings else "")
    )


def _hashes(run: InoculationRun) -> str:
    return f"<h3>Sources and hashes</h3>{_facts(run.artefacts)}" if run.artefacts else ""


def _points(run: InoculationRun) -> str:
    frame = points_frame([run]).drop(columns=["run", "model", "challenge", "mode"], errors="ignore")
    if frame.empty:
        return ""
    rows = frame.astype(object).where(frame.notna(), "").itertuples(index=False, name=None)
    return f"<h3>Points</h3>{_table(tuple(frame.columns), list(rows))}"


def _facts(facts: Mapping[str, object]) -> str:
    """Show names and values, those within values joined by dots."""
    return _table(("", ""), _flat("", facts))


def _flat(before: str, facts: Mapping[str, object]) -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    for name, value in facts.items():
        path = f"{before}.{name}" if before else name
        rows += _flat(path, value) if isinstance(value, Mapping) else [(path, _text(value))]
    return rows


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    head = "".join(f'<th scope="col">{escape(str(name))}</th>' for name in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_short(value))}</td>" for value in row) + "</tr>"
        for row in rows
    )
    shown = f"<thead><tr>{head}</tr></thead>" if any(heads) else ""
    return f'<div class="wide"><table>{shown}<tbody>{body}</tbody></table></div>'


def _short(value: object) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)
