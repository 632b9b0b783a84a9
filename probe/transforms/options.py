"""The options of the transforms, published variants among them, as one table."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from probe.errors import OptionError

Sign = Literal["support", "gupta", "abs"]

SIGNS: Mapping[str, str] = {
    "support": "tokens that speak for the label score high (Feng et al. 2018)",
    "gupta": "tokens that raise the loss score high (Gupta et al. 2021, as published)",
    "abs": "tokens that matter either way score high",
}


@dataclass(frozen=True)
class Option:
    """One choice in words: the values it may take and what they mean.

    `values` is empty for numbers, which lie from `low` to `high`. `of_two` says that only tasks
    of two texts, the target and its source, have it, or only the others.
    """

    words: str
    values: Mapping[Any, str]  # Any: text, or truth values for a check box
    low: float = 0
    high: float = 0
    of_two: bool | None = None


def option(
    default: Any, words: str, values: Mapping[Any, str] = {}, **facts: Any
) -> Any:  # Any: of the field's own type
    """Return a field of `Options` with what is said of it."""
    return field(default=default, metadata={"option": Option(words, values, **facts)})


@dataclass(frozen=True)
class Options:
    """Choices that several transforms share, each with what it means and may be."""

    keep: float = option(0.5, "share of the tokens that drop, repeat and replace keep", high=1)
    sign: Sign = option("support", "which tokens count as important", SIGNS)
    ranks: Literal["paper", "shown"] = option(
        "paper",
        "which importance ranks the tokens",
        {
            "paper": "gradient × input at the word vectors, as in the paper",
            "shown": "the method by which importance is shown",
        },
    )
    by_id: bool = option(
        False,
        "what keeping a token means",
        {False: "it stays where it stands", True: "all its twins stay too, as in the code (by_id)"},
    )
    draw: Literal["vocabulary", "paper_code"] = option(
        "vocabulary",
        "where replace draws its tokens from",
        {
            "vocabulary": "the whole vocabulary",
            "paper_code": "vocabulary ids 100 to 19,999, as in the code",
        },
    )
    side: Literal["target", "source", "both"] = option(
        "target",
        "which text loses its word order, or its unimportant tokens",
        {
            "target": "the second, such as the hypothesis",
            "source": "the first, such as the premise",
            "both": "both, each by itself",
        },
        of_two=True,
    )
    pin: tuple[str, ...] = option(
        (".", "!", "?"),
        "the mark at the end of words in another order",
        {
            ".!?": "a final full stop, question or exclamation mark stays last",
            ".": "only a final full stop, as in the code (paper_code)",
        },
    )
    lm_weight: float = option(0.8, "weight of the language model", high=3)
    distortion_weight: float = option(0.1, "weight against changed order", high=3)
    distortion_limit: int = option(6, "how many words a phrase may jump", high=20)
    keep_first_half: bool = option(
        False,
        "what pbsmt makes of a single text, whose second half it translates from the first",
        {False: "the translation alone", True: "the first half and the translation"},
        of_two=False,
    )
    subsequence: Literal["contiguous", "gappy"] = option(
        "contiguous",
        "what premsubseq takes",
        {
            "contiguous": "a stretch of the premise, as in the code",
            "gappy": "any of its words in order, as in the paper",
        },
    )
    substitution: Literal["safe", "fritz_code"] = option(
        "safe",
        "which words synonyms and antonyms replace",
        {
            "safe": "no names, no auxiliaries, never by a name or the word itself",
            "fritz_code": "every tagged word, by names too, as in the code",
        },
    )
    replacements: int = option(0, "how many words synonyms and antonyms replace; 0 is all", high=20)
    senses: Literal["all", "first"] = option(
        "all",
        "which senses synonyms and antonyms are taken from",
        {"all": "all senses, as in the code", "first": "the most frequent sense only"},
    )
    inflect: bool = option(
        True,
        "the form of the new word",
        {True: "inflected as the old word was", False: "as the dictionary has it, as in the code"},
    )
    tautology: Literal["end", "naik_code"] = option(
        "end",
        "where a tautology goes",
        {
            "end": "before the mark that ends the text",
            "naik_code": "before the first mark; what follows is lost, as in the code",
        },
    )
    spelling: Literal["any", "content", "function"] = option(
        "any",
        "which words are misspelt",
        {"any": "any word", "content": "names and adjectives", "function": "function words"},
    )
    antonym: Literal["paper", "naik_code"] = option(
        "paper",
        "which words antonym replaces",
        {
            "paper": "nouns and adjectives, as in the paper",
            "naik_code": "nouns and satellite adjectives, as in the code",
        },
    )
    number: Literal["first", "random"] = option(
        "first",
        "which number numerical changes",
        {"first": "the first, as in the code", "random": "any, as in the paper"},
    )
    look_alike: Literal["any", "published"] = option(
        "any",
        "which questions get a look-alike",
        {
            "any": "also those in which only a common noun can be altered, to another of its kind",
            "published": "those in which a published rule alters a word",
        },
    )
    other_languages: Literal["skip", "count"] = option(
        "skip",
        "what transforms for English make of a text that is beyond doubt in another language",
        {"skip": "nothing: they do not apply to it", "count": "what they make of any text"},
    )
    draws: int = option(
        1,
        "how often a change that draws by chance is made, each time by the next seed",
        low=1,
        high=20,
    )

    @property
    def changed(self) -> dict[str, Any]:  # Any: each has its field's own type
        """The options that differ from the defaults."""
        values = {name: getattr(self, name) for name in OPTIONS}
        return {n: value for n, value in values.items() if value != getattr(DEFAULTS, n)}

    @property
    def variant(self) -> str:
        """The names of the options that differ from the defaults, "safe" where none does."""
        return "+".join(_named(name, value) for name, value in self.changed.items()) or "safe"


def with_sign(words: str, sign: str) -> str:
    """Add to words the sign by which tokens were ranked, if any were."""
    return f"{words} (sign {sign})" if sign else words


OPTIONS: Mapping[str, Option] = {each.name: each.metadata["option"] for each in fields(Options)}
DEFAULTS = Options()
PUBLISHED = Options(sign="gupta", draws=5)
"""Those by which Gupta et al. 2021 made their figures; ours that stand beside them are made so."""


def read_options(values: Mapping[str, object], start: Options = DEFAULTS) -> Options:
    """Read options from text or JSON values. Raises OptionError."""
    unknown = [name for name in values if name not in OPTIONS]
    if unknown:
        raise OptionError(f"there is no option {unknown[0]!r}; there are: {', '.join(OPTIONS)}")
    return replace(start, **{name: _value(name, value) for name, value in values.items()})


def _value(name: str, value: object) -> Any:  # Any: the field's own type
    option, default = OPTIONS[name], getattr(DEFAULTS, name)
    if option.values:
        known = {str(key).lower(): key for key in option.values}
        text = ("".join(value) if isinstance(value, tuple | list) else str(value)).lower()
        if text not in known:
            raise OptionError(f"{name} {value!r} is not one of {', '.join(known)}")
        return tuple(text) if isinstance(default, tuple) else known[text]
    try:
        number = float(str(value))
    except ValueError as wrong:
        raise OptionError(f"{name} {value!r} is not a number") from wrong
    if not option.low <= number <= option.high:
        raise OptionError(f"{name} {value!r} is not from {option.low:g} to {option.high:g}")
    if isinstance(default, int) and number != int(number):
        raise OptionError(f"{name} {value!r} is not a whole number")
    return int(number) if isinstance(default, int) else number


def _named(name: str, value: object) -> str:
    if value is True or name == "sign":
        return name if value is True else str(value)
    if name == "pin":
        return "pin=paper_code" if value == (".",) else f"pin={''.join(Options.pin)}"
    written = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{name}={'no' if value is False else written}"
