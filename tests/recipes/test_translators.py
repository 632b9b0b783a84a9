"""Training of the translators: alignment, phrase pairs, scores, what it needs, and its commands."""

import gzip
import math
import shutil
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from probe.errors import TrainingError
from probe.pbsmt import DecoderWeights, load
from probe.tasks.nli import LABELS
from probe.text.words import tokenise
from recipes.translators import (
    NULL,
    Link,
    PhrasePair,
    TrainingSettings,
    align,
    app,
    estimate,
    extract,
    lexical_weight,
    lexicons,
    phrase_spans,
    score,
    symmetrise,
    train,
)
from tests.support.cases import each
from tests.support.models.toy_ngrams import ARPA
from tests.support.property_settings import STEADY

LINKS = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=9)


def links(text: str) -> set[Link]:
    """Return links of words by their numbers: "01" links the first word and the second."""
    return {(int(pair[0]), int(pair[1])) for pair in text.split()}


@each(
    "forward, back, joined",
    [
        ("00", "00", "00"),  # what both have stays
        ("00 11 12", "00 11", "00 11 12"),  # a neighbour that links a new word comes in
        ("00 01 11", "00 11", "00 11"),  # a neighbour of two linked words stays out
        ("00 11", "00", "00 11"),  # diagonal neighbours are neighbours
        ("00 01 02 03", "00", "00 01 02 03"),  # what came in has neighbours too
        ("00 33", "00", "00 33"),  # far off, two unlinked words are linked
        ("00 30", "00", "00"),  # far off, a linked word gets no second link
        ("02", "00", "02"),  # of two far links the forward one comes first
        ("", "", ""),
    ],
)
def test_two_alignments_are_joined_as_by_hand(forward: str, back: str, joined: str) -> None:
    assert symmetrise(links(forward), links(back)) == links(joined)


@STEADY
@given(LINKS, LINKS)
def test_the_joined_alignment_lies_between_both_and_either(
    forward: set[Link], backward: set[Link]
) -> None:
    assert forward & backward <= symmetrise(forward, backward) <= forward | backward


def test_links_that_were_kept_are_used_again_for_the_same_pairs_alone(tmp_path: Path) -> None:
    (tmp_path / "forward").write_text("0-0 1-1\n0-1\n")
    (tmp_path / "backward").write_text("0-0\n0-1\n")
    premises, hypotheses = [["a", "b"], ["c"]], [["a", "b"], ["d", "e"]]
    assert align(premises, hypotheses, tmp_path) == [{(0, 0), (1, 1)}, {(0, 1)}]
    with pytest.raises(TrainingError, match="are not of these pairs; remove them"):
        align([["a"]], [["a"]], tmp_path)


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
    expected = [
        (start, end, begin, stop)
        for start, begin in product(range(source_length), range(target_length))
        for end in range(start + 1, min(start + max_words, source_length) + 1)
        for stop in range(begin + 1, min(begin + max_words, target_length) + 1)
        if consistent(links, start, end, begin, stop)
    ]
    assert sorted(phrase_spans(source_length, target_length, links, max_words)) == sorted(expected)


def test_a_phrase_pair_knows_its_links_from_its_own_starts() -> None:
    pairs = set(extract(["the", "old", "man"], ["a", "man"], {(0, 0), (2, 1)}, 2))
    assert pairs == {
        PhrasePair(("the",), ("a",), ((0, 0),)),
        PhrasePair(("the", "old"), ("a",), ((0, 0),)),
        PhrasePair(("man",), ("man",), ((0, 0),)),
        PhrasePair(("old", "man"), ("man",), ((1, 0),)),
    }


def test_word_probabilities_are_shares_of_links_and_a_lexical_weight_a_product_of_means() -> None:
    pairs = [(["a", "b"], ["x"], "00"), (["a"], ["x", "y"], "00"), (["a"], ["z"], "00")]
    forward, backward = lexicons([(one, other, links(own)) for one, other, own in pairs])
    both = {("b", NULL): 1.0, (NULL, "y"): 1.0}
    assert forward == pytest.approx({("a", "x"): 2 / 3, ("a", "z"): 1 / 3, **both})
    assert backward == {("x", "a"): 1.0, ("z", "a"): 1.0, (NULL, "b"): 1.0, ("y", NULL): 1.0}
    lexicon = {("a", "x"): 0.5, ("b", "x"): 0.1, ("b", "y"): 0.2, (NULL, "z"): 0.25}
    # x of a and b: (.5 + .1) / 2; y of b: .2; z of nothing: .25
    weight = lexical_weight(("a", "b"), ("x", "y", "z"), [(0, 0), (1, 0), (1, 1)], lexicon)
    assert weight == pytest.approx(0.3 * 0.2 * 0.25)


