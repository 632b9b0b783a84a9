"""The Probe tab's endpoint over HTTP: one example."""

from typing import Any

import gradio as gr

from probe.analysis.importance import AskedMethod, BaselineToken, check_behind
from probe.analysis.transformed import examination_json, examine
from probe.models.library import that_reads
from probe.models.windows import Long
from probe.runs.access import ModelAccess
from probe.transforms.options import Sign
from probe.transforms.registry import read_task_options
from probe.ui.answers.request_limits import check_transforms
from probe.ui.api.arguments import Choices, Name, Names, Seed, Share, Text, Token
from probe.ui.api.endpoint import endpoint, over_http
from probe.ui.api.example import Texts, first_model, read_example, task_of


@over_http()
def build(models: ModelAccess) -> None:
    """Add `/probe`."""

    @endpoint
    def probe(
        premise: Text = "",
        hypothesis: Text = "",
        transforms: Names = [],  # noqa: B006  # gradio reads the default for its schema
        model: Name = "",
        seed: Seed = 0,
        keep: Share = 0.5,
        sign: Sign = "support",
        method: AskedMethod = "auto",
        baseline: BaselineToken = "pad",
        options: Choices = {},  # noqa: B006  # as above
        gold: Name = "",
        owner: Token = "",
        texts: Texts = {},  # noqa: B006  # as above
        task: Name = "",
        long: Long = "cut",
    ) -> dict[str, Any]:
        """Classify an example, explain it, transform it: the JSON of `python -m probe pair`.

        Args:
            premise: The premise, in place of texts for inference.
            hypothesis: The hypothesis, likewise.
            transforms: Names, those of a chain joined with +; a list, or a text with commas.
            model: One that the page offers or /load_model has loaded; empty for the task's first.
            seed: Where the transforms' chance begins.
            keep: The share of tokens that drop, repeat and replace keep.
            sign: Which tokens count as important.
            method: How importance is computed; auto is the method that is shown first.
            baseline: The token that stands for nothing, for methods that replace tokens.
            options: Further options of the transforms by name, as `python -m probe pair` has them.
            gold: The gold label, or the right answers with | between them, if known.
            owner: The token of one's own runs, which /inoculate returns.
            texts: The texts by field, such as question and passage, as a JSON object.
            task: nli, paraphrase, sentiment or reading; if empty, that of a model on disk, or nli.
            long: cut, or windows, in which a premise longer than the model reads is read.
        """
        asked = task_of(models, owner, task, model)
        example = read_example(asked, texts, premise, hypothesis, gold)
        settings = read_task_options(asked, {"keep": keep, "sign": sign, **options})
        check_transforms(transforms)
        examination = examine(
            that_reads(models.get(owner, model or first_model(models, owner, asked), asked), long),
            example,
            transforms,
            seed,
            settings,
            method,
            baseline,
        )
        if examination.importance:
            check_behind(examination.importance.model)
        return examination_json(examination, "fp32")

    gr.api(probe, api_name="probe", concurrency_id="probe")
