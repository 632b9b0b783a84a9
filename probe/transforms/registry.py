"""The registry of transforms: their functions, facts and tools."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from probe import pbsmt
from probe.errors import OptionError, TransformError, Unavailable, UnknownTransform
from probe.tasks.label_rules import UNDEFINED, Rule, compose
from probe.tasks.nli import NLI
from probe.tasks.task import SOURCE, TARGET, Example, Label, Task, task_named
from probe.terms import Term
from probe.text import tagger, wordnet
from probe.transforms.options import DEFAULTS, OPTIONS, Options, read_options

Need = Literal["model", "wordnet", "tagger", "phrases"]


@dataclass(frozen=True)
class Scored:
    """A sub-word of a text, its vocabulary id, where it stands in the text, and its score."""

    token: str
    id: int
    start: int
    end: int
    score: float


class SubWords(Protocol):
    """A model's sub-words of an example, scored, for each field; and its decoding of ids."""

    def tokens(self, field: str) -> Sequence[Scored]:
        """Return a field's sub-words in order, special tokens left out."""

    def decode(self, ids: Sequence[int]) -> str:
        """Turn sub-word ids into text."""

    def encode(self, text: str) -> list[int]:
        """Turn text into sub-word ids, without special tokens."""

    def loses_letters(self, ids: Sequence[int]) -> bool:
        """Whether the text of ids has unknown words without the letters that the model reads."""

    def vocabulary(self) -> Sequence[int]:
        """Return the ids of real sub-words: no special, no unused ones."""


Reader = Callable[[Sequence[Example]], Sequence[SubWords | str]]
"""Reads examples; a text in place of sub-words says why there are none."""


@dataclass(frozen=True)
class Tools:
    """The tools of a transform; `subwords` is for sub-word transforms, a text where there are none.

    `labels` are the known labels of the original example, the gold label before the predicted
    one; `field` names the text that a text function reads and `edited` the one that it writes.
    """

    rng: random.Random
    options: Options
    subwords: SubWords | str | None = None
    labels: tuple[Label, ...] = ()
    field: str = ""
    edited: str = ""

    @property
    def reading(self) -> SubWords:
        """The model's reading of the example. Raises TransformError where there is no model."""
        if self.subwords is None or isinstance(self.subwords, str):
            raise TransformError("this transform reads the pair through a model; choose one")
        return self.subwords

    @property
    def tokens(self) -> Sequence[Scored]:
        """The scored sub-words of the text that is read."""
        return self.reading.tokens(self.field)


@dataclass(frozen=True)
class Changed:
    """What a transform makes, as its function does; `why` that is not exact, else a `note`."""

    made: Any  # Any: a text, or examples of the task's own dataclass
    why: str = ""
    note: str = ""


Function = Callable[..., Any]
"""A text function or an example function, as `Transform` says; both take `Tools` behind it."""


@dataclass(frozen=True)
class Transform:
    """A transform and its facts.

    A text function gets the text of the field `reads` and returns the new text of the field
    `edits`; both are roles (target, source, origin) or names of fields. An example function names
    the `fields` that it reads and edits, gets the whole example and returns a new one or a tuple of
    several. Either may return a `Changed` of these, and returns None where it does not apply.
    `default` says that the result is compared with the task's default label instead of the original
    prediction; `labels` are those that it speaks of beside its rule; `applies` says in words what
    an example must have, `language` in which its texts must be; `needs` names what must be there
    for it to run, `options` the options that it reads; `chance` says that it draws, so that each
    seed makes another text; `homes` are the tasks that it was published for, where it is our
    extension for any other.
    `summary` and `applies` call the texts {target}, {source} and {origin}.
    """

    name: str
    title: str
    summary: str
    function: Function
    family: str
    rule: Rule
    source: str
    applies: str
    reads: str = TARGET
    edits: str = TARGET
    fields: tuple[str, ...] = ()
    level: Literal["word", "sub-word"] = "word"
    default: bool = False
    labels: tuple[Label, ...] = ()
    needs: tuple[Need, ...] = ()
    options: tuple[str, ...] = ()
    chance: bool = False
    homes: tuple[str, ...] = ()
    language: Literal["any", "English"] = "any"

    def suits(self, task: Task) -> bool:
        """Whether the task has the fields and labels that the transform speaks of."""
        return (
            all(task.field_of(role) for role in self.fields or (self.reads, self.edits))
            and self.rule.speaks_of(task)
            and set(self.labels) <= {*task.labels, *task.golds}
            and (task.default_label is not None or not self.default)
            and (bool(task.translated) or "phrases" not in self.needs)
        )

    def edited(self, task: Task) -> tuple[str, ...]:
        """Return the names of the fields that it may change."""
        return tuple(filter(None, map(task.field_of, self.fields or (self.edits,))))

    def make(self, example: Example, task: Task, tools: Tools) -> Changed | None:
        """Apply it to an example: a tuple of examples is made; None where it does not apply."""
        if self.fields:
            made = _changed(self.function(example, tools))
            several = made.made if isinstance(made.made, tuple | None) else (made.made,)
            return replace(made, made=several) if several else None
        new, texts = dict[str, str](), list[Changed]()
        for reads, edits in self._texts(task, tools.options):
            own = replace(tools, field=reads, edited=edits)
            text = _changed(self.function(getattr(example, reads), own))
            if text.made is not None:
                new[edits] = text.made
                texts.append(text)
        if not new:
            return None
        why, note = (
            "; ".join(filter(None, dict.fromkeys(said)))
            for said in ((text.why for text in texts), (text.note for text in texts))
        )
        return Changed((replace(example, **new),), why, note)

    def _texts(self, task: Task, options: Options) -> Sequence[tuple[str, str]]:
        """Return the fields that a text function reads and edits, a pair for each text."""
        roles = [(self.reads, self.edits)]
        if "side" in self.options and task.source and options.side != TARGET:
            roles = [(SOURCE, SOURCE)] + (roles if options.side == "both" else [])
        fields = [
            (task.field_of(reads) or "", task.field_of(edits) or "") for reads, edits in roles
        ]
        if not all(map(all, fields)):
            raise TransformError(f"{self.name} is not for the task {task.name}")
        return fields


