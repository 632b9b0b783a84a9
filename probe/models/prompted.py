"""A language model that is asked in words: the probability of each label's words behind a prompt.

The score of a label is the logarithm of the probability of all tokens from the first on that differ
between the labels, summed; where a prompt lists the labels, the mean over the orders of the list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import signature
from itertools import chain, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from probe.errors import ExampleError, ModelError
from probe.models.asked import Asked, messages
from probe.models.classifier import Framed, Precision
from probe.models.prompts import BETWEEN, Asking, Prompt
from probe.models.text_model import (
    Explainable,
    TextModel,
    TokenPlace,
    by_tokens,
    of_labels,
    token_places,
)
from probe.stopping import tell_answered
from probe.tasks.examples import bundled_examples
from probe.tasks.task import Example, Label, Task

if TYPE_CHECKING:
    import torch

HERE = "\u241f"
"""Where a chat's template is to put the text that is asked; no template has it."""
BATCH_TOKENS, BATCH_LOGITS = 2048, 1 << 26
"""Of a batch, without what is the same for all; fewer tokens where the vocabulary is large."""
KEPT_TOKENS = 16_384
"""What is the same for all, counted for each label of each row of a batch, as a network keeps it:
more takes longer and gigabytes."""
SAME_TOKENS = 8
"""So many tokens that are the same for all examples of a batch, and more, are read once."""
CACHE = "cache"
"""What transformers calls what a network keeps of tokens that it has read."""
AGREES = 1e-3
"""The difference between two ways of computing one score that is rounding."""


class Variant(NamedTuple):
    """An example under one order of the listed labels: what is read, with the words of each label.

    `ids[label]` are the tokens behind those `before` the example, of which all labels have the
    first `shared` in common; `places[label]` says where they stand in the example's texts.
    """

    before: tuple[int, ...]
    ids: Sequence[Sequence[int]]
    shared: int
    places: Sequence[Sequence[TokenPlace | None]]

    @property
    def work(self) -> int:
        """How many tokens are read, those before the example left out."""
        return self.shared + sum(len(each) - self.shared for each in self.ids)


