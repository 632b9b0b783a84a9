"""What a model can be inoculated against, and how its sets are cut."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from finetune.trials.challenges import (
    catalogue,
    challenged,
    challenges,
    file_sets,
    make_sets,
    template_challenges,
    title_of,
)
from finetune.trials.datasets import Sets, SourceData, bundled, split_by_premise, unseen
from probe.errors import ExperimentError, FileError
from probe.tasks.examples import bundled_examples
from probe.tasks.label_rules import UNDEFINED
from probe.tasks.nli import NLI, Pair
from probe.transforms import REGISTRY
from probe.transforms.registry import ready
from tests.support.cases import failures
from tests.support.files.pair_files import PAIRS, row, write

TINY = SourceData(PAIRS[:6], PAIRS[6:12], PAIRS[12:])
NUMERICAL = Path(__file__).parents[4] / "shared/data/challenge/numerical_reasoning.jsonl.gz"


def test_every_transform_with_a_label_and_no_model_is_a_challenge() -> None:
    there = {c.name for c in catalogue() if c.kind == "transform"}
    assert {"word_overlap", "neghyp", "negprem", "numerical"} & set(ready(NLI)) <= there
    assert not any(REGISTRY[name].rule is UNDEFINED for name in there)
    assert "drop" not in there


def test_each_challenge_says_what_it_is_and_where_its_labels_come_from() -> None:
    for challenge in catalogue():
        assert challenge.title and challenge.summary.endswith(".") and challenge.labels


def test_a_challenge_has_a_title_whatever_it_is_made_of() -> None:
    titles = {
        "negation": "Add a negation",
        "templates_hans": "Shared words",
        "negation+spelling": "Add a negation, then misspell a word",
        "my file": "my file",
    }
    assert {challenge: title_of(challenge) for challenge in titles} == titles


def test_what_a_challenge_makes_of_a_pair() -> None:
    pair = Pair("A man walks.", "A man moves.", "entailment", "7")
    assert challenged("negation", [pair]) == (
        replace(pair, hypothesis="A man moves and false is not true."),
    )
    (made,) = challenged("neghyp", [pair])
    assert made.gold == "non-entailment"
    (made,) = challenged("negation+word_overlap", [pair])
    assert made.hypothesis == "A man moves and false is not true and true is true."


def test_what_leaves_no_label_is_no_challenge() -> None:
    for name in ("sort", "drop", "negation+sort", "nothing"):
        there = rf"no challenge '{name.replace('+', '.')}'; there are: .*word_overlap"
        with pytest.raises(ExperimentError, match=there):
            challenged(name, PAIRS)


def test_pairs_of_one_are_told_apart_by_their_ids() -> None:
    pair = Pair("Tim has 350 nails.", "Tim has nails.", "entailment", "7")
    made = challenged("numerical", [pair])
    assert [one.id for one in made] == ["7", "7-2", "7-3"]
    assert {one.gold for one in made} == {"entailment", "neutral", "contradiction"}


def test_a_computed_pair_that_two_rows_make_comes_once() -> None:
    rows = [Pair("The big dog ran.", "A dog ran.", "entailment", str(i)) for i in range(2)]
    made = challenged("antonym", rows)
    assert len({(one.premise, one.hypothesis) for one in made}) == len(made) > 0


def test_the_training_set_is_made_of_the_pool_and_the_test_set_of_the_test() -> None:
    sets = make_sets("word_overlap", TINY)
    assert [pair.id for pair in sets.challenge_train] == [pair.id for pair in TINY.pool]
    assert sets.paired
    assert (sets.original_dev, sets.original_test) == (TINY.dev, TINY.test)


def test_a_tautology_is_controlled_by_another_and_other_challenges_are_not() -> None:
    for challenge in ("word_overlap", "negation"):
        control = make_sets(challenge, TINY).control
        assert len(control) == len(TINY.test)
        assert all(pair.hypothesis.endswith("and green is not red.") for pair in control)
    assert make_sets("spelling", TINY).control == ()


def test_a_challenge_that_no_pair_suits_says_what_it_needs() -> None:
    with pytest.raises(ExperimentError, match="needs a number and a name in the premise"):
        make_sets("numerical", TINY)


def test_no_template_is_trained_on_and_tested_and_labels_are_balanced() -> None:
    def apart(name: str) -> None:
        sets = make_sets(name, TINY)
        assert (len(sets.challenge_train), len(sets.challenge_test)) == (1000, 1000)
        learnt, tested = (
            {pair.id.rpartition("-")[0] for pair in part}
            for part in (sets.challenge_train, sets.challenge_test)
        )
        assert learnt and tested and not learnt & tested
        golds = Counter(pair.gold for pair in sets.challenge_train)
        assert max(golds.values()) < 1.2 * min(golds.values())

    assert set(template_challenges()) <= set(challenges())
    assert failures(apart, template_challenges()) == {}


def test_one_file_is_drawn_from_and_the_rest_is_tested(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.jsonl", [row(pair) for pair in PAIRS])
    sets, other = (file_sets(TINY, "mine", path, train=10, seed=seed) for seed in (0, 1))
    assert (len(sets.challenge_train), len(sets.challenge_test)) == (10, 20)
    ids = [pair.id for pair in (*sets.challenge_train, *sets.challenge_test)]
    assert sorted(ids, key=int) == [str(number) for number in range(30)]
    assert sets.challenge_train != other.challenge_train
    short = file_sets(TINY, "mine", write(tmp_path / "short.jsonl", list(map(row, PAIRS[:7]))))
    assert (len(short.challenge_train), len(short.challenge_test)) == (3, 4)
    with pytest.raises(ExperimentError, match="mine: too few pairs"):
        file_sets(TINY, "mine", write(tmp_path / "one.jsonl", [row(PAIRS[0])]))


def test_two_files_are_taken_as_they_are(tmp_path: Path) -> None:
    train = write(tmp_path / "train.jsonl", [row(pair) for pair in PAIRS[:5]])
    test = write(tmp_path / "test.jsonl", [row(pair) for pair in PAIRS[5:]])
    sets = file_sets(TINY, "mine", (train, test))
    assert (len(sets.challenge_train), len(sets.challenge_test)) == (5, 25)


def test_a_column_split_is_kept_to(tmp_path: Path) -> None:
    def sets_of(*names: str) -> Sets:
        rows = [row(pair, Split=names[i % len(names)]) for i, pair in enumerate(PAIRS)]
        return file_sets(TINY, "mine", write(tmp_path / "mine.jsonl", rows))

    sets = sets_of("Train", "test", "dev")
    assert [pair.id for pair in sets.challenge_train] == [str(n) for n in range(0, 30, 3)]
    assert [pair.id for pair in sets.challenge_test] == [str(n) for n in range(1, 30, 3)]
    assert len(sets_of("train", "validation").challenge_test) == 15
    with pytest.raises(FileError, match="needs train and test; has: test"):
        sets_of("test")


@pytest.mark.skipif(not NUMERICAL.is_file(), reason="the released file is not here")
def test_the_released_numerical_file_is_cut_as_published() -> None:
    sets = file_sets(bundled(), "numerical", NUMERICAL)
    assert (len(sets.challenge_train), len(sets.challenge_test)) == (1000, 6596)


def test_drawn_premises_are_whole_and_on_one_side() -> None:
    pairs = bundled_examples(NLI, "dev")  # three hypotheses to a premise
    first, rest = split_by_premise(pairs, 100)
    assert (len(first), len(rest)) == (102, 198)
    assert not {pair.premise for pair in first} & {pair.premise for pair in rest}


def test_premises_seen_elsewhere_are_left_out() -> None:
    assert unseen(PAIRS, PAIRS[:15]) == ()  # the tiny pairs have fifteen premises
    assert unseen(PAIRS[:3], PAIRS[3:6]) == PAIRS[:3]
