"""What a calibration does, counted by hand."""

from finetune.trials.calibration import BASE, Cell, Plan
from finetune.trials.calibration_time import cell_work, estimate_seconds
from finetune.trials.datasets import SourceData
from finetune.trials.word_salad import salad_names
from finetune.trials.work import Work
from probe.models.classifier import Classifier
from probe.tasks.nli import NLI, Pair
from tests.support.runs.clean_source import TRAINING, clean_source

PAIR = Pair("12345", "67890", "neutral")  # ten characters
SOURCE = SourceData((PAIR,) * 4, (PAIR,) * 5, (PAIR,) * 30)
PLAN = Plan("tiny", TRAINING, sizes=(20,), seeds=(0,), tests=3)  # two epochs
SALAD = len(salad_names(NLI)) * 3 * 10
"""Characters of three test pairs, by every transform."""


def test_the_model_as_it_was_answers_test_and_salad() -> None:
    work = cell_work(PLAN, SOURCE, BASE)
    assert (work.trained, work.predicted) == (0, 5 * 10 + SALAD)
    (salad,) = work.salads
    assert salad.texts.length == 3 * 10


def test_a_temperature_is_fitted_on_dev() -> None:
    work = cell_work(PLAN, SOURCE, Cell("temperature", 0, 0))
    assert (work.trained, work.predicted) == (0, 4 * 10 + 5 * 10 + SALAD)


def test_a_training_sees_its_examples_and_dev_in_both_epochs() -> None:
    work = cell_work(PLAN, SOURCE, Cell("focal", 20, 0))
    assert (work.trained, work.predicted) == (2 * 20 * 10, 2 * 4 * 10 + 5 * 10 + SALAD)


def test_two_losses_share_a_draw_and_two_seeds_do_not() -> None:
    def distinct(*cells: Cell) -> float:
        work = sum((cell_work(PLAN, SOURCE, cell) for cell in cells), Work())
        return sum(texts.length for texts in set(work.prepared))

    one = 20 * 10 + 4 * 10 + 5 * 10 + SALAD
    focal = Cell("focal", 20, 0)
    assert distinct(focal, Cell("smoothing", 20, 0)) == one
    assert distinct(focal, Cell("focal", 20, 1)) == one + 20 * 10


def test_a_longer_run_is_estimated_to_take_longer(classifier: Classifier) -> None:
    less = Plan("calibration estimated", TRAINING, sizes=(6,), seeds=(0,), tests=3)
    more = Plan("calibration estimated", TRAINING, sizes=(6, 24), seeds=(0, 1), tests=12)
    source = clean_source()
    assert (
        0 < estimate_seconds(less, source, classifier) < estimate_seconds(more, source, classifier)
    )
