"""The phrase-based translators: alignment, phrases, language model, search, training, tables."""

import gzip
import math
import random
import shutil
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import permutations, product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from probe import pbsmt
from probe.cli.pbsmt import app
from probe.errors import TrainingError
from probe.pbsmt import ngram_model, phrase_table
from probe.pbsmt.align import Link, align, symmetrise
from probe.pbsmt.decode import UNKNOWN_SCORE, DecoderWeights, Search, target_words
from probe.pbsmt.extract import PhrasePair, extract, phrase_spans
from probe.pbsmt.score import NULL, Pruning, lexical_weight, lexicons, score
from probe.pbsmt.train import TrainingSettings, estimate, train
from probe.pbsmt.translate import (
    MAX_PART_WORDS,
    MAX_WORDS,
    load,
    missing,
    parts,
    translator,
)
from probe.tasks.nli import LABELS, Pair
from probe.tasks.task import Label
from probe.text.tokens import tokenise
from probe.transforms import REGISTRY, Options
from probe.transforms.registry import Inexact, Tools
from tests.support.property_settings import STEADY

# word alignment


@pytest.mark.parametrize(
    ("forward", "backward", "joined"),
    [
        pytest.param({(0, 0)}, {(0, 0)}, {(0, 0)}, id="what both have stays"),
        pytest.param(
            {(0, 0), (1, 1), (1, 2)},
            {(0, 0), (1, 1)},
            {(0, 0), (1, 1), (1, 2)},
            id="a neighbour that links a new word comes in",
        ),
        pytest.param(
            {(0, 0), (0, 1), (1, 1)},
            {(0, 0), (1, 1)},
            {(0, 0), (1, 1)},
            id="a neighbour of two linked words stays out",
        ),
        pytest.param(
            {(0, 0), (1, 1)}, {(0, 0)}, {(0, 0), (1, 1)}, id="diagonal neighbours are neighbours"
        ),
        pytest.param(
            {(0, 0), (0, 1), (0, 2), (0, 3)},
            {(0, 0)},
            {(0, 0), (0, 1), (0, 2), (0, 3)},
            id="what came in has neighbours too",
        ),
        pytest.param(
            {(0, 0), (3, 3)},
            {(0, 0)},
            {(0, 0), (3, 3)},
            id="far off, two unlinked words are linked",
        ),
        pytest.param(
            {(0, 0), (3, 0)}, {(0, 0)}, {(0, 0)}, id="far off, a linked word gets no second link"
        ),
        pytest.param(
            {(0, 2)}, {(0, 0)}, {(0, 2)}, id="of two far links the forward one comes first"
        ),
        pytest.param(set(), set(), set(), id="no links"),
    ],
)
def test_two_alignments_are_joined_as_by_hand(
    forward: set[Link], backward: set[Link], joined: set[Link]
) -> None:
    assert symmetrise(forward, backward) == joined


LINKS = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=9)


@STEADY
@given(LINKS, LINKS)
def test_the_joined_alignment_lies_between_both_and_either(
    forward: set[Link], backward: set[Link]
) -> None:
    assert forward & backward <= symmetrise(forward, backward) <= forward | backward


def test_links_that_were_kept_are_used_again(tmp_path: Path) -> None:
    (tmp_path / "forward").write_text("0-0 1-1\n0-1\n")
    (tmp_path / "backward").write_text("0-0\n0-1\n")
    premises, hypotheses = [["a", "b"], ["c"]], [["a", "b"], ["d", "e"]]
    assert align(premises, hypotheses, tmp_path) == [{(0, 0), (1, 1)}, {(0, 1)}]


def test_links_of_other_pairs_are_refused(tmp_path: Path) -> None:
    (tmp_path / "forward").write_text("0-0\n")
    (tmp_path / "backward").write_text("0-0\n")
    with pytest.raises(TrainingError, match="are not of these pairs; remove them"):
        align([["a"], ["b"]], [["a"], ["b"]], tmp_path)


# phrase pairs


