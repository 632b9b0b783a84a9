"""The steps of a chain as JSON values: how a new pair came about."""

from typing import Any

from probe.transforms.apply import Step


def step_json(step: Step) -> dict[str, Any]:
    """Return what one link made: its texts, gold label, edits by side as [kind, text], note."""
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
