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
    Pruning,
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
from tests.support.models.toy_ngrams import ARPA
from tests.support.property_settings import STEADY

LINKS = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=9)
JOINED: dict[str, tuple[set[Link], set[Link], set[Link]]] = {
    "what both have stays": ({(0, 0)}, {(0, 0)}, {(0, 0)}),
    "a neighbour that links a new word comes in": (
        {(0, 0), (1, 1), (1, 2)},
        {(0, 0), (1, 1)},
        {(0, 0), (1, 1), (1, 2)},
    ),
    "a neighbour of two linked words stays out": (
        {(0, 0), (0, 1), (1, 1)},
        {(0, 0), (1, 1)},
        {(0, 0), (1, 1)},
    ),
    "diagonal neighbours are neighbours": ({(0, 0), (1, 1)}, {(0, 0)}, {(0, 0), (1, 1)}),
    "what came in has neighbours too": (
        {(0, 0), (0, 1), (0, 2), (0, 3)},
        {(0, 0)},
        {(0, 0), (0, 1), (0, 2), (0, 3)},
    ),
    "far off, two unlinked words are linked": ({(0, 0), (3, 3)}, {(0, 0)}, {(0, 0), (3, 3)}),
    "far off, a linked word gets no second link": ({(0, 0), (3, 0)}, {(0, 0)}, {(0, 0)}),
    "of two far links the forward one comes first": ({(0, 2)}, {(0, 0)}, {(0, 2)}),
    "no links": (set(), set(), set()),
}


def test_two_alignments_are_joined_as_by_hand() -> None:
    joined = {name: symmetrise(forward, back) for name, (forward, back, _) in JOINED.items()}
    assert joined == {name: expected for name, (_, _, expected) in JOINED.items()}


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
    words = system.translate(
        tokenise("a young man walks to the park."), DecoderWeights(0.5, 0.3, 6)
    )
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
    assert "gold labels are needed here, and of the columns of pairs.tsv" in result.output


def test_a_folder_without_tables_is_refused(toy_tables: Path) -> None:
    command = ["copies", str(toy_tables / "pairs.tsv"), "--tables", str(toy_tables / "none")]
    result = CliRunner().invoke(app, command)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {toy_tables / 'none'} lacks entailment.phrases.gz, ")
