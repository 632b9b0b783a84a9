"""The methods of attribution, each with the place where it reads, and which one is shown first.

Figures that say which explain best: `python -m benchmarks.importance`, docs/importance.md.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Literal, cast, get_args
from weakref import WeakKeyDictionary

from probe.errors import AttributionError
from probe.first_import import first_import
from probe.models.classifier import Model, text_lengths
from probe.models.library import AnyModel, Network
from probe.models.prediction import Prediction
from probe.models.served import BoundedPrediction, Served
from probe.models.text_model import BATCH_TOKENS, TokenPlace, by_tokens
from probe.models.weights import network_hash
from probe.settings import settings
from probe.tasks.examples import bundled_examples
from probe.tasks.task import Example, Label
from probe.terms import Term
from probe.text.words import spans
from probe.transforms.options import Sign
from probe.transforms.registry import Scored

if TYPE_CHECKING:
    import torch

    from probe.analysis.token_scores import TokenScores


Kind = Literal["occlusion", "gradient_x_input", "saliency", "integrated_gradients"]
Place = Literal["words", "embeddings"]
Method = Literal[
    "occlusion",
    "gradient_x_input",
    "embedding_gradient_x_input",
    "saliency",
    "embedding_saliency",
    "integrated_gradients",
    "embedding_integrated_gradients",
]
AskedMethod = Literal["auto", Method]
MethodOrNone = Literal["", Method]
LETTERS, EXPLAINED_ROWS = 4, 16
"""Of a token, about, by which texts are put into batches, and the most examples of one: a prompt
around each may be long."""
MOST_STEPS = 320
"""Of integrated gradients, whose steps are doubled until their sum is right."""
AUTO: Literal["auto"] = "auto"
"""The method that is shown first, by the length of the text."""
BaselineToken = Literal["pad", "mask", "unk"]


@dataclass(frozen=True)
class AttributionMethod(Term):
    """A method in words, what it computes and where. Saliency is a length and has no sign."""

    kind: Kind
    place: Place = "words"

    @property
    def signed(self) -> bool:
        """Whether it tells tokens that speak for the answer from those against it."""
        return self.kind != "saliency"

    @property
    def replaces(self) -> bool:
        """Whether it puts a token that means nothing in the place of others."""
        return self.kind in ("occlusion", "integrated_gradients")


KINDS: Mapping[Kind, tuple[str, str]] = {
    "occlusion": (
        "Leaving each token out",
        "How much the answer changes when the token's vector is replaced by that of a token that "
        "means nothing, and all else stays where it is (occlusion).",
    ),
    "gradient_x_input": (
        "Gradient × input",
        "Multiplies each token's word vector by the gradient of the loss: what the token adds to "
        "the answer (Gupta et al. 2021).",
    ),
    "saliency": (
        "Saliency",
        "The length of the gradient: how strongly a token moves the answer, without saying in "
        "which direction.",
    ),
    "integrated_gradients": (
        "Integrated gradients",
        "Adds up the gradients on the way from an empty text to this one, so that the scores add "
        "up to the change of the answer.",
    ),
}


def _method(name: Method) -> AttributionMethod:
    kind = cast(Kind, name.removeprefix("embedding_"))  # how each is named
    title, words = KINDS[kind]
    if name == kind:
        return AttributionMethod(title, words, kind)
    place = ", the place of Captum's tutorial on BERT" if kind == "gradient_x_input" else ""
    words = f"{title} where word, position and segment are one vector already{place}."
    return AttributionMethod(f"{title}, whole embedding", words, kind, "embeddings")


METHODS: Mapping[Method, AttributionMethod] = {name: _method(name) for name in get_args(Method)}

PAPER: Method = "gradient_x_input"
"""By which Gupta et al. 2021 rank the tokens that their transforms keep."""
FIRST: Method = "occlusion"
"""The method that is shown first: of those within 1.5 times the time that gradient × input takes
from a key to the rows, the one without whose favourites most answers change."""
FIRST_LONG: Method = "saliency"
FIRST_TOKENS = 128
"""The longest text, in tokens, on which `FIRST` is; behind it one pass of gradients is shown."""
FIRST_WORK = FIRST_TOKENS**2 * 11_000_000
"""The most that it may cost on a CPU, in tokens read times weights: as so many of `minilm`, whose
encoder has 11 million. A network ten times as large would let a person wait ten times as long."""
FIRST_TITLE = f"The best that is quick: {METHODS[FIRST].title.lower()}"


def first_method(tokens: int, weights: int) -> Method:
    """Return the method that is shown first of so many tokens, by a network of so many weights.

    Embeddings, of which a token reads one row, are not among these, and on a GPU none is counted.
    """
    quick = tokens <= FIRST_TOKENS and tokens**2 * weights <= FIRST_WORK
    return FIRST if quick else FIRST_LONG


NETWORK_ERRORS = (RuntimeError, ValueError, TypeError, AttributeError, LookupError)
"""What a network that is built in another way raises when it is asked so."""
LONG = (
    f"“{METHODS[FIRST].title}” takes too long for a first look at {{}} tokens with this network: "
    f"these are scores by “{METHODS[FIRST_LONG].title}”."
)
TINY = 1e-12
"""The least probability of which a logarithm is taken."""
NOTHING_LEFT = (
    "Gradient × input is nothing but rounding here: the network takes only the direction of these "
    "vectors. Leave each token out instead (method occlusion)."
)


@dataclass(frozen=True)
class Importance:
    """Scores of one example's sub-words by field, and which label and convention they speak of.

    With `against` they speak of that label less the other one (`target`). `delta` is the
    convergence error of integrated gradients, None for other methods. `where` says at which vectors
    they were taken, `remarks` what a reader has to know of them; `vanishes`: they are rounding, and
    rank nothing.
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
    against: Label = ""

    @property
    def target(self) -> str:
        """What is explained: a label, or the difference of two."""
        return f"{self.label} − {self.against}" if self.against else self.label

    def tokens(self, field: str) -> tuple[Scored, ...]:
        """Return a field's sub-words in order, special tokens left out."""
        return self.fields[field]

    @property
    def _network(self) -> Network:
        assert not isinstance(self.model, Served)  # no transform ranks the words of such a one
        return self.model

    def decode(self, ids: Sequence[int]) -> str:
        """Turn sub-word ids into text."""
        return self._network.decode(ids)

    def encode(self, text: str) -> list[int]:
        """Turn text into sub-word ids, without special tokens."""
        return self._network.sub_words(text)

    def loses_letters(self, ids: Sequence[int]) -> bool:
        """Whether the text of ids has unknown words without the letters that the model reads."""
        model = self._network
        return model.reads_letters and model.tokenizer.unk_token_id in ids

    def vocabulary(self) -> Sequence[int]:
        """Return the ids of real sub-words: no special, no unused ones."""
        return self._network.vocabulary


