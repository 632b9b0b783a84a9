"""A comparison as JSON values."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd

from probe.analysis.comparison import (
    Cell,
    Row,
    Test,
    accuracy,
    agreement,
    compare,
    differing,
    disagreement,
    f1,
    group_accuracies,
    has_mixed_golds,
    in_words,
    outcomes,
    score,
    significance,
)
from probe.analysis.comparison import Row as ComparedRow
from probe.analysis.slices import ALL, Measured, inference, measure, note_on
from probe.data.rows import Source
from probe.models.bundled import title_of
from probe.models.classifier import Model, Precision, Prediction, resolve
from probe.models.reader import SpanPrediction, span_place
from probe.models.windows import window_json
from probe.reports.scored import probabilities
from probe.statistics import FEWEST, MAX_P, Estimate, PairedBootstrap, p_text
from probe.tasks.nli import ENTAILMENT, NLI, NON_ENTAILMENT, Pair
from probe.tasks.task import Example, Task, example_json, read_example, task_named
from probe.templates import TemplatePair


def comparison_json(
    rows: Sequence[Row], names: Sequence[str], precision: Precision
) -> dict[str, Any]:
    """Return the whole comparison; what is not defined is null.

    models: the names. accuracy: by name {n, value, low, high, cut} and the same figures for each
    part of the gold labels, as entailed and non_entailed, or paraphrase and non-paraphrase.
    pairs_of_models: for each two {first, second, agreement, mcnemar, matrix}, matrix one object a
    cell. slices: {group, slice, gold, n, accuracy by name, mcnemar of the first two models}.

    Where answers are spans, f1 and em, the exact match, stand in place of accuracy, bootstrap in
    that of mcnemar, and for the matrix differing: who is right on the rows on which two differ.
    """
    scored = [row for row in rows if row.predictions]
    places = range(len(names))
    couples = [(a, b) for a in places for b in places if a < b]
    return {
        "models": list(names),
        "precision": resolve(precision),
        "rows": len(rows),
        "scored": len(scored),
        "errors": len(rows) - len(scored),
        "with_gold": sum(row.gold is not None for row in scored),
        **_scores(scored, names),
        "pairs_of_models": [_couple(scored, names, a, b) for a, b in couples],
        "slices": _slices(scored, names),
        "slices_note": next((note_on(row.task) for row in rows), ""),
    }


def _scores(rows: Sequence[Row], names: Sequence[str]) -> dict[str, Any]:
    """Return how good each model is, by measure and name."""
    if not _of_spans(rows):
        return {"accuracy": {name: _accuracy(rows, at) for at, name in enumerate(names)}}
    return {
        "f1": {
            name: {**estimate_json(f1(rows, at)), "cut": sum(row.cut[at] for row in rows)}
            for at, name in enumerate(names)
        },
        "em": {name: estimate_json(accuracy(rows, at)) for at, name in enumerate(names)},
    }


def _of_spans(rows: Sequence[Row]) -> bool:
    return any(row.task.has_spans for row in rows)


def _accuracy(rows: Sequence[Row], model: int) -> dict[str, Any]:
    groups = group_accuracies(rows, model)
    return {
        **estimate_json(accuracy(rows, model)),
        **{name: estimate_json(estimate) for name, estimate in groups.items()},
        "cut": sum(row.cut[model] for row in rows),
    }


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as JSON values, null where n is 0."""
    known = estimate.n > 0
    return {
        "n": estimate.n,
        "value": estimate.value if known else None,
        "low": estimate.low if known else None,
        "high": estimate.high if known else None,
    }


def _couple(rows: Sequence[Row], names: Sequence[str], a: int, b: int) -> dict[str, Any]:
    test, unit = significance(rows, a, b), rows[0].task.unit if rows else "example"
    return {
        "first": names[a],
        "second": names[b],
        "agreement": estimate_json(agreement(rows, a, b)),
        _name(test): _test(test) | {"words": in_words(test, names[a], names[b], unit)},
        **_disagreement(rows, a, b),
    }


def _disagreement(rows: Sequence[Row], a: int, b: int) -> dict[str, Any]:
    """Return where two models differ: cells by what both say, or who is right with which span."""
    if _of_spans(rows):
        return {"differing": _cell(outcomes(differing(rows, a, b), a, b))}
    cells = disagreement(rows, a, b).items()
    return {
        "matrix": [
            {"first_says": first, "second_says": second, **_cell(cell)}
            for (first, second), cell in cells
        ]
    }


def _cell(cell: Cell) -> dict[str, int]:
    return {
        "n": cell.n,
        "both_right": cell.both,
        "only_first_right": cell.only_first,
        "only_second_right": cell.only_second,
        "neither_right": cell.neither,
    }