@dataclass(frozen=True)
class Prompted(TextModel, Asked):
    """A causal language model with the prompt by which it is asked for the labels of a task.

    A `stepwise` one keeps what it has read, so that what is the same is computed once.
    """

    task: Task
    prompt: Prompt
    asking: Asking = field(default_factory=Asking)
    stepwise: bool = False
    given: Sequence[Example] = ()
    """Examples in context that take the place of drawn ones."""

    @property
    def chats(self) -> bool:
        """Whether what is asked is a turn of a chat."""
        return self.prompt.asks and bool(self.tokenizer.chat_template)

    def shown(self, example: Example) -> str:
        """Return all that the model reads of an example, to the label, as text."""
        (variant, *_), *_ = self._variants([example])
        with self.tokenizer_lock:
            return str(self.tokenizer.decode([*variant.before, *variant.ids[0][: variant.shared]]))

    def _frame(
        self, order: Sequence[str], shots: Sequence[Example], begun: dict[Any, Any]
    ) -> tuple[tuple[int, ...], str]:
        """Return the tokens before an example's block, and a chat's text between it and its label.

        `begun` holds those that were asked for before.  Any: the key is the arguments
        """
        key = tuple(order), *map(id, shots)
        if key in begun:
            known: tuple[tuple[int, ...], str] = begun[key]
            return known
        between = ""
        turns, answers = self.turns(order, shots, HERE)
        if not self.chats:
            text = BETWEEN.join(turns).removesuffix(HERE)
            before = (*self._first, *(self.sub_words(text) if text else ()))
        else:
            with self.tokenizer_lock:
                rendered = self.tokenizer.apply_chat_template(
                    messages(turns, answers),
                    tokenize=False,
                    add_generation_prompt=True,
                    enable_thinking=False,
                )
            said_before, here, between = str(rendered).partition(HERE)
            if not here or HERE in between:
                raise ModelError(f"the chat template of {self.name!r} alters what is said")
            before = tuple(self.sub_words(said_before))
        begun[key] = before, between
        return before, between

    @cached_property
    def _first(self) -> tuple[int, ...]:
        """The token with which the tokenizer begins a text, if any."""
        begin = self.tokenizer.bos_token_id
        ids = self.tokenise("a")["input_ids"]
        return (int(begin),) if begin is not None and ids[0] == begin else ()

    @cached_property
    def _room(self) -> int:
        """The tokens that the texts of an example can have beside the longest of its prompts.

        Raises ModelError where there are none.
        """
        variants = self._variants([self.task.example(**dict.fromkeys(self.task.fields, ""))])[0]
        longest = max(len(each.before) + max(map(len, each.ids)) for each in variants)
        room = self.max_tokens - longest - 2 * len(self.task.fields)
        if room < len(self.task.fields):
            raise ModelError(
                f"the prompt with its {len(self.shots)} examples leaves no room for a text: it "
                f"takes {longest} of the {self.max_tokens} sub-words that {self.name!r} reads"
            )
        return room

    def too_long(self, example: Example) -> bool:
        """Whether an example has more sub-words than the model reads, so that its end is cut."""
        texts = "".join(self.task.texts(example).values())
        if texts.isascii() and len(texts) <= self._room:
            return False
        return len(self.sub_words(texts)) > self._room

    def _read(self, example: Example) -> dict[str, str]:
        """Return the texts of an example as they are read, the longest cut where they are too long.

        Raises ExampleError for a text that holds a token which is no text.
        """
        texts = dict(self.task.texts(example))
        for mark in map(str, self.tokenizer.all_special_tokens):
            if any(mark in text for text in texts.values()):
                raise ExampleError(f"{self.name!r} reads {mark} of this text as a mark of its own")
        while self.too_long(self.task.example(**texts)):
            longest = max(texts, key=lambda name: len(texts[name]))
            over = len(self.sub_words("".join(texts.values()))) - self._room
            texts[longest] = texts[longest][: -max(1, over)]  # a token has a character or more
        return texts

    def _variants(self, examples: Sequence[Example], cut: bool = False) -> list[list[Variant]]:
        """Return each example under each order of the labels, tokenised."""
        frames, befores, begun = list[Framed](), list[tuple[int, ...]](), dict[Any, Any]()
        for example in examples:
            texts = self._read(example) if cut else self.task.texts(example)
            shots = self.shots_for(example)
            for order in self.orders:
                before, between = self._frame(order, shots, begun)
                befores.append(before)
                for word in self.prompt.words:
                    frame, at = self.prompt.filled(texts, word, order)
                    if between:
                        frame = Framed(frame.text[:at].rstrip() + between + word, frame.places)
                    frames.append(frame)
        encoded = self.tokenise([frame.text for frame in frames], add_special_tokens=False)
        if not encoded.encodings:
            raise ModelError(f"the tokenizer of {self.name!r} does not say where tokens stand")
        each = len(self.prompt.words)
        rows = zip(frames, encoded["input_ids"], encoded.encodings, strict=True)
        labelled = [
            (ids, [place and frame.placed(place) for place in token_places(row)])
            for frame, ids, row in rows
        ]
        variants = list[Variant]()
        for at, before in enumerate(befores):
            several, places = zip(*labelled[at * each : (at + 1) * each], strict=True)
            alike = (len({*tokens}) == 1 for tokens in zip(*several, strict=False))
            shared = len(list(takewhile(bool, alike)))
            start = () if before or shared else (self._start,)
            variants.append(Variant(before or start, several, shared, places))
        count = len(self.orders)
        return [variants[at : at + count] for at in range(0, len(variants), count)]

    @property
    def _start(self) -> int:
        """The token that stands where nothing else does before a label."""
        known = (self.tokenizer.bos_token_id, self.tokenizer.eos_token_id)
        return int(next((number for number in known if number is not None), 0))

    def scores(
        self, examples: Sequence[Example], precision: Precision = "fp32"
    ) -> NDArray[np.float64]:
        """Return the score of each label, before any calibration.  # (examples, labels)

        Raises Stopped between two batches.
        """
        count = len(self.orders)
        if not examples:
            return np.zeros((0, len(self.labels)))
        variants = list(chain.from_iterable(self._variants(examples, cut=True)))
        groups: dict[tuple[int, ...], list[int]] = {}
        for at, variant in enumerate(variants):
            groups.setdefault(variant.before, []).append(at)
        vocabulary = int(self.model.config.get_text_config().vocab_size)
        most = min(BATCH_TOKENS, BATCH_LOGITS // vocabulary)
        equal = not (self.stepwise or self.architecture.ignores_padding)
        batches = [
            (before, [rows[at] for at in batch])
            for before, rows in groups.items()
            for batch in by_tokens(
                [variants[row].work for row in rows],
                most,
                max(1, KEPT_TOKENS // (len(self.labels) * max(1, len(before)))),
                equal,
            )
        ]
        memory: dict[Any, Any] = {}  # Any: what a network keeps, by the network and the tokens

        def compute(model: Prompted, batch: tuple[tuple[int, ...], Sequence[int]]) -> torch.Tensor:
            rows = [variants[row] for row in batch[1]]
            return model._in_steps(rows, memory) if self.stepwise else model._as_a_whole(rows)

        found, answered = np.zeros((len(variants), len(self.labels))), 0
        for (_, rows), values in self.each(precision, batches, compute):
            found[rows] = values.double().cpu().numpy()
            tell_answered((answered + len(rows)) // count - answered // count)
            answered += len(rows)
        means: NDArray[np.float64] = found.reshape(-1, count, len(self.labels)).mean(axis=1)
        return means

    def _run(
        self, ids: torch.Tensor, mask: torch.Tensor, keep: int, past: Any = None, **options: Any
    ) -> Any:  # Any: what transformers takes and gives
        """Run the network on tokens behind what it has read; `mask` is of both.  # (rows, tokens)

        The output's last `keep` logits of each row are as of each token's place.
        """
        positions = (mask.long().cumsum(1) - 1).clamp(min=0)[:, -ids.shape[1] :]
        told = {"position_ids": positions.to(self.device), "logits_to_keep": keep, CACHE: past}
        return self.model(
            input_ids=ids.to(self.device),
            attention_mask=mask.to(self.device),
            **{name: value for name, value in told.items() if name in self._takes},
            **options,
        )

    @cached_property
    def _takes(self) -> frozenset[str]:
        """The names of what the network takes."""
        return frozenset(signature(self.model.forward).parameters)

    def _in_steps(self, variants: Sequence[Variant], memory: dict[Any, Any]) -> torch.Tensor:
        """Return the scores of variants with one beginning, read from there.  # (rows, labels)

        `memory` holds what the network keeps of a beginning.
        """
        import torch

        before, labels = variants[0].before, len(self.labels)
        same = len(before) - 1 if len(before) > SAME_TOKENS else 0
        past = None
        if same:
            key = id(self.model), before
            if key not in memory:
                ids = torch.tensor([before[:same]])
                out = self._run(ids, torch.ones_like(ids), 1, use_cache=True)
                memory.clear()  # groups come one after the other
                memory[key] = out[CACHE]
            past = deepcopy(memory[key])
            past.batch_repeat_interleave(len(variants))
        contexts = [[*before[same:], *each.ids[0][: each.shared]] for each in variants]
        ids, mask = padded(contexts, left=True)
        mask = torch.cat([torch.ones(len(ids), same, dtype=torch.long), mask], 1)
        out = self._run(ids, mask, 1, past, use_cache=True)
        first = torch.tensor([[each[v.shared] for each in v.ids] for v in variants])
        scores = log_probabilities(out.logits[:, -1:], first[:, None].to(self.device))[:, 0]
        ends = [each[v.shared :] for v in variants for each in v.ids]
        if max(map(len, ends)) > 1:
            past = out[CACHE]
            past.batch_repeat_interleave(labels)
            ids, more = padded([end[:-1] for end in ends], left=False)
            mask = torch.cat([mask.repeat_interleave(labels, 0), more], 1)
            logits = self._run(ids, mask, ids.shape[1], past, use_cache=True).logits
            targets, _ = padded([end[1:] for end in ends], left=False)
            each = log_probabilities(logits, targets[..., None].to(self.device))[..., 0]
            scores = scores + (each * more.to(each)).sum(1).view(-1, labels)
        return scores

    def _as_a_whole(self, variants: Sequence[Variant]) -> torch.Tensor:
        """Return the scores of variants, each read from its beginning.  # (rows, labels)"""
        inputs, ends = self._inputs(variants)
        return self._ends(inputs, inputs["input_ids"], ends).view(-1, len(self.labels))

    def _inputs(self, variants: Sequence[Variant]) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
        """Return what is read for each label of each variant, and how many tokens are scored.

        Rows end together, so that these are the last.  # (rows * labels, tokens), (rows * labels,)
        """
        import torch

        whole = [[*each.before, *ids] for each in variants for ids in each.ids]
        ids, mask = padded(whole, left=True)
        ends = [len(ids) - each.shared for each in variants for ids in each.ids]
        return {"input_ids": ids, "attention_mask": mask}, torch.tensor(ends)

    def _ends(
        self, inputs: Mapping[str, torch.Tensor], ids: torch.Tensor, ends: torch.Tensor
    ) -> torch.Tensor:
        """Return the log-probability of the last of `ids` of each row, so many of each.  # (rows,)

        They stay the same where other tokens are read.
        """
        import torch

        most = int(ends.max())
        run = self._run(inputs["input_ids"], inputs["attention_mask"], most + 1)
        last = ids[:, -most:, None].to(self.device)
        each = log_probabilities(run.logits[:, -most - 1 : -1], last)[..., 0]
        counted = torch.arange(most, 0, -1) <= ends[:, None]
        return (each * counted.to(each)).sum(1)

    def batch_of(self, examples: Sequence[Example]) -> dict[str, torch.Tensor]:
        """Return what `logits` takes of examples: a row for each order and label."""
        several = self._variants(examples, cut=True)
        inputs, ends = self._inputs(list(chain.from_iterable(several)))
        return {**inputs, "ends": ends}

    def logits(self, inputs: Mapping[str, Any]) -> torch.Tensor:  # Any: as a training has them
        """Return the score of each label, before any calibration, to train on.

        # (examples, labels)
        """
        scores = self._ends(inputs, inputs["input_ids"], inputs["ends"])
        return scores.view(-1, len(self.orders), len(self.labels)).mean(1)

    def explainable(
        self, examples: Sequence[Example], labels: Sequence[Label], against: Sequence[Label] = ()
    ) -> Explainable:
        """Prepare examples to explain the probability of a label of each, all orders together.

        With `against` it is its logarithm less that of another's. A token of a text is one,
        wherever the prompts of orders and labels have it.
        """
        import torch

        several = self._variants(examples, cut=True)
        variants = list(chain.from_iterable(several))
        inputs, ends = self._inputs(variants)
        length, count = inputs["input_ids"].shape[1], len(self.labels)
        places = [[place for place in each[0].places[0] if place] for each in several]
        units = torch.full(inputs["input_ids"].shape, -1)
        for row in range(len(units)):
            variant, known = variants[row // count], places[row // (count * len(self.orders))]
            numbers = {(place.text, place.start, place.end): n for n, place in enumerate(known)}
            own = variant.places[row % count]
            for at, place in enumerate(own, length - len(own)):
                if place:
                    units[row, at] = numbers.get((place.text, place.start, place.end), -1)
        targets, others = (
            torch.tensor([self.labels.index(label) for label in each], device=self.device)
            for each in (labels, against)
        )
        usual = torch.tensor(self.usual, device=self.device, dtype=torch.float32)

        def log_probability(model: Prompted, tensors: Mapping[str, torch.Tensor]) -> torch.Tensor:
            copies = len(tensors["attention_mask"]) // len(units)
            scored = inputs["input_ids"].repeat(copies, 1), ends.repeat(copies)
            scores = model._ends(tensors, *scored).view(-1, len(self.orders), count)
            return of_labels((scores.mean(1) - usual).log_softmax(-1), targets, others)

        return Explainable(inputs, places, log_probability, units)


def padded(rows: Sequence[Sequence[int]], left: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Return rows of tokens padded to the longest, and where they are tokens.  # (rows, tokens)"""
    import torch

    longest = max(map(len, rows))
    ids, mask = torch.zeros(2, len(rows), longest, dtype=torch.long)
    for row, tokens in enumerate(rows):
        at = slice(longest - len(tokens), None) if left else slice(len(tokens))
        ids[row, at], mask[row, at] = torch.tensor(tokens, dtype=torch.long), 1
    return ids, mask


def log_probabilities(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """Return the log-probability of some tokens at each place.

    # (rows, places, vocabulary), (rows, places, tokens) -> (rows, places, tokens)
    """
    values = logits.float()
    return values.gather(-1, tokens) - values.logsumexp(-1, keepdim=True)


def stepwise(model: Prompted) -> Prompted:
    """Return a model that reads what is the same once, where that changes no score."""
    examples = bundled_examples(model.task, "pool")[:2]
    one = replace(model, asking=replace(model.asking, orders="one"))
    try:
        quick = replace(one, stepwise=True).scores(examples)
        difference = np.abs(quick - one.scores(examples)).max()
    except (AttributeError, TypeError, ValueError, RuntimeError, IndexError):
        return model  # it keeps what it has read in a way of its own
    return replace(model, stepwise=bool(difference < AGREES))
