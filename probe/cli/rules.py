"""`python -m probe rules`: what rules that understand nothing get right on a set."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from probe.baselines import baseline, baselines_for
from probe.cli.file_options import OR_HUB, labelled_and_told, local_file, takes_file
from probe.cli.options import AsJson
from probe.cli.output import print_answer
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.errors import BaselineError
from probe.statistics import Estimate, percent, share
from probe.tasks.nli import ENTAILMENT, GOLDS, NLI, NON_ENTAILMENT, Pair, matches
from probe.tasks.task import task_named


@takes_file(texts=False)
def rules_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A rule's name, or all.")],
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help=f"CSV, TSV, JSONL or Parquet, {OR_HUB}.")
    ],
    task: Annotated[str, typer.Option(help="The task of the file.")] = NLI.name,
    as_json: AsJson = False,
    reading: FileOptions = AS_THE_FILE_TELLS,
) -> None:
    """Measure a baseline on a file: one JSON object, or a list of them for all."""
    asked = task_named(task)
    known = baselines_for(asked)
    if not known:
        raise BaselineError(f"no rule speaks of the task {asked.name} ({asked.title})")
    read = labelled_and_told(local_file(file), asked, reading)
    names = known if name == "all" else [name]
    judged = [evaluate_baseline(each, read.examples) for each in names]
    lines = []
    for each in judged:
        accuracy = Estimate(each["accuracy"], each["low"], each["high"], each["n"])
        classes = "two classes" if NON_ENTAILMENT in each["counts"] else "three classes"
        right = f"{each['rule']:16} {each['correct']:,} of {each['n']:,} right"
        lines.append(f"{right}: {percent(accuracy)}, {classes}")
    print_answer(as_json, judged if name == "all" else judged[0], lines)


def evaluate_baseline(name: str, pairs: Sequence[Pair]) -> dict[str, Any]:  # Any: JSON
    """Evaluate a baseline on the pairs with a gold label; its accuracy over no pair is null.

    Where some gold labels are non-entailment, all pairs are judged in two classes. `low` and `high`
    are Wilson's 95 % interval; `counts` has for each predicted label the numbers of gold labels of
    those pairs. Raises UnknownBaseline.
    """
    golden = [(pair, pair.gold) for pair in pairs if pair.gold]
    predicted = baseline(name)([pair for pair, _ in golden])
    outcomes = [(label, gold) for label, (_, gold) in zip(predicted, golden, strict=True)]
    if any(gold == NON_ENTAILMENT for _, gold in outcomes):  # then all are judged in two classes
        outcomes = [(a, ENTAILMENT if b == ENTAILMENT else NON_ENTAILMENT) for a, b in outcomes]
    counts, golds = Counter(outcomes), Counter(gold for _, gold in outcomes)
    right = Counter(gold for label, gold in outcomes if matches(label, gold))
    accuracy = share([matches(*outcome) for outcome in outcomes])
    return {
        "rule": name,
        "n": accuracy.n,
        "correct": right.total(),
        "accuracy": accuracy.value if accuracy.n else None,
        "low": accuracy.low if accuracy.n else None,
        "high": accuracy.high if accuracy.n else None,
        "by_gold": {
            gold: {"n": golds[gold], "correct": right[gold]} for gold in GOLDS if golds[gold]
        },
        "counts": {
            label: {gold: counts[label, gold] for gold in GOLDS if counts[label, gold]}
            for label in GOLDS
            if label in predicted
        },
    }
