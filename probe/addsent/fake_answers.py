"""A fake answer for a question: of the kind of its answer, and wrong.

The first rule that fires decides, in the order of Jia and Liang's code; the second list is theirs
for the test whether a model learnt the fake answers.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, groupby
from typing import Literal

from probe.settings import ASSETS
from probe.text.tagger import tag
from probe.text.wordnet import reader
from probe.text.words import tokenise

Kind = Literal["person", "location", "organization", "misc", "date", "number", ""]
FOLDER = ASSETS / "names"
MONTH_NAMES = """january february march april may june july august september october november
december"""
MONTHS = MONTH_NAMES.split()
WEEKDAYS = [f"{day}day" for day in ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun")]
NUMBERS_IN_WORDS = """one two three four five six seven eight nine ten eleven twelve thirteen
fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty
ninety hundred thousand million billion trillion dozen"""
NUMBER_WORDS = frozenset(NUMBERS_IN_WORDS.split())
WORDS: dict[Kind, str] = {
    "organization": """university college institute school company corporation corp inc ltd party
        committee council association society ministry department church bank club league union
        agency commission museum orchestra army navy court parliament senate congress board press
        group foundation library hospital academy fc""",
    "location": """river lake mount mountain mountains island islands sea ocean bay valley street
        avenue road city county state province region district desert park bridge castle palace
        square peninsula coast north south east west northern southern eastern western""",
    "person": """mr mrs ms dr sir lord lady king queen prince princess pope president saint emperor
        duke professor general captain judge""",
}
WORDS_OF: dict[str, Kind] = {word: kind for kind, text in WORDS.items() for word in text.split()}
"""Words that say of a name what it is."""
LEXICAL_FILES: dict[str, Kind] = {
    "noun.person": "person",
    "noun.location": "location",
    "noun.object": "location",
    "noun.group": "organization",
}
"""The kind of WordNet's names by the file in which it keeps them."""
YEARS = range(1000, 2100)


@cache
def listed(kind: Kind) -> tuple[str, ...]:
    """Return the names of a kind in assets/names, as they are written; none for other kinds."""
    path = FOLDER / f"{kind}.txt"
    return tuple(path.read_text(encoding="utf-8").split("\n")[:-1]) if path.is_file() else ()


@cache
def _listed_words() -> dict[str, Kind]:
    kinds: tuple[Kind, ...] = ("misc", "organization", "person", "location")
    return {name.lower(): kind for kind in kinds for name in listed(kind)}


def kinds(words: Sequence[str], tags: Sequence[str]) -> list[Kind]:
    """Return the kind of each token, "" for no name, date or number. Raises MissingWordNet."""
    found = [_number_or_date(words, at) for at in range(len(words))]

    def named(at: int) -> bool:
        if found[at] or tags[at].startswith("NNP"):
            return not found[at]
        # a capital that it has not for standing first
        return words[at][:1].isupper() and (at > 0 or is_name(words[at].lower()))

    runs = [list(run) for in_name, run in groupby(range(len(words)), key=named) if in_name]
    for places in runs:
        kind = kind_of_name([words[at] for at in places])
        found[places[0] : places[-1] + 1] = [kind] * len(places)
    return found


def _number_or_date(words: Sequence[str], at: int) -> Kind:
    word = words[at].lower()
    beside = {words[near].lower() for near in (at - 1, at + 1) if 0 <= near < len(words)}
    is_month = word != "may" or any(other[:1].isdigit() for other in beside)
    if word in WEEKDAYS or (word in MONTHS and words[at][0].isupper() and is_month):
        return "date"
    if not word[:1].isdigit():
        return "number" if word in NUMBER_WORDS else ""
    digits = word.rstrip("s")
    if digits.isdigit() and (int(digits) in YEARS or beside & set(MONTHS)):
        return "date"
    return "number"


def kind_of_name(words: Sequence[str]) -> Kind:
    """Return what the words of one name stand for, "" where nothing is known of them."""
    whole = " ".join(words)
    known: Iterator[Kind] = chain(
        (_listed_words().get(name.lower(), "") for name in (whole, *words)),
        (WORDS_OF.get(word.lower().rstrip("."), "") for word in reversed(words)),
        (in_wordnet(name) for name in (whole, words[-1])),
    )
    return next(filter(None, known), "")


@cache
def is_name(word: str) -> bool:
    """Whether a word in lower case is listed as a name, or is one in WordNet."""
    return word in _listed_words() or bool(in_wordnet(word))


@cache
def in_wordnet(name: str) -> Kind:
    """Return what a word's most frequent sense in WordNet names, "" where that is no name."""
    for sense in reader().synsets(name.replace(" ", "_"), "n")[:1]:
        if sense.instance_hypernyms():
            return LEXICAL_FILES.get(sense.lexname(), "misc")
    return ""


