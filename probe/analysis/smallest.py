"""The smallest change of a text that flips the answer, and the shortest text that keeps it.

Input reduction (Feng et al. 2018, "Pathologies of Neural Models Make Interpretations Difficult")
takes the least important word out again and again, as long as the answer stays: what is left often
says nothing to a person, and the model is as sure as before. Its beam has the paper's five texts,
of each of which the five least important words are tried, by gradient × input. Differences from
the paper: words are those of the Penn Treebank, not sub-words; where none of the five can go every
other word is tried, so that of what is left no single word can; of a text of more than 40 words
several go at a time at first.

The other ways look for the fewest changes with another answer. All sets of one change are asked,
then of two, while the budget of texts lasts: a set that is found so is the smallest. Behind that
the five sets that shake the answer most are extended, change by change. Nothing is left to chance.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as of_each
from itertools import combinations, pairwise
from math import comb
from typing import Any, Literal, NamedTuple

from probe.analysis.importance import PAPER, attribute
from probe.errors import AttributionError, OptionError, Stopped, UserError
from probe.models.library import AnyModel
from probe.models.prediction import Prediction
from probe.models.served import Served
from probe.terms import Term, capitalised
from probe.text.tagger import tag
from probe.text.wordnet import Relation
from probe.text.words import spans, split_at_blanks, substitute
from probe.transforms.families.heuristics import WORD_CLASSES, choices_for, denied, left_alone
from probe.transforms.options import DEFAULTS

FLIP = "The smallest change that flips the answer"
BEAM = 5
"""Texts that go on at a time, and least important words that are tried of each (Feng et al.)."""
MOST = 5
"""Changes of a set, at most; of more a person does not say that they are small."""
BUDGET = 300
"""Texts that the model is asked about in one way, unless another number is asked for."""
MAX_BUDGET = 5000
STEPS = 40
"""Steps in which a longer text is reduced, before its last words go one by one."""
MOST_CHOICES = 3
"""Words of WordNet that are tried in the place of one, its most frequent senses first."""


class Edit(NamedTuple):
    """A part of a text that something else takes the place of: text[start:end] becomes `new`."""

    start: int
    end: int
    new: str


@dataclass(frozen=True)
class Way(Term):
    """A way in which a text is changed, as far as the model allows, and what that should do.

    `edits` makes the single changes of a text; of reduction these are the words that may go.
    """

    edits: Callable[[AnyModel, str], list[Edit]]
    spans_too: bool = False
    keeps: bool = False


def words_in(text: str) -> list[Edit]:
    """Return the words and marks of a text, each as taken out; characters where blanks are none."""
    found = []
    for each in spans(text):
        at = each.start
        for piece in split_at_blanks(text[each.start : each.end]):
            found.append(Edit(at, at + len(piece), ""))
            at += len(piece)
    return found


def _deletions(model: AnyModel, text: str) -> list[Edit]:
    return words_in(text)


def _masks(model: AnyModel, text: str) -> list[Edit]:
    if isinstance(model, Served) or not (token := model.tokenizer.mask_token):
        raise OptionError(f"{model.name} has no token for a masked word")
    return [each._replace(new=str(token)) for each in words_in(text)]


def _related(relation: Relation) -> Callable[[AnyModel, str], list[Edit]]:
    def edits(model: AnyModel, text: str) -> list[Edit]:
        tokens = spans(text.replace("’", "'"))
        words = [token.word.rstrip(".") or token.word for token in tokens]
        tags, found = tag(words), list[Edit]()
        for at, token in enumerate(tokens):
            if left_alone(words, tags, at):
                continue
            for kind, (penn, _) in WORD_CLASSES.items():
                if tags[at].startswith(penn):
                    named = choices_for(words[at].lower(), tags[at], kind, relation, DEFAULTS)
                    cased = map(capitalised, named) if words[at][:1].isupper() else named
                    end = token.start + len(words[at])
                    found += [Edit(token.start, end, new) for new in [*cased][:MOST_CHOICES]]
        return found

    return edits


def _negations(model: AnyModel, text: str) -> list[Edit]:
    if (new := denied(text)) is None:
        return []
    first, rest = words_in(text)[0], len(text.rstrip())
    return [first._replace(new=new[: len(new) - (rest - first.end)])]


WayName = Literal["reduce", "delete", "synonym", "antonym", "negation", "mask"]
WAYS: Mapping[WayName, Way] = {
    "reduce": Way(
        "Words taken out while the answer stays",
        "Takes the least important word out, again and again: the shortest text that gets the same "
        "answer. A text that says nothing any more should not (Feng et al. 2018).",
        _deletions,
        spans_too=True,
        keeps=True,
    ),
    "delete": Way(
        "Fewest words to take out for another answer",
        "Takes as few words out as it can until the answer is another.",
        _deletions,
    ),
    "synonym": Way(
        "Fewest synonyms for another answer",
        "Puts WordNet's synonyms in place of words; the right answer should stay what it is.",
        _related("synonym"),
    ),
    "antonym": Way(
        "Fewest opposites for another answer",
        "Puts WordNet's antonyms in place of words; the right answer may well be another then.",
        _related("antonym"),
    ),
    "negation": Way(
        "Negation",
        "Puts “It is not the case that” before the text; the right answer may well be another.",
        _negations,
    ),
    "mask": Way(
        "Fewest words to hide for another answer",
        "Puts the model's token for a hidden word in place of words; nothing is told instead.",
        _masks,
    ),
}
"""The ways by name: what each does, and whether it looks for the same answer or another one."""


@dataclass(frozen=True)
class Step:
    """A text on the way, the changes that led to it, and what the model says of it."""

    text: str
    changes: tuple[tuple[str, str], ...]
    prediction: Prediction


@dataclass(frozen=True)
class Smallest:
    """What one way came to.

    `steps` begin with the text as it is and end with what was found; there is one alone where
    nothing was. All sets of up to `sure` changes were asked, and some of up to `most`, of
    `possible` single ones; `asked` counts the texts, of `budget`. `why` says why there is none.
    """

    way: WayName
    field: str
    steps: tuple[Step, ...]
    sure: int = 0
    most: int = 0
    possible: int = 0
    asked: int = 0
    budget: int = BUDGET
    why: str = ""

    @property
    def found(self) -> bool:
        """Whether there is a change: another answer, or of a reduction a shorter text."""
        return len(self.steps) > 1

    @property
    def sentence(self) -> str:
        """What it came to, in plain words."""
        first, last, keeps = self.steps[0].prediction, self.steps[-1], WAYS[self.way].keeps
        asked = f"{self.asked:,} of at most {self.budget:,} texts asked"
        if self.why:
            return f"Not tried: {self.why}."
        if keeps:
            left, gone = self.possible - len(last.changes), len(last.changes)
            now, end = last.prediction.sure, "no single one can go without another answer"
            if self.sure < 1:
                end = "the budget ended there, so that more might go"
            if not gone:
                return f"No word can go without another answer ({asked})."
            return (
                f"{_words(left)} of {self.possible} {'is' if left == 1 else 'are'} enough for “"
                f"{first.label}”: {first.sure} at first, {now} now; {end} ({asked})."
            )
        if self.found:
            count = len(last.changes)
            least = "no fewer do" if count <= self.sure + 1 else "fewer might do"
            least = f"; {least}" if count > 1 else ""
            return (
                f"{_changes(count)}: “{first.label}” {first.sure} becomes “"
                f"{last.prediction.label}” {last.prediction.sure}{least} ({asked})."
            )
        if not self.possible:
            return "There is nothing to change in this way."
        if not self.sure:
            return f"Nothing that was tried flips it, and not all single changes were ({asked})."
        more = f", nor any that was tried of up to {self.most}" if self.most > self.sure else ""
        return f"Nothing up to {_changes(self.sure).lower()} flips it{more} ({asked})."


def _words(count: int) -> str:
    return f"{count} word{'s' * (count != 1)}"


def _changes(count: int) -> str:
    return "One change" if count == 1 else f"{count} changes"


class _OverBudget(Exception):
    """The texts of the next step are more than what is left of the budget."""


@dataclass
class _Search:
    """Asks a model about changed texts of one field, in batches, each text once."""

    model: AnyModel
    example: Any  # Any: of the task's own dataclass
    field: str
    before: Prediction
    budget: int
    known: dict[str, Prediction] = of_each(default_factory=dict)

    @property
    def text(self) -> str:
        """The text that is changed."""
        return str(getattr(self.example, self.field))

    def changed(self, edits: Sequence[Edit]) -> str:
        """Return the text after some edits, without the blanks that words leave behind."""
        new = substitute(self.text, edits)
        return re.sub(r"\s+", " ", new).strip() if any(not each.new for each in edits) else new

    def ask(self, several: Sequence[Sequence[Edit]]) -> list[Prediction]:
        """Answer to each changed text. Raises _OverBudget, and Stopped between batches."""
        texts = [self.changed(edits) for edits in several]
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if len(self.known) + len(new) > self.budget:
            raise _OverBudget
        examples = [replace(self.example, **{self.field: text}) for text in new]
        self.known |= zip(new, self.model.predict(examples), strict=True)
        return [self.known[text] for text in texts]

    def stays(self, prediction: Prediction) -> bool:
        """Whether an answer is that to the text as it is."""
        return self.model.task.agrees(self.before.label, prediction.label)

    def sure(self, prediction: Prediction) -> float:
        """Return the probability that is left of the answer to the text as it is."""
        own = prediction.confidence if self.stays(prediction) else 0.0
        return prediction.by_label.get(self.before.label, own)

    def step(self, edits: Sequence[Edit]) -> Step:
        """Return the text after some edits that were asked about."""
        text = self.changed(edits)
        said = tuple((self.text[each.start : each.end], each.new) for each in sorted(edits))
        return Step(text, said, self.known[text] if edits else self.before)


def smallest(
    model: AnyModel,
    example: Any,  # Any: of the task's own dataclass
    ways: Sequence[WayName] = (),
    field: str = "",
    budget: int = BUDGET,
) -> Iterator[Smallest]:
    """Yield what each way comes to, all that the task has where none is named.

    `field` is the text that is changed, the task's target where it is empty. Spans are reduced
    alone: another span is hardly another answer. Raises OptionError, and Stopped between batches.
    """
    task, name = model.task, field or model.task.target
    suited = [each for each, way in WAYS.items() if way.spans_too or not task.has_spans]
    if name not in task.fields:
        raise OptionError(
            f"the task {task.name} has no text {name!r}; it has: {', '.join(task.fields)}"
        )
    for way in ways:
        if way not in suited:
            known = ", ".join(suited)
            raise OptionError(f"the way {way!r} is none of those of {task.name}; it has: {known}")
    if not 1 <= budget <= MAX_BUDGET:
        raise OptionError(f"the budget is 1 to {MAX_BUDGET:,} texts, not {budget:,}")
    (before,) = model.predict([example])
    for way in ways or suited:
        search = _Search(model, example, name, before, budget)
        try:
            edits = WAYS[way].edits(model, search.text)
        except Stopped:
            raise
        except UserError as lacking:  # a mask, WordNet or the tagger is not there
            yield Smallest(way, name, (search.step(()),), budget=budget, why=str(lacking))
            continue
        look = _reduced if WAYS[way].keeps else _flipped
        steps, sure, most = look(search, edits)
        shown = tuple(search.step(each) for each in steps)
        yield Smallest(way, name, shown, sure, most, len(edits), len(search.known), budget)


Found = tuple[list[tuple[Edit, ...]], int, int]
"""The edits of each step, and up to how many changes all sets and some sets were asked."""


def _flipped(search: _Search, edits: Sequence[Edit]) -> Found:
    """Look for the fewest edits that flip the answer."""
    sets, sure, most = [tuple[Edit, ...]()], 0, 0
    try:
        for size in range(1, min(MOST, len(edits)) + 1):
            left = search.budget - len(search.known)
            exact = comb(len(edits), size) <= left and most == sure
            made = _sets(edits, size) if exact else _extended(sets, edits)
            if not made:
                break
            answers = search.ask(made)
            order = sorted(range(len(made)), key=lambda at: (search.sure(answers[at]), at))
            sets, most = [made[at] for at in order[:BEAM]], size
            sure = size if exact else sure
            if flips := [made[at] for at in order if not search.stays(answers[at])]:
                return [(), _pruned(search, flips[0])], size - 1 if exact else sure, size
    except _OverBudget:
        pass
    return [()], sure, most


def _sets(edits: Sequence[Edit], size: int) -> list[tuple[Edit, ...]]:
    """Return all sets of so many edits that go together."""
    return [each for each in combinations(edits, size) if _together(each)]


def _extended(sets: Sequence[tuple[Edit, ...]], edits: Sequence[Edit]) -> list[tuple[Edit, ...]]:
    """Return some sets with one edit more each."""
    made = (tuple(sorted((*own, edit))) for own in sets for edit in edits if edit not in own)
    return [each for each in dict.fromkeys(made) if _together(each)]


def _together(edits: Sequence[Edit]) -> bool:
    ordered = sorted(edits)
    return all(a.end <= b.start for a, b in pairwise(ordered))


def _pruned(search: _Search, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Leave out what is not needed of a set that flips the answer, as long as the budget lasts."""
    for edit in edits:
        fewer = tuple(each for each in edits if each != edit)
        if fewer:
            try:
                (answer,) = search.ask([fewer])
            except _OverBudget:
                return edits
            if not search.stays(answer):
                return _pruned(search, fewer)
    return edits


