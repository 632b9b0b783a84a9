"""Shuffled, cut, negated and reworded pairs (Dickerson, fritz).

A model that relies on the words that two texts share predicts entailment whatever their order.
Where its paper and its code differ both are here: `negprem` follows the paper, `negprem_hyp` the
code, whose numbers were published; `Options` holds the rest. Words are split at blanks for orders
and subsequences, a script without blanks into its characters, and as the Penn Treebank does for
substitutions.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice, product
from typing import Literal

from probe.graphemes import why_characters
from probe.stopping import check_stop
from probe.tasks.label_rules import KEEP, Rule
from probe.tasks.nli import FLIP, NLI, NOT_ENTAILED, Pair
from probe.terms import capitalised
from probe.text.inflection import DEGREE, inflect, lemmas
from probe.text.tagger import tag
from probe.text.wordnet import Pos, Relation, own_senses, reader, related, senses
from probe.text.words import join, spans, split_at_blanks, substitute, tokenise
from probe.transforms.options import Options
from probe.transforms.registry import Changed, Tools, transform

Kind = Literal["verb", "noun", "adverb", "adjective"]
WORD_CLASSES: dict[Kind, tuple[str, Pos]] = {
    "verb": ("VB", "v"),
    "noun": ("NN", "n"),
    "adverb": ("RB", "r"),
    "adjective": ("JJ", "a"),
}
"""The Penn tags of a kind begin so; WordNet's part of speech."""
BE = frozenset({"be", "am", "is", "are", "was", "were", "been", "being"})
CONTRACTED = frozenset({"'m", "'re", "'s", "'ve", "'d", "'ll"})
NOT = frozenset({"not", "n't"})
ADVERBS = frozenset({"RB"})
PRONOUNS = ADVERBS | {"PRP", "EX"}
SUBJECT = PRONOUNS | {"DT", "PRP$", "JJ", "NN", "NNS", "NNP", "NNPS", "POS", "CD"}
QUESTION_TAGS = frozenset({"WRB", "WP", "WDT", "WP$", ",", "``"})
MARKS = frozenset({".", ",", ":", "''", ")"})
DO = frozenset({"do", "does", "did"})
HAVE = frozenset({"have", "has", "had", "having"})
VERB_TAGS = {
    **dict.fromkeys(DO, frozenset({"VB", "VBP"})),
    **dict.fromkeys(HAVE, frozenset({"VBN", "VBD", "TO"})),
}
"""Tags of the verbs that follow each auxiliary."""
MAX_LOOKAHEAD = 20  # tokens searched for that verb


def reworded(text: str, tools: Tools, kind: Kind, relation: Relation) -> str | None:
    """Replace each word of a kind, or some drawn at random; None where no word changes."""
    rng, options = tools.rng, tools.options
    tokens = spans(text.replace("’", "'"))  # contractions are split at the plain apostrophe only
    words = [token.word.rstrip(".") or token.word for token in tokens]  # "sat." before a sentence
    tags = tag(words)
    found: list[tuple[int, int, list[str]]] = []
    for i, token in enumerate(tokens):
        check_stop()
        if not tags[i].startswith(WORD_CLASSES[kind][0]):
            continue
        if options.substitution == "safe" and left_alone(words, tags, i):
            continue
        if choices := choices_for(words[i].lower(), tags[i], kind, relation, options):
            cased = map(capitalised, choices) if words[i][:1].isupper() else choices
            found.append((token.start, token.start + len(words[i]), [*cased]))
    if 0 < options.replacements < len(found):
        found = [found[i] for i in sorted(rng.sample(range(len(found)), options.replacements))]
    new = substitute(text, [(start, end, rng.choice(choices)) for start, end, choices in found])
    return new if new != text else None


