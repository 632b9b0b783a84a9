"""A comparison as JSON values."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from itertools import chain, combinations, count, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from probe.analysis.batch import Row as Scored
from probe.analysis.comparison import (
    Cell,
    Row,
    accuracy,
    agreement,
    compare,
    differing,
    disagreement,
    f1,
    group_accuracies,
    has_mixed_golds,
    in_words,
    of_heuristic,
    outcomes,
    score,
    significance,
)
from probe.analysis.confusion import Confusion, confusion, confusion_json, estimate_json
from probe.analysis.hans import profile_json, profiled
from probe.analysis.slices import ALL, HANS, measure, note_on
from probe.analysis.summary import probabilities, rounded_confidence
from probe.data.rows import Source
from probe.models.bundled import title_of
from probe.models.classifier import Model, Precision, Prediction, resolve
from probe.models.reader import SpanPrediction, span_place
from probe.models.served import bounds_json
from probe.models.windows import window_json
from probe.statistics import FEWEST, MAX_P, PairedTest, calibration, p_text
from probe.tasks.nli import ENTAILMENT, NLI, NON_ENTAILMENT, Pair
from probe.tasks.task import Example, Label, Task, example_json, read_example, task_named
from probe.templates import TemplatePair

CELL = {
    "both": "both_right",
    "only_first": "only_first_right",
    "only_second": "only_second_right",
    "neither": "neither_right",
}


def comparison_json(
    rows: Sequence[Row], names: Sequence[str], precision: Precision | None
) -> dict[str, Any]:
    """Return the whole comparison; what is not defined is null, as the precision of files' answers.

    models: the names. first_error: why the first row that is not scored is not, "" where all
    are. accuracy: by name {n, value, low, high, cut} and the same figures for each
    part of the gold labels, as entailed and non_entailed, or paraphrase and non-paraphrase.
    pairs_of_models: for each two {first, second, agreement, mcnemar, matrix}, matrix one object a
    cell. slices: {group, slice, gold, n, accuracy by name, mcnemar of the first two models}.

    Where answers are spans, f1 and em, the exact match, stand in place of accuracy, bootstrap in
    that of mcnemar, and for the matrix differing: who is right on the rows on which two differ.
    by_model: by name what `confusion_json` has, nothing where answers are spans.
    """
    scored = [row for row in rows if row.predictions]
    spans = any(row.task.has_spans for row in scored)
    exact, measured = dict[str, Any](), dict[str, Any]()
    for at, name in enumerate(names):
        exact[name] = estimate_json(accuracy(scored, at))
        parts = {} if spans else group_accuracies(scored, at)
        measured[name] = {
            **(estimate_json(f1(scored, at)) if spans else exact[name]),
            **{part: estimate_json(one) for part, one in parts.items()},
            "cut": sum(row.cut[at] for row in scored),
        }
    unit = scored[0].task.unit if scored else "example"
    name_of_measure = "f1" if spans else "accuracy"
    return {
        "models": list(names),
        "precision": precision and resolve(precision),
        "rows": len(rows),
        "scored": len(scored),
        "errors": len(rows) - len(scored),
        "first_error": next((row.error for row in rows if row.error), ""),
        "with_gold": sum(row.gold is not None for row in scored),
        name_of_measure: measured,
        **({"em": exact} if spans else {}),
        "by_model": {
            name: one
            for at, name in enumerate(names)
            if (one := confusion_json(confusion_of(scored, at)))
        },
        "pairs_of_models": [
            {
                "first": names[a],
                "second": names[b],
                "agreement": estimate_json(agreement(scored, a, b)),
                **_test(significance(scored, a, b), names[a], names[b], unit),
                **(
                    {"differing": _cell(outcomes(differing(scored, a, b), a, b))}
                    if spans
                    else {
                        "matrix": [
                            {"first_says": one, "second_says": other, **_cell(cell)}
                            for (one, other), cell in disagreement(scored, a, b).items()
                        ]
                    }
                ),
            }
            for a, b in combinations(range(len(names)), 2)
        ],
        **slices_json(scored, names),
    }


def confusion_of(rows: Sequence[Row], model: int) -> Confusion | None:
    """Return what a model calls the rows with a gold label, None for none."""
    golden = [row for row in rows if row.predictions and row.gold]
    if not golden:
        return None
    told = [(str(row.gold), row.predictions[model].label) for row in golden]
    return confusion(golden[0].task, told)


def slices_json(rows: Sequence[Row], names: Sequence[str]) -> dict[str, Any]:
    """Return the slices of answered rows as `comparison_json` has them; one model has no test."""
    name_of_measure = "f1" if any(row.task.has_spans for row in rows) else "accuracy"
    return {
        "slices": [
            {
                "group": line.slice.group,
                "slice": line.slice.name,
                "gold": line.gold,
                "n": line.n,
                name_of_measure: dict(zip(names, map(estimate_json, line.scores), strict=True)),
                **(_test(line.test) if len(names) > 1 else {}),
            }
            for line in measure(rows)
        ],
        "slices_note": next((note_on(row.task) for row in rows), ""),
    }


def answers_json(scored: Sequence[Scored], name: str) -> dict[str, Any]:
    """Return what one file of answers comes to beside its summary: slices, calibration and HANS.

    calibration is null without scores or gold labels; hans is there where a column `heuristic` is.
    """
    rows, told = list[Row](), list[tuple[str, str, str, Label, Label]]()
    for one in scored:
        if one.prediction is None:
            continue
        cells, example = one.record.cells, one.example
        if isinstance(example, Pair):
            example = of_heuristic(example, cells.get("heuristic"))
        if isinstance(example, TemplatePair) and example.gold:
            part = (str(cells.get("subcase") or ""), str(cells.get("template") or one.number))
            told.append((example.heuristic, *part, example.gold, one.prediction.label))
        rows.append(Row(one.number, one.task, example, (one.prediction,), cut=(False,)))
    sure = [row for row in rows if row.gold and row.predictions[0].probabilities]
    measured = None
    if sure:
        labels = sure[0].predictions[0].labels
        measured = calibration(
            np.array([row.predictions[0].probabilities for row in sure], dtype=np.float64),
            np.array([row.task.admissible(row.gold, labels) for row in sure]),
        )
    return {
        **slices_json(rows, [name]),
        "calibration": asdict(measured) if measured else None,
        **({"hans": profile_json(profiled(told))} if told else {}),
    }


def _cell(cell: Cell) -> dict[str, int]:
    return {CELL.get(name, name): count for name, count in vars(cell).items()}


def _test(test: PairedTest, *names: str) -> dict[str, Any]:
    """Return a test under its name, in words too where it is told of whom; null is not known."""
    values: dict[str, Any] = {
        name: None if math.isnan(value := getattr(test, name)) else value
        for name in ("n", "difference", "low", "high", "first_higher", "second_higher", "p")
    }
    if test.name == "mcnemar":
        counts = {"only_first_right": test.first_higher, "only_second_right": test.second_higher}
        values = {"n": test.n, **counts, "p": values["p"]}
    return {test.name: values | ({"words": in_words(test, *names)} if names else {})}


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
                "confidence": answer.confidence if answer.probabilities else None,
                "probabilities": answer.by_label,
                **bounds_json(answer),
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

    def shape(row: Row) -> dict[str, Any]:
        example = example_json(row.example) if row.example else None
        answers = [vars(prediction) for prediction in row.predictions]
        return {**vars(row), "task": row.task.name, "example": example, "predictions": answers}

    lines = (json.dumps(shape(row), ensure_ascii=False) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8")


def kept(path: Path) -> list[Row]:
    """Read rows that `keep` wrote."""
    rows = []
    for shape in map(json.loads, path.read_text(encoding="utf-8").split("\n")[:-1]):
        task, example = task_named(shape["task"]), None
        if values := shape["example"]:
            example = read_example(task, values)
            if isinstance(example, Pair):
                example = of_heuristic(example, values.get("heuristic"))
        predictions = []
        for answer in shape["predictions"]:
            lists = {name: tuple(answer[name]) for name in ("probabilities", "labels")}
            kind = SpanPrediction if "windows" in answer else Prediction
            predictions.append(kind(**{**answer, **lists}))
        several = {"predictions": tuple(predictions), "cut": tuple(shape["cut"])}
        rows.append(Row(**{**shape, "task": task, "example": example, **several}))
    return rows


ALL_OF = {2: "Both", 3: "All three", 4: "All four", 5: "All five", 6: "All six"}
PARTS = {ALL: "", ENTAILMENT: " and it follows", NON_ENTAILMENT: " and it does not follow"}


def in_a_sentence(rows: Sequence[Row], names: Sequence[str]) -> str:
    """Say which model is better, whether that may be chance, and where all of them fail."""
    scored = [row for row in rows if row.predictions]
    if not scored:
        return "No row could be compared."
    if not any(row.gold for row in scored):
        same, task = agreement(scored, 0, 1), scored[0].task
        return (
            f"{title_of(names[0])} and {title_of(names[1])} say the same of "
            f"{100 * same.value:.0f} % of {same.n:,} {task.unit}s. There are no "
            f"{gold_name(task)}, so nothing can be called right."
        )
    order = sorted(range(len(names)), key=lambda at: -score(scored, at).value)
    against = "; ".join(_against(scored, names, a, b) for a, b in pairwise(order))
    if has_mixed_golds(NLI, scored):
        against += (
            ". Some gold labels are of two classes and some of three, so all are compared in two: "
            "entailed or not"
        )
    return f"{against}.{_weakness(scored, len(names))}"


def gold_name(task: Task) -> str:
    """Return what the task calls what is right."""
    return "right answers to compare with" if task.has_spans else "right answers"


def _against(rows: Sequence[Row], names: Sequence[str], better: int, other: int) -> str:
    """Compare a model with the next one in the order of accuracy or F1, by the task's test."""
    first, second, task = title_of(names[better]), title_of(names[other]), rows[0].task
    test = significance(rows, better, other)
    shares = [f"{100 * score(rows, at).value:.1f}" for at in (better, other)]
    if not test.discordant:
        same = "equally good on each" if task.has_spans else "right on the same"
        of = f"{task.unit}, F1" if task.has_spans else f"{task.unit}s,"
        return f"{first} and {second} are {same} {of} {shares[0]} %"
    joint, said = "and", f"{first} and {second} cannot be told apart"
    if test.p < MAX_P:
        joint, said = "against", f"{first} is better than {second}"
    both = f"{shares[0]} {joint} {shares[1]} %"
    right = f"F1 {both}" if task.has_spans else f"{both} right"
    return f"{said} ({right}, {p_text(test.p)})"


