"""What one part of a check-up comes to."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from probe.calibration import Bin
from probe.checkup.figure import Figure, figure_json
from probe.runs.run import Json


@dataclass(frozen=True)
class ChangedExample:
    """A changed example: its texts, what those that changed were before, and both answers.

    `gold` is the right answer after the change, None where there is none.
    """

    texts: Mapping[str, str]
    before: Mapping[str, str]
    answer_before: str
    answer: str
    confidence_before: float
    confidence: float
    gold: str | None


@dataclass(frozen=True)
class Part:
    """Figures, examples of a change, and the bins of a reliability diagram, lowest first."""

    figures: Sequence[Figure]
    examples: Sequence[ChangedExample] = ()
    bins: Sequence[Bin] = ()


def part_json(part: Part) -> Json:
    """Return a part as JSON."""
    return {
        "figures": [figure_json(figure) for figure in part.figures],
        "examples": [asdict(each) for each in part.examples],
        "bins": [asdict(each) for each in part.bins],
    }


def bins_from(rows: Sequence[Mapping[str, Any]]) -> tuple[Bin, ...]:
    """Read bins from their JSON. Raises TypeError for another form."""
    return tuple(Bin(**row) for row in rows)