def left_alone(words: Sequence[str], tags: Sequence[str], i: int) -> bool:
    """Whether a word is a name, a copula, a negation, a single letter, or an auxiliary.

    An auxiliary is a form of have or do that goes with a verb: "did he go", "he has", "she has to".
    """
    low = words[i].lower()
    if tags[i].startswith("NNP") or len(low) == 1 or low in BE | CONTRACTED | NOT:
        return True
    if low not in VERB_TAGS:
        return False
    if NOT.intersection(map(str.lower, words[i + 1 : i + 2])):
        return True

    def next_tag(skipped: frozenset[str]) -> str:
        near = islice(tags, i + 1, i + MAX_LOOKAHEAD)
        return next((tag for tag in near if tag not in skipped), ".")

    in_question = i == 0 or tags[i - 1] in QUESTION_TAGS
    verb = next_tag(SUBJECT if in_question or low in DO else ADVERBS)
    return verb in VERB_TAGS[low] or next_tag(PRONOUNS if in_question else ADVERBS) in MARKS


@lru_cache(20_000)
def choices_for(
    word: str, tag: str, kind: Kind, relation: Relation, options: Options
) -> tuple[str, ...]:
    """Return the replacements of a lower-case word: as in the code, or never itself or a name.

    WordNet's instances and lemmas with a capital are names, such as Samuel Butler for a butler.
    """
    pos = WORD_CLASSES[kind][1]
    max_senses = 1 if options.senses == "first" else None
    if options.substitution == "fritz_code":
        names = related(senses(word, pos)[:max_senses], relation)
        return tuple((options.inflect and inflect(name, tag)) or name for name in names)
    word_lemmas = lemmas(word, tag, pos)
    related_names = [
        name
        for lemma in word_lemmas
        for name in related(
            [sense for sense in own_senses(lemma, pos) if not sense.instance_hypernyms()][
                :max_senses
            ],
            relation,
        )
        if name == name.lower()
    ]
    same_word = {word, *word_lemmas, reader().morphy(word, pos)}
    names = [name for name in dict.fromkeys(related_names) if name.lower() not in same_word]
    if options.inflect and not (tag in DEGREE and word in word_lemmas):
        names = [inflect(name, tag) for name in names]
    return tuple(dict.fromkeys(name for name in names if name.lower() not in ("", word)))


SOURCE = "Dickerson, fritz"
CLAUSE = "It is not the case that"
MAX_DRAWS = 100
register = partial(transform, family="heuristic", source=SOURCE)
copy = partial(register, rule=NOT_ENTAILED, reads="premise", edits="hypothesis")


# order and subsequence


@register(
    "shuffleboth",
    "Shuffle both texts",
    "Puts the words of the premise and the words of the hypothesis in random order.",
    rule=NOT_ENTAILED,
    fields=NLI.fields,
    applies="two different words in the premise or the hypothesis",
    chance=True,
)
def shuffleboth(pair: Pair, tools: Tools) -> Changed | None:
    """Shuffle each side by itself; a side keeps its order only where it has no other."""
    premise, hypothesis = (reordered(text, tools.rng) for text in (pair.premise, pair.hypothesis))
    if premise is None and hypothesis is None:
        return None
    new = replace(pair, premise=premise or pair.premise, hypothesis=hypothesis or pair.hypothesis)
    return Changed(new, why_characters(pair.premise + pair.hypothesis))


@copy(
    "shuffleprem",
    "Copy the premise, shuffled",
    "Replaces the hypothesis by the words of the premise in random order.",
    applies="two different words in the premise (any other order would be the premise again)",
    chance=True,
)
def shuffleprem(text: str, tools: Tools) -> Changed | None:
    """Draw another order than the premise's own, which would be entailed; the code allows it."""
    new = reordered(text, tools.rng)
    return Changed(new, why_characters(new)) if new else None


@copy(
    "premsubseq",
    "Copy a part of the premise",
    "Replaces the hypothesis by a part of the premise, its words in their order.",
    applies="two words in the premise",
    options=("subsequence",),
    chance=True,
)
def premsubseq(text: str, tools: Tools) -> Changed | None:
    """Cut out a span, never with the last word, as the code; or draw any words, as the paper."""
    words, rng = split_at_blanks(text), tools.rng
    if len(words) < 2:
        return None
    if tools.options.subsequence == "gappy":
        chosen = sorted(rng.sample(range(len(words)), rng.randrange(1, len(words))))
    else:
        start = rng.randint(0, len(words) - 2)
        chosen = [*range(start, rng.randint(start + 1, len(words) - 1))]
    part = join([words[i] for i in chosen])
    return Changed(part, why_characters(part))