def _weakness(rows: Sequence[Row], models: int) -> str:
    """Say in which slice every model does worst, where it is surely under chance or its own mean.

    Every interval has to end below. The heuristics of HANS are left to their own profile.
    """
    task = rows[0].task
    lines = [one for one in measure(rows) if one.n >= FEWEST and one.slice.group != HANS]
    means = [score(rows, at).value for at in range(models)]
    guess = 1 / len(task.labels) if task.labels else 0.0
    merged = {*PARTS} - {ALL}  # compared in two classes
    for told, own in (("right less often than a guess", False), ("weaker", True)):
        if found := [
            one
            for one in lines
            for bounds in [means if own else [0.5 if one.gold in merged else guess] * models]
            if all(each.high < bound for each, bound in zip(one.scores, bounds, strict=True))
        ]:
            worst = min(found, key=lambda line: max(one.value for one in line.scores))
            where = worst.slice.where + PARTS.get(
                worst.gold, f" and the right answer is {worst.gold}"
            )
            *others, last = [f"{100 * one.value:.0f}" for one in worst.scores]
            return (
                f" {ALL_OF.get(models, f'All {models}')} are {told} where {where} "
                f"({', '.join(others)} and {last} % of {worst.n})."
            )
    return ""


def compared_frame(table: Source, rows: Sequence[Row], names: Sequence[str]) -> pd.DataFrame:
    """Return the input rows, every column unchanged, and behind them a few columns a model.

    They are MODEL.prediction, .confidence, .p_LABEL, .right and .cut, for spans .start, .end and
    .f1, and one column error; where the input has one of these already, ours gets a number behind
    it.
    """
    short = [Path(name).name for name in names]
    labels = short if len(set(short)) == len(short) else list(names)
    records = []
    for row in rows:
        record: dict[str, Any] = {"error": row.error}
        for at, name in enumerate(labels):
            answer = row.predictions[at] if row.predictions else None
            columns: dict[str, Any] = {
                "prediction": answer.label if answer else None,
                "confidence": rounded_confidence(answer) if answer else None,
                **({**probabilities(row.task, answer), **span_place(answer)} if answer else {}),
                "right": row.right(at),
                "cut": row.cut[at] if row.cut else None,
            }
            if row.task.has_spans:
                f1 = row.f1(at)
                columns["f1"] = None if f1 is None else round(f1, 6)
            record |= {f"{name}.{column}": value for column, value in columns.items()}
        records.append(record)
    ours, taken, fresh = pd.DataFrame(records, dtype=object), {*table.frame.columns}, {}
    for name in ours.columns:
        numbered = (f"{name}.{number}" for number in count(2))
        fresh[name] = next(each for each in chain([name], numbered) if each not in taken)
    input_rows = table.frame.iloc[[row.number for row in rows]].reset_index(drop=True)
    return pd.concat([input_rows, ours.rename(columns=fresh)], axis=1)
