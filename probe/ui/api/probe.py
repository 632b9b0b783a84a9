"""The Probe tab's endpoint over HTTP: one pair."""

from typing import Any

import gradio as gr

from probe.analysis.examination import examine
from probe.analysis.methods import BaselineToken, Method
from probe.reports.json import examination_json
from probe.runs.model_access import ModelAccess
from probe.tasks.nli import NLI, Pair
from probe.transforms.options import Sign, read_options
from probe.ui.answers.answering import answering
from probe.ui.answers.request_limits import check_pair, check_transforms
from probe.ui.api.arguments import Choices, Name, Names, Seed, Share, Text, Token
from probe.ui.api.endpoint import endpoint


def build(models: ModelAccess) -> None:
    """Add `/probe`."""

    @endpoint
    @answering("answer_seconds")
    def probe(
        premise: Text,
        hypothesis: Text,
        transforms: Names = [],  # noqa: B006  # gradio reads the default for its schema
        model: Name = "minilm",
        seed: Seed = 0,
        keep: Share = 0.5,
        sign: Sign = "support",
        method: Method = "gradient_x_input",
        baseline: BaselineToken = "pad",
        options: Choices = {},  # noqa: B006  # as above
        gold: Name = "",
        owner: Token = "",
    ) -> dict[str, Any]:
        """Classify a pair, explain it, apply transforms: the JSON of `python -m probe pair`.

        Args:
            premise: The premise.
            hypothesis: The hypothesis.
            transforms: Names, those of a chain joined with +; a list, or a text with commas.
            model: A model that the page offers, or one that /load_model has loaded.
            seed: Where the transforms' chance begins.
            keep: The share of tokens that drop, repeat and replace keep.
            sign: Which tokens count as important.
            method: How importance is computed.
            baseline: The token that stands for nothing, for integrated gradients and occlusion.
            options: Further options of the transforms by name, as `python -m probe pair` has them.
            gold: The gold label, if it is known.
            owner: The token of one's own runs, which /inoculate returns.
        """
        pair = Pair(premise, hypothesis, NLI.read_gold(gold))
        check_pair(pair)
        check_transforms(transforms)
        examination = examine(
            models.get(owner, model),
            pair,
            transforms,
            seed,
            read_options({"keep": keep, "sign": sign, **options}),
            method,
            baseline,
        )
        return examination_json(examination, "fp32")

    gr.api(probe, api_name="probe", concurrency_id="probe")
