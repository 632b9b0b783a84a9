"""An examination and the catalogue as JSON values: one shape for command line and HTTP."""

from typing import Any

from probe.analysis.lineage import lineage_json
from probe.analysis.transformed import Examination, Transformed
from probe.models.classifier import Precision, Prediction, resolve
from probe.models.library import Entry
from probe.tasks.nli import Pair
from probe.transforms.availability import missing
from probe.transforms.options import DEFAULTS, OPTIONS
from probe.transforms.registry import REGISTRY, Scored, Transform


def examination_json(found: Examination, precision: Precision) -> dict[str, Any]:
    """Return model, model_revision, precision, original, importance, rules, cut, transformed."""
    importance = found.importance
    return {
        "model": importance.classifier.name,
        "model_revision": importance.classifier.revision,
        "precision": resolve(precision),
        "original": _texts(found.pair) | _said(found.prediction),
        "importance": {
            "premise": [_score(token) for token in importance.premise],
            "hypothesis": [_score(token) for token in importance.hypothesis],
            "label": importance.label,
            "method": importance.method,
            "sign": importance.sign,
            "convergence_delta": importance.delta,
        },
        "rules": dict(found.rules),
        "cut": importance.classifier.too_long(found.pair),
        "transformed": [transformed_json(transformed) for transformed in found.transformed],
    }


def transformed_json(transformed: Transformed) -> dict[str, Any]:
    """Return one transformed pair, its prediction and its facts."""
    result = transformed.result
    return {
        "transform": result.transform,
        "number": result.number,
        "of": result.of,
        **_texts(result.pair),
        **_said(transformed.prediction),
        "agrees": transformed.agrees,
        "gold_rule": result.rule.name,
        "gold": result.gold,
        "changed": result.changed,
        "exact": result.exact,
        "note": result.note,
        "seed": result.seed,
        "variant": result.variant,
        "steps": lineage_json(result),
    }


def _texts(pair: Pair) -> dict[str, Any]:
    return {"premise": pair.premise, "hypothesis": pair.hypothesis}


def _said(prediction: Prediction) -> dict[str, Any]:
    return {
        "label": prediction.label,
        "probabilities": dict(zip(prediction.labels, prediction.probabilities, strict=True)),
        "confidence": prediction.confidence,
    }


def _score(scored: Scored) -> dict[str, Any]:
    return {"token": scored.token, "score": scored.score}


def transforms_json() -> list[dict[str, Any]]:
    """Return every registered transform with its facts."""
    return [_transform(entry) for entry in REGISTRY.values()]


def _transform(entry: Transform) -> dict[str, Any]:
    lacks = missing(entry)
    return {
        "name": entry.name,
        "summary": entry.summary,
        "family": entry.family,
        "side": entry.side,
        "label_rule": entry.rule.name,
        "level": entry.level,
        "needs": list(entry.needs),
        "compared_with": entry.default or "original prediction",
        "source": entry.source,
        "available": not lacks,
        "missing": lacks,
    }


def options_json() -> list[dict[str, Any]]:
    """Return every option of the transforms: what it means, its default, what it may be."""
    return [
        {
            "name": name,
            "family": option.family,
            "words": option.words,
            "default": _plain(getattr(DEFAULTS, name)),
            "values": {str(value).lower(): words for value, words in option.values.items()},
            "range": None if option.values else [option.low, option.high],
        }
        for name, option in OPTIONS.items()
    ]


def _plain(value: object) -> object:
    return "".join(value) if isinstance(value, tuple) else value


def model_json(entry: Entry) -> dict[str, Any]:
    """Return one model on disk."""
    return {
        "name": entry.name,
        "source": entry.source,
        "parameters": entry.parameters,
        "bytes": entry.size,
    }