def consistent(links: set[Link], start: int, end: int, begin: int, stop: int) -> bool:
    """Whether two spans are a phrase pair, by the definition."""
    inside = [start <= i < end and begin <= j < stop for i, j in links]
    touched = [start <= i < end or begin <= j < stop for i, j in links]
    return any(inside) and inside == touched


@STEADY
@given(LINKS, st.integers(1, 5), st.integers(1, 5), st.integers(1, 5))
def test_phrase_pairs_are_those_of_the_definition(
    links: set[Link], source_length: int, target_length: int, max_words: int
) -> None:
    links = {(i, j) for i, j in links if i < source_length and j < target_length}
    spans = product(
        range(source_length),
        range(source_length + 1),
        range(target_length),
        range(target_length + 1),
    )
    expected = [
        (start, end, begin, stop)
        for start, end, begin, stop in spans
        if 0 < end - start <= max_words and 0 < stop - begin <= max_words
        if consistent(links, start, end, begin, stop)
    ]
    assert sorted(phrase_spans(source_length, target_length, links, max_words)) == expected


def test_a_phrase_pair_knows_its_links_from_its_own_starts() -> None:
    pairs = set(extract(["the", "old", "man"], ["a", "man"], {(0, 0), (2, 1)}, 2))
    assert pairs == {
        PhrasePair(("the",), ("a",), ((0, 0),)),
        PhrasePair(("the", "old"), ("a",), ((0, 0),)),
        PhrasePair(("man",), ("man",), ((0, 0),)),
        PhrasePair(("old", "man"), ("man",), ((1, 0),)),
    }


# scores

ALIGNED = [
    (["a", "b"], ["x"], {(0, 0)}),
    (["a"], ["x", "y"], {(0, 0)}),
    (["a"], ["z"], {(0, 0)}),
]


def test_word_probabilities_are_shares_of_links() -> None:
    forward, backward = lexicons(ALIGNED)
    assert forward == {
        ("a", "x"): pytest.approx(2 / 3),
        ("a", "z"): pytest.approx(1 / 3),
        ("b", NULL): 1.0,
        (NULL, "y"): 1.0,
    }
    assert backward == {("x", "a"): 1.0, ("z", "a"): 1.0, (NULL, "b"): 1.0, ("y", NULL): 1.0}


def test_a_lexical_weight_is_a_product_of_means() -> None:
    lexicon = {("a", "x"): 0.5, ("b", "x"): 0.1, ("b", "y"): 0.2, (NULL, "z"): 0.25}
    links = [(0, 0), (1, 0), (1, 1)]
    # x of a and b: (.5 + .1) / 2; y of b: .2; z of nothing: .25
    assert lexical_weight(("a", "b"), ("x", "y", "z"), links, lexicon) == pytest.approx(
        0.3 * 0.2 * 0.25
    )


def test_a_score_weighs_four_logarithms() -> None:
    counts = {
        PhrasePair(("a",), ("x",), ((0, 0),)): 3,
        PhrasePair(("a",), ("z",), ((0, 0),)): 1,
        PhrasePair(("b",), ("x",), ((0, 0),)): 2,
    }
    forward = {("a", "x"): 0.5, ("a", "z"): 0.5, ("b", "x"): 1.0}
    backward = {("x", "a"): 0.4, ("z", "a"): 0.1, ("x", "b"): 0.6}
    table = score(counts, forward, backward, pruning=Pruning(min_count=1))
    by_hand = 0.2 * (math.log(3 / 4) + math.log(3 / 5) + math.log(0.5) + math.log(0.4))
    assert table[("a",)][0] == (pytest.approx(by_hand), ("x",))
    assert [target for _, target in table[("a",)]] == [("x",), ("z",)]
    assert table[("b",)] == [
        (pytest.approx(0.2 * (math.log(2 / 5) + math.log(0.6))), ("x",)),
    ]


