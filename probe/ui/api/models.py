"""The endpoints over HTTP that ask models: one example, a model of one's own, HANS."""

from collections.abc import Sequence
from typing import Any

import gradio as gr

from probe.analysis.hans import hans_json, profile
from probe.analysis.importance import AskedMethod, BaselineToken, check_behind
from probe.analysis.smallest import BUDGET, smallest, smallest_json
from probe.analysis.transformed import examination_json, examine
from probe.errors import ModelError, OptionError, TemplateError
from probe.models.library import LoadedModel, that_reads
from probe.models.windows import Long
from probe.runs.access import ModelAccess
from probe.tasks.nli import NLI
from probe.tasks.task import Task, read_labels
from probe.transforms.options import Sign
from probe.transforms.registry import read_task_options
from probe.ui.answers.answering import answering, check_transforms
from probe.ui.api.endpoint import (
    Choices,
    Name,
    Names,
    Seed,
    Share,
    Switch,
    Text,
    Texts,
    Token,
    Whole,
    endpoint,
    first_model,
    over_http,
    read_example,
    task_of,
)


@over_http()
def build_load_model(models: ModelAccess) -> None:
    """Add `/load_model`."""

    @endpoint
    def load_model(
        model: Name, labels: Name = "", owner: Token = "", task: Name = "", template: Name = ""
    ) -> dict[str, Any]:
        """Load a hub's model or a folder, so that /probe and /batch can be asked for it.

        Anybody who names it can use it from then on.

        Args:
            model: owner/name, owner/name@revision, or the full path of a folder.
            labels: What each of its outputs means, in their order, with commas between; or guess.
            owner: The token of one's own runs, which /inoculate returns.
            task: nli, paraphrase, sentiment or reading; if empty, that of a model on disk, or nli.
            template: How a decoder reads its texts as one, such as {premise} {hypothesis}.
        """
        asked = task_of(models, owner, task, model)
        return load_json(models, owner, model, labels, asked, template)

    gr.api(load_model, api_name="load_model", concurrency_id="load")


def load_json(
    models: ModelAccess, owner: str, model: str, labels: str, task: Task = NLI, template: str = ""
) -> dict[str, Any]:
    """Load a model of a task; return what was loaded, and under which name it can be asked."""
    loaded = open_own(models, owner, model, labels, task, template)
    label_check, classifier = loaded.label_check, loaded.model
    return {
        "model": classifier.name,
        "model_revision": classifier.revision,
        "labels": list(classifier.order),
        "plain_pairs_right": label_check.correct if label_check else None,
        "plain_pairs": label_check.n if label_check else None,
        "warning": "; ".join(loaded.warnings),
    }


@answering("file_minutes")  # a model may be fetched from the hub
def open_own(
    models: ModelAccess,
    visitor: str,
    name: str | None,
    labels: str | None,
    task: Task = NLI,
    template: str | None = "",
) -> LoadedModel:
    """Load what a visitor named for a task. Raises ModelError or LabelError."""
    model = (name or "").strip()
    if not model:
        raise ModelError("say which model: a hub's owner/name, or a folder")
    return models.open(visitor, model, read_labels(labels or "", task), task, template or "")


@over_http()
def build_probe(models: ModelAccess) -> None:
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
        flip: Switch = False,
        budget: Whole = BUDGET,
        label: Name = "",
        against: Name = "",
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
            flip: Whether the smallest changes that flip the answer are looked for too.
            budget: How many texts these ask the model about in each way, at most.
            label: The label that is explained; the gold or the predicted one if empty.
            against: Another label: what sets the one that is explained apart from it.
        """
        asked = task_of(models, owner, task, model)
        example = read_example(asked, texts, premise, hypothesis, gold)
        settings = read_task_options(asked, {"keep": keep, "sign": sign, **options})
        check_transforms(transforms)
        if asked.has_spans and (label or against):
            raise OptionError(
                "label and against are for models that answer with labels; a reader answers a span"
            )
        named = model or first_model(models, owner, asked)
        classifier = that_reads(models.get(owner, named, asked), long)
        examination = examine(
            classifier,
            example,
            transforms,
            seed,
            settings,
            method,
            baseline,
            asked.read_gold(label),
            against=asked.read_gold(against),
        )
        if examination.importance:
            check_behind(examination.importance.model)
        shape = examination_json(examination, "fp32")
        if flip:
            shape["smallest"] = list(
                map(smallest_json, smallest(classifier, example, budget=budget))
            )
        return shape

    gr.api(probe, api_name="probe", concurrency_id="probe")


MAX_PAIRS = 500
"""Pairs of a sub-case that the page makes; the command line makes any number."""


@over_http()
def build_hans(access: ModelAccess) -> None:
    """Add `/hans`."""

    @endpoint
    @answering("file_minutes")
    def hans(models: Names, n: Whole = 100, seed: Seed = 0, owner: Token = "") -> dict[str, Any]:
        """Profile models by the heuristics of HANS: the JSON of `python -m probe hans`.

        Args:
            models: The names of models of inference, as a list or as a text with commas.
            n: How many pairs each sub-case has.
            seed: Which pairs are made.
            owner: The token of one's own runs, which /inoculate returns.
        """
        count = require_profile(access, owner, models, n)
        profiles = {name: list(profile(access.get(owner, name), count, seed)) for name in models}
        return hans_json(profiles, count, seed, "auto")

    gr.api(hans, api_name="hans", concurrency_id="compare")


def require_profile(models: ModelAccess, visitor: str, names: Sequence[str], n: int) -> int:
    """Return n. Raises ModelError without a model, TemplateError for a wrong number."""
    if not names:
        raise ModelError("choose a model first")
    for name in names:
        models.require(visitor, name)
    if not 1 <= n <= MAX_PAIRS:
        raise TemplateError(
            f"the page takes 1 to {MAX_PAIRS} pairs for each sub-case; the command line takes more"
        )
    return n
