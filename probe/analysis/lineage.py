"""The steps of a chain as JSON values: how a new example came about."""

from typing import Any

from probe.transforms.apply import Result, Step


def lineage_json(result: Result) -> list[dict[str, Any]]:
    """Return each link's texts, gold label, edits by field as [kind, text], seed and note."""
    return [_step(step) | {"seed": result.seed} for step in result.steps]


def _step(step: Step) -> dict[str, Any]:
    return {
        "transform": step.transform,
        **step.task.texts(step.example),
        "gold": step.example.gold,
        "edits": {
            field: [[edit.kind, edit.text] for edit in stretches]
            for field, stretches in step.edits.items()
        },
        "note": step.note,
    }