def test_of_several_alignments_the_likelier_gives_the_lexical_weight() -> None:
    counts = {
        PhrasePair(("a", "b"), ("x",), ((0, 0),)): 1,
        PhrasePair(("a", "b"), ("x",), ((1, 0),)): 1,
    }
    forward = {("a", "x"): 0.1, ("b", "x"): 0.5}
    backward = {("x", "a"): 1.0, ("x", "b"): 1.0, (NULL, "a"): 1.0, (NULL, "b"): 1.0}
    (total, _), *_ = score(counts, forward, backward)["a", "b"]
    assert total == pytest.approx(0.2 * math.log(0.5))


def test_pairs_seen_too_seldom_go_but_a_word_may_always_stay_itself() -> None:
    counts = {
        PhrasePair(("a",), ("a",), ((0, 0),)): 1,
        PhrasePair(("a",), ("x",), ((0, 0),)): 1,
        PhrasePair(("b",), ("y",), ((0, 0),)): 2,
    }
    ones = {(first, second): 1.0 for first in "abxy" for second in "abxy"}
    table = score(counts, ones, ones, pruning=Pruning(min_count=2))
    assert {source: [target for _, target in row] for source, row in table.items()} == {
        ("a",): [("a",)],
        ("b",): [("y",)],
    }


def test_only_the_best_targets_of_a_source_stay() -> None:
    counts = {
        PhrasePair(("a",), (target,), ((0, 0),)): count
        for target, count in zip("xyz", (2, 9, 5), strict=True)
    }
    ones = {(first, second): 1.0 for first in "axyz" for second in "axyz"}
    table = score(counts, ones, ones, pruning=Pruning(min_count=1, max_options=2))
    assert [target for _, target in table[("a",)]] == [("y",), ("z",)]


# the language model

ARPA = """\\data\\
ngram 1=5
ngram 2=4
ngram 3=1

\\1-grams:
-1.5\t<unk>
-9\t<s>\t-0.5
-1.0\t</s>
-0.7\ta\t-0.3
-0.9\tb\t-0.2

\\2-grams:
-0.4\t<s> a\t-0.1
-0.6\ta b\t-0.15
-0.2\tb </s>
-0.8\tb a

\\3-grams:
-0.05\t<s> a b

\\end\\
"""
TOY = ngram_model.parse(ARPA.splitlines(keepends=True))


@pytest.mark.parametrize(
    ("state", "word", "probability", "after"),
    [
        pytest.param("", "a", -0.7, "a", id="a word alone"),
        pytest.param("<s>", "a", -0.4, "<s> a", id="a pair that is there"),
        pytest.param("<s> a", "b", -0.05, "a b", id="three words that are there"),
        pytest.param("a b", "a", -0.15 - 0.8, "b a", id="back off once"),
        pytest.param("a b", "b", -0.15 - 0.2 - 0.9, "b", id="back off twice"),
        pytest.param("b a", "</s>", -0.3 - 1.0, "</s>", id="a context without a weight"),
        pytest.param("<s> a", "c", -0.1 - 0.3 - 1.5, "", id="an unknown word leaves no context"),
    ],
)
def test_a_probability_is_backed_off_as_by_hand(
    state: str, word: str, probability: float, after: str
) -> None:
    assert TOY.step(state, word) == (pytest.approx(probability), after)


def test_the_order_is_that_of_the_longest_grams() -> None:
    assert TOY.order == 3


WORDS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=6)


def log10_of(words: Sequence[str], model: ngram_model.NgramModel) -> float:
    """Return the log10 probability of a sentence."""
    total, state = 0.0, ngram_model.START
    for word in (*words, ngram_model.END):
        step, state = model.step(state, word)
        total += step
    return total


@pytest.fixture(scope="module")
def by_kenlm(tmp_path_factory: pytest.TempPathFactory) -> object:
    """Return KenLM's own reading of the toy model."""
    kenlm = pytest.importorskip("kenlm", reason="kenlm is for training only")
    path = tmp_path_factory.mktemp("lm") / "toy.arpa"
    path.write_text(ARPA)
    return kenlm.Model(str(path))