def reordered(text: str, rng: random.Random) -> str | None:
    """Draw an order of words that reads differently, case aside; None where there is none."""
    words = split_at_blanks(text)
    original = [word.lower() for word in words]
    if len(set(original)) < 2:
        return None
    for _ in range(MAX_DRAWS):  # at worst half of them draw the original order
        drawn = rng.sample(words, len(words))
        if [word.lower() for word in drawn] != original:
            return join(drawn)
    return None


# negation

TITLES = frozenset((
    "Mr", "Mrs", "Ms", "Dr",
    "Mr.", "Mrs.", "Ms.", "Dr.", "Prof.", "St.", "Rev.", "Fr.", "Gen.", "Col.", "Maj.", "Capt.",
    "Lt.", "Sgt.", "Sen.", "Rep.", "Gov.", "Pres.", "Hon.",
))  # fmt: skip
"""Words that begin a name, though no tagger calls them one."""


def denied(text: str, tools: Tools | None = None) -> str | None:
    """Put the clause before a text and lower its first letter; None for a text of no words.

    Unlike in the code "I", names, titles and words all in capitals keep theirs. A contradiction of
    the denied premise, as the paper has it, may well be entailed; the published numbers are those
    of the code, which puts the denied premise in the place of the hypothesis.
    """
    text = text.strip()
    words = tokenise(text)
    if not words:
        return None
    first, context = words[0], words[:3]  # the tag of the first depends on these
    name = tag(context)[0].startswith("NNP") or first in {"I", *TITLES}
    if name or (len(first) > 1 and first.isupper()):
        return f"{CLAUSE} {text}"
    return f"{CLAUSE} {text[0].lower()}{text[1:]}"


for name, title, says, reads, edits in (
    (
        "neghyp",
        "Negate the hypothesis",
        "Puts {} before the hypothesis",
        "hypothesis",
        "hypothesis",
    ),
    ("negprem", "Negate the premise", "Puts {} before the premise", "premise", "premise"),
    (
        "negprem_hyp",
        "Copy the premise, negated",
        "Replaces the hypothesis by the premise with {} before it",
        "premise",
        "hypothesis",
    ),
):
    register(
        name,
        title,
        f"{says}.".format(f'"{CLAUSE}"'),
        rule=FLIP if reads == "hypothesis" else NOT_ENTAILED,
        reads=reads,
        edits=edits,
        applies=f"a word in the {reads}",
        needs=("tagger",),
        language="English",
    )(denied)

# synonyms and antonyms

SUBSTITUTED: tuple[tuple[str, Kind, str, str], ...] = (
    ("verb", "verb", "verbs", SOURCE),
    ("noun", "noun", "nouns", SOURCE),
    ("adv", "adverb", "adverbs", SOURCE),
    ("adj", "adjective", "adjectives", f"after {SOURCE}; adjectives are our extension"),
)
RELATIONS: tuple[tuple[str, Relation, str, Rule], ...] = (
    ("syn", "synonym", "the same meaning", KEEP),
    ("ant", "antonym", "the opposite meaning", FLIP),
)


for (short, kind, words, source), (ending, relation, meaning, rule) in product(
    SUBSTITUTED, RELATIONS
):
    transform(
        f"h{short}{ending}",
        f"Swap {words} for {relation}s",
        f"Replaces the {words} of the hypothesis by {words} of {meaning}.",
        family="heuristic",
        rule=rule,
        reads="hypothesis",
        edits="hypothesis",
        source=source,
        applies=f"{words} in the hypothesis that have {relation}s in WordNet",
        needs=("wordnet", "tagger"),
        options=("substitution", "replacements", "senses", "inflect"),
        chance=True,
        language="English",
    )(partial(reworded, kind=kind, relation=relation))
