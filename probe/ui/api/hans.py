"""The endpoint over HTTP of the HANS profile."""

from collections.abc import Sequence
from typing import Any

import gradio as gr

from probe.analysis.hans import hans_json, profile
from probe.errors import ModelError, TemplateError
from probe.runs.access import ModelAccess
from probe.ui.answers.answering import answering
from probe.ui.api.arguments import Names, Seed, Token, Whole
from probe.ui.api.endpoint import endpoint, over_http

MAX_PAIRS = 500
"""Pairs of a sub-case that the page makes; the command line makes any number."""


@over_http()
def build(access: ModelAccess) -> None:
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
