"""The experiments of this program."""

from finetune.experiments.registry import EXPERIMENTS


def test_inoculation_and_generalisation_are_experiments() -> None:
    assert list(EXPERIMENTS) == ["inoculation", "generalisation"]
