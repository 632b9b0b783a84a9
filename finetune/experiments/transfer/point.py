"""What a training of a transfer comes to."""

from collections.abc import Mapping
from dataclasses import dataclass

from finetune.experiments.mitigation.point import Found
from finetune.experiments.transfer.plan import Cell
from probe.runs.run import Json


@dataclass(frozen=True)
class Point:
    """What a cell came to: clean test examples that are right, broken ones found by transform.

    `found` is empty where nothing was learnt about invalid texts.
    """

    cell: Cell
    clean: Found
    found: Mapping[str, Found]
    epochs: int
    seconds: float


def point_from(key: Json, values: Json) -> Point:
    """Read a point from its cell's key and its JSON."""
    return Point(
        **{
            **values,
            "cell": Cell(**key),
            "clean": Found(**values["clean"]),
            "found": {name: Found(**each) for name, each in values["found"].items()},
        }
    )
