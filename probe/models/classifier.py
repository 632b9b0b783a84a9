"""One loaded model: examples in, probabilities in our label order out.

Who only speaks of predictions imports this too, so torch is imported where a model runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice, starmap
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from probe.errors import AttributionError, ExampleError, ModelError
from probe.models.hardware import Precision as Precision
from probe.models.hardware import fast_bf16 as fast_bf16
from probe.models.hardware import resolve as resolve
from probe.models.prediction import Prediction as Prediction
from probe.models.prediction import as_predictions, read_invalid_below, read_temperature, softmax
from probe.models.text_model import (
    Explainable,
    TextModel,
    TokenPlace,
    TokenRows,
    of_labels,
    token_places,
)
from probe.models.text_model import by_length as by_length
from probe.models.windows import (
    WINDOW_TOKENS,
    Long,
    Span,
    WindowPrediction,
    decided,
    windows_of,
)
from probe.stopping import Stop, check_stop, never, raise_if_stopped, tell_answered
from probe.tasks.task import INVALID, Example, Label, Task

if TYPE_CHECKING:
    import torch
    from transformers import BatchEncoding, PreTrainedModel

MAX_SPECIAL_TOKENS = 4  # at most, around and between two texts
EXAMPLES_PER_CALL = 1000  # of the tokenizer
SMALL_INPUTS = ("token_type_ids", "attention_mask", "character_ids")  # of values below 256


TEMPLATE = "text_template"
"""The entry of the config."""
FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Framed:
    """A text made by a template, and where in it each field's text stands."""

    text: str
    places: Sequence[tuple[int, int]]  # of the task's fields, in their order

    def placed(self, token: TokenPlace) -> TokenPlace | None:
        """Return where a token of it stands in one of the texts, None for one of the frame."""
        for number, (first, last) in enumerate(self.places):
            if token.start < last and token.end > first:
                start, end = max(token.start, first) - first, min(token.end, last) - first
                return replace(token, text=number, start=start, end=end)
        return None


def is_decoder(model: Any) -> bool:  # Any: a network, and torch is not imported here
    """Whether a classifier's head, a linear layer, reads the last token."""
    return hasattr(getattr(model, "score", None), "out_features")


def read_template(config: Any, fields: Sequence[str]) -> str:  # Any: transformers' configs
    """Return a config's template, "" where it has none. Raises ModelError for one of other texts.

    It names each field of the task once.
    """
    template = getattr(config, TEMPLATE, "")
    named = FIELD.findall(template) if isinstance(template, str) else []
    if template and sorted(named) != sorted(fields):
        wanted = " and ".join(f"{{{field}}}" for field in fields)
        raise ModelError(
            f"the template of a model's texts ({TEMPLATE} in its config.json) names {wanted}, each "
            f"once, and is {template!r}"
        )
    return str(template)


def framed_sentence(frame: str) -> str:
    """Say how a decoder reads its texts as one, which its files do not."""
    return (
        f"its texts are read as {frame!r}; if it was trained on another form, give that as its "
        "template where it is opened, or write it into its folder with python -m probe models "
        "export MODEL FOLDER --template"
    )


def framed(template: str, texts: Mapping[str, str]) -> Framed:
    """Put the texts of an example, by field in their order, into a template."""
    parts, places, length = [], {}, 0
    for number, part in enumerate(FIELD.split(template)):
        text = texts[part] if number % 2 else part  # every second part is a field's name
        if number % 2:
            places[part] = length, length + len(text)
        parts.append(text)
        length += len(text)
    return Framed("".join(parts), [places[field] for field in texts])


class Named(Protocol):
    """What is said of a model: its name, its commit if it is a hub's, and its task."""

    @property
    def name(self) -> str:
        """The name in answers and files."""

    @property
    def revision(self) -> str | None:
        """The commit on the hub, None for any other model."""

    @property
    def task(self) -> Task:
        """The task that it answers."""


class Model(Named, Protocol):
    """A model that predicts the answers of one task."""

    def predict(
        self, examples: Sequence[Example], precision: Precision = "fp32"
    ) -> list[Prediction]:
        """Answer for each example, in their order."""

    def too_long(self, example: Example) -> bool:
        """Whether the example is longer than what the model reads, so that its end is cut."""