def _name(test: Test) -> str:
    return "bootstrap" if isinstance(test, PairedBootstrap) else "mcnemar"


def _test(test: Test) -> dict[str, Any]:
    if isinstance(test, PairedBootstrap):
        values = asdict(test)
    else:
        values = {
            "n": test.n,
            "only_first_right": test.only_first,
            "only_second_right": test.only_second,
            "p": test.p,
        }
    return {name: None if math.isnan(value) else value for name, value in values.items()}


def _slices(rows: Sequence[Row], names: Sequence[str]) -> list[dict[str, Any]]:
    measured = "f1" if _of_spans(rows) else "accuracy"
    return [
        {
            "group": line.slice.group,
            "slice": line.slice.name,
            "gold": line.gold,
            "n": line.n,
            measured: dict(zip(names, map(estimate_json, line.scores), strict=True)),
            _name(line.test): _test(line.test),
        }
        for line in measure(rows)
    ]


def example_comparison_json(
    example: Example, models: Sequence[Model], precision: Precision
) -> dict[str, Any]:
    """Return the texts, gold, precision, and models: {model, label, confidence, ...}.

    Where answers are spans, each has its start, its end and its f1 too.
    """
    (chunk,) = compare(models, [example], precision)
    row = chunk.rows[0]
    return {
        **row.task.texts(example),
        "gold": example.gold,
        "precision": resolve(precision),
        "models": [
            {
                "model": model.name,
                "label": answer.label,
                "confidence": answer.confidence,
                "probabilities": answer.by_label,
                "right": row.right(at),
                **span_place(answer),
                **window_json(answer),
                **({"f1": row.f1(at)} if row.task.has_spans else {}),
                "cut": row.cut[at],
            }
            for at, (model, answer) in enumerate(zip(models, row.predictions, strict=True))
        ],
    }


def keep(rows: Sequence[Row], path: Path) -> None:
    """Write rows for `kept`, one JSON object a line."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(_kept(row), ensure_ascii=False) + "\n" for row in rows)


def _kept(row: Row) -> dict[str, Any]:
    return {
        "number": row.number,
        "task": row.task.name,
        "example": example_json(row.example) if row.example else None,
        "predictions": [vars(prediction) for prediction in row.predictions],
        "error": row.error,
        "cut": row.cut,
    }


def kept(path: Path) -> list[Row]:
    """Read rows that `keep` wrote."""
    with path.open(encoding="utf-8") as file:
        return [_read(json.loads(line)) for line in file]


def _read(shape: dict[str, Any]) -> Row:
    task, example = task_named(shape["task"]), None
    if shape["example"]:
        example = read_example(task, shape["example"])
        heuristic = shape["example"].get("heuristic")
        if heuristic and isinstance(example, Pair):
            example = TemplatePair(**example_json(example), heuristic=heuristic)
    predictions = tuple(map(_prediction, shape["predictions"]))
    return Row(shape["number"], task, example, predictions, shape["error"], tuple(shape["cut"]))


def _prediction(answer: dict[str, Any]) -> Prediction:
    values = {**answer, **{name: tuple(answer[name]) for name in ("probabilities", "labels")}}
    return SpanPrediction(**values) if "windows" in answer else Prediction(**values)


IN_TWO_CLASSES = (
    " Some gold labels are of two classes and some of three, so all are compared in two: entailed "
    "or not."
)
PARTS = {ALL: "", ENTAILMENT: " and it follows", NON_ENTAILMENT: " and it does not follow"}


def in_a_sentence(rows: Sequence[Row], names: Sequence[str]) -> str:
    """Say which model is better, whether that may be chance, and where all of them fail."""
    scored = [row for row in rows if row.predictions]
    if not scored:
        return "No row could be compared."
    if not any(row.gold for row in scored):
        return _unjudged(scored, names)
    order = sorted(range(len(names)), key=lambda at: -score(scored, at).value)
    against = "; ".join(_against(scored, names, a, b) for a, b in pairwise(order))
    merged = IN_TWO_CLASSES if has_mixed_golds(NLI, scored) else ""
    return f"{against}.{merged}{_weakness(scored, len(names))}"


def _unjudged(rows: Sequence[Row], names: Sequence[str]) -> str:
    same = agreement(rows, 0, 1)
    first, second = title_of(names[0]), title_of(names[1])
    return (
        f"{first} and {second} say the same of {100 * same.value:.0f} % of {same.n:,} "
        f"{rows[0].task.unit}s. There are no {gold_name(rows[0].task)}, so nothing can be called "
        "right."
    )


def gold_name(task: Task) -> str:
    """Return what the task calls what is right."""
    return "right answers to compare with" if task.has_spans else "gold labels"


def _against(rows: Sequence[Row], names: Sequence[str], better: int, other: int) -> str:
    """Compare a model with the next one in the order of accuracy or F1, by the task's test."""
    first, second, task = title_of(names[better]), title_of(names[other]), rows[0].task
    test = significance(rows, better, other)
    shares = [f"{100 * score(rows, at).value:.1f}" for at in (better, other)]
    if not test.discordant:
        same = "equally good on each" if task.has_spans else "right on the same"
        of = f"{task.unit}, F1" if task.has_spans else f"{task.unit}s,"
        return f"{first} and {second} are {same} {of} {shares[0]} %"
    if test.p < MAX_P:
        said, joint = f"{first} is better than {second}", "against"
    else:
        said, joint = f"{first} and {second} cannot be told apart", "and"
    return f"{said} ({_right(task, f' {joint} '.join(shares))}, {p_text(test.p)})"


