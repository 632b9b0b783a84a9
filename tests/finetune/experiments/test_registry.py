"""The experiments of this program."""

from finetune.experiments.registry import EXPERIMENTS


def test_each_experiment_is_known_by_its_kind() -> None:
    kinds = ["inoculation", "generalisation", "calibration", "mitigation", "transfer"]
    assert list(EXPERIMENTS) == kinds