Gone = tuple[tuple[int, ...], ...]
"""Which words are taken out, by their numbers: step by step."""


def _reduced(search: _Search, words: Sequence[Edit]) -> Found:
    """Take words out while the answer stays; the steps are those of the text that is left."""
    beam, size, finished = list[Gone]([()]), max(1, -(-len(words) // STEPS)), False
    try:
        while not finished:
            made = _shorter(search, words, beam, size, BEAM)
            if not made and size == 1:
                made = _shorter(search, words, beam, 1, len(words))
                finished = not made
            elif not made:
                size //= 2
            beam = made or beam
    except _OverBudget:
        pass
    gone = beam[0]
    steps = [
        tuple(words[at] for at in sorted(at for step in gone[:count] for at in step))
        for count in range(len(gone) + 1)
    ]
    return steps, int(finished), len(words)


def _shorter(
    search: _Search, words: Sequence[Edit], beam: Sequence[Gone], size: int, tried: int
) -> list[Gone]:
    """Take `size` more words out of each text, the least important ones in as many ways as said.

    Return the texts whose answer stays, the surest first. One word at least is left.
    """
    made = dict[frozenset[int], Gone]()
    ranked = _least_important(search, words, beam)
    for gone, order in zip(beam, ranked, strict=True):
        many = min(size, len(order) - 1)
        for first in range(0, many and min(tried * many, len(order) - many + 1), many or 1):
            more = tuple(sorted(order[first : first + many]))
            made.setdefault(frozenset(more).union(*gone), (*gone, more))
    several = list(made.values())
    answers = search.ask([[words[at] for step in gone for at in step] for gone in several])
    kept = [at for at, answer in enumerate(answers) if search.stays(answer)]
    kept.sort(key=lambda at: (-search.sure(answers[at]), at))
    return [several[at] for at in kept[:BEAM]]


def _least_important(
    search: _Search, words: Sequence[Edit], beam: Sequence[Gone]
) -> list[list[int]]:
    """Return the words that are left of each text, those that add least to the answer first.

    They stand in the order of the text where the network does not say what they add.
    """
    rests, texts, ranked = list[list[int]](), list[str](), list[list[int]]()
    for gone in beam:
        out = {at for step in gone for at in step}
        rests.append([at for at in range(len(words)) if at not in out])
        texts.append(search.changed([words[at] for at in sorted(out)]))
    examples = [replace(search.example, **{search.field: text}) for text in texts]
    try:
        scores = attribute(search.model, examples, [search.before.answer] * len(examples), PAPER)
    except AttributionError:
        return rests
    for rest, text, found in zip(rests, texts, scores, strict=True):
        adds, end = dict[int, float](), 0
        for at in rest:
            word = search.text[words[at].start : words[at].end]
            start = text.index(word, end)
            end = start + len(word)
            inside = (each for each in found.tokens(search.field) if start <= each.start < end)
            adds[at] = sum(each.score for each in inside)
        ranked.append(sorted(rest, key=lambda at: (adds[at], at)))
    return ranked


def smallest_json(found: Smallest) -> dict[str, Any]:  # Any: JSON
    """Return what a way came to: found, the sentence, its steps, and how far it was looked."""
    steps = [
        {
            "text": step.text,
            "changes": [list(each) for each in step.changes],
            "label": step.prediction.label,
            "confidence": step.prediction.confidence if step.prediction.probabilities else None,
        }
        for step in found.steps
    ]
    facts = {name: getattr(found, name) for name in ("way", "field", "found", "sure", "most")}
    return {
        **facts,
        "asked": found.asked,
        "budget": found.budget,
        "says": found.sentence,
        "steps": steps,
    }
