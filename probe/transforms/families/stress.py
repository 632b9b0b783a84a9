"""The stress tests (Naik et al. 2018, section 3): tautologies, misspellings, antonyms, numbers.

A tautology goes before the mark that ends the text and all the rest stays. The released code
(`tautology="naik_code"`) puts it before the first of all marks and drops what comes after, so
"Mr. Hale left." ends at "Mr".

For an antonym Lesk's algorithm picks the sense of each word from its sentence; every antonym of the
sense gives a contradiction: the premise with the altered premise as the hypothesis, and the altered
hypothesis as the premise with the original hypothesis. The paper speaks of nouns and adjectives.
Its code (`antonym="naik_code"`) takes nouns and satellite adjectives only, which leaves out "hot"
and "cold", and replaces the first equal substring. The antonym is the dictionary's form: "boys"
becomes "girl", as in the code.

Of a number the first digit is changed, "less than" or "more than" put before the new one so that
the old one satisfies it: entailment. The two swapped: neutral. The number changed, or the same
number with the phrase: contradiction. Only tokens of digits alone count, as the code has it by
int(). Passed over here as well: 0, for "less than 1" leaves nothing else in counts of things; a
number attached to the characters before it ($350); and one that a comparison introduces already
("more than 6"), where the new phrase would deny the label.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from random import Random

from probe.first_import import first_import
from probe.graphemes import clusters
from probe.stopping import check_stop
from probe.tasks.label_rules import COMPUTED, KEEP
from probe.tasks.nli import CONTRADICTION, ENTAILMENT, NEUTRAL, NLI, Pair
from probe.tasks.task import SOURCE, TARGET
from probe.terms import capitalised
from probe.text import tagger
from probe.text.wordnet import senses
from probe.text.words import Span, spans, substitute
from probe.transforms.registry import Tools, transform

register = partial(transform, family="stress", source="Naik et al. 2018, section 3")


# tautologies

MARKS, CLOSERS = ".!?", "\"'”’)]"
FIRST_MARK, ENDING_MARK = re.compile(r"[.!?]"), re.compile(r"[.!?](?=[\s)]|\Z)")


def appended(text: str, tools: Tools, clause: str) -> str | None:
    """Insert a clause before the final marks of a text, or before its first mark and end there.

    None where no text is before it.
    """
    whole = text.rstrip()
    if tools.options.tautology == "end":
        bare = whole.rstrip(CLOSERS)
        cut = len(bare.rstrip(MARKS).rstrip()) if bare.endswith(tuple(MARKS)) else len(whole)
    else:
        mark = FIRST_MARK.search(text) if ENDING_MARK.search(text) else None
        whole = text[: mark.end()] if mark else whole
        cut = len(whole[: mark.start()].rstrip() if mark else whole)
    return f"{whole[:cut]} {clause}{whole[cut:]}".strip() if whole[:cut].strip() else None


CLAUSES = {
    "word_overlap": (
        "Add a tautology",
        'Adds "and true is true" at the end of {target}, which changes nothing of its meaning.',
        "and true is true",
    ),
    "negation": (
        "Add a negation",
        'Adds "and false is not true" at the end of {target}, which changes nothing of its '
        "meaning.",
        "and false is not true",
    ),
    "length_mismatch": (
        "Lengthen the other text",
        'Adds "and true is true" five times at the end of {source}, which changes nothing.',
        " ".join(["and true is true"] * 5),
    ),
    "control_tautology": (
        "Add another tautology",
        'Adds "and green is not red" at the end of {target}, to see whether any tautology is '
        "ignored.",
        "and green is not red",
    ),
}
"""Titles, summaries and clauses; the last tests a fine-tuned model (Naik et al. 2018, table 5)."""


for name, (title, summary, clause) in CLAUSES.items():
    role = SOURCE if "{source}" in summary else TARGET
    register(
        name,
        title,
        summary,
        rule=KEEP,
        reads=role,
        edits=role,
        applies=f"text in {{{role}}}",
        options=("tautology",),
        homes=(NLI.name,),
        language="English",
    )(partial(appended, clause=clause))


# misspellings

TAGS: Mapping[str, frozenset[str]] = {
    "content": frozenset({"NNP", "NNS", "NNPS", "JJ", "JJR", "JJS"}),
    "function": frozenset({"IN", "CC", "DT", "PRP", "PRP$", "WP", "WP$"}),
}
KEYS = """
q:w w:eq e:rw r:te t:ry y:tu u:yi i:uo o:ip p:o
a:s s:da d:sf f:gd g:fh h:gj j:hk k:jl l:k
z:x x:zc c:xv v:cb b:vn n:mb m:n
"""
NEIGHBOURS: Mapping[str, str] = dict(entry.split(":") for entry in KEYS.split())
"""The keys beside a letter's, as the code has them: l has only k, m only n."""