NAMES: Mapping[Kind, tuple[str, str]] = {
    "person": ("Jeff Dean", "Charles Babbage"),
    "location": ("Chicago", "Stockholm"),
    "organization": ("Stark Industries", "Acme Corporation"),
    "misc": ("Jupiter", "Soylent"),
}
UPPER_CASE = ("LSTM", "PCFG")
BY_QUESTION: Mapping[tuple[str, ...], tuple[str, str]] = {
    ("who",): NAMES["person"],
    ("when",): ("1956", "2004"),
    ("where",): NAMES["location"],
    ("how", "many"): ("42", "200"),
}
"""By the words with which a question starts."""
FIRST_TAG: Mapping[str, tuple[str, str]] = {
    "VB": ("learn", "run"),
    "VBD": ("learned", "ran"),
    "VBG": ("learning", "running"),
    "VBP": ("learns", "runs"),
    "VBZ": ("learns", "runs"),
}
LAST_NOUN: Mapping[str, tuple[str, str]] = {
    "NN": ("hamster", "apple"),
    "NNP": ("Central Park", "Sears Tower"),
    "NNS": ("hamsters", "apples"),
    "NNPS": ("Kew Gardens", "Hobbits"),
}
LAST_TAG: Mapping[str, tuple[str, str]] = {
    "JJ": ("deep", "blue"),
    "JJR": ("deeper", "bluer"),
    "JJS": ("deepest", "bluest"),
    "RB": ("silently", "quickly"),
    "VBG": ("learning", "running"),
}
ELSE = ("aliens", "cosmic rays")
SCALES = {"thousand": "million", **dict.fromkeys(("million", "billion", "trillion"), "thousand")}
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
YEAR_LIKE = (1000, 2500)
"""Numbers between them lose 75, as if they were years."""


@dataclass(frozen=True)
class FakeAnswer:
    """A fake answer and the name of the rule that gave it."""

    text: str
    rule: str


def fake_answer(answer: str, question: str, second: bool = False) -> FakeAnswer:
    """Return a fake answer of the first or second list. Raises MissingWordNet."""
    words = tokenise(answer)
    tags = tag(words)
    named, asked = kinds(words, tags), [word.lower() for word in tokenise(question)]
    found = list[
        tuple[str, tuple[str, str]]
    ]()  # the rules that fire, with an answer of either list
    if words and set(named) == {"date"}:
        found.append(("date", (_join(map(_moved_date, words)),) * 2))
    changed = [_changed_number(word) for word in words]
    if any(map(NUMBER.match, words)) and changed != words:
        found.append(("number", (_join(changed),) * 2))
    elif "number" in named:
        pairs = zip(words, named, strict=True)
        text = _join(SCALES.get(w.lower(), "10") if kind == "number" else w for w, kind in pairs)
        found.append(("number", (text, text)))
    if len(set(named)) == 1 and named[0] in NAMES:
        found.append(("name", NAMES[named[0]]))
    if words and all(word.isalpha() and word.isupper() for word in words):
        found.append(("upper case", UPPER_CASE))
    for start, pair in BY_QUESTION.items():
        if tuple(asked[: len(start)]) == start:
            found.append(("question word", pair))
    if tags and tags[0] in FIRST_TAG:
        found.append(("first word", FIRST_TAG[tags[0]]))
    if tags and tags[-1] in LAST_NOUN:  # with the answer's own article
        one, other = LAST_NOUN[tags[-1]]
        if (article := words[0].lower()) in ("a", "an", "the"):
            one, other = (
                f"{'the' if article == 'the' else 'an' if noun[0] in 'aeiou' else 'a'} {noun}"
                for noun in (one, other)
            )
        found.append(("last noun", (one, other)))
    if tags and tags[-1] in LAST_TAG:
        found.append(("last word", LAST_TAG[tags[-1]]))
    made = (FakeAnswer(pair[second], rule) for rule, pair in (*found, ("else", ELSE)))
    return next(each for each in made if each.text.lower() != answer.lower() or each.rule == "else")


def _moved_date(word: str) -> str:
    """Move a year by 25, a day by 11, a month by six."""
    if word.lower() in MONTHS:
        return MONTHS[(MONTHS.index(word.lower()) + 6) % 12].capitalize()
    if not word.isdigit():
        return word
    number = int(word)
    return str(number - 25 if number > 50 else number - 11 if number > 15 else number + 11)


def _changed_number(word: str) -> str:
    """Change a year-like number by 75, another in its first digit."""
    found = NUMBER.match(word)
    if not found:
        return SCALES.get(word.lower(), word)
    digits, rest = found[0], word[found.end() :]
    value = float(digits.replace(",", ""))
    if YEAR_LIKE[0] < value < YEAR_LIKE[1]:
        return f"{value - 75:.0f}{rest}"
    return f"{max((int(digits[0]) + 5) % 10, 1)}{digits[1:]}{rest}"


def _join(words: Iterable[str]) -> str:
    return re.sub(r" (?=[,.%:;)])|(?<=[$£€(#]) ", "", " ".join(words))
