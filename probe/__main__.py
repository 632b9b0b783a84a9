"""`python -m probe`: everything the Probe and Batch tabs do, on the command line."""

import os

from probe.errors import OptionError, UserError

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch: probing beside a fine-tune

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, get_args

import typer

from probe.analysis.attribution import BaselineToken, Method
from probe.analysis.batch import Row, made_frame, score, scored_frame
from probe.analysis.summary import summarise, summary_json
from probe.analysis.transformed import examine
from probe.cli.baselines import app as baselines_app
from probe.cli.baselines import rules_command
from probe.cli.compare import compare_command
from probe.cli.exit import one_of, stop
from probe.cli.hans import hans_command
from probe.cli.open_models import opened
from probe.cli.pbsmt import app as pbsmt_app
from probe.cli.tagger import app as tagger_app
from probe.cli.templates import templates_command
from probe.data.tables import Columns, form_of, guess, read_table, write_table
from probe.models.classifier import Precision
from probe.models.library import entries
from probe.reports.json import examination_json, model_json, options_json, transforms_json
from probe.tasks.nli import LABELS, NLI, Pair
from probe.transforms.options import Options, read_options

app = typer.Typer(add_completion=False, no_args_is_help=True)


app.command("templates")(templates_command)
app.command("rules")(rules_command)
app.add_typer(baselines_app, name="baselines")
app.add_typer(pbsmt_app, name="pbsmt")
app.add_typer(tagger_app, name="tagger")
app.command("compare")(compare_command)
app.command("hans")(hans_command)


@app.callback()
def main() -> None:
    """Look at models: transforms, models, one pair, a whole file, templates, rule baselines."""


Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Model = Annotated[str, typer.Option(help="Bundled or inoculated name, folder, or hub id.")]
LabelsText = Annotated[
    str,
    typer.Option("--labels", help="The labels of the outputs in their order, with commas between."),
]
Keep = Annotated[float, typer.Option(help="r, the share of tokens kept.")]
SignText = Annotated[str, typer.Option("--sign", help="support, gupta or abs.")]
PinText = Annotated[str, typer.Option("--pin", help="Marks that stay at the end.")]
ById = Annotated[bool, typer.Option("--by-id", help="Keep tokens by id, as Gupta's code.")]
DrawText = Annotated[str, typer.Option("--draw", help="vocabulary or paper_code.")]
Set = Annotated[
    list[str],
    typer.Option("--set", metavar="NAME=VALUE", help="An option of `transforms --options`."),
]
PrecisionText = Annotated[str, typer.Option("--precision", help="auto, fp32 or bf16.")]


def _options(
    keep: float, sign: str, pin: str, by_id: bool, draw: str, others: Sequence[str]
) -> Options:
    """Read the options. Raises OptionError."""
    wrong = [text for text in others if "=" not in text]
    if wrong:
        raise OptionError(f"--set {wrong[0]!r} is not of the form NAME=VALUE")
    named = {"keep": keep, "sign": sign, "pin": pin, "by_id": by_id, "draw": draw}
    return read_options(named | dict(text.split("=", 1) for text in others))


@app.command("transforms")
def transforms_command(
    as_json: Json = False,
    options: Annotated[bool, typer.Option("--options", help="List the options instead.")] = False,
) -> None:
    """List the transforms, or their options."""
    rows = options_json() if options else transforms_json()
    if as_json:
        typer.echo(json.dumps(rows, indent=1))
        return
    for row in rows:
        if options:
            typer.echo(f"{row['name']:18} {row['family']:12} {row['default']!s:12} {row['words']}")
            for value, words in row["values"].items():
                typer.echo(f"{'':32}{value}: {words}")
            continue
        lacks = f" NOT AVAILABLE: {row['missing']}" if row["missing"] else ""
        typer.echo(
            f"{row['name']:18} {row['family']:12} {row['label_rule']:15} {row['summary']}{lacks}"
        )


@app.command("models")
def models_command(as_json: Json = False) -> None:
    """List the models on disk."""
    rows = [model_json(entry) for entry in entries()]
    if as_json:
        typer.echo(json.dumps(rows, indent=1))
        return
    for row in rows:
        typer.echo(f"{row['name']:30} {row['source']:11} {row['parameters'] / 1e6:.1f} M weights")