def _changed(made: Any) -> Changed:  # Any: as a function returns it
    return made if isinstance(made, Changed) else Changed(made)


FAMILIES = {
    "lexical": Term(
        "Word order",
        "Words in an order that makes no sense; a model that reads sentences should lose its "
        "answer (Gupta et al. 2021).",
    ),
    "gradient": Term(
        "Token importance",
        "Keeps what matters most to the model and destroys the rest, so that people can no longer "
        "answer (Gupta et al. 2021).",
    ),
    "statistical": Term(
        "Translation",
        "Word salad from a translator that learnt which phrases go with each label "
        "(Gupta et al. 2021).",
    ),
    "heuristic": Term(
        "Heuristics",
        "Shuffled, cut, negated and reworded pairs that mislead a model which only compares words "
        "(Dickerson, fritz).",
    ),
    "distractor": Term(
        "Distractors",
        "A sentence in the passage that seems to answer the question and does not; the answer "
        "should stay (Jia and Liang 2017).",
    ),
    "stress": Term(
        "Stress tests",
        "Small changes that should not trouble a reader: distracting words, misspellings, "
        "antonyms and numbers (Naik et al. 2018).",
    ),
}
"""The families, in the order in which they are shown."""
REGISTRY: dict[str, Transform] = {}


def transform(name: str, title: str, summary: str, **facts: Any) -> Callable[[Function], Function]:
    """Register the decorated function under `name` with its facts, fields of `Transform`.

    Whether one for English counts on other texts is an option of every such transform, how often it
    is made of one that draws by chance, and one of sub-words needs a model.
    """

    def register(function: Function) -> Function:
        entry = Transform(name, title, summary, function, **facts)
        needs = ("model", *entry.needs) if entry.level == "sub-word" else entry.needs
        shared = {"other_languages": entry.language == "English", "draws": entry.chance}
        options = (*entry.options, *(option for option, applies in shared.items() if applies))
        REGISTRY[name] = replace(entry, needs=needs, options=options)
        return function

    return register


def chain(name: str) -> tuple[Transform, ...]:
    """Read `drop+sort` as the transforms to apply, left to right. Raises UnknownTransform."""
    links = [link.strip() for link in name.split("+")]
    unknown = [link for link in links if link not in REGISTRY]
    if "" in unknown and len(links) > 1:
        raise UnknownTransform(f"{name!r} joins nothing: a transform belongs on either side of a +")
    if unknown:
        known = ", ".join(REGISTRY)
        raise UnknownTransform(f"there is no transform {unknown[0]!r}; there are: {known}")
    return tuple(REGISTRY[link] for link in links)


def rule_of(name: str) -> Rule:
    """Return what a transform or chain does to the gold label."""
    return compose([link.rule for link in chain(name)])


def ranks(name: str) -> bool:
    """Whether a transform or chain ranks tokens, by a sign; a name of one's own does not."""
    return any(
        "sign" in each.options for link in name.split("+") if (each := REGISTRY.get(link.strip()))
    )


def draws_of(name: str, options: Options) -> int:
    """Return how often a transform or chain is made: once where none of its links draws."""
    return options.draws if any(link.chance for link in chain(name)) else 1


def leaves_gold(name: str) -> bool:
    """Whether a chain leaves a gold label and needs no model: then a model can be inoculated."""
    return all(link.rule is not UNDEFINED and "model" not in link.needs for link in chain(name))


def default_of(name: str, task: Task) -> Label | None:
    """Return the label a chain's result is compared with, None for the original prediction."""
    return task.default_label if any(link.default for link in chain(name)) else None


