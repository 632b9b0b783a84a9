"""Pairs that a student learns from its teachers, and the command that makes them."""

import gzip
import json
import random
from pathlib import Path

from typer.testing import CliRunner

from probe.tasks.nli import Pair
from recipes.unlabelled_pairs import app, halves, neighbours, synonyms, unlabelled
from tests.support.files.pair_files import row, write
from tests.support.models.tiny_bert import tiny_pairs

ZEBRA, FOAL, VIOLIN = "Some zebra eats hay.", "No zebra eats oats.", "Two violins play."
PAIRS = [
    Pair(ZEBRA, "An animal is eating quickly.", id="0"),
    Pair(FOAL, "The large animal fasts.", id="1"),
    Pair(VIOLIN, "There is music.", id="2"),
]


def test_a_premise_meets_the_hypothesis_of_the_one_that_shares_its_words() -> None:
    zebra, foal, _ = PAIRS
    made = list(neighbours(PAIRS, random.Random(0)))  # the violins share none with others
    assert made == [Pair(ZEBRA, foal.hypothesis), Pair(FOAL, zebra.hypothesis)]


def test_synonyms_change_words_of_a_hypothesis_alone() -> None:
    premises = {pair.premise: pair.hypothesis for pair in PAIRS}
    made = list(synonyms(PAIRS, random.Random(0)))
    assert made
    for pair in made:
        assert pair.hypothesis != premises[pair.premise]
        assert set(pair.hypothesis.split()) & set(premises[pair.premise].split())


def test_halves_are_the_first_or_last_words_of_one_text() -> None:
    made = [(pair.premise, pair.hypothesis) for pair in halves(PAIRS, random.Random(0))]
    assert len(made) == 4  # two premises and two hypotheses are of four words or more
    for (premise, hypothesis), whole in zip(made, [*PAIRS[:2]] * 2, strict=True):
        shorter, text = premise, whole.premise
        if premise == whole.premise:
            shorter, text = hypothesis, whole.hypothesis
        assert text in (
            f"{shorter} {text[len(shorter) + 1 :]}",
            f"{text[: -len(shorter)]}{shorter}",
        )
        assert len(shorter.split()) in (2, 3)


def test_no_pair_is_made_twice_or_was_there_before() -> None:
    pairs = [*PAIRS, *tiny_pairs(20), *PAIRS]
    made = [pair for some in unlabelled(pairs, 40, seed=0).values() for pair in some]
    texts = [(pair.premise, pair.hypothesis) for pair in made]
    assert len({*texts}) == len(texts) == 40
    assert not {*texts} & {(pair.premise, pair.hypothesis) for pair in pairs}
    assert {pair.gold for pair in made} == {None}


def test_the_command_makes_the_same_of_a_seed(tmp_path: Path) -> None:
    file = write(tmp_path / "pairs.jsonl", [row(pair) for pair in tiny_pairs(30)])
    made = []
    for name, seed in (("one", "0"), ("two", "0"), ("three", "1")):
        out = tmp_path / name
        words = ["make", str(file), "--out", str(out), "--count", "20", "--seed", seed]
        assert CliRunner().invoke(app, words).exit_code == 0
        made.append(out.read_bytes())
    assert made[0] == made[1] != made[2]
    rows = [json.loads(line) for line in gzip.decompress(made[0]).splitlines()]
    assert {*rows[0]} == {"premise", "hypothesis", "source"}