def attribute(
    model: AnyModel,
    examples: Sequence[Example],
    labels: Sequence[Label],
    method: AskedMethod = PAPER,
    sign: Sign = "support",
    baseline: BaselineToken = "pad",
    steps: int = 20,
    most_steps: int = MOST_STEPS,
    against: Label | None = None,
) -> list[Importance]:
    """Score the sub-words of each example for its label, in fp32, with the model in eval mode.

    With `against` it is for the logarithm of the label's probability less that of this other one:
    why this answer and not that.

    A model that merges labels is asked for the one under which it counts the label. The method
    "auto" is the one that is shown first. `baseline` matters to methods that put a token in the
    place of others, `steps` to integrated gradients, which double them to `most_steps` at most
    until their sum is right. Raises
    AttributionError where the tokenizer has no such token or cannot say where a token stands or the
    network cannot be asked, and Stopped between two passes of the model. Of a model at an address
    words are left out, and that only where the method is named.
    """
    if isinstance(model, Served):
        return [
            _left_out(model, example, model.task.nearest(label) or label, method, sign, against)
            for example, label in zip(examples, labels, strict=True)
        ]
    with first_import:
        from probe.analysis.token_scores import token_scores

    if model.model.training:
        raise ValueError("gradients are taken in eval mode; the model is in training mode")
    result: list[Importance | None] = [None] * len(examples)
    labels = [model.task.nearest(label) or label for label in labels]
    other = (model.task.nearest(against) or against) if against else ""
    if other in labels:
        raise AttributionError(f"“{other}” is set against itself; name two different labels")
    # each by its own length where that chooses the method, where the network minds padding, and
    # where its copies fill a batch: beside others it would be padded, and copied for their tokens
    alone = method == "auto" or not model.pads
    alone |= model.device.type == "cpu" and method != "auto" and METHODS[method].replaces
    lengths = [count // LETTERS for count in text_lengths(model.task, examples)]
    most = BATCH_TOKENS[model.device.type]
    for rows in by_tokens(lengths, most, 1 if alone else EXPLAINED_ROWS):
        others = [other] * len(rows) if other else []
        own = [labels[row] for row in rows]
        prepared = model.explainable([examples[row] for row in rows], own, others)
        tokens = prepared.tokens
        try:
            used = first_method(tokens, _weights(model)) if method == "auto" else method
            found = token_scores(model, prepared, used, baseline, steps, most_steps)
        except NETWORK_ERRORS as problem:
            raise AttributionError(
                f"which tokens matter cannot be asked of this network: {problem}"
            ) from problem
        remarks = (
            [LONG.format(len(prepared.places[0]))] if method == "auto" and used != FIRST else []
        )
        scores, shown = found.scores, sign if METHODS[used].signed else "abs"
        if METHODS[used].signed:
            scores = {"support": scores, "gupta": -scores, "abs": scores.abs()}[sign]
        for place, row in enumerate(rows):
            vanishes = found.vanish is not None and bool(found.vanish[place])
            # padding has no place
            placed = [*zip(prepared.places[place], scores[place].tolist(), strict=False)]
            texts = [*model.task.texts(examples[row]).values()]
            result[row] = Importance(
                {
                    name: tuple(
                        Scored(as_written(at, texts[number]), at.id, at.start, at.end, score)
                        for at, score in placed
                        if at and at.text == number
                    )
                    for number, name in enumerate(model.task.fields)
                },
                labels[row],
                used,
                shown,
                float(found.gap[place]) if found.gap is not None else None,
                model,
                found.where,
                (*remarks, *([NOTHING_LEFT] if vanishes else _told(found, place))),
                vanishes,
                other,
            )
    return [importance for importance in result if importance]


def require_importance(model: Model, method: Method) -> None:
    """Try a method on one example; refuse it before a whole file is asked about.

    Raises AttributionError. Of a model at an address nothing is asked.
    """
    if isinstance(model, Served):
        if method != FIRST:
            raise AttributionError(
                f"{model.name} is asked at an address, so that it has no gradients; the method "
                f"{FIRST} asks it about every word"
            )
        if not model.confident:
            raise AttributionError(NO_PROBABILITIES.format(model.name))
    elif isinstance(model, Network):
        task = model.task
        example = (task.sanity_examples or bundled_examples(task) or (task.showcase,))[0]
        (said,) = model.predict([example])
        attribute(model, [example], [said.answer], method, steps=1, most_steps=1)
    else:
        raise AttributionError(f"{model.name} does not say which words its answers rest on")


def word_scores(text: str, tokens: Sequence[Scored]) -> list[tuple[str, float | None]]:
    """Return each word of a text with the sum of its tokens' scores.

    A token belongs to the word in which it begins, or that follows; None are the scores of words
    that the model does not read.
    """
    words = spans(text)
    ends, sums = [word.end for word in words], dict[int, float]()
    for token in tokens if words else ():
        at = min(bisect_right(ends, token.start), len(words) - 1)
        sums[at] = sums.get(at, 0.0) + token.score
    return [(text[word.start : word.end], sums.get(at)) for at, word in enumerate(words)]


NO_PROBABILITIES = "{} tells no probabilities, which a word could change"


def _left_out(
    model: Served,
    example: Any,  # Any: of the task's own dataclass
    label: Label,
    method: AskedMethod,
    sign: Sign,
    against: Label | None,
) -> Importance:
    """Score each word by how the answer changes without it. Raises AttributionError."""
    words = {name: spans(text) for name, text in model.task.texts(example).items()}
    asks = (1 + sum(map(len, words.values()))) * len(model.orders)
    if not model.confident:
        raise AttributionError(NO_PROBABILITIES.format(model.name))
    if method != FIRST:
        raise AttributionError(
            f"{model.name} is asked at an address, so that it has no gradients, and nothing more "
            f"is asked unless you say so: “{METHODS[FIRST].title}” (method {FIRST}) asks it {asks} "
            "questions"
        )
    if against and model.task.nearest(against) == label:
        raise AttributionError(f"“{label}” is set against itself; name two different labels")
    examples = [example]
    for name, each in words.items():
        text = getattr(example, name)
        without = (text[: word.start].rstrip() + text[word.end :] for word in each)
        examples += [replace(example, **{name: changed.strip()}) for changed in without]
    answers = model.predict(examples)

    def of(answer: Prediction) -> float:
        given = {name: math.log(max(p, TINY)) for name, p in answer.by_label.items()}
        return given[label] - (given[model.task.nearest(against) or against] if against else 0.0)

    whole, *others = map(of, answers)
    changes = [whole - one for one in others]
    scores = iter([{"support": each, "gupta": -each, "abs": abs(each)}[sign] for each in changes])
    bounded = sum(isinstance(answer, BoundedPrediction) for answer in answers)
    remarks = [f"Asked {asks} questions."]
    if bounded:
        remarks.append(
            f"Of {bounded} of {len(answers)} texts the server does not list all labels, so that "
            "these scores rest on bounds."
        )
    fields = {
        name: tuple(Scored(word.word, 0, word.start, word.end, next(scores)) for word in each)
        for name, each in words.items()
    }
    return Importance(
        *(fields, label, FIRST, sign, None, model, "at the words of the texts", tuple(remarks)),
        against=(model.task.nearest(against) or against) if against else "",
    )


def as_written(place: TokenPlace, text: str) -> str:
    """Return a token as it stands in its text where its vocabulary writes bytes or blanks in it."""
    written = text[place.start : place.end].strip()
    part = place.token.removeprefix("##")
    return place.token if part.lower() == written.lower() or not written else written


def _weights(model: Network) -> int:
    """Count the weights that each token is multiplied with on a CPU; 0 on a GPU."""
    if model.device.type != "cpu":
        return 0
    embeddings = {id(weight) for weight in model.model.get_input_embeddings().parameters()}
    every = model.model.parameters()
    return sum(weight.numel() for weight in every if id(weight) not in embeddings)


def _told(found: TokenScores, row: int) -> list[str]:
    """Say what share a prompt has, and by how much integrated gradients miss the change."""
    if found.rest is not None:
        return [f"The prompt's own words have {float(found.rest[row]):.0%} of all scores by size."]
    if found.gap is None or found.change is None or not found.misses(row):
        return []
    gap, change = float(found.gap[row]), float(found.change[row])
    return [
        f"After {found.steps} steps the scores add up to {change + gap:+.2g}, and the answer "
        f"changed by {change:+.2g} (log p): {abs(gap / change):.0%} off, so read them with care."
    ]


STEP, MOST_TOKENS = 5e-3, 16
"""The share by which a token's vector becomes longer and shorter; tokens that are looked at."""
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
        said = []
        if self.vanishes:
            said.append(
                "gradient × input is nothing but rounding in this network, which takes only the "
                "direction of its word vectors; leave each token out instead (method occlusion)"
            )
        elif self.gradient > DIFFERS:
            said.append(
                f"gradient × input is up to {self.gradient:.0%} off what longer and shorter "
                "vectors do to the answer of this network, so do not rest on its gradients"
            )
        if self.occlusion > DIFFERS:
            said.append(
                f"leaving a token out by its vector is up to {self.occlusion:.0%} off what another "
                "token in its place does: this network reads tokens in a further way that "
                "importance does not see"
            )
        return tuple(f"A check of importance: {words}." for words in said)


# by the loaded network: who answers asks again and again, and hashes nothing before an answer
_known: WeakKeyDictionary[Any, Check] = WeakKeyDictionary()  # Any: a network, imported when needed
_lock = Lock()


NO_NETWORK = Check(0.0, 0.0, False)
"""Of a model at an address, where words are left out of the text itself."""


def known_check(model: AnyModel) -> Check | None:
    """Return the outcome of a check that was asked for before, None of any other; at once."""
    if isinstance(model, Served):
        return NO_NETWORK
    return _known.get(model.model)


def checked(model: AnyModel) -> Check:
    """Return the outcome of a network's check, made where none is kept of its weights.

    Raises AttributionError where importance is not to be had, and Stopped.
    """
    if isinstance(model, Served):
        return NO_NETWORK
    with _lock:  # of two who ask one checks
        if model.model in _known:
            return _known[model.model]
        path, found = settings().home / "importance" / f"{network_hash(model.model)}.json", None
        with suppress(OSError, ValueError, TypeError, KeyError):
            held = json.loads(path.read_text(encoding="utf-8"))
            if held.pop("form") == FORM:
                found = Check(**held)
        if found is None:
            try:
                found = check(model)
            except NETWORK_ERRORS as problem:
                raise AttributionError(f"importance cannot be checked: {problem}") from problem
            with suppress(OSError):  # a full disk costs the next start a second
                path.parent.mkdir(parents=True, exist_ok=True)
                fresh = path.with_suffix(".new")
                fresh.write_text(json.dumps({"form": FORM, **asdict(found)}), encoding="utf-8")
                fresh.replace(path)
        _known[model.model] = found
        return found


def check_behind(model: AnyModel) -> None:
    """Check a network on a thread of its own, where that is not done; nobody waits for it."""

    def work() -> None:
        with suppress(AttributionError):  # it has no importance, and its answers say so
            checked(model)

    if known_check(model) is None:
        Thread(target=work, daemon=True).start()


def check(model: Network) -> Check:
    """Compare the methods on one example of the model's task.

    The label is one that the model does not give: the logarithm of a probability near 1 hardly
    moves, and its differences are rounding.
    """
    with first_import:
        import torch

        from probe.analysis.token_scores import (
            LeftOut,
            columns_of,
            copies_without,
            gradients,
            left_out_scores,
            vector_of,
            whole_and,
        )
        from probe.models.embedding_hook import Changeable, embedding_hook

    task = model.task
    several: Sequence[Any] = task.sanity_examples[:1] or bundled_examples(task)[:50]
    example = min(several, key=lambda each: sum(map(len, task.texts(each).values())))
    if task.has_spans:  # the first word of the passage
        *_, text = task.texts(example).values()
        label = Label(str(getattr(example, task.source or task.target, text)).split()[0])
    else:
        (said,) = model.predict([example])
        label = min(zip(said.probabilities, said.labels, strict=True))[1]
    batch = model.explainable([example], [label])
    tensors = {name: value.to(model.model.device) for name, value in batch.inputs.items()}
    numbers, hook, columns = batch.numbers, embedding_hook(model.model), columns_of(batch)
    columns = columns[:: -(-len(columns) // MOST_TOKENS)]

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
            return copies_without(model, tensors, numbers, columns, run)[:, 0]

    def by_id(network: AnyModel, copies: dict[str, torch.Tensor], gone: torch.Tensor) -> Any:
        length = gone.shape[1]
        copies["input_ids"][:, :length][gone] = other
        if "character_ids" in copies:
            copies["character_ids"][:, :length][gone] = 0
        return batch.log_probability(network, hook.feed(copies))

    def apart(scores: torch.Tensor, others: torch.Tensor) -> float:
        """Return the largest difference as a share of the largest score; 0 where it is rounding."""
        largest = float(max(scores.abs().max(), others.abs().max()))
        apart = float((scores - others).abs().max())
        return apart / largest if apart > LEAST else 0.0

    found = gradients(model, batch, tensors, hook, saliency=False)
    differences = (scaled(1 + STEP) - scaled(1 - STEP)) / (2 * STEP)
    vocabulary = model.vocabulary
    other = vocabulary[len(vocabulary) // 2]
    left_out = LeftOut(hook, vector_of(model, batch, tensors, hook, other))
    by_vector = left_out_scores(model, batch, tensors, left_out, columns)
    whole, *others = copies_without(model, tensors, numbers, whole_and(columns), by_id)[:, 0]
    assert found.vanish is not None
    return Check(
        apart(found.scores[0, columns], differences),
        apart(by_vector[0, columns], whole - torch.stack(others)),
        bool(found.vanish[0]),
    )