@STEADY
@given(words=WORDS)
def test_kenlm_gives_sentences_the_same_probability(by_kenlm: object, words: list[str]) -> None:
    whole = by_kenlm.score(" ".join(words))  # type: ignore[attr-defined]  # kenlm has no types
    assert log10_of(words, TOY) == pytest.approx(whole, abs=1e-4)


# the search

LINES = [
    "a\t-0.5\ta\t-0.9\tb b\n",
    "b\t-0.4\tb\t-0.7\ta\n",
    "a b\t-0.3\tb a\t-1.1\ta\n",
    "c\t-0.6\tc\n",
    "b c\t-1.0\tc b\n",
]
SMALL = phrase_table.parse(LINES)
FREE = DecoderWeights(language_model=0.5, distortion=0.3, distortion_limit=6)


def segmentations(words: Sequence[str], start: int = 0) -> Iterator[list[tuple[int, int]]]:
    """Yield every segmentation of words into spans of one or two."""
    if start == len(words):
        yield []
    for end in range(start + 1, min(start + 2, len(words)) + 1):
        for rest in segmentations(words, end):
            yield [(start, end), *rest]


def within_limit(order: Sequence[tuple[int, int]], limit: int) -> bool:
    """Whether every jump is short enough, and every gap left behind is near enough."""
    last_end, uncovered = 0, {word for start, end in order for word in range(start, end)}
    for start, end in order:
        gap = min(uncovered)
        if abs(start - last_end) > limit or (start > gap and end - gap > limit):
            return False
        last_end, uncovered = end, uncovered - set(range(start, end))
    return True


def options(words: Sequence[str], start: int, end: int) -> list[tuple[float, list[str]]]:
    """Return scores and translations of a span, read from the lines themselves."""
    source = " ".join(words[start:end])
    for line in LINES:
        first, *cells = line.strip().split("\t")
        if first == source:
            return [(float(s), t.split()) for s, t in zip(cells[::2], cells[1::2], strict=True)]
    return [(UNKNOWN_SCORE, [source])] if end == start + 1 else []


def exhaustive(words: Sequence[str], weights: DecoderWeights) -> float:
    """Return the best score there is, by trying everything."""
    best = -math.inf
    for cut in segmentations(words):
        for order in permutations(cut):
            if not within_limit(order, weights.distortion_limit):
                continue
            starts = [0, *(end for _, end in order[:-1])]
            jumps = sum(abs(s - last) for (s, _), last in zip(order, starts, strict=True))
            for choice in product(*(options(words, *span) for span in order)):
                text = [word for _, part in choice for word in part]
                total = sum(score for score, _ in choice) - weights.distortion * jumps
                total += weights.word * len(text) + weights.phrase * len(order)
                total += weights.language_model * math.log(10) * log10_of(text, TOY)
                best = max(best, total)
    return best


@STEADY
@given(
    st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=5),
    st.builds(
        DecoderWeights,
        st.sampled_from([0.0, 0.5, 1.5]),
        st.sampled_from([0.0, 0.3]),
        st.integers(0, 4),
        st.sampled_from([1.0, -0.5]),
        st.sampled_from([0.2, -1.0]),
    ),
)
def test_a_wide_search_finds_what_trying_everything_finds(
    words: list[str], weights: DecoderWeights
) -> None:
    translation = Search(words, SMALL, TOY, weights, beam_size=10_000).run()
    assert translation.score == pytest.approx(exhaustive(words, weights))


@STEADY
@given(st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=9))
def test_a_narrow_search_finds_nothing_better(words: list[str]) -> None:
    wide = Search(words, SMALL, TOY, FREE, beam_size=10_000).run()
    assert Search(words, SMALL, TOY, FREE, beam_size=1).run().score <= wide.score + 1e-9


def reordered(words: Sequence[str], weights: DecoderWeights) -> list[str]:
    """Translate with a table that knows no word: only the order can change."""
    return target_words(Search(words, phrase_table.parse([]), TOY, weights, beam_size=100).run())


def test_unknown_words_are_copied_in_their_order() -> None:
    assert reordered(["zu", "yo", "xi"], FREE) == ["zu", "yo", "xi"]