@app.command("pair")
def pair_command(
    premise: Annotated[str, typer.Option()],
    hypothesis: Annotated[str, typer.Option()],
    transform: Annotated[list[str], typer.Option(help="Name or chain; may be repeated.")] = [],  # noqa: B006
    model: Model = "minilm",
    labels: LabelsText = "",
    gold: Annotated[str, typer.Option(help="Gold label, if known.")] = "",
    seed: int = 0,
    keep: Keep = 0.5,
    sign: SignText = "support",
    pin: PinText = ".!?",
    by_id: ById = False,
    draw: DrawText = "vocabulary",
    others: Set = [],  # noqa: B006
    method: Annotated[str, typer.Option(help="Attribution method.")] = "gradient_x_input",
    baseline: Annotated[str, typer.Option(help="pad, mask or unk.")] = "pad",
    label: Annotated[str, typer.Option(help="Label to explain; gold or predicted if empty.")] = "",
    precision: PrecisionText = "fp32",
    as_json: Json = False,
) -> None:
    """Classify a pair, explain it, and apply transforms to it."""
    exact = one_of("precision", precision, get_args(Precision))
    try:
        found = examine(
            opened(model, labels),
            Pair(premise, hypothesis, NLI.read_gold(gold)),
            transform,
            seed,
            _options(keep, sign, pin, by_id, draw, others),
            one_of("method", method, get_args(Method)),
            one_of("baseline", baseline, get_args(BaselineToken)),
            one_of("label", label, LABELS) if label else None,
            exact,
        )
    except UserError as problem:
        stop(problem)
    shape = examination_json(found, exact)
    if as_json:
        typer.echo(json.dumps(shape, ensure_ascii=False))
        return
    for name, row in [("original", shape["original"])] + [
        (one.result.name, row)
        for one, row in zip(found.transformed, shape["transformed"], strict=True)
    ]:
        premise_changed = row["premise"] != shape["original"]["premise"]
        text = f"{row['premise']} ▸ {row['hypothesis']}" if premise_changed else row["hypothesis"]
        agrees = {True: "agrees", False: "changed"}.get(row.get("agrees"), "")
        typer.echo(f"{name:18} {row['label']:14} {row['confidence']:.3f} {agrees:8} {text}")


@app.command("batch")
def batch_command(
    file: Annotated[Path, typer.Argument(metavar="IN", help="CSV, TSV, JSONL or Parquet.")],
    out: Annotated[Path, typer.Option(help="Where the scored file goes.")],
    transforms: Annotated[str, typer.Option(help="Names or chains, with commas.")] = "",
    model: Model = "minilm",
    labels: LabelsText = "",
    summary: Annotated[Path | None, typer.Option(help="Where the summary goes, as JSON.")] = None,
    pairs: Annotated[
        Path | None, typer.Option(help="Where every pair that was made goes, one a line.")
    ] = None,
    premise: Annotated[str, typer.Option(help="Column of the premise; guessed if empty.")] = "",
    hypothesis: Annotated[str, typer.Option(help="Column of the hypothesis.")] = "",
    gold: Annotated[str, typer.Option(help="Column of the gold label.")] = "",
    seed: int = 0,
    keep: Keep = 0.5,
    sign: SignText = "support",
    pin: PinText = ".!?",
    by_id: ById = False,
    draw: DrawText = "vocabulary",
    others: Set = [],  # noqa: B006
    precision: PrecisionText = "auto",
) -> None:
    """Score a file; rows that cannot be scored say why in the column `error`."""
    exact = one_of("precision", precision, get_args(Precision))
    names = [name.strip() for name in transforms.split(",") if name.strip()]
    rows: list[Row] = []
    try:
        options = _options(keep, sign, pin, by_id, draw, others)
        for path in filter(None, (out, pairs)):
            form_of(path)
        table = read_table(file)
        columns = _columns(list(table.frame.columns), premise, hypothesis, gold)
        classifier = opened(model, labels)
        for chunk in score(table, columns, classifier, names, seed, options, exact):
            rows += chunk.rows
            print(
                f"\r{chunk.done}/{chunk.total} rows, {chunk.per_second:.1f} a second, "
                f"{chunk.left:.0f} s left ",
                end="",
                file=sys.stderr,
                flush=True,
            )
        print(file=sys.stderr)
        write_table(scored_frame(table, rows, names, model), out)
        if pairs:
            write_table(made_frame(rows, names), pairs)
        shape = summary_json(summarise(rows, names), classifier, exact, seed, options)
        if summary:
            summary.parent.mkdir(parents=True, exist_ok=True)
            summary.write_text(json.dumps(shape, indent=1) + "\n")
    except UserError as problem:
        stop(problem)
    typer.echo(f"{shape['scored']} of {shape['rows']} rows scored, written to {out}")


def _columns(names: list[str], premise: str, hypothesis: str, gold: str) -> Columns:
    """Take the named columns, guess the others."""
    if premise and hypothesis:
        return Columns(premise, hypothesis, gold or None)
    found = guess(names)
    return Columns(premise or found.premise, hypothesis or found.hypothesis, gold or found.gold)


if __name__ == "__main__":
    app()