Letters = Sequence[str]
"""A word as its grapheme clusters, so that no accent or vowel sign is torn from its letter."""


def swap_indices(word: Letters, spelling: str) -> list[int]:
    """Return the indices of letters that differ from the next letter.

    Of any words the code takes those with more than two different letters and no hyphen; of
    content and function words all, so that "of" becomes "fo".
    """
    letters = {letter.upper() for letter in word if letter[0].isalpha()}
    if spelling == "any" and ("-" in word or len(letters) < 3):
        return []
    return [
        index
        for index, (left, right) in enumerate(pairwise(word))
        if left[0].isalpha() and right[0].isalpha() and left.upper() != right.upper()
    ]


def swap(word: Letters, index: int, rng: Random) -> str:
    """Swap a letter with the next; the pattern of capitals stays."""
    left, right = word[index], word[index + 1]
    swapped = _cased(right, left), _cased(left, right)
    return "".join((*word[:index], *swapped, *word[index + 2 :]))


def key_indices(word: Letters, spelling: str) -> list[int]:
    """Return the indices of letters from a to z, in words of more than one character."""
    return [i for i, letter in enumerate(word) if letter.lower() in NEIGHBOURS and len(word) > 1]


def press_neighbour(word: Letters, index: int, rng: Random) -> str:
    """Replace a letter by the key to its left or right."""
    key = rng.choice(NEIGHBOURS[word[index].lower()])
    return "".join((*word[:index], _cased(key, word[index]), *word[index + 1 :]))


def _cased(letter: str, like: str) -> str:
    """Return a letter in the case of another; one that would become two letters stays."""
    cased = letter.upper() if like.isupper() else letter.lower() if like.islower() else letter
    return cased if len(cased) == len(letter) else letter


Misspelling = tuple[Callable[[Letters, str], list[int]], Callable[[Letters, int, Random], str]]
"""A kind of error: the letters of a word at which it can happen, and the misspelt word."""
SWAP: Misspelling = (swap_indices, swap)
KEYBOARD: Misspelling = (key_indices, press_neighbour)


def misspelt(text: str, tools: Tools, kinds: Sequence[Misspelling]) -> str | None:
    """Misspell a word by an error of one of the kinds, which is drawn; else by the other."""
    rng, word_class, every = tools.rng, tools.options.spelling, spans(text)
    words = [token.word for token in every]
    tags = tagger.tag(words) if word_class in TAGS else words
    for indices_of, error in rng.sample(kinds, len(kinds)) if len(kinds) > 1 else kinds:
        tokens = [
            (token, word, indices)
            for token, tag in zip(every, tags, strict=True)
            if word_class not in TAGS or tag in TAGS[word_class]
            if (word := clusters(text[token.start : token.end]))
            and (indices := indices_of(word, word_class))
        ]
        if tokens:
            token, word, indices = rng.choice(tokens)
            new = error(word, rng.choice(indices), rng)
            return substitute(text, [(token.start, token.end, new)])
    return None


misspelling = partial(register, rule=KEEP, options=("spelling",), chance=True, homes=(NLI.name,))
misspelling(
    "spelling_swap",
    "Swap two letters",
    "Swaps two neighbouring letters in one word of {target}.",
    applies="a word in {target} with letters to swap",
)(partial(misspelt, kinds=[SWAP]))
misspelling(
    "spelling_keyboard",
    "Press a wrong key",
    "Replaces a letter in one word of {target} by its neighbour on the keyboard.",
    applies="a word in {target} with a letter from a to z",
)(partial(misspelt, kinds=[KEYBOARD]))
misspelling(
    "spelling",
    "Misspell a word",
    "Misspells one word of {target}: by chance two letters swapped or a wrong key pressed.",
    applies="a word in {target} that can be misspelt",
)(partial(misspelt, kinds=[SWAP, KEYBOARD]))


# antonyms

MAX_PAIRS = 32  # that one pair gives
PARTS_OF_SPEECH: Mapping[str, frozenset[str]] = {
    "paper": frozenset({"n", "a", "s"}),
    "naik_code": frozenset({"n", "s"}),
}
BLACKLIST_TEXT = """
on off in out up down over under back here there yes no
all some most other even just like still kind
left right day days start starts end ends piano
"""
BLACKLIST = frozenset(BLACKLIST_TEXT.split())
"""Words whose antonym seldom contradicts, found by trying WordNet's on our own sentences.

Prepositions and adverbs that WordNet also lists as adjectives ("just", "unjust"), quantities
("all", "some"), and words that mostly stand in another sense than the one with the antonym.
The code has a list of 25 of its own.
"""
SPURIOUS = "civilian"  # the opposite of a serviceman, one of WordNet's senses of "man"