def test_with_a_limit_of_nothing_the_order_stays() -> None:
    assert reordered(["b", "a"], DecoderWeights(9.0, 0.0, 0)) == ["b", "a"]


def test_a_language_model_that_weighs_enough_changes_the_order() -> None:
    # log10: <s> a b </s> is -.4 -.05 -.2; <s> b a </s> is -.5 -.9 -.8 -.3 -1.0
    assert reordered(["b", "a"], DecoderWeights(9.0, 0.0, 2)) == ["a", "b"]


@STEADY
@given(
    st.lists(st.sampled_from("abcdefgh"), min_size=2, max_size=8, unique=True), st.integers(0, 4)
)
def test_no_word_is_taken_from_farther_than_the_limit(words: list[str], limit: int) -> None:
    search = Search(
        words, phrase_table.parse([]), TOY, DecoderWeights(5.0, 0.0, limit), beam_size=50
    )
    positions = [words.index(word) for word in target_words(search.run())]
    assert sorted(positions) == list(range(len(words)))
    last = 0
    for position in positions:
        assert abs(position - last) <= limit
        last = position + 1


# texts of any length


@pytest.mark.parametrize("words", [["a"] * 3, ["a"] * 500, (["a"] * 50 + ["."]) * 9, ["."] * 200])
def test_the_parts_of_a_text_are_the_text(words: list[str]) -> None:
    cut = list(parts(words))
    assert [word for part in cut for word in part] == words
    assert all(0 < len(part) <= MAX_PART_WORDS for part in cut)


def test_a_long_text_is_cut_after_the_last_sentence_end_of_a_part() -> None:
    sentence = ["a"] * 24 + ["."]
    assert [len(part) for part in parts(sentence * 3)] == [50, 25]


def test_a_text_without_words_has_no_parts() -> None:
    assert list(parts([])) == []


# training

TRAINING_PAIRS = [
    ("The old man walks to the green park.", "The man walks to the park."),
    ("A young woman reads a letter in the kitchen.", "The woman reads a letter."),
    ("The old woman walks to the kitchen.", "The woman walks to the kitchen."),
    ("A young man reads a letter in the park.", "The man reads a letter."),
    ("The green letter is in the park.", "The letter is in the park."),
    ("A man walks in the green kitchen.", "The man walks."),
    ("A woman walks in the old park.", "The woman walks."),
    ("The young man is in the kitchen.", "The man is in the kitchen."),
    ("The young woman is in the green park.", "The woman is in the park."),
    ("A letter is in the old kitchen.", "The letter is in the kitchen."),
] * 2


@pytest.mark.skipif(
    not (find_spec("eflomal") and shutil.which("lmplz")),
    reason="eflomal and KenLM's lmplz are for training only",
)
def test_a_translator_is_trained_from_pairs(tmp_path: Path) -> None:
    counts = train("entailment", TRAINING_PAIRS, tmp_path, tmp_path / "links")
    assert counts.pairs == 20
    system = load("entailment", tmp_path)
    words = system.translate(tokenise("a young man walks to the park."), FREE)
    assert words[-1] == "."
    assert set(words) <= {word for _, text in TRAINING_PAIRS for word in tokenise(text.lower())}
    before = [path.read_bytes() for path in sorted(tmp_path.glob("*.gz"))]
    train("entailment", TRAINING_PAIRS, tmp_path, tmp_path / "links")
    assert [path.read_bytes() for path in sorted(tmp_path.glob("*.gz"))] == before


def test_without_lmplz_training_says_so() -> None:
    with pytest.raises(TrainingError, match="training needs KenLM's no-such-program"):
        estimate([["a"]], TrainingSettings(lmplz="no-such-program"))


@pytest.mark.skipif(find_spec("eflomal") is not None, reason="eflomal is installed")
def test_without_eflomal_training_says_so(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="pip install eflomal"):
        align([["a"]], [["a"]], tmp_path)


# the commands


