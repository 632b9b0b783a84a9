"""An examination and the catalogue as JSON values: one shape for command line and HTTP."""

from typing import Any

from probe.analysis.importance import Importance, known_check
from probe.analysis.transformed import Examination, Transformed, lineage_json
from probe.models.classifier import Precision, Prediction, resolve
from probe.models.library import Entry
from probe.models.reader import span_place
from probe.models.windows import window_json
from probe.tasks.nli import NLI
from probe.tasks.task import Task
from probe.transforms.options import DEFAULTS, OPTIONS
from probe.transforms.registry import (
    REGISTRY,
    Scored,
    Transform,
    group_of,
    missing,
    options_of,
    source_of,
    summary_of,
)


def examination_json(examination: Examination, precision: Precision) -> dict[str, Any]:
    """Return model, model_revision, precision, original, importance, rules, transformed.

    `no_importance` says why there is none, and is null beside any. Then what the model reads of the
    example: cut, unknown, language, and notes that say so.
    """
    model = examination.model
    return {
        "model": model.name,
        "model_revision": model.revision,
        "precision": resolve(precision),
        "original": model.task.texts(examination.example) | _answer(examination.prediction),
        "importance": _importance(examination.importance) if examination.importance else None,
        "no_importance": examination.no_importance or None,
        "rules": dict(examination.rules),
        "cut": examination.legible.cut,
        "unknown": examination.legible.unknown,
        "language": examination.legible.language,
        "notes": examination.notes,
        "transformed": [transformed_json(one) for one in examination.transformed],
    }


def _importance(importance: Importance) -> dict[str, Any]:
    """Return the scores and what is known of them; "check" is null until the network is checked."""
    check = known_check(importance.model)
    return {
        **{field: list(map(_score, scored)) for field, scored in importance.fields.items()},
        "label": importance.label,
        "method": importance.method,
        "sign": importance.sign,
        "where": importance.where,
        "convergence_delta": importance.delta,
        "remarks": list(importance.remarks),
        "check": list(check.sentences) if check else None,
    }


def transformed_json(transformed: Transformed) -> dict[str, Any]:
    """Return one transformed example, its prediction and its facts."""
    result = transformed.result
    return {
        "transform": result.transform,
        "number": result.number,
        "of": result.of,
        **result.task.texts(result.example),
        **_answer(transformed.prediction),
        "agrees": transformed.agrees,
        "gold_rule": result.rule.name,
        "gold": result.gold,
        "changed": result.changed,
        "not_applicable": result.not_applicable,
        "exact": result.exact,
        "note": transformed.note,
        "ranked_by": result.ranked_by or None,
        "cut": transformed.cut,
        "seed": result.seed,
        "variant": result.variant,
        "steps": lineage_json(result),
    }


def _answer(prediction: Prediction) -> dict[str, Any]:
    return {
        "label": prediction.label,
        "probabilities": prediction.by_label,
        "confidence": prediction.confidence,
        **span_place(prediction),
        **window_json(prediction),
    }


def _score(scored: Scored) -> dict[str, Any]:
    return {"token": scored.token, "score": scored.score}


def transforms_json(task: Task = NLI) -> list[dict[str, Any]]:
    """Return every transform for a task with its facts."""
    return [_transform(entry, task) for entry in REGISTRY.values() if entry.suits(task)]


def _transform(entry: Transform, task: Task) -> dict[str, Any]:
    lacks, edited = missing(entry, task), entry.edited(task)
    return {
        "name": entry.name,
        "title": entry.title,
        "summary": summary_of(entry, task),
        "family": entry.family,
        "side": "both" if len(edited) > 1 else edited[0],
        "label_rule": entry.rule.name,
        "level": entry.level,
        "needs": list(entry.needs),
        "language": entry.language,
        "compared_with": (entry.default and task.default_label) or "original prediction",
        "source": source_of(entry, task),
        "available": not lacks,
        "missing": lacks,
    }


def options_json(task: Task | None = None) -> list[dict[str, Any]]:
    """Return the options of the transforms: what each means, its default, what it may be.

    Of a task they are those that its transforms read.
    """
    return [
        {
            "name": name,
            "family": group_of(name),
            "words": option.words,
            "default": _plain(getattr(DEFAULTS, name)),
            "values": {str(value).lower(): words for value, words in option.values.items()},
            "range": None if option.values else [option.low, option.high],
        }
        for name, option in OPTIONS.items()
        if task is None or name in options_of(task)
    ]


def _plain(value: object) -> object:
    return "".join(value) if isinstance(value, tuple) else value


def model_json(entry: Entry) -> dict[str, Any]:
    """Return one model on disk."""
    return {
        "name": entry.name,
        "title": entry.title,
        "summary": entry.summary,
        "source": entry.source,
        "task": entry.task.name if entry.task else None,
        "parameters": entry.parameters,
        "bytes": entry.size,
    }
