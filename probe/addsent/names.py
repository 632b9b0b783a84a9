"""What kind of thing a name is, from lists of our own, WordNet and words that names are made of.

Stands in for the named entity recogniser of CoreNLP that Jia and Liang used.
"""

from collections.abc import Sequence
from functools import cache
from itertools import groupby
from typing import Literal

from probe.settings import ASSETS
from probe.text.wordnet import reader

Kind = Literal["person", "location", "organization", "misc", "date", "number", ""]
FOLDER = ASSETS / "names"
MONTH_NAMES = """january february march april may june july august september october november
december"""
MONTHS = MONTH_NAMES.split()
WEEKDAY_NAMES = "monday tuesday wednesday thursday friday saturday sunday"
WEEKDAYS = WEEKDAY_NAMES.split()
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
    """Return the kind of each token; "" for one that is neither name, date nor number.

    Raises MissingWordNet.
    """
    found = [_number_or_date(words, at) for at in range(len(words))]
    named = [
        not kind and (tag.startswith("NNP") or _has_capital_of_name(words, at))
        for at, (tag, kind) in enumerate(zip(tags, found, strict=True))
    ]
    for in_name, run in groupby(range(len(words)), key=lambda at: named[at]):
        if in_name:
            places = list(run)
            kind = kind_of_name([words[at] for at in places])
            for at in places:
                found[at] = kind
    return found


def _has_capital_of_name(words: Sequence[str], at: int) -> bool:
    """Whether a word has a capital that it has not for standing first."""
    return words[at][:1].isupper() and (at > 0 or is_name(words[at].lower()))


def _number_or_date(words: Sequence[str], at: int) -> Kind:
    word = words[at].lower()
    beside = {words[near].lower() for near in (at - 1, at + 1) if 0 <= near < len(words)}
    if word in MONTHS and words[at][0].isupper() and (word != "may" or _has_digits(beside)):
        return "date"
    if word in WEEKDAYS:
        return "date"
    if not word[:1].isdigit():
        return "number" if word in NUMBER_WORDS else ""
    digits = word.rstrip("s")
    if digits.isdigit() and (int(digits) in YEARS or beside & set(MONTHS)):
        return "date"
    return "number"


def _has_digits(words: set[str]) -> bool:
    return any(word[:1].isdigit() for word in words)


def kind_of_name(words: Sequence[str]) -> Kind:
    """Return what the words of one name stand for, "" where nothing is known of them."""
    whole = " ".join(words)
    for name in (whole, *words):
        if kind := _listed_words().get(name.lower()):
            return kind
    for word in reversed(words):
        if kind := WORDS_OF.get(word.lower().rstrip(".")):
            return kind
    for name in (whole, words[-1]):
        if kind := in_wordnet(name):
            return kind
    return ""


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
