"""Sets from files that somebody names, with the bundled pairs for the rest."""

from dataclasses import replace
from pathlib import Path

import pytest

from finetune.trials.challenges import UserFiles, read_sets, sources_of
from probe.errors import ExperimentError
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI
from tests.support.files.pair_files import PAIRS, row, write


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Thirty labelled pairs with fifteen premises."""
    return write(tmp_path / "mine.jsonl", [row(pair) for pair in PAIRS])


def test_without_files_all_pairs_are_bundled() -> None:
    sets = read_sets("word_overlap", UserFiles())
    assert sets.original_dev == bundled_examples(NLI, "dev")
    assert sets.paired and sets.control


def test_one_original_file_is_halved_by_premise(file: Path) -> None:
    sets = read_sets("word_overlap", UserFiles(original=file))
    assert abs(len(sets.original_dev) - len(sets.original_test)) <= 2
    halves = [{pair.premise for pair in part} for part in (sets.original_dev, sets.original_test)]
    assert not set.intersection(*halves)
    assert len(sets.challenge_test) == len(sets.original_test)


def test_a_pool_loses_the_premises_of_dev_and_test(file: Path, tmp_path: Path) -> None:
    fresh = [row(replace(pair, premise=f"So, {pair.premise}")) for pair in PAIRS[:3]]
    pool = write(tmp_path / "pool.jsonl", [*map(row, PAIRS), *fresh])
    sets = read_sets("word_overlap", UserFiles(original=file, pool=pool))
    assert [pair.premise[:4] for pair in sets.challenge_train] == ["So, "] * 3


def test_a_pool_of_tested_premises_is_refused(file: Path) -> None:
    with pytest.raises(ExperimentError, match="every premise of mine"):
        read_sets("word_overlap", UserFiles(original=file, pool=file))


def test_a_challenge_file_is_drawn_from(file: Path) -> None:
    sets = read_sets("mine", UserFiles(challenge=file, train=10))
    assert (len(sets.challenge_train), len(sets.challenge_test)) == (10, 20)
    assert sets.original_test == bundled_examples(NLI, "test")


def test_a_challenge_can_have_a_control_of_ones_own(file: Path) -> None:
    sets = read_sets("templates_dative", UserFiles(control=file))
    assert [pair.hypothesis for pair in sets.control] == [pair.hypothesis for pair in PAIRS]


def test_files_that_exclude_each_other_are_refused(file: Path) -> None:
    for names, sentence in {
        ("challenge_train",): "--challenge-train needs a --challenge-test",
        ("challenge", "challenge_train", "challenge_test"): "--challenge-file or",
        ("original", "original_dev"): "--original is split into dev and test",
    }.items():
        with pytest.raises(ExperimentError, match=sentence):
            read_sets("mine", replace(UserFiles(), **dict.fromkeys(names, file)))
    with pytest.raises(ExperimentError, match="--train must be 1 or more"):
        read_sets("mine", UserFiles(challenge=file, train=0))


def test_a_run_keeps_the_names_of_its_files_by_their_options(file: Path) -> None:
    files = UserFiles(original=file, challenge=file, train=10, seed=3)
    assert sources_of(files) == {
        "original": "mine.jsonl", "challenge-file": "mine.jsonl", "train": "10", "sample-seed": "3",
    }  # fmt: skip
    assert sources_of(UserFiles()) == {}
