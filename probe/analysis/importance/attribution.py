"""Which tokens matter to a prediction: one function over the word embeddings, through Captum.

The function explained is F = log p(label) for `sign="support"` and the loss -log p(label) for
`sign="gupta"`. Gupta et al. 2021 rank by e·∇loss with the gold label; Feng et al. 2018 by
-e·∇loss with the predicted one. Removing a token of score s changes F by about -s.
`probe.analysis.importance.token_scores` computes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe.analysis.importance.methods import (
    FIRST,
    FIRST_LONG,
    METHODS,
    MOST_STEPS,
    PAPER,
    AskedMethod,
    BaselineToken,
    Method,
    first_method,
)
from probe.errors import AttributionError
from probe.first_import import first_import
from probe.models.classifier import by_length, text_lengths
from probe.models.inputs.explainable import TokenPlace
from probe.models.library import AnyModel
from probe.tasks.task import Example, Label
from probe.transforms.options import Sign
from probe.transforms.registry import Scored

if TYPE_CHECKING:
    from probe.analysis.importance.token_scores import TokenScores


NETWORK_ERRORS = (
    *(RuntimeError, ValueError, TypeError, AttributeError, LookupError, NotImplementedError),
)
"""What a network that is built in another way raises when it is asked so."""
LONG = (
    f"“{METHODS[FIRST].title}” takes too long for a first look at {{}} tokens with this network: "
    f"these are scores by “{METHODS[FIRST_LONG].title}”."
)
NOTHING_LEFT = (
    "Gradient × input is nothing but rounding here: the network takes only the direction of these "
    "vectors. Leave each token out instead (method occlusion)."
)


@dataclass(frozen=True)
class Importance:
    """Scores of one example's sub-words by field, and which label and convention they speak of.

    `delta` is the convergence error of integrated gradients, None for other methods. `where` says
    at which vectors they were taken, `remarks` what a reader has to know of them; `vanishes`: they
    are rounding, and rank nothing.
    """

    fields: Mapping[str, tuple[Scored, ...]]
    label: Label
    method: Method
    sign: Sign
    delta: float | None
    model: AnyModel
    where: str = ""
    remarks: tuple[str, ...] = ()
    vanishes: bool = False

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
    method: AskedMethod = PAPER,
    sign: Sign = "support",
    baseline: BaselineToken = "pad",
    steps: int = 20,
    batch: int = 16,
    most_steps: int = MOST_STEPS,
) -> list[Importance]:
    """Score the sub-words of each example for its label, in fp32, with the model in eval mode.

    A model that merges labels is asked for the one under which it counts the label. The method
    "auto" is the one that is shown first. `baseline` matters to methods that put a token in the
    place of others, `steps` to integrated gradients, which double them to `most_steps` at most
    until their sum is right. Raises
    AttributionError where the tokenizer has no such token or cannot say where a token stands or the
    network cannot be asked, and Stopped between two passes of the model.
    """
    with first_import:
        from probe.analysis.importance.token_scores import token_scores

    if model.model.training:
        raise ValueError("gradients are taken in eval mode; the model is in training mode")
    result: list[Importance | None] = [None] * len(examples)
    labels = [model.task.nearest(label) or label for label in labels]
    # each by its own length where that chooses the method, and where the network minds padding
    rows_at_once = batch if model.pads and method != "auto" else 1
    for rows in by_length(text_lengths(model.task, examples), rows_at_once):
        prepared = model.explainable([examples[row] for row in rows], [labels[row] for row in rows])
        tokens = len(prepared.places[0])
        try:
            used = first_method(tokens, _weights(model)) if method == "auto" else method
            found = token_scores(model, prepared, used, baseline, steps, most_steps)
        except NETWORK_ERRORS as problem:
            raise AttributionError(
                f"which tokens matter cannot be asked of this network: {problem}"
            ) from problem
        remarks = [LONG.format(tokens)] if method == "auto" and used != FIRST else []
        scores, shown = found.scores, sign if METHODS[used].signed else "abs"
        if METHODS[used].signed:
            scores = {"support": scores, "gupta": -scores, "abs": scores.abs()}[sign]
        for place, row in enumerate(rows):
            vanishes = found.vanish is not None and bool(found.vanish[place])
            result[row] = Importance(
                {
                    name: _tokens(prepared.places[place], scores[place].tolist(), number)
                    for number, name in enumerate(model.task.fields)
                },
                labels[row],
                used,
                shown,
                float(found.gap[place]) if found.gap is not None else None,
                model,
                found.where,
                (*remarks, *([NOTHING_LEFT] if vanishes else _gap(found, place))),
                vanishes,
            )
    return [importance for importance in result if importance]


def _weights(model: AnyModel) -> int:
    """Count the weights that each token is multiplied with on a CPU; 0 on a GPU."""
    if model.device.type != "cpu":
        return 0
    embeddings = {id(weight) for weight in model.model.get_input_embeddings().parameters()}
    every = model.model.parameters()
    return sum(weight.numel() for weight in every if id(weight) not in embeddings)


def _gap(found: TokenScores, row: int) -> list[str]:
    """Say by how much the sum of integrated gradients misses the change, where it is too much."""
    if found.gap is None or found.change is None or not found.misses(row):
        return []
    gap, change = float(found.gap[row]), float(found.change[row])
    return [
        f"After {found.steps} steps the scores add up to {change + gap:+.2g}, and the answer "
        f"changed by {change:+.2g} (log p): {abs(gap / change):.0%} off, so read them with care."
    ]


def _tokens(
    places: Sequence[TokenPlace | None], scores: Sequence[float], text: int
) -> tuple[Scored, ...]:
    """Return the scored sub-words of the n-th text."""
    return tuple(
        Scored(place.token, place.id, place.start, place.end, score)
        for place, score in zip(places, scores, strict=False)  # padding has no place
        if place and place.text == text
    )
