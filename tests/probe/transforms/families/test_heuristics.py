"""Fritz's transforms: orders, subsequences, negations and substitutions, whatever the text."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from probe.tasks.nli import LABELS, NEUTRAL, NLI, Pair
from probe.transforms import REGISTRY, Options, apply
from probe.transforms.families.heuristics import CLAUSE, left_alone
from tests.support.cases import each
from tests.support.models.scored_tokens import made
from tests.support.property_settings import STEADY

RELATED = [f"h{kind}{end}" for kind in ("verb", "noun", "adv", "adj") for end in ("syn", "ant")]
SENTENCE = "Her happy uncle quickly bought a large boat and his employer rarely agreed."
TEXT = st.lists(st.sampled_from(["a", "A", "man", "sat.", "Sat.", "é", "?!"]), max_size=9).map(
    " ".join
)
SEEDS = st.integers(0, 99)


def transformed(
    name: str, premise: str, hypothesis: str, seed: int = 0, **options: object
) -> Pair | None:
    """Return what a transform makes of two texts, None where it does not apply."""
    pairs, _ = made(name, Pair(premise, hypothesis, NEUTRAL, "r1"), seed, **options)
    return pairs[0] if pairs else None


def reworded(name: str, text: str, **options: object) -> set[str]:
    """Return what becomes of a hypothesis over many seeds."""
    results = [transformed(name, "It rained.", text, seed, **options) for seed in range(60)]
    return {pair.hypothesis for pair in results if pair}


def small(text: str) -> list[str]:
    """Return a text's words, case aside."""
    return text.lower().split()


@each("name", [name for name, entry in REGISTRY.items() if entry.family == "heuristic"])
def test_gold_labels_follow_from_the_kind_of_change(name: str) -> None:
    expected: tuple[str, ...] = ("non-entailment",) * 3
    if name.endswith("ant") or name == "neghyp":
        expected = ("non-entailment", "neutral", "entailment")
    elif name.endswith("syn"):
        expected = LABELS
    pairs = [Pair(SENTENCE, SENTENCE, gold) for gold in LABELS]
    results = apply(name, pairs, NLI, 0, Options(), lambda examples: [])
    assert tuple(result.gold for (result,) in results) == expected
    assert ("our extension" in REGISTRY[name].source) == name.startswith("hadj")
    assert name not in RELATED or all(r.example.premise == SENTENCE for (r,) in results)


@STEADY
@given(TEXT, TEXT, SEEDS)
def test_a_shuffle_keeps_every_word_and_changes_what_can_change(
    premise: str, hypothesis: str, seed: int
) -> None:
    can = [len(set(small(text))) > 1 for text in (premise, hypothesis)]
    for name, source in (("shuffleboth", hypothesis), ("shuffleprem", premise)):
        pair = transformed(name, premise, hypothesis, seed)
        assert (pair is None) == (not (any(can) if name == "shuffleboth" else can[0]))
        if pair:
            assert Counter(pair.premise.split()) == Counter(premise.split())
            assert Counter(pair.hypothesis.split()) == Counter(source.split())
            changed = (
                small(pair.premise) != small(premise),
                small(pair.hypothesis) != small(source),
            )
            assert changed == (tuple(can) if name == "shuffleboth" else (False, True))


@STEADY
@given(TEXT, SEEDS, st.sampled_from(["contiguous", "gappy"]))
def test_a_subsequence_keeps_the_order_and_is_not_the_premise(
    premise: str, seed: int, kind: str
) -> None:
    words = premise.split()
    pair = transformed("premsubseq", premise, "no", seed, subsequence=kind)
    assert (pair is None) == (len(words) < 2)
    if pair:
        part, rest = pair.hypothesis.split(), iter(words)
        assert 0 < len(part) < len(words) and all(word in rest for word in part)
        starts = range(len(words) - len(part))  # a stretch never has the last word
        stretch = any(words[start : start + len(part)] == part for start in starts)
        assert stretch or kind == "gappy"


@STEADY
@given(TEXT, TEXT)
def test_a_negation_adds_the_clause_and_nothing_else(premise: str, hypothesis: str) -> None:
    for name, before, side, other in (
        ("neghyp", hypothesis, "hypothesis", "premise"),
        ("negprem", premise, "premise", "hypothesis"),
        ("negprem_hyp", premise, "hypothesis", "premise"),
    ):
        pair = transformed(name, premise, hypothesis)
        assert (pair is None) == (not before.split())
        if pair:
            assert small(getattr(pair, side)) == [*small(CLAUSE), *small(before)]
            assert getattr(pair, other) == {"premise": premise, "hypothesis": hypothesis}[other]


