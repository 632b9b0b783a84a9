"""Fritz's transforms: orders, subsequences, negations and substitutions, whatever the text."""

import random
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.tasks.nli import LABELS, NEUTRAL, NLI, NON_ENTAILMENT, Pair
from probe.tasks.task import Label
from probe.transforms import REGISTRY, Options, Result, apply
from probe.transforms.families.heuristics import CLAUSE, left_alone
from probe.transforms.registry import SubWords, Tools, missing
from tests.support.cases import each
from tests.support.property_settings import STEADY

RELATED = [f"h{kind}{end}" for kind in ("verb", "noun", "adv", "adj") for end in ("syn", "ant")]
SHUFFLES = ["shuffleboth", "shuffleprem"]
TO_FLIP = ["neghyp", "hverbant", "hnounant", "hadvant", "hadjant"]
SENTENCE = "Her happy uncle quickly bought a large boat and his employer rarely agreed."
WORDS = st.lists(st.sampled_from(["a", "A", "man", "sat.", "Sat.", "é", "?!"]), max_size=9)
TEXT = WORDS.map(" ".join)
SEEDS = st.integers(0, 99)


def transformed(
    name: str, premise: str, hypothesis: str, seed: int = 0, options: Options = Options()
) -> Pair | None:
    """Apply a transform's function; skip where it lacks what it needs."""
    if lacks := missing(REGISTRY[name]):
        pytest.skip(lacks)
    pair = Pair(premise, hypothesis, NEUTRAL, "r1")
    changed = REGISTRY[name].make(pair, NLI, Tools(random.Random(seed), options))
    return changed.made[0] if changed else None


def reworded(name: str, text: str, options: Options = Options()) -> set[str]:
    """Return what becomes of a hypothesis over many seeds."""
    results = [transformed(name, "It rained.", text, seed, options) for seed in range(60)]
    return {pair.hypothesis for pair in results if pair}


def no_reading(pairs: Sequence[Pair]) -> Sequence[SubWords]:
    """Stand where nothing reads sub-words."""
    raise AssertionError("a word-level transform asked for sub-words")


def applied(name: str, gold: Label) -> Result:
    """Apply a transform to a pair on which each of them works."""
    if lacks := missing(REGISTRY[name]):
        pytest.skip(lacks)
    return apply(name, [Pair(SENTENCE, SENTENCE, gold)], NLI, 0, Options(), no_reading)[0][0]


def small(text: str) -> list[str]:
    """Return a text's words, case aside."""
    return text.lower().split()


# labels


@each("name", TO_FLIP)
def test_a_denied_entailment_is_none(name: str) -> None:
    assert applied(name, "entailment").gold == NON_ENTAILMENT


@each("text", ["Mr. Smith left.", "Dr. Ames sang.", "St. Ives is far.", "I ran."])
def test_a_denied_text_keeps_the_capital_of_a_title(text: str) -> None:
    denied = transformed("neghyp", "It rained.", text)
    assert denied and denied.hypothesis == f"{CLAUSE} {text}"


@each("name", TO_FLIP)
def test_a_denied_contradiction_is_entailed(name: str) -> None:
    assert applied(name, "contradiction").gold == "entailment"


@each("name", TO_FLIP)
def test_a_denied_neutral_hypothesis_stays_neutral(name: str) -> None:
    assert applied(name, "neutral").gold == "neutral"


@each("name", [*SHUFFLES, "premsubseq", "negprem", "negprem_hyp"])
@each("gold", LABELS)
def test_what_destroys_the_sense_is_not_entailed(name: str, gold: Label) -> None:
    assert applied(name, gold).gold == NON_ENTAILMENT


@each("name", ["hverbsyn", "hnounsyn", "hadvsyn", "hadjsyn"])
@each("gold", LABELS)
def test_synonyms_keep_the_label(name: str, gold: Label) -> None:
    assert applied(name, gold).gold == gold


@each("name", ["hadjsyn", "hadjant"])
def test_adjectives_are_marked_as_our_extension(name: str) -> None:
    assert "our extension" in REGISTRY[name].source


# orders and subsequences


@STEADY
@given(TEXT, TEXT, SEEDS, st.sampled_from(SHUFFLES))
def test_a_shuffle_keeps_every_word(premise: str, hypothesis: str, seed: int, name: str) -> None:
    pair = transformed(name, premise, hypothesis, seed)
    if pair:
        source = premise if name == "shuffleprem" else hypothesis
        assert Counter(pair.premise.split()) == Counter(premise.split())
        assert Counter(pair.hypothesis.split()) == Counter(source.split())


@STEADY
@given(TEXT, SEEDS)
def test_shuffleprem_never_says_the_premise_again(premise: str, seed: int) -> None:
    pair = transformed("shuffleprem", premise, "no", seed)
    assert pair is None or small(pair.hypothesis) != small(premise)


@STEADY
@given(TEXT)
def test_shuffleprem_needs_two_words_that_differ(premise: str) -> None:
    assert (transformed("shuffleprem", premise, "no") is None) == (len(set(small(premise))) < 2)


@STEADY
@given(TEXT, TEXT, SEEDS)
def test_shuffleboth_changes_each_side_that_can_change(
    premise: str, hypothesis: str, seed: int
) -> None:
    pair = transformed("shuffleboth", premise, hypothesis, seed)
    can = [len(set(small(text))) > 1 for text in (premise, hypothesis)]
    if pair is None:
        assert can == [False, False]
        return
    assert (small(pair.premise) != small(premise)) == can[0]
    assert (small(pair.hypothesis) != small(hypothesis)) == can[1]