@register(
    "antonym",
    "Contradict by an antonym",
    "Sets a sentence against itself with one word turned into its antonym.",
    rule=COMPUTED,
    fields=NLI.fields,
    applies="a noun or adjective with an antonym",
    needs=("wordnet",),
    options=("antonym",),
    language="English",
)
def antonym(pair: Pair, tools: Tools) -> tuple[Pair, ...] | None:
    """Make a pair for each antonym, those of the premise first, at most 32."""
    allowed_pos = PARTS_OF_SPEECH[tools.options.antonym]
    pairs: dict[Pair, None] = {}
    for field, other in (("premise", "hypothesis"), ("hypothesis", "premise")):
        for text in _altered(getattr(pair, field), allowed_pos):
            if text != getattr(pair, field):
                pairs[replace(pair, **{other: text, "gold": CONTRADICTION})] = None
            if len(pairs) == MAX_PAIRS:
                return tuple(pairs)
    return tuple(pairs) or None


def _altered(text: str, allowed_pos: frozenset[str]) -> Iterator[str]:
    tokens = spans(text)
    context = {token.word.lower() for token in tokens}
    antonyms_of = cache(partial(antonyms, context=context, allowed_pos=allowed_pos))
    for token in tokens:
        check_stop()
        for name in antonyms_of(token.word.lower()):
            new = capitalised(name) if token.word[0].isupper() else name
            yield substitute(text, [(token.start, token.end, new)])


def antonyms(word: str, context: set[str], allowed_pos: frozenset[str]) -> list[str]:
    """Return the antonyms of the sense that Lesk's algorithm gives a lower-cased word.

    None of them for a sense of another part of speech, and none of several words.
    """
    with first_import:
        from nltk.wsd import lesk  # slow, and no page waits for it

    if word in BLACKLIST or not (synsets := senses(word)):
        return []
    sense = lesk(context, word, synsets=synsets)
    if sense.pos() not in allowed_pos:
        return []
    names = [other.name() for lemma in sense.lemmas() for other in lemma.antonyms()]
    return [name for name in dict.fromkeys(names) if "_" not in name and name != SPURIOUS]


# numbers

DIGITS = re.compile(r"[0-9]+")
NAMES = frozenset({"NNP", "NNPS"})
COMPARED = """
than least most over under above below about around nearly almost approximately roughly between
exceeding within
"""
COMPARISONS = frozenset(COMPARED.split())
OPENERS = "([{\"'“‘"
NEW_DIGITS = "12345678"  # the code draws from 1 to 8; a 9 can only be an old digit


@register(
    "numerical",
    "Change a number",
    "Makes three statements about a number in the premise: entailed, contradicted and neutral.",
    rule=COMPUTED,
    fields=NLI.fields,
    applies="a number and a name in the premise",
    needs=("tagger",),
    options=("number",),
    chance=True,
    language="English",
)
def numerical(pair: Pair, tools: Tools) -> tuple[Pair, ...] | None:
    """Return the entailed, the contradicted and the neutral pair, in this order.

    The hypothesis of the pair plays no part. From "Tim has 350 nails." may come "Tim has less than
    750 nails." The paper takes any number, its code the first (`number`); where there is none the
    code repeats the statements of the row before, and this transform does not apply. The code uses
    a recogniser of persons, places and organisations, this one a tagger of proper nouns.
    """
    tokens = spans(pair.premise)
    numbers = [token for i, token in enumerate(tokens) if _usable(pair.premise, tokens, i)]
    if not numbers or not NAMES & set(tagger.tag([token.word for token in tokens])):
        return None
    token = numbers[0] if tools.options.number == "first" else tools.rng.choice(numbers)
    number = token.word.lstrip("0")

    def stating(phrase: str) -> str:
        return substitute(pair.premise, [(token.start, token.end, phrase)])

    digits = [digit for digit in NEW_DIGITS if digit != number[0]]
    first = tools.rng.choice(digits)
    # as many digits as before: the first decides which is larger
    phrase = "less than" if number[0] < first else "more than"
    entailed = stating(f"{phrase} {first}{number[1:]}")
    if tools.rng.random() < 0.5:
        contradicted = stating(tools.rng.choice(digits) + number[1:])
    else:
        contradicted = stating(f"{tools.rng.choice(('more than', 'less than'))} {number}")
    return (
        replace(pair, hypothesis=entailed, gold=ENTAILMENT),
        replace(pair, hypothesis=contradicted, gold=CONTRADICTION),
        replace(pair, premise=entailed, hypothesis=pair.premise, gold=NEUTRAL),
    )


def _usable(text: str, tokens: Sequence[Span], i: int) -> bool:
    token = tokens[i]
    if not DIGITS.fullmatch(token.word) or not token.word.strip("0"):
        return False
    attached = token.start > 0 and not text[token.start - 1].isspace()
    if attached and text[token.start - 1] not in OPENERS:
        return False
    return i == 0 or tokens[i - 1].word.lower() not in COMPARISONS