@each("text", ["Mr. Smith left.", "Dr. Ames sang.", "St. Ives is far.", "I ran."])
def test_a_denied_text_keeps_the_capital_of_a_title(text: str) -> None:
    denied = transformed("neghyp", "It rained.", text)
    assert denied and denied.hypothesis == f"{CLAUSE} {text}"


@each(
    ("name", "before", "after"),
    [
        ("hverbant", "They bought it and agreed.", "They sold it and disagreed."),
        ("hverbsyn", "They purchased it and hated it.", "They bought it and detested it."),
        ("hnounant", "The victory was the uncle's.", "The defeat was the aunt's."),
        ("hnounsyn", "The lawyer met the teacher.", "The attorney met the instructor."),
        ("hadvant", "They wisely came quickly.", "They foolishly came slowly."),
        ("hadvsyn", "They rarely acted wisely.", "They seldom acted sagely."),
        ("hadjant", "The happy man met a married man.", "The unhappy man met a unmarried man."),
        ("hadjsyn", "The unmarried man met a deaf man.", "The single man met a indifferent man."),
    ],
)
def test_without_a_limit_every_word_of_the_kind_is_replaced(
    name: str, before: str, after: str
) -> None:
    assert reworded(name, before) == reworded(name, before, replacements=20) == {after}
    for text in reworded(name, SENTENCE, replacements=1, inflect=False):
        old, new = SENTENCE.split(), text.split()
        same = next(i for i in range(len(old)) if old[i] != new[i])
        assert old[same + 1 :] == new[len(new) - len(old) + same + 1 :]


def test_no_word_is_replaced_by_itself_unless_the_code_draws_it() -> None:
    synonyms = {f"A {word} stopped." for word in ("cabriolet", "hack", "taxi", "taxicab")}
    assert reworded("hnounsyn", "A cab stopped.") == synonyms
    bars = reworded("hnounsyn", "The bars closed.", inflect=False)
    assert bars and not bars & {"The bar closed.", "The bars closed."}
    # nothing but "uncle" can be drawn, so nothing changes
    assert reworded("hnounsyn", "The uncle sat.", substitution="fritz_code") == set()


def test_the_first_sense_alone_gives_its_synonyms_only() -> None:
    first = {f"A {word} stopped." for word in ("auto", "automobile", "machine", "motorcar")}
    assert reworded("hnounsyn", "A car stopped.", senses="first") == first
    assert reworded("hnounsyn", "A car stopped.") > {"A auto stopped.", "A cable car stopped."}


@each(
    ("text", "position", "alone"),
    [
        ("He has/VBZ gone/VBN ./.", 1, True),
        ("He has/VBZ not/RB gone/VBN ./.", 1, True),
        ("Has/VBZ the/DT man/NN gone/VBN ?/.", 0, True),
        ("He has/VBZ to/TO go/VB ./.", 1, True),
        ("He did/VBD n't/RB go/VB ./.", 1, True),
        ("Where/WRB did/VBD the/DT man/NN go/VB ?/.", 1, True),
        ("He did/VBD ./.", 1, True),
        ("It/PRP rained/VBD ,/, did/VBD it/PRP ?/.", 3, True),
        ("He is/VBZ tall/JJ ./.", 1, True),
        ("He 's/VBZ tall/JJ ./.", 1, True),
        ("Paul/NNP sat/VBD ./.", 0, True),
        ("He is/VBZ not/RB tall/JJ ./.", 2, True),
        ("He has/VBZ a/DT dog/NN ./.", 1, False),
        ("He did/VBD the/DT work/NN ./.", 1, False),
        ("He did/VBD it/PRP ./.", 1, False),
        ("He had/VBD a/DT dog/NN named/VBN Rex/NNP ./.", 1, False),
        ("He sat/VBD ./.", 1, False),
        ("The/DT man/NN sat/VBD ./.", 1, False),
    ],
)
def test_names_auxiliaries_copulas_and_negations_are_left_alone(
    text: str, position: int, alone: bool
) -> None:
    pairs = [item.rpartition("/") if "/" in item else (item, "/", "PRP") for item in text.split()]
    assert left_alone([p[0] for p in pairs], [p[2] for p in pairs], position) == alone
