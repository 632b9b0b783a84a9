"""Which learning rate to begin with: in full mode the one such a model was trained with."""

import json
from collections.abc import Mapping
from pathlib import Path

from finetune.experiments.inoculation.plan import Mode
from finetune.training.presets import DA, ESIM
from probe.models.library import find

RATES: Mapping[str, float] = {
    "decomposable": DA["allennlp"].lr,  # AdaGrad
    "esim": ESIM["allennlp"].lr,
}
"""By `model_type`."""
USUAL: Mapping[Mode, float] = {"full": 2e-5, "fast": 1e-3}
"""For all others: what the BERT family is fine-tuned with; few upper weights need a larger one."""


def usual_rate(model: str, mode: Mode = "full") -> float:
    """Return the rate for a model by name or folder; a hub's model not yet here has the usual."""
    config = Path(find(model)) / "config.json"
    usual = USUAL.get(mode, USUAL["full"])  # an unknown mode is refused where plans are checked
    if not config.is_file():
        return usual
    kind = json.loads(config.read_text(encoding="utf-8")).get("model_type")
    return RATES.get(kind, usual)
