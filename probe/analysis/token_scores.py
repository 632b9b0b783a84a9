"""The scores of a batch's tokens for F = log p(label), through Captum."""

from collections.abc import Callable, Sequence

import torch
from captum.attr import FeatureAblation, LayerGradientXActivation, LayerIntegratedGradients
from torch.nn.functional import log_softmax
from transformers import BatchEncoding

from probe.analysis.methods import BaselineToken, Method
from probe.errors import AttributionError
from probe.models.classifier import Classifier
from probe.models.embedding_hook import EmbeddingHook, embedding_hook
from probe.stopping import check_stop
from probe.tasks.task import Label

OCCLUDED_ROWS = 16
"""How many examples, each with another token replaced, go through the model together."""


def token_scores(
    classifier: Classifier,
    inputs: BatchEncoding,
    labels: Sequence[Label],
    method: Method,
    baseline: BaselineToken,
    steps: int,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return scores for F and the convergence error.  # (batch, tokens), (batch,)

    Raises what `probe.analysis.attribution.attribute` raises.
    """
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
