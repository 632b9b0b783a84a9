"""The experiments of this program."""

from finetune.experiments.registry import EXPERIMENTS


def test_inoculation_is_an_experiment() -> None:
    assert list(EXPERIMENTS) == ["inoculation"]
