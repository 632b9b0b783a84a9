"""Names of the models that runs keep."""

import re
import secrets
from pathlib import Path

from probe.data.names import STEM_BYTES, cut


def new_model_name(model: str, *words: str) -> str:
    """Return a new name for what a run makes of a model; it leads to no run."""
    names = (cut(name, STEM_BYTES // 2) for name in (Path(model).name, *words))
    return re.sub(r"[^\w.-]+", "-", "-".join((*names, secrets.token_hex(4))))