@dataclass(frozen=True)
class Classifier(TextModel):
    """A sequence classifier with its tokenizer.

    `order[i]` is the label of the model's i-th output; `long` says what is done with a source that
    is longer than it reads.
    """

    task: Task
    order: tuple[Label, ...]
    long: Long = "cut"

    @property
    def temperature(self) -> float:
        """What the logits are divided by; 1 for a model that was not calibrated."""
        return read_temperature(self.model.config)

    @property
    def invalid_below(self) -> float:
        """The confidence below which the answer is `INVALID`; 0 for a model that always answers."""
        return read_invalid_below(self.model.config)

    @property
    def template(self) -> str:
        """How its texts are put into one; "" where the tokenizer joins them."""
        return read_template(self.model.config, self.task.fields)

    @property
    def frame(self) -> str:
        """How a decoder reads its texts as one, each as {field}; "" where a model is no decoder."""
        if not is_decoder(self.model):
            return ""
        names = [f"{{{field}}}" for field in self.task.fields]
        return self.template or str(self.tokenizer.decode(self.tokenise(*names)["input_ids"]))

    @cached_property
    def columns(self) -> list[list[int]]:
        """The indices of each of `labels` among the model's outputs; several where it merges."""
        return [[at for at, own in enumerate(self.order) if own == each] for each in self.labels]

    @property
    def labels(self) -> tuple[Label, ...]:
        """The task's labels in its order, `INVALID` behind them where the model has that class.

        The last axis of logits and probabilities.
        """
        return (*self.task.labels, *({INVALID} & set(self.order)))

    @property
    def scoring_model(self) -> PreTrainedModel:
        """The network with a last layer that computes the first token alone where that is read."""
        from probe.models.first_token import first_token_model

        return first_token_model(self.model)

    def too_long(self, example: Example) -> bool:
        """Whether an example has more sub-words than the model reads, so that its end is cut.

        Where the source is read in windows, the other text alone can be too long.
        """
        if self.long == "windows":
            target, most = self._target(example)
            return target > most
        return self._too_long(example)

    def _too_long(self, example: Example) -> bool:
        # a sub-word covers at least one ASCII character, or the blank that SentencePiece puts
        # before a text, so most examples need no tokenising; others may be normalised into many
        texts = list(self.task.texts(example).values())
        whole = "".join(texts)
        if whole.isascii() and len(whole) + len(texts) + MAX_SPECIAL_TOKENS <= self.max_tokens:
            return False
        if self.template:
            texts = [self._framed(example).text]
        encoded = self.tokenise(*texts, truncation=False)
        return len(encoded["input_ids"]) > self.max_tokens

    def _framed(self, example: Example, max_tokens: int | None = None) -> Framed:
        """Put an example into the template, the longest text cut until so many tokens hold it."""
        texts = dict(self.task.texts(example))
        whole = framed(self.template, texts)
        while max_tokens and any(texts.values()):
            over = len(self.tokenise(whole.text, truncation=False)["input_ids"]) - max_tokens
            if over <= 0:
                break
            longest = max(texts, key=lambda field: len(texts[field]))
            texts[longest] = texts[longest][:-over]  # a token has one character or more
            whole = framed(self.template, texts)
        return whole

    def _target(self, example: Example) -> tuple[int, int]:
        """Return the target's sub-words, and how many leave windows of the source their half."""
        most = min(WINDOW_TOKENS, self.max_tokens) // 2 - MAX_SPECIAL_TOKENS
        return len(self.sub_words(getattr(example, self.task.target))), most

    def _windows(self, example: Example) -> list[Span]:
        """Return the windows in which the source is read, one with all of it where it is short."""
        source: str = getattr(example, self.task.source or "")
        spans: list[Span] = []
        if self._too_long(example):
            room = min(WINDOW_TOKENS, self.max_tokens) - MAX_SPECIAL_TOKENS
            room -= min(self._target(example))
            spans = windows_of(source, room, lambda text: len(self.sub_words(text)))
        return spans or [(0, len(source))]

    def _in_window(self, example: Any, span: Span) -> Any:  # Any: of the task's own dataclass
        """Return an example with a window of its source in place of the whole."""
        source = self.task.source or ""
        return replace(example, **{source: getattr(example, source)[slice(*span)]})

    def encode(self, examples: Sequence[Example], max_tokens: int | None = None) -> BatchEncoding:
        """Tokenise examples together, padded to the longest, longest text cut first."""
        several = self.tokenizer.pad_token_id is not None
        return self._tokenised(examples, max_tokens, padding=several, return_tensors="pt")

    def token_rows(self, examples: Sequence[Example], max_tokens: int | None = None) -> TokenRows:
        """Tokenise examples once, as `encode` does, to be put together into batches.

        transformers (5.23), asked for tensors, walks through all numbers in Python to count them,
        so their values are put one row after the other here, in small types. Raises Stopped between
        two calls of the tokenizer.
        """
        import torch

        stored = {"input_ids": torch.int32, **dict.fromkeys(SMALL_INPUTS, torch.uint8)}
        parts: dict[str, list[torch.Tensor]] = {}
        lengths: list[int] = []
        for start in range(0, len(examples), EXAMPLES_PER_CALL):
            check_stop()
            encoded = self._tokenised(examples[start : start + EXAMPLES_PER_CALL], max_tokens)
            lengths += map(len, encoded["input_ids"])
            for name, rows in encoded.items():
                kept = stored.get(name, torch.int64)
                values: list[Any] = list(chain.from_iterable(rows))  # Any: numbers, or bytes
                if values and isinstance(values[0], bytes):
                    flat = torch.frombuffer(bytearray(b"".join(values)), dtype=torch.uint8)
                    part = flat.view(len(values), -1).to(kept)
                else:
                    part = torch.tensor(values, dtype=kept)
                parts.setdefault(name, []).append(part)
        padding = {
            "input_ids": int(self.tokenizer.pad_token_id or 0),
            "token_type_ids": int(self.tokenizer.pad_token_type_id),
        }
        inputs = {name: torch.cat(values) for name, values in parts.items()}
        return TokenRows(inputs, padding, self.tokenizer.padding_side == "left", lengths)

    def _tokenised(
        self, examples: Sequence[Example], max_tokens: int | None, **options: Any
    ) -> BatchEncoding:
        """Tokenise examples together. Any: each option of the tokenizer has a type of its own."""
        most = max_tokens or self.max_tokens
        texts = [[getattr(example, name) for example in examples] for name in self.task.fields]
        if self.template:
            texts = [[self._framed(example, most).text for example in examples]]
        return self.tokenise(*texts, truncation="longest_first", max_length=most, **options)

    def logits(self, inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Return logits in our label order over the temperature, float32.  # (batch, labels)"""
        return self.unscaled_logits(inputs) / self.temperature

    def unscaled_logits(self, inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Return logits in our label order, as float32.  # (batch, labels)

        Labels are taken from these: divided, two neighbours can become equal.
        """
        import torch

        dtype = self.model.dtype  # of states that enter in the embeddings' place
        moved = {
            name: value.to(self.device, dtype if value.is_floating_point() else value.dtype)
            for name, value in inputs.items()
        }
        try:
            logits: torch.Tensor = self.model(**moved).logits
        except IndexError as problem:  # of a table of vectors
            raise ExampleError(f"{self.name!r} cannot read this text: {problem}") from problem
        if all(len(several) == 1 for several in self.columns):
            return logits[:, [only for (only,) in self.columns]].float()
        # of outputs that count as one label the probabilities add up
        groups = [logits[:, several].float().logsumexp(1) for several in self.columns]
        return torch.stack(groups, 1)

    def explainable(
        self, examples: Sequence[Example], labels: Sequence[Label], against: Sequence[Label] = ()
    ) -> Explainable:
        """Prepare examples to explain the probability of a label of each, or what sets it apart.

        With `against` it is the logarithm of a label's probability less that of another's.
        Of a source in windows the one that decides is explained, as `predict` has it. Raises
        AttributionError where the tokenizer cannot say where a token stands.
        """
        import torch
        from torch.nn.functional import log_softmax

        starts = [0] * len(examples)
        if self.long == "windows":
            spans = [
                (answer.start, answer.end)
                if isinstance(answer, WindowPrediction)
                else self._windows(example)[0]
                for example, answer in zip(examples, self.predict(examples), strict=True)
            ]
            starts = [start for start, _ in spans]
            examples = list(map(self._in_window, examples, spans))
        encoded = self.encode(examples)
        targets, others = (
            torch.tensor([self.labels.index(label) for label in each], device=self.device)
            for each in (labels, against)
        )

        def log_probability(model: Classifier, tensors: Mapping[str, torch.Tensor]) -> torch.Tensor:
            return of_labels(log_softmax(model.logits(tensors), dim=-1), targets, others)

        if not encoded.encodings:
            raise AttributionError(
                "this model's tokenizer does not say where a token stands in the text"
            )
        rows = zip(encoded.encodings, examples, starts, strict=True)
        source = self.task.fields.index(self.task.source) if self.task.source else None

        def placed(row: Any, example: Example, start: int) -> list[TokenPlace | None]:
            # Any: an encoding of the tokenizers library; the source is read from `start` on
            places = token_places(row)
            if self.template:
                frame = self._framed(example, self.max_tokens)
                places = [frame.placed(place) if place else None for place in places]
            return [
                replace(place, start=place.start + start, end=place.end + start)
                if place and place.text == source
                else place
                for place in places
            ]

        return Explainable(dict(encoded), list(starmap(placed, rows)), log_probability)

    def probabilities(
        self, examples: Sequence[Example], precision: Precision = "fp32"
    ) -> NDArray[np.float64]:
        """Return the probabilities of the examples, in their order.  # (examples, labels)

        Raises Stopped between two batches.
        """
        return self.probabilities_of(self.token_rows(examples), precision)

    def probabilities_of(self, tokens: TokenRows, precision: Precision) -> NDArray[np.float64]:
        """Return the probabilities of tokenised examples, as above."""
        logits = self.unscaled(tokens, precision).double().cpu().numpy()
        return softmax(logits, self.temperature)

    def unscaled(
        self, tokens: TokenRows, precision: Precision = "fp32", stop: Stop = never
    ) -> torch.Tensor:
        """Return the logits of tokenised examples before any temperature, float32, in their order.

        Raises Stopped, and Cancelled by `stop`, between two batches.  # (examples, labels)
        """
        import torch

        result = torch.zeros(len(tokens.lengths), len(self.labels), device=tokens.device)

        def logits(model: Classifier, rows: Sequence[int]) -> torch.Tensor:
            raise_if_stopped(stop)
            return model.unscaled_logits(tokens.padded(rows))

        for rows, values in self.each_of_like_length(precision, tokens.lengths, logits):
            result[rows] = values.to(result.device)
            tell_answered(len(rows))
        return result

    def predict(
        self, examples: Sequence[Example], precision: Precision = "fp32"
    ) -> list[Prediction]:
        """Classify examples, in their order; a source in windows by the window that decides."""
        parts, windows = examples, list[list[Span]]()
        if self.long == "windows":
            windows = list(map(self._windows, examples))
            both = zip(examples, windows, strict=True)
            parts = [self._in_window(example, span) for example, spans in both for span in spans]
        logits = self.unscaled(self.token_rows(parts), precision).double().cpu().numpy()
        answers = as_predictions(logits, self.labels, self.temperature, self.invalid_below)
        if self.long == "cut":
            return answers
        each = iter(answers)
        settled = self.task.settled
        return [decided(list(islice(each, len(spans))), spans, settled) for spans in windows]


def predict_each(
    model: Model, examples: Sequence[Example], precision: Precision
) -> list[Prediction | ExampleError]:
    """Answer for each example as `predict` does, or say why that one cannot be answered."""
    try:
        return list(model.predict(examples, precision))
    except ExampleError as problem:
        if len(examples) == 1:
            return [problem]
    middle = len(examples) // 2
    halves = examples[:middle], examples[middle:]
    return [answer for half in halves for answer in predict_each(model, half, precision)]


def text_lengths(task: Task, examples: Sequence[Example]) -> list[int]:
    """Return the number of characters in all texts of each example."""
    return [sum(map(len, task.texts(example).values())) for example in examples]
