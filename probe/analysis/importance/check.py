"""A check of a network, once for its weights: does importance say what happens to its answer.

Gradient × input is compared with a finite difference, a token left out by its vector with another
token's id in its place. The check takes a second or more, so it is made after an answer is shown;
its outcome is kept on the disk.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from probe.analysis.importance.attribution import NETWORK_ERRORS
from probe.errors import AttributionError
from probe.first_import import first_import
from probe.models.library import AnyModel
from probe.models.weights.hashes import network_hash
from probe.settings import settings
from probe.tasks.examples import bundled_examples
from probe.tasks.task import Label, Task

if TYPE_CHECKING:
    import torch

STEP = 5e-3
"""By which a token's vector becomes longer and shorter, as a share of it."""
MOST_TOKENS = 16
"""That are looked at, evenly spaced."""
DIFFERS, LEAST = 0.1, 1e-3
"""The share of the largest score from which two disagree, and the difference that is rounding."""
FORM = 1
"""Of what is kept; other forms are measured anew."""


@dataclass(frozen=True)
class Check:
    """How far importance is from what it claims, as a share of the largest score.

    `gradient` is of gradient × input, `occlusion` of leaving a token out; `vanishes` says that
    gradient × input is rounding.
    """

    gradient: float
    occlusion: float
    vanishes: bool

    @property
    def sentences(self) -> tuple[str, ...]:
        """What a reader has to know; nothing of a network in which all agrees."""
        if self.vanishes:
            first = [
                "gradient × input is nothing but rounding in this network, which takes only the "
                "direction of its word vectors; leave each token out instead (method occlusion)"
            ]
        elif self.gradient > DIFFERS:
            first = [
                f"gradient × input is up to {self.gradient:.0%} off what longer and shorter "
                "vectors do to the answer of this network, so do not rest on its gradients"
            ]
        else:
            first = []
        second = (
            f"leaving a token out by its vector is up to {self.occlusion:.0%} off what another "
            "token in its place does: this network reads tokens in a further way that importance "
            "does not see"
        )
        said = [*first, *([second] if self.occlusion > DIFFERS else [])]
        return tuple(f"A check of importance: {words}." for words in said)


# by the loaded network: who answers asks again and again, and hashes nothing before an answer
_known: WeakKeyDictionary[Any, Check] = WeakKeyDictionary()  # Any: a network, imported when needed
_lock = Lock()


def known_check(model: AnyModel) -> Check | None:
    """Return the outcome of a check that was asked for before, None of any other; at once."""
    return _known.get(model.model)


def checked(model: AnyModel) -> Check:
    """Return the outcome of a network's check, made where none is kept of its weights.

    Raises AttributionError where importance is not to be had, and Stopped.
    """
    with _lock:  # of two who ask one checks
        if model.model in _known:
            return _known[model.model]
        path = settings().home / "importance" / f"{network_hash(model.model)}.json"
        found = _read(path)
        if found is None:
            try:
                found = check(model)
            except NETWORK_ERRORS as problem:
                raise AttributionError(f"importance cannot be checked: {problem}") from problem
            with suppress(OSError):  # a full disk costs the next start a second
                _write(path, found)
        _known[model.model] = found
        return found


def check_behind(model: AnyModel) -> None:
    """Check a network on a thread of its own, where that is not done; nobody waits for it."""

    def work() -> None:
        with suppress(AttributionError):  # it has no importance, and its answers say so
            checked(model)

    if known_check(model) is None:
        Thread(target=work, daemon=True).start()


def _read(path: Path) -> Check | None:
    with suppress(OSError, ValueError, TypeError, KeyError):
        held = json.loads(path.read_text(encoding="utf-8"))
        if held.pop("form") == FORM:
            return Check(**held)
    return None


def _write(path: Path, found: Check) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps({"form": FORM, **asdict(found)}), encoding="utf-8")
    fresh.replace(path)


def check(model: AnyModel) -> Check:
    """Compare the methods on one example of the model's task.

    The label is one that the model does not give: the logarithm of a probability near 1 hardly
    moves, and its differences are rounding.
    """
    with first_import:
        import torch

        from probe.analysis.importance.token_scores import (
            LeftOut,
            copies_without,
            gradients,
            left_out_scores,
            vector_of,
            word_mask,
        )
        from probe.models.inputs.embedding_hook import Changeable, embedding_hook

    example = _example(model.task)
    batch = model.explainable([example], [_unlikely(model, example)])
    tensors = {name: value.to(model.model.device) for name, value in batch.inputs.items()}
    words, hook = word_mask(batch), embedding_hook(model.model)
    columns = words[0].nonzero().flatten()
    columns = columns[:: -(-len(columns) // MOST_TOKENS)].to(model.model.device)

    def scaled(factor: float) -> torch.Tensor:
        def run(network: AnyModel, copies: dict[str, torch.Tensor], gone: torch.Tensor) -> Any:
            spread = hook.spread(gone)

            def change(number: int, vectors: torch.Tensor) -> torch.Tensor:
                factors = torch.ones(vectors.shape[:2], device=vectors.device)
                factors[:, : gone.shape[1]][spread[number]] = factor
                return vectors * factors[..., None]

            with changeable.by(change):
                return batch.log_probability(network, hook.feed(copies))

        with Changeable(hook) as changeable:
            return copies_without(model, tensors, words, columns, run)[:, 0]

    def by_id(network: AnyModel, copies: dict[str, torch.Tensor], gone: torch.Tensor) -> Any:
        length = gone.shape[1]
        copies["input_ids"][:, :length][gone] = other
        if "character_ids" in copies:
            copies["character_ids"][:, :length][gone] = 0
        return batch.log_probability(network, hook.feed(copies))

    found = gradients(model, batch, tensors, hook, saliency=False)
    differences = (scaled(1 + STEP) - scaled(1 - STEP)) / (2 * STEP)
    vocabulary = model.vocabulary
    other = vocabulary[len(vocabulary) // 2]
    left_out = LeftOut(hook, vector_of(model, batch, tensors, hook, other))
    by_vector = left_out_scores(model, batch, tensors, left_out, columns)
    whole, *others = copies_without(
        model, tensors, words, torch.cat([columns.new_tensor([-1]), columns]), by_id
    )[:, 0]
    assert found.vanish is not None
    return Check(
        _apart(found.scores[0, columns], differences),
        _apart(by_vector[0, columns], whole - torch.stack(others)),
        bool(found.vanish[0]),
    )


def _apart(scores: "torch.Tensor", others: "torch.Tensor") -> float:
    """Return the largest difference as a share of the largest score; 0 where it is rounding."""
    largest = float(max(scores.abs().max(), others.abs().max()))
    apart = float((scores - others).abs().max())
    return apart / largest if apart > LEAST else 0.0


def _example(task: Task) -> Any:  # Any: of the task's own dataclass
    """Return an example of a task, the shortest of several where they may be long."""
    if task.sanity_examples:
        return task.sanity_examples[0]
    several: Sequence[Any] = bundled_examples(task)[:50]
    return min(several, key=lambda each: sum(map(len, task.texts(each).values())))


def _unlikely(model: AnyModel, example: Any) -> Label:  # Any: of the task's own dataclass
    """Return the least probable label, of a reader the first word of the last text."""
    if model.task.has_spans:
        *_, text = model.task.texts(example).values()
        passage = getattr(example, model.task.source or model.task.target, text)
        return Label(str(passage).split()[0])
    (said,) = model.predict([example])
    return min(zip(said.probabilities, said.labels, strict=True))[1]