def counted(**pairs: int) -> dict[PhrasePair, int]:
    """Return counts of pairs of one word each: `ax=3` is a beside x, seen three times."""
    return {PhrasePair((pair[0],), (pair[1],), ((0, 0),)): n for pair, n in pairs.items()}


ONES = {(first, second): 1.0 for first in "abxyz" for second in "abxyz"}


def test_a_score_weighs_four_logarithms() -> None:
    forward = {("a", "x"): 0.5, ("a", "z"): 0.5, ("b", "x"): 1.0}
    backward = {("x", "a"): 0.4, ("z", "a"): 0.1, ("x", "b"): 0.6}
    table = score(counted(ax=3, az=1, bx=2), forward, backward, min_count=1)
    by_hand = 0.2 * (math.log(3 / 4) + math.log(3 / 5) + math.log(0.5) + math.log(0.4))
    assert table[("a",)][0] == (pytest.approx(by_hand), ("x",))
    assert [target for _, target in table[("a",)]] == [("x",), ("z",)]
    assert table[("b",)] == [(pytest.approx(0.2 * (math.log(2 / 5) + math.log(0.6))), ("x",))]
    # of several alignments the likelier gives the lexical weight
    counts = {PhrasePair(("a", "b"), ("x",), ((row, 0),)): 1 for row in (0, 1)}
    forward = {("a", "x"): 0.1, ("b", "x"): 0.5}
    (total, _), *_ = score(counts, forward, ONES | {(NULL, "a"): 1.0, (NULL, "b"): 1.0})["a", "b"]
    assert total == pytest.approx(0.2 * math.log(0.5))


@each(
    "counts, kept, most",
    [  # pairs seen too seldom go but a word may always stay itself; of many the best stay
        ({"aa": 1, "ax": 1, "by": 2}, {"a": "a", "b": "y"}, 12),
        ({"ax": 2, "ay": 9, "az": 5}, {"a": "yz"}, 2),
    ],
)
def test_what_is_seen_too_seldom_or_translates_worse_goes(
    counts: dict[str, int], kept: dict[str, str], most: int
) -> None:
    table = score(counted(**counts), ONES, ONES, min_count=2, max_options=most)
    found = {source: "".join(word for _, (word,) in row) for (source,), row in table.items()}
    assert found == kept


PAIRS = [("The old man walks to the park.", "The man walks to the park.")] * 20


@pytest.mark.skipif(
    not (find_spec("eflomal") and shutil.which("lmplz")),
    reason="eflomal and KenLM's lmplz are for training only",
)
def test_a_translator_is_trained_from_pairs_the_same_again(tmp_path: Path) -> None:
    written = []
    for _ in range(2):
        said = train("entailment", PAIRS, tmp_path, tmp_path / "links")
        assert said.startswith("20 pairs, ")
        written.append([path.read_bytes() for path in sorted(tmp_path.glob("*.gz"))])
    assert written[0] == written[1]
    words = load("entailment", tmp_path).translate(
        tokenise("the old man walks."), DecoderWeights(0.5, 0.3, 6)
    )
    assert words and set(words) <= set(tokenise("the old man walks to the park."))


def test_without_its_programs_training_says_so(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="training needs KenLM's no-such-program"):
        estimate([["a"]], TrainingSettings(lmplz="no-such-program"))
    if not find_spec("eflomal"):
        with pytest.raises(TrainingError, match="pip install eflomal"):
            align([["a"]], [["a"]], tmp_path)


def test_copies_are_counted_for_each_label(tmp_path: Path) -> None:
    for label in LABELS:  # of two pairs of each one can only be copied
        (tmp_path / f"{label}.phrases.gz").write_bytes(gzip.compress(b"c\t-0.1\tb\n"))
        (tmp_path / f"{label}.arpa.gz").write_bytes(gzip.compress(ARPA.encode()))
    rows = [f"{premise}\tsomething\t{label}\n" for label in LABELS for premise in ("zu", "c")]
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(["premise\thypothesis\tlabel\n", *rows]))
    result = CliRunner().invoke(app, ["copies", str(pairs), "--tables", str(tmp_path)])
    shares = [f"{label}: 1 of 2 copied, 50.0%" for label in LABELS]
    assert result.output.splitlines() == [*shares, "all: 3 of 6 copied, 50.0%"]
    bare = tmp_path / "bare.tsv"
    bare.write_text("premise\thypothesis\na\tb\n")
    for words, sentence in {
        ("copies", str(pairs), "--tables", "none"): "none lacks entailment.phrases.gz, ",
        ("train", str(bare)): "gold labels are needed here, and of the columns of bare.tsv",
    }.items():
        result = CliRunner().invoke(app, words)
        assert (result.exit_code, sentence in result.stderr) == (2, True), result.output