@STEADY
@given(TEXT, SEEDS)
def test_a_contiguous_subsequence_is_a_stretch_without_the_last_word(
    premise: str, seed: int
) -> None:
    words, pair = premise.split(), transformed("premsubseq", premise, "no", seed)
    if pair is None:
        assert len(words) < 2
        return
    part = pair.hypothesis.split()
    starts = range(len(words) - len(part))
    assert part
    assert any(words[start : start + len(part)] == part for start in starts)


@STEADY
@given(TEXT, SEEDS)
def test_a_gappy_subsequence_keeps_the_order(premise: str, seed: int) -> None:
    pair = transformed("premsubseq", premise, "no", seed, Options(subsequence="gappy"))
    words = premise.split()
    if pair is None:
        assert len(words) < 2
        return
    rest = iter(words)
    assert all(word in rest for word in pair.hypothesis.split())
    assert 0 < len(pair.hypothesis.split()) < len(words)


# negations


@STEADY
@given(TEXT, TEXT)
def test_a_negation_adds_the_clause_and_nothing_else(premise: str, hypothesis: str) -> None:
    for name, before, side in (
        ("neghyp", hypothesis, "hypothesis"),
        ("negprem", premise, "premise"),
        ("negprem_hyp", premise, "hypothesis"),
    ):
        pair = transformed(name, premise, hypothesis)
        assert (pair is None) == (not before.split())
        if pair:
            assert small(getattr(pair, side)) == [*small(CLAUSE), *small(before)]


def test_negprem_leaves_the_hypothesis_and_negprem_hyp_the_premise() -> None:
    paper, code = (
        transformed(name, "It rained.", "He sat.") for name in ("negprem", "negprem_hyp")
    )
    assert paper is not None and paper.hypothesis == "He sat."
    assert code is not None and code.premise == "It rained."


# substitutions


@each("name", RELATED)
def test_a_substitution_leaves_the_premise(name: str) -> None:
    pair = transformed(name, SENTENCE, SENTENCE)
    assert pair is not None and pair.premise == SENTENCE


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
    assert reworded(name, before) == {after}


@each("name", RELATED)
def test_one_replacement_changes_one_word_of_two(name: str) -> None:
    texts = reworded(name, SENTENCE)
    assert all(text != SENTENCE for text in texts)
    for text in reworded(name, SENTENCE, Options(replacements=1, inflect=False)):
        old, new = SENTENCE.split(), text.split()
        same = next(i for i in range(len(old)) if old[i] != new[i])
        assert old[same + 1 :] == new[len(new) - len(old) + same + 1 :]


def test_more_replacements_than_words_are_all_of_them() -> None:
    texts = reworded("hverbant", "They bought it and agreed.", Options(replacements=20))
    assert texts == {"They sold it and disagreed."}


def test_no_word_is_replaced_by_itself() -> None:
    assert reworded("hnounsyn", "A cab stopped.") == {
        "A cabriolet stopped.",
        "A hack stopped.",
        "A taxi stopped.",
        "A taxicab stopped.",
    }


def test_no_word_is_replaced_by_its_own_lemma() -> None:
    for text in reworded("hnounsyn", "The bars closed.", Options(inflect=False)):
        assert text not in ("The bar closed.", "The bars closed.")


def test_the_code_may_draw_nothing_but_the_word_itself() -> None:
    pair = transformed(
        "hnounsyn", "a", "The uncle sat.", options=Options(substitution="fritz_code")
    )
    assert pair is None  # nothing but "uncle" can be drawn, so nothing changes


def test_the_first_sense_alone_gives_its_synonyms_only() -> None:
    assert reworded("hnounsyn", "A car stopped.", Options(senses="first")) == {
        "A auto stopped.",
        "A automobile stopped.",
        "A machine stopped.",
        "A motorcar stopped.",
    }


def test_all_senses_give_those_of_every_sense() -> None:
    assert reworded("hnounsyn", "A car stopped.") >= {"A auto stopped.", "A cable car stopped."}


@each(
    ("text", "position"),
    [
        ("He has/VBZ gone/VBN ./.", 1),
        ("He has/VBZ not/RB gone/VBN ./.", 1),
        ("Has/VBZ the/DT man/NN gone/VBN ?/.", 0),
        ("He has/VBZ to/TO go/VB ./.", 1),
        ("He did/VBD n't/RB go/VB ./.", 1),
        ("Where/WRB did/VBD the/DT man/NN go/VB ?/.", 1),
        ("He did/VBD ./.", 1),
        ("It/PRP rained/VBD ,/, did/VBD it/PRP ?/.", 3),
        ("He is/VBZ tall/JJ ./.", 1),
        ("He 's/VBZ tall/JJ ./.", 1),
        ("Paul/NNP sat/VBD ./.", 0),
        ("He is/VBZ not/RB tall/JJ ./.", 2),
    ],
)
def test_names_auxiliaries_copulas_and_negations_are_left_alone(text: str, position: int) -> None:
    assert left_alone(*tagged(text), position)


@each(
    ("text", "position"),
    [
        ("He has/VBZ a/DT dog/NN ./.", 1),
        ("He did/VBD the/DT work/NN ./.", 1),
        ("He did/VBD it/PRP ./.", 1),
        ("He had/VBD a/DT dog/NN named/VBN Rex/NNP ./.", 1),
        ("He sat/VBD ./.", 1),
        ("The/DT man/NN sat/VBD ./.", 1),
    ],
)
def test_full_verbs_and_common_nouns_are_not(text: str, position: int) -> None:
    assert not left_alone(*tagged(text), position)


def tagged(text: str) -> tuple[list[str], list[str]]:
    """Read word/TAG; a word without a tag is a pronoun."""
    pairs = [item.rpartition("/") if "/" in item else (item, "/", "PRP") for item in text.split()]
    return [word for word, _, _ in pairs], [tag for _, _, tag in pairs]
