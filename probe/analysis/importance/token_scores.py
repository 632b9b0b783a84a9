"""The scores of a batch's tokens for F = log p(label), through Captum."""

from collections.abc import Callable

import torch
from captum.attr import FeatureAblation, LayerGradientXActivation, LayerIntegratedGradients

from probe.analysis.importance.methods import BaselineToken, Method
from probe.errors import AttributionError
from probe.models.inputs.embedding_hook import EmbeddingHook, embedding_hook
from probe.models.inputs.explainable import Explainable
from probe.models.text_model import TextModel
from probe.stopping import check_stop

OCCLUDED_ROWS = 16
"""How many examples, each with another token replaced, go through the model together."""


def token_scores(
    model: TextModel,
    batch: Explainable,
    method: Method,
    baseline: BaselineToken,
    steps: int,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return scores for F and the convergence error.  # (batch, tokens), (batch,)

    Raises what `probe.analysis.importance.attribution.attribute` raises.
    """
    if model.model.training:
        raise ValueError("gradients are taken in eval mode; the model is in training mode")
    tensors = {name: value.to(model.model.device) for name, value in batch.inputs.items()}
    ids = tensors.pop("input_ids")
    hook = embedding_hook(model.model)
    f = _function(model, batch, hook, list(tensors))
    extra = tuple(tensors.values())
    if method == "integrated_gradients":
        with model.lock:
            value, delta = LayerIntegratedGradients(f, hook.layers).attribute(
                ids,
                baselines=_baseline(model, batch, baseline),
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
                baselines=_baseline(model, batch, baseline),
                additional_forward_args=extra,
                perturbations_per_eval=max(1, OCCLUDED_ROWS // len(ids)),
            )
        return value, None
    saliency = method == "saliency"
    layered = LayerGradientXActivation(f, hook.layers, multiply_by_inputs=not saliency)
    with model.lock:
        value = hook.join(layered.attribute(ids, additional_forward_args=extra))
    return (value.norm(dim=-1) if saliency else value.sum(-1)).detach(), None


def _function(
    model: TextModel, batch: Explainable, hook: EmbeddingHook, names: list[str]
) -> Callable[..., torch.Tensor]:
    """Return F as Captum calls it; it stacks the steps of a path: (steps * batch, ...)."""

    def f(ids: torch.Tensor, *extra: torch.Tensor) -> torch.Tensor:
        check_stop()
        inputs = {"input_ids": ids, **dict(zip(names, extra, strict=True))}
        with model.lock:
            return batch.log_probability(hook.feed(inputs))

    return f


def _baseline(model: TextModel, batch: Explainable, name: BaselineToken) -> torch.Tensor:
    """Return ids with every sub-word replaced and special tokens left.  # (batch, tokens)"""
    token = getattr(model.tokenizer, f"{name}_token_id")
    if token is None:
        raise AttributionError(f"this model has no {name} token; choose another baseline")
    ids = batch.inputs["input_ids"]
    words = torch.zeros_like(ids, dtype=torch.bool)
    for row, places in enumerate(batch.places):
        words[row, : len(places)] = torch.tensor([place is not None for place in places])
    return torch.where(words, token, ids).to(model.model.device)
