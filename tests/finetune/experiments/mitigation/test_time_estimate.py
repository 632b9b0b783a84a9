"""What a mitigation does, counted by hand."""

from dataclasses import replace

from finetune.trials.datasets import SourceData
from finetune.trials.mitigation import BASE, Cell, Plan
from finetune.trials.mitigation_time import cell_work, estimate_seconds
from finetune.trials.word_salad import gradient_names, salad_names
from finetune.trials.work import made_anew
from probe.models.classifier import Classifier
from probe.tasks.nli import NLI, Pair
from tests.support.runs.clean_source import TRAINING, clean_source

PAIR = Pair("12345", "67890", "neutral")  # ten characters
SOURCE = SourceData((PAIR,) * 4, (PAIR,) * 5, (PAIR,) * 30)
PLAN = Plan(
    "tiny", TRAINING, sizes=(20,), seeds=(0,), tests=3, share=0.5, gradient_share=0.25
)  # two epochs
ALL, ASKING = len(salad_names(NLI)), len(gradient_names(NLI))
CLASS, ENTROPIC = Cell("invalid", 20, 0), Cell("entropic", 20, 0)


def test_the_model_as_it_was_answers_test_and_salad() -> None:
    work = cell_work(PLAN, SOURCE, BASE)
    assert (work.trained, work.predicted) == (0, 5 * 10 + ALL * 3 * 10)


def test_a_training_has_broken_texts_by_both_shares() -> None:
    work = cell_work(PLAN, SOURCE, CLASS)
    broken = (ALL - ASKING) * 10 + ASKING * 5
    assert work.trained == 2 * (20 + broken) * 10


def test_transforms_that_are_named_alone_count() -> None:
    work = cell_work(replace(PLAN, transforms=("drop", "sort")), SOURCE, CLASS)
    assert work.trained == 2 * (20 + 10 + 5) * 10
    assert {salad.transforms for salad in work.salads} == {("sort",), ("drop",), ("drop", "sort")}


def test_a_threshold_answers_dev_twice_and_its_salad() -> None:
    work = cell_work(PLAN, SOURCE, Cell("threshold", 0, 0))
    assert work.predicted == 2 * 4 * 10 + ALL * 3 * 10 + 5 * 10 + ALL * 3 * 10


def test_methods_share_what_is_broken_but_not_what_a_model_prepares() -> None:
    work = cell_work(PLAN, SOURCE, CLASS) + cell_work(PLAN, SOURCE, ENTROPIC)
    # others of 10, gradient of 5 to train on; 3 test pairs; 3 dev pairs for the threshold
    assert [salad.texts.length for salad in made_anew(work.salads)] == [100, 50, 30, 30]
    alone = cell_work(PLAN, SOURCE, CLASS)
    assert not set(alone.prepared) & set(cell_work(PLAN, SOURCE, ENTROPIC).prepared)


def test_a_longer_run_is_estimated_to_take_longer(classifier: Classifier) -> None:
    less = Plan("mitigation estimated", TRAINING, sizes=(6,), seeds=(0,), tests=3)
    more = Plan("mitigation estimated", TRAINING, sizes=(6, 24), seeds=(0, 1), tests=12)
    source = clean_source()
    seconds = estimate_seconds(less, source, classifier)
    assert 0 < seconds < estimate_seconds(more, source, classifier)
