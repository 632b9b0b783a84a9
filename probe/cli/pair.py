"""`python -m probe pair`: one example, a pair or another task's, explained and transformed."""

import json
from typing import Annotated, Any, get_args

import typer

from probe.analysis.importance import AskedMethod, BaselineToken, checked
from probe.analysis.smallest import BUDGET, FLIP, MAX_BUDGET, Smallest, smallest, smallest_json
from probe.analysis.transformed import examination_json, examine
from probe.cli.options import (
    AsJson,
    Changes,
    LabelOrder,
    LongTexts,
    ModelName,
    PrecisionName,
    TaskName,
    Texts,
    choice,
    one_of,
    opened,
    read_changes,
    read_example,
    takes_changes,
)
from probe.errors import OptionError
from probe.models.library import that_reads
from probe.tasks.task import Task

STRONGEST = 5
"""How many tokens are shown: those with the largest scores of either sign, of all texts."""

AGAINST = "Another label: what sets the one that is explained apart from it."
MethodName = Annotated[
    AskedMethod,
    choice("method", get_args(AskedMethod), "Attribution method; auto: the one shown first."),
]
BaselineName = Annotated[
    BaselineToken, choice("baseline", get_args(BaselineToken), "What stands for no token.")
]


@takes_changes
def pair_command(
    premise: Annotated[str, typer.Option(help="The same as --text premise=VALUE.")] = "",
    hypothesis: Annotated[str, typer.Option(help="The same as --text hypothesis=VALUE.")] = "",
    texts: Texts = [],  # noqa: B006
    task: TaskName = "",
    transform: Annotated[list[str], typer.Option(help="Name or chain; may be repeated.")] = [],  # noqa: B006
    model: ModelName = "minilm",
    labels: LabelOrder = "",
    answer: Annotated[
        str, typer.Option("--answer", "--gold", help="The gold label, if known.")
    ] = "",
    seed: int = 0,
    changes: Changes = read_changes(),
    method: MethodName = "auto",
    baseline: BaselineName = "pad",
    label: Annotated[str, typer.Option(help="Label to explain; gold or predicted if empty.")] = "",
    against: Annotated[str, typer.Option(help=AGAINST)] = "",
    precision: PrecisionName = "fp32",
    long: LongTexts = "cut",
    flip: Annotated[
        bool, typer.Option("--flip", help=f"{FLIP}, and other smallest changes.")
    ] = False,
    flip_text: Annotated[
        str, typer.Option(help="The text that --flip changes; the one transforms edit if empty.")
    ] = "",
    budget: Annotated[
        int, typer.Option(min=1, max=MAX_BUDGET, help="Texts that --flip asks about in each way.")
    ] = BUDGET,
    as_json: AsJson = False,
) -> None:
    """Classify a pair (or another task's example), explain it, and apply transforms to it."""
    classifier = that_reads(opened(model, labels, task), long)
    asked = classifier.task
    named = {"label": label, "against": against}
    for option in filter(named.get, named if asked.has_spans else ()):
        raise OptionError(
            f"--{option} is for models that answer with labels; a reader answers a span"
        )
    known = tuple(filter(asked.nearest, asked.golds))
    explained = {name: one_of(name, known)(each) if each else None for name, each in named.items()}
    example = read_example(asked, texts, premise, hypothesis, answer)
    examination = examine(
        classifier,
        example,
        transform,
        seed,
        changes(asked),
        method,
        baseline,
        explained["label"],
        precision,
        explained["against"],
    )
    shape = examination_json(examination, precision)
    ways = smallest(classifier, example, field=flip_text, budget=budget) if flip else iter(())
    if as_json:
        shape |= {"smallest": list(map(smallest_json, ways))} if flip else {}
        typer.echo(json.dumps(shape, ensure_ascii=False))
    else:
        names = ["original", *(one.result.name for one in examination.transformed)]
        for name, row in zip(names, [shape["original"], *shape["transformed"]], strict=True):
            typer.echo(_line(asked, name, row, shape["original"]))
        for said in examination.notes:
            typer.echo(f"note: {said}")
        if found := examination.importance:
            tokens = [token for tokens in found.fields.values() for token in tokens]
            first = sorted(tokens, key=lambda token: -abs(token.score))[:STRONGEST]
            scores = ", ".join(f"{token.token} {token.score:+.3f}" for token in first)
            typer.echo(f"strongest tokens for {found.target} ({found.method}): {scores}")
            for remark in found.remarks:
                typer.echo(remark)
        else:
            typer.echo(f"no importance: {examination.no_importance}")
        for way in ways:  # each as it is found
            typer.echo(_way(way))
    if examination.importance:  # the network is checked once the answer stands there
        for sentence in checked(examination.importance.model).sentences:
            typer.echo(sentence, err=True)


def _way(found: Smallest) -> str:
    """Say what a way came to, and each text on it with the answer."""
    lines = [f"{found.way}: {found.sentence}"]
    for step in found.steps[1:]:
        said = step.prediction
        lines.append(f"  {said.label:14} {said.sure} {step.text}")
    return "\n".join(lines)


def _line(task: Task, name: str, row: dict[str, Any], original: dict[str, Any]) -> str:
    """Show one answer and the text that transforms edit, all texts where another one changed."""
    others = [field for field in task.fields if field != task.target]
    changed = any(row[field] != original[field] for field in others)
    text = " ▸ ".join(row[field] for field in (task.fields if changed else [task.target]))
    agrees = {True: "agrees", False: "changed", None: ""}[row.get("agrees")]
    ranked = f" [ranked by {row['ranked_by']}]" if row.get("ranked_by") and row["changed"] else ""
    sure = "no confidence" if row["confidence"] is None else f"{row['confidence']:.3f}"
    return f"{name:18} {row['label']:14} {sure} {agrees:8} {text}{ranked}"