RESOURCES: Mapping[Need, Callable[[Task], str]] = {
    "model": lambda task: "",  # the caller brings it
    "wordnet": lambda task: wordnet.missing(),
    "tagger": lambda task: tagger.missing(),
    "phrases": lambda task: pbsmt.missing(task.translated),
}


def missing(transform: Transform, task: Task = NLI) -> str:
    """Return what a transform lacks here for a task and how to get it, "" for nothing."""
    return " ".join(filter(None, (RESOURCES[need](task) for need in transform.needs)))


def require_ready(name: str, task: Task) -> None:
    """Raise UnknownTransform or Unavailable where a transform or chain cannot run for a task."""
    for link in chain(name):
        if not link.suits(task):
            raise Unavailable(f"{link.name} is not for the task {task.name} ({task.title})")
        if message := missing(link, task):
            raise Unavailable(f"{link.name} cannot run here: {message}")


def ready(task: Task) -> list[str]:
    """Return the names of the transforms that can run here for a task."""
    return [name for name, each in REGISTRY.items() if each.suits(task) and not missing(each, task)]


def _named(words: str, task: Task) -> str:
    """Fill in what to call the text of each role that a task has."""
    target, source = (
        f"the {task.title_of(name or '').lower()}" for name in (task.target, task.source)
    )
    origin = source if task.source else "its first half"
    return words.format(target=target, source=source, origin=origin)


def summary_of(transform: Transform, task: Task) -> str:
    """Return what a transform does to an example of a task that it suits."""
    return _named(transform.summary, task)


def applies_of(transform: Transform, task: Task) -> str:
    """Return what an example of a task must have for a transform to apply."""
    return _named(transform.applies, task)


def source_of(transform: Transform, task: Task) -> str:
    """Return where a transform is from, and that it is our extension for a task where it is."""
    published = {task_named(name).example for name in transform.homes} or {task.example}
    extends = task.example not in published
    return f"our extension of {transform.source}" if extends else transform.source


def chain_title(name: str) -> str:
    """Return a chain's title: "Drop the half, then sort the words". Raises UnknownTransform."""
    first, *others = (link.title for link in chain(name))
    return ", then ".join([first, *(title[:1].lower() + title[1:] for title in others)])


def choice(name: str) -> str:
    """Return a transform or chain as one chooses it: "Sort the words · sort"."""
    return f"{chain_title(name)} · {name}"


FIRST = ("addsent", "addsent_first", "sort", "shuffle", "drop", "negation")
"""The transforms that are chosen when the page is opened, where they suit the task."""
PRESETS: Mapping[str, Callable[[Transform], bool]] = {
    "A first look": lambda entry: entry.name in FIRST,
    "Distractors": lambda entry: entry.family == "distractor",
    "Word salad": lambda entry: entry.rule is UNDEFINED and not entry.labels,
    "Heuristics": lambda entry: entry.family == "heuristic",
    "Stress tests": lambda entry: entry.family == "stress",
    "Everything": lambda entry: True,
    "None": lambda entry: False,
}
"""The titles, and what each takes; word salad is Gupta et al.'s, with one translation of three."""


def presets(task: Task) -> dict[str, tuple[str, ...]]:
    """Return the names of each preset that are ready for a task; of the empty ones only "None"."""
    able = ready(task)
    chosen = {t: tuple(n for n in able if takes(REGISTRY[n])) for t, takes in PRESETS.items()}
    return {title: names for title, names in chosen.items() if names or title == "None"}


def first_choice(task: Task) -> tuple[str, ...]:
    """Return the transforms that are chosen at first for a task."""
    return tuple(name for name in FIRST if name in ready(task))


SEVERAL = "several"
GROUPS: Mapping[str, Term] = {
    SEVERAL: Term("Several kinds of changes", "What changes of more than one kind read."),
    **FAMILIES,
}
"""The groups in which options are shown: those that several families read, then by family."""


def group_of(name: str) -> str:
    """Return the group of an option: the family of the transforms that read it, or several."""
    first, *others = {entry.family for entry in REGISTRY.values() if name in entry.options}
    return SEVERAL if others else first


def options_of(task: Task) -> list[str]:
    """Return the names of the options that a task has."""
    read = {name for entry in REGISTRY.values() if entry.suits(task) for name in entry.options}
    kinds = (None, task.source is not None)
    return [name for name in OPTIONS if name in read and OPTIONS[name].of_two in kinds]


def foreign(options: Options, task: Task) -> list[str]:
    """Return the names of the options that are set and that a task has not."""
    own = options_of(task)
    return [name for name in options.changed if name not in own]


def read_task_options(
    task: Task, values: Mapping[str, object], start: Options = DEFAULTS
) -> Options:
    """Read the options of a task; others may have their usual value only. Raises OptionError."""
    options = read_options(values, start)
    for name in foreign(options, task):
        raise OptionError(f"the option {name} is not for the task {task.name} ({task.title})")
    return options
