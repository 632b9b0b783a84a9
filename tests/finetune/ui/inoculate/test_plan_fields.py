"""What the form of the Inoculate tab begins with."""

import pytest

from finetune.trials.challenges import make_sets
from finetune.trials.datasets import bundled
from finetune.ui.inoculate.plan_fields import DEFAULT_SIZES, sizes_for
from finetune.ui.inoculate.samples import first_challenge
from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.task import Task, offered_tasks


@pytest.mark.parametrize("task", offered_tasks(), ids=lambda task: task.name)
def test_no_task_begins_with_more_examples_than_it_has(task: Task) -> None:
    there = len(make_sets(first_challenge(task), bundled(task)).challenge_train)
    sizes = sizes_for(task, DEFAULT_SIZES)
    assert all(size == "all" or int(size) <= there for size in sizes)
    assert len(sizes) > 2


def test_the_usual_sizes_follow_the_task_and_chosen_ones_stay() -> None:
    assert sizes_for(PARAPHRASE_IDENTIFICATION, DEFAULT_SIZES) == ["10", "50", "100", "all"]
    assert sizes_for(NLI, sizes_for(PARAPHRASE_IDENTIFICATION, DEFAULT_SIZES)) == DEFAULT_SIZES
    assert sizes_for(NLI, ["7", "all"]) == ["7", "all"]
