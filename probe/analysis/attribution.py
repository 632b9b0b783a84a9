"""Which tokens matter to a prediction: one function over the word embeddings, through Captum.

The function explained is F = log p(label) for `sign="support"` and the loss -log p(label) for
`sign="gupta"`. Gupta et al. 2021 rank by e·∇loss with the gold label; Feng et al. 2018 by
-e·∇loss with the predicted one. Removing a token of score s changes F by about -s.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from captum.attr import FeatureAblation, LayerGradientXActivation, LayerIntegratedGradients
from torch.nn.functional import log_softmax
from transformers import BatchEncoding

from probe.errors import AttributionError
from probe.models.classifier import Classifier, by_length, text_lengths
from probe.models.embedding_hook import EmbeddingHook, embedding_hook
from probe.stopping import check_stop
from probe.tasks.task import Example, Label
from probe.terms import Term
from probe.transforms.options import Sign
from probe.transforms.registry import Scored

Method = Literal["gradient_x_input", "integrated_gradients", "saliency", "occlusion"]
BaselineToken = Literal["pad", "mask", "unk"]
OCCLUDED_ROWS = 16
"""How many examples, each with another token replaced, go through the model together."""
METHODS: Mapping[Method, Term] = {
    "gradient_x_input": Term(
        "Gradient × input",
        "Multiplies each token's vector by the gradient of the loss: what the token adds to the "
        "answer (Gupta et al. 2021).",
    ),
    "integrated_gradients": Term(
        "Integrated gradients",
        "Adds up the gradients on the way from an empty text to this one, so that the scores add "
        "up to the change of the answer.",
    ),
    "saliency": Term(
        "Saliency",
        "The length of the gradient: how strongly a token moves the answer, without saying in "
        "which direction.",
    ),
    "occlusion": Term(
        "Occlusion",
        "How much the answer changes when the token is replaced by a token that means nothing.",
    ),
}


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
    classifier: Classifier

    def tokens(self, field: str) -> tuple[Scored, ...]:
        """Return a field's sub-words in order, special tokens left out."""
        return self.fields[field]

    def decode(self, ids: Sequence[int]) -> str:
        """Turn sub-word ids into text."""
        return self.classifier.decode(ids)

    def encode(self, text: str) -> list[int]:
        """Turn text into sub-word ids, without special tokens."""
        return self.classifier.sub_words(text)

    def vocabulary(self) -> Sequence[int]:
        """Return the ids of real sub-words: no special, no unused ones."""
        return self.classifier.vocabulary


def attribute(
    classifier: Classifier,
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
    result: list[Importance | None] = [None] * len(examples)
    labels = [classifier.task.nearest(label) or label for label in labels]
    for rows in by_length(text_lengths(classifier.task, examples), batch):
        inputs = classifier.encode([examples[row] for row in rows])
        scores, deltas = _scores(
            classifier, inputs, [labels[row] for row in rows], method, baseline, steps
        )
        if method != "saliency":
            scores = {"support": scores, "gupta": -scores, "abs": scores.abs()}[sign]
        for place, row in enumerate(rows):
            result[row] = Importance(
                {
                    name: _tokens(inputs, scores, place, number)
                    for number, name in enumerate(classifier.task.fields)
                },
                labels[row],
                method,
                "abs" if method == "saliency" else sign,
                float(deltas[place]) if deltas is not None else None,
                classifier,
            )
    return [importance for importance in result if importance]


def _tokens(inputs: BatchEncoding, scores: torch.Tensor, row: int, text: int) -> tuple[Scored, ...]:
    """Return the scored sub-words of the n-th text; `sequence_ids` says which they are."""
    encoding = inputs.encodings[row] if inputs.encodings else None
    if encoding is None:
        raise AttributionError(
            "this model's tokenizer does not say where a token stands in the text"
        )
    return tuple(
        Scored(token, id_, *encoding.offsets[at], float(scores[row, at]))
        for at, (token, id_) in enumerate(zip(encoding.tokens, encoding.ids, strict=True))
        if encoding.sequence_ids[at] == text
    )


def _scores(
    classifier: Classifier,
    inputs: BatchEncoding,
    labels: Sequence[Label],
    method: Method,
    baseline: BaselineToken,
    steps: int,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return scores for F = log p(label) and the convergence error.  # (batch, tokens), (batch,)"""
    if classifier.model.training:
        raise ValueError("gradients are taken in eval mode; the model is in training mode")
    tensors = {name: value.to(classifier.device) for name, value in inputs.items()}
    ids = tensors.pop("input_ids")
    if classifier.architecture.padded_positions:
        tensors["position_ids"] = _positions(ids, classifier.model.config.pad_token_id)
    hook = embedding_hook(classifier.model)
    f = _log_probability(classifier, hook, list(tensors), labels)
    extra = tuple(tensors.values())
    if method == "integrated_gradients":
        with classifier.lock:
            value, delta = LayerIntegratedGradients(f, hook.layers).attribute(
                ids,
                baselines=_baseline(classifier, inputs, baseline),
                additional_forward_args=extra,
                n_steps=steps,
                internal_batch_size=64,
                return_convergence_delta=True,
            )
        return hook.join(value).detach().sum(-1), delta.detach()
    if method == "occlusion":  # hooks nothing, so that others may use the model between two passes
        with torch.inference_mode():
            value = FeatureAblation(f).attribute(
                ids,
                baselines=_baseline(classifier, inputs, baseline),
                additional_forward_args=extra,
                perturbations_per_eval=max(1, OCCLUDED_ROWS // len(ids)),
            )
        return value, None
    saliency = method == "saliency"
    layered = LayerGradientXActivation(f, hook.layers, multiply_by_inputs=not saliency)
    with classifier.lock:
        value = hook.join(layered.attribute(ids, additional_forward_args=extra))
    return (value.norm(dim=-1) if saliency else value.sum(-1)).detach(), None


def _log_probability(
    classifier: Classifier, hook: EmbeddingHook, names: Sequence[str], labels: Sequence[Label]
) -> Callable[..., torch.Tensor]:
    targets = torch.tensor(
        [classifier.labels.index(label) for label in labels], device=classifier.device
    )

    def f(ids: torch.Tensor, *extra: torch.Tensor) -> torch.Tensor:
        check_stop()
        inputs = {"input_ids": ids, **dict(zip(names, extra, strict=True))}
        with classifier.lock:
            scores = log_softmax(classifier.logits(hook.feed(inputs)), dim=-1)
        copies = len(ids) // len(targets)  # captum stacks the steps of a path: (steps * batch, ...)
        return scores.gather(1, targets.repeat(copies)[:, None]).squeeze(1)  # (copies * batch,)

    return f


def _positions(ids: torch.Tensor, padding: int) -> torch.Tensor:
    """Number the tokens now, or a baseline of padding would move them.  # (batch, tokens)"""
    words = ids.ne(padding).long()
    return words.cumsum(1) * words + padding


def _baseline(classifier: Classifier, inputs: BatchEncoding, name: BaselineToken) -> torch.Tensor:
    """Return ids with every sub-word replaced and special tokens left.  # (batch, tokens)"""
    token = getattr(classifier.tokenizer, f"{name}_token_id")
    if token is None:
        raise AttributionError(f"this model has no {name} token; choose another baseline")
    words = torch.tensor(
        [
            [side is not None for side in inputs.sequence_ids(row)]
            for row in range(len(inputs["input_ids"]))
        ]
    )
    return torch.where(words, token, inputs["input_ids"]).to(classifier.device)
