"""What the components of the Inoculate tab's form hold."""

from typing import Any

from finetune.ui.inoculate.plan_form import FIELDS, LIMITS

INOCULATE: dict[str, Any] = {
    **{"models": ["minilm"], "challenges": ["negation"], "sizes": ["5", "10"], "lrs": "2e-5"},
    **{"seeds": "0", "mode": "fast", "max_epochs": 10, "patience": 5, "include_epoch0": False},
    **{param.name: param.default * param.unit for param in LIMITS},
    **{"own_name": "", "train": 1000},
}


def inoculate_values(**changed: Any) -> list[Any]:
    """Return the values in the order of the form, some of them changed; what has none is empty."""
    return [(INOCULATE | changed).get(name) for name in FIELDS]
