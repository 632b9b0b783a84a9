"""Which tokens matter to a prediction: one function over the word embeddings, through Captum.

The function explained is F = log p(label) for `sign="support"` and the loss -log p(label) for
`sign="gupta"`. Gupta et al. 2021 rank by e·∇loss with the gold label; Feng et al. 2018 by
-e·∇loss with the predicted one. Removing a token of score s changes F by about -s.
`probe.analysis.importance.token_scores` computes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from probe.analysis.importance.methods import BaselineToken, Method
from probe.first_import import first_import
from probe.models.classifier import by_length, text_lengths
from probe.models.inputs.explainable import TokenPlace
from probe.models.library import AnyModel
from probe.tasks.task import Example, Label
from probe.transforms.options import Sign
from probe.transforms.registry import Scored


@dataclass(frozen=True)
class Importance:
    """Scores of one example's sub-words by field, and which label and convention they speak of.

    `delta` is the convergence error of integrated gradients, None for other methods.
    """

    fields: Mapping[str, tuple[Scored, ...]]
    label: Label
    method: Method
    sign: Sign
    delta: float | None
    model: AnyModel

    def tokens(self, field: str) -> tuple[Scored, ...]:
        """Return a field's sub-words in order, special tokens left out."""
        return self.fields[field]

    def decode(self, ids: Sequence[int]) -> str:
        """Turn sub-word ids into text."""
        return self.model.decode(ids)

    def encode(self, text: str) -> list[int]:
        """Turn text into sub-word ids, without special tokens."""
        return self.model.sub_words(text)

    def loses_letters(self, ids: Sequence[int]) -> bool:
        """Whether the text of ids has unknown words without the letters that the model reads."""
        return self.model.reads_letters and self.model.tokenizer.unk_token_id in ids

    def vocabulary(self) -> Sequence[int]:
        """Return the ids of real sub-words: no special, no unused ones."""
        return self.model.vocabulary


def attribute(
    model: AnyModel,
    examples: Sequence[Example],
    labels: Sequence[Label],
    method: Method = "gradient_x_input",
    sign: Sign = "support",
    baseline: BaselineToken = "pad",
    steps: int = 20,
    batch: int = 16,
) -> list[Importance]:
    """Score the sub-words of each example for its label, in fp32, with the model in eval mode.

    A model that merges labels is asked for the one under which it counts the label.
    `baseline` and `steps` matter to integrated gradients and occlusion only. Raises
    AttributionError where the tokenizer has no such token or cannot say where a token stands, and
    Stopped between two passes of the model.
    """
    with first_import:
        from probe.analysis.importance.token_scores import token_scores

    result: list[Importance | None] = [None] * len(examples)
    labels = [model.task.nearest(label) or label for label in labels]
    for rows in by_length(text_lengths(model.task, examples), batch if model.pads else 1):
        prepared = model.explainable([examples[row] for row in rows], [labels[row] for row in rows])
        scores, deltas = token_scores(model, prepared, method, baseline, steps)
        if method != "saliency":
            scores = {"support": scores, "gupta": -scores, "abs": scores.abs()}[sign]
        for place, row in enumerate(rows):
            result[row] = Importance(
                {
                    name: _tokens(prepared.places[place], scores[place].tolist(), number)
                    for number, name in enumerate(model.task.fields)
                },
                labels[row],
                method,
                "abs" if method == "saliency" else sign,
                float(deltas[place]) if deltas is not None else None,
                model,
            )
    return [importance for importance in result if importance]


def _tokens(
    places: Sequence[TokenPlace | None], scores: Sequence[float], text: int
) -> tuple[Scored, ...]:
    """Return the scored sub-words of the n-th text."""
    return tuple(
        Scored(place.token, place.id, place.start, place.end, score)
        for place, score in zip(places, scores, strict=False)  # padding has no place
        if place and place.text == text
    )
