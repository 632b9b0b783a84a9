"""The experiments of this program."""

import pytest

from finetune.trials.registry import EXPERIMENTS, register_experiments
from probe.glossary import glossary
from probe.tasks.task import Task, offered_tasks
from tests.support.glossary import require_plain, undefined


def test_each_experiment_is_known_by_its_kind() -> None:
    kinds = ["inoculation", "generalisation", "calibration", "mitigation", "transfer"]
    assert list(EXPERIMENTS) == kinds


@pytest.mark.parametrize("task", offered_tasks(), ids=lambda task: task.name)
def test_the_words_of_all_experiments_are_plain_and_defined(task: Task) -> None:
    register_experiments()
    terms = {id: term for section in glossary(task).values() for id, term in section.items()}
    require_plain(terms)
    assert undefined(terms) == []
    assert len(terms) == sum(map(len, glossary(task).values()))