def _right(task: Task, shares: str) -> str:
    """Say of shares in per cent what they are of."""
    return f"F1 {shares} %" if task.has_spans else f"{shares} % right"


def _weakness(rows: Sequence[Row], models: int) -> str:
    """Say in which slice every model does worst, where it is surely under chance or its own mean.

    Every interval has to end below. The heuristics of HANS are left to their own profile.
    """
    task = rows[0].task
    lines = [one for one in measure(rows) if one.n >= FEWEST and one.slice.fits is not inference]
    means = [score(rows, at).value for at in range(models)]
    guesses = lines if task.labels else []
    guessing = [one for one in guesses if _below(one, [_chance(task, one.gold)] * models)]
    if guessing:
        return f" {_all(models)} right less often than a guess {_where(_worst(guessing))}."
    weak = [one for one in lines if _below(one, means)]
    return f" {_all(models)} weaker {_where(_worst(weak))}." if weak else ""


def _below(line: Measured, bounds: Sequence[float]) -> bool:
    return all(one.high < bound for one, bound in zip(line.scores, bounds, strict=True))


def _chance(task: Task, gold: str) -> float:
    """Return the accuracy of guessing: a part of merged labels is compared in two classes."""
    return 0.5 if gold in PARTS and gold != ALL else 1 / len(task.labels)


def _worst(lines: Sequence[Measured]) -> Measured:
    return min(lines, key=lambda line: max(one.value for one in line.scores))


def _all(models: int) -> str:
    numbers = {2: "Both", 3: "All three", 4: "All four", 5: "All five", 6: "All six"}
    return f"{numbers.get(models, f'All {models}')} are"


def _where(line: Measured) -> str:
    part = PARTS.get(line.gold, f" and the right answer is {line.gold}")
    shares = [f"{100 * one.value:.0f}" for one in line.scores]
    listed = f"{', '.join(shares[:-1])} and {shares[-1]} %"
    return f"where {line.slice.where}{part} ({listed} of {line.n})"


def compared_frame(
    table: Source, rows: Sequence[ComparedRow], names: Sequence[str]
) -> pd.DataFrame:
    """Return the input rows, every column unchanged, and behind them a few columns a model.

    They are MODEL.prediction, .confidence, .p_LABEL, .right and .cut, for spans .start, .end and
    .f1, and one column error; where the input has one of these already, ours gets a number behind
    it.
    """
    short = [Path(name).name for name in names]
    labels = short if len(set(short)) == len(short) else list(names)
    ours = pd.DataFrame([_compared_record(row, labels) for row in rows], dtype=object)
    taken = set(table.frame.columns)
    fresh = {name: _free(name, taken) for name in ours.columns}
    input_rows = table.frame.iloc[[row.number for row in rows]].reset_index(drop=True)
    return pd.concat([input_rows, ours.rename(columns=fresh)], axis=1)


def _free(name: str, taken: set[str]) -> str:
    numbered = (f"{name}.{number}" for number in range(2, len(taken) + 3))
    return name if name not in taken else next(each for each in numbered if each not in taken)


def _compared_record(row: ComparedRow, names: Sequence[str]) -> dict[str, Any]:
    record: dict[str, Any] = {"error": row.error}
    answers: Mapping[str, Prediction] = dict(zip(names, row.predictions, strict=False))
    for at, name in enumerate(names):
        answer = answers.get(name)
        record[f"{name}.prediction"] = answer.label if answer else None
        record[f"{name}.confidence"] = round(answer.confidence, 6) if answer else None
        columns = {**probabilities(row.task, answer), **span_place(answer)} if answer else {}
        record |= {f"{name}.{column}": value for column, value in columns.items()}
        record[f"{name}.right"] = row.right(at)
        record[f"{name}.cut"] = row.cut[at] if row.cut else None
        if row.task.has_spans:
            f1 = row.f1(at)
            record[f"{name}.f1"] = None if f1 is None else round(f1, 6)
    return record