@pytest.fixture
def toy_tables(tmp_path: Path) -> Path:
    """Write the toy tables for each label, and two pairs of each: one can only be copied."""
    for label in LABELS:
        (tmp_path / f"{label}.phrases.gz").write_bytes(gzip.compress(b"c\t-0.1\tb\n"))
        (tmp_path / f"{label}.arpa.gz").write_bytes(gzip.compress(ARPA.encode()))
    rows = [f"{premise}\tsomething\t{label}\n" for label in LABELS for premise in ("zu", "c")]
    (tmp_path / "pairs.tsv").write_text("".join(["premise\thypothesis\tlabel\n", *rows]))
    return tmp_path


def test_copies_are_counted_for_each_label(toy_tables: Path) -> None:
    command = ["copies", str(toy_tables / "pairs.tsv"), "--tables", str(toy_tables)]
    result = CliRunner().invoke(app, command)
    shares = [f"{label}: 1 of 2 copied, 50.0%" for label in LABELS]
    assert result.output.splitlines() == [*shares, "all: 3 of 6 copied, 50.0%"]


def test_a_file_without_labels_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("premise\thypothesis\na\tb\n")
    result = CliRunner().invoke(app, ["train", str(path), "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "no column of labels in pairs.tsv" in result.output


# the tables that come with the app


def test_the_tables_of_every_label_are_there() -> None:
    assert pbsmt.missing() == ""


def test_missing_tables_are_named(tmp_path: Path) -> None:
    for label in ("neutral", "contradiction"):
        (tmp_path / f"{label}.phrases.gz").touch()
        (tmp_path / f"{label}.arpa.gz").touch()
    assert missing(tmp_path).startswith(
        "assets/phrases lacks entailment.phrases.gz, entailment.arpa.gz; they come with a clone"
    )


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("state", ["", "<s>", "the"])
def test_the_probabilities_of_all_words_add_up_to_one(label: Label, state: str) -> None:
    model = translator(label).language_model
    words = [ngram for ngram in model.ngrams if " " not in ngram and ngram != ngram_model.START]
    total = sum(10 ** model.step(state, word)[0] for word in words)
    assert total == pytest.approx(1, abs=0.005)  # three decimals of each logarithm are kept


@pytest.mark.parametrize("label", LABELS)
def test_every_line_of_a_table_is_read(label: Label) -> None:
    table = translator(label).table
    for source in table.lines:
        phrases = table.phrases(source)
        assert phrases
        scores = [phrase.score for phrase in phrases]
        assert scores == sorted(scores, reverse=True)
        assert all(phrase.words and all(phrase.words) for phrase in phrases)


# the transforms


def apply(name: str, premise: str, label: Label | None = None) -> tuple[str, str] | None:
    """Return the new hypothesis and why it is not exact; None where the transform is not for it."""
    tools = Tools(random.Random(0), Options(), label=label)
    outcome = REGISTRY[name].function(Pair(premise, "old", "neutral", "r1"), tools)
    assert not isinstance(outcome, tuple)
    pair = outcome.pair if isinstance(outcome, Inexact) else outcome
    return pair and (pair.hypothesis, outcome.why if isinstance(outcome, Inexact) else "")


def test_without_a_label_there_is_no_system_to_choose() -> None:
    assert apply("pbsmt", "A man sat.") is None


@pytest.mark.parametrize(
    ("label", "name"),
    zip(LABELS, ["pbsmt_e", "pbsmt_n", "pbsmt_c"], strict=True),
)
def test_the_label_chooses_the_system(label: Label, name: str) -> None:
    text = "The woman in the old house never reads a letter to her friends."
    assert apply("pbsmt", text, label) == apply(name, text)


def test_the_systems_differ() -> None:
    text = "The woman in the old house never reads a letter to her friends."
    assert len({apply(name, text) for name in ("pbsmt_e", "pbsmt_n", "pbsmt_c")}) == 3


def test_of_a_very_long_premise_the_first_words_are_translated() -> None:
    assert apply("pbsmt_e", "zqxv " * (MAX_WORDS + 1)) == (
        " ".join(["zqxv"] * MAX_WORDS),
        f"only the first {MAX_WORDS} words of the premise were translated",
    )
