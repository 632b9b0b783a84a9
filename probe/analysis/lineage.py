"""The steps of a chain as JSON values: how a new pair came about."""

from typing import Any

from probe.transforms.apply import Result, Step


def lineage_json(result: Result) -> list[dict[str, Any]]:
    """Return each link's texts, gold label, edits by side as [kind, text], seed and note."""
    return [_step(step) | {"seed": result.seed} for step in result.steps]


def _step(step: Step) -> dict[str, Any]:
    return {
        "transform": step.transform,
        "premise": step.pair.premise,
        "hypothesis": step.pair.hypothesis,
        "gold": step.pair.gold,
        "edits": {
            side: [[edit.kind, edit.text] for edit in found] for side, found in step.edits.items()
        },
        "note": step.note,
    }
