"""The Probe tab's endpoint over HTTP: one pair."""

from typing import Any

import gradio as gr

from probe.analysis.attribution import BaselineToken, Method
from probe.analysis.examination import examine
from probe.errors import UserError
from probe.models.cache import ModelCache
from probe.reports.json import examination_json
from probe.tasks.nli import NLI, Pair
from probe.transforms.options import read_options
from probe.ui.choices import require_choice


def build(cache: ModelCache) -> None:
    """Add `/probe`."""

    def probe(
        premise: str,
        hypothesis: str,
        transforms: list[str] = [],  # noqa: B006  # gradio reads the default for its schema
        model: str = "minilm",
        seed: int = 0,
        keep: float = 0.5,
        sign: str = "support",
        method: str = "gradient_x_input",
        baseline: str = "pad",
        options: dict[str, Any] = {},  # noqa: B006  # as above; Any: JSON values
        gold: str = "",
    ) -> dict[str, Any]:
        """Classify a pair, explain it, apply transforms: the JSON of `python -m probe pair`."""
        try:
            cache.require(model)
            examination = examine(
                cache.get(model),
                Pair(premise, hypothesis, NLI.read_gold(gold)),
                transforms,
                seed,
                read_options({"keep": keep, "sign": sign, **options}),
                require_choice("method", method, Method),
                require_choice("baseline", baseline, BaselineToken),
            )
        except UserError as trouble:
            raise gr.Error(str(trouble)) from trouble
        return examination_json(examination, "fp32")

    gr.api(probe, api_name="probe", concurrency_id="probe")
