"""Which learning rate to begin with: the one that a model of this kind was trained with."""

import json
from collections.abc import Mapping
from pathlib import Path

from finetune.presets import DA, ESIM
from probe.models.catalogue import find

RATES: Mapping[str, float] = {
    "decomposable": DA["allennlp"].lr,  # AdaGrad
    "esim": ESIM["allennlp"].lr,
}
"""By `model_type`."""
USUAL = 2e-5
"""For all others: what the BERT family is fine-tuned with."""


def usual_rate(model: str) -> float:
    """Return the rate for a model by name or folder; a hub's model not yet here has the usual."""
    config = Path(find(model)) / "config.json"
    if not config.is_file():
        return USUAL
    return RATES.get(json.loads(config.read_text(encoding="utf-8")).get("model_type"), USUAL)
