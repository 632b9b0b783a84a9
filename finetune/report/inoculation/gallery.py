"""The runs of the gallery in the order of the figure that they repeat."""

from functools import cache
from pathlib import Path

from finetune.experiments.inoculation.run import InoculationRun, inoculation_runs
from probe.runs.gallery import FOLDER, gallery_runs

MODELS = ["da", "esim", "esim_char", "minilm"]
NUMERICAL = "numerical"
"""The challenge that is the released file, not the transform of that name."""
CHALLENGES = ["word_overlap", "negation", "spelling", "length_mismatch", NUMERICAL]
"""The stress tests of Liu et al.'s figure 3."""
READERS = ["minilm_reader", "bidaf", "qanet"]
"""Of figure 3f, Adversarial SQuAD."""


@cache
def shown_runs(folder: Path = FOLDER) -> tuple[InoculationRun, ...]:
    """Return the inoculations of a gallery by challenge and model."""
    return tuple(sorted(inoculation_runs(gallery_runs(folder)), key=_place))


def _place(run: InoculationRun) -> tuple[int, int, str]:
    """Return where a run stands: in the orders above, others behind by name."""
    orders = ((CHALLENGES, run.plan.challenge), ([*MODELS, *READERS], run.plan.model))
    challenge, model = (
        order.index(name) if name in order else len(order) for order, name in orders
    )
    return challenge, model, run.id
