"""How much of a text a model reads: whether its end is cut, its words are known, its language."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from probe.data.rows import Columns, Tabular, read_rows
from probe.graphemes import has_unspaced
from probe.models.classifier import Model
from probe.models.text_model import TextModel
from probe.tasks.task import Example, Task
from probe.text.language import BEYOND_DOUBT, ENGLISH, foreign_reason, language_of
from probe.transforms.options import DEFAULTS, Options
from probe.transforms.registry import chain

MOSTLY = 0.5
"""The share of unknown tokens from which a model cannot be said to read a text."""
SAMPLE = 500
"""Rows, the first ones, by which the language of a whole file is told."""
FOREIGN_FILE = 0.9
"""The share of these in other languages from which the others are taken for such, too."""
ENOUGH = 20
"""Rows by which a file can be judged at all."""
THE_MODEL = "the model"
"""What sentences call the only one."""
NAMED = 4
"""Languages that a sentence names, the most frequent ones."""


@dataclass(frozen=True)
class Legibility:
    """What a model reads of an example.

    `cut`: its end is not read; `unknown` is the share of its tokens that the vocabulary has not;
    `language` is "" for English and where that is in doubt; `unspaced`: some of it is written
    without blanks between words.
    """

    cut: bool = False
    unknown: float = 0.0
    language: str = ""
    unspaced: bool = False

    @property
    def mostly_unknown(self) -> bool:
        """Whether the model knows less of the words than it does not know."""
        return self.unknown >= MOSTLY

    @property
    def foreign(self) -> str:
        """Why transforms for English say nothing of it, "" where they may."""
        words = f"the model does not know {self.unknown:.0%} of its tokens".replace("%", " %")
        return foreign_reason(self.language) or (words if self.mostly_unknown else "")


UNJUDGED = Legibility()
"""Of what no model has read."""


def legibility(
    model: Model, examples: Sequence[Example], below: float = BEYOND_DOUBT
) -> list[Legibility]:
    """Say of each example what a model reads of it; `below` is as `other_language` has it."""
    return [
        Legibility(
            model.too_long(example),
            _unknown(model, example),
            language_of(model.task, example, below),
            any(map(has_unspaced, model.task.texts(example).values())),
        )
        for example in examples
    ]


def _unknown(model: Model, example: Example) -> float:
    texts = model.task.texts(example).values()
    return model.unknown_share(texts) if isinstance(model, TextModel) else 0.0


def is_foreign(table: Tabular, columns: Columns, task: Task) -> bool:
    """Whether a file is beyond doubt not in English, whatever single short rows of it say."""
    judged = [language_of(task, example) for example in _first(table, columns, task)]
    return len(judged) >= ENOUGH and sum(map(bool, judged)) >= FOREIGN_FILE * len(judged)


def _first(table: Tabular, columns: Columns, task: Task) -> list[Example]:
    return [row.example for row in islice(read_rows(table, columns, task), SAMPLE) if row.example]


def notes_before(
    table: Tabular,
    columns: Columns,
    task: Task,
    models: Sequence[Model] = (),
    names: Sequence[str] = (),
    options: Options = DEFAULTS,
) -> list[str]:
    """Say of the first rows of a file, before they are scored, what their figures will rest on.

    Of several models each is named.
    """
    examples = _first(table, columns, task)
    languages = Counter(filter(None, (language_of(task, example) for example in examples)))
    rows, first = len(examples), "" if len(table) <= SAMPLE else f"Of the first {SAMPLE} rows: "
    said = [language_words(languages, rows, names, options)]
    for model in models:
        who = model.name if len(models) > 1 else THE_MODEL
        unknown = sum(_unknown(model, example) >= MOSTLY for example in examples)
        said += [
            unknown_words(unknown, rows, who),
            cut_words(sum(map(model.too_long, examples)), rows, who),
        ]
    return [first + sentence for sentence in said if sentence]


def language_words(
    languages: Mapping[str, int], rows: int, names: Sequence[str], options: Options
) -> str:
    """Say how many of so many rows are not in English, and which transforms leave them out."""
    count = sum(languages.values())
    if not count:
        return ""
    named = sorted(languages, key=lambda name: -languages[name])[:NAMED]
    among = [f"{languages[name]:,} {name}" for name in named]
    if rest := count - sum(languages[name] for name in named):
        among.append(f"{rest:,} other")
    english = [name for name in names if any(link.language == ENGLISH for link in chain(name))]
    said = f"{_rows(count, rows)} not in English: {', '.join(among)}."
    if not english:
        return said
    if options.other_languages == "count":
        return f"{said} They count for {', '.join(english)} all the same (other_languages=count)."
    apply = "is for English and does" if len(english) == 1 else "are for English and do"
    return f"{said} {', '.join(english)} {apply} not apply to them (other_languages=skip)."


def unknown_words(unknown: int, rows: int, who: str = THE_MODEL) -> str:
    """Say how many of so many rows a model does not know the words of."""
    texts = f"{_rows(unknown, rows)} mostly words that are not in {who}'s vocabulary."
    return f"{texts} Its answers to them say nothing." if unknown else ""


def cut_words(cut: int, rows: int, who: str = THE_MODEL) -> str:
    """Say how many of so many rows are longer than what a model reads."""
    texts = f"{_rows(cut, rows)} longer than what {who} reads, so that the end is cut."
    return texts if cut else ""


def windowed_words(windowed: int, rows: int) -> str:
    """Say how many of so many rows were read in windows."""
    texts = f"{_rows(windowed, rows)} longer than what the model reads at once, and read in windows"
    return f"{texts}, of which the best decides." if windowed else ""


def unspaced_words(unspaced: int, rows: int) -> str:
    """Say how many of so many rows have no blanks between words, and what counts as one."""
    texts = f"{_rows(unspaced, rows)} written without blanks between words"
    return f"{texts}: each character counts as one, in changes of order and F1." * bool(unspaced)


def _rows(count: int, rows: int) -> str:
    return f"{count:,} of {rows:,} row{'' if rows == 1 else 's'} {'is' if count == 1 else 'are'}"
