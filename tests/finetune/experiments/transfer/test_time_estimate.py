"""What a transfer does, counted by hand."""

from finetune.trials.datasets import SourceData
from finetune.trials.transfer import Cell, Plan
from finetune.trials.transfer_time import cell_work, estimate_seconds
from finetune.trials.work import made_anew
from probe.models.classifier import Classifier
from probe.tasks.nli import Pair
from tests.support.runs.clean_source import TRAINING, clean_source

PAIR = Pair("12345", "67890", "neutral")  # ten characters
SOURCE = SourceData((PAIR,) * 4, (PAIR,) * 5, (PAIR,) * 30)
PLAN = Plan("tiny", TRAINING, ("sort", "drop"), (20,), (0,), tests=3, share=0.5)  # two epochs
SORT, DROP = Cell("one", "sort", 20, 0), Cell("one", "drop", 20, 0)


def test_a_row_learns_clean_and_broken_texts_and_finds_all_kinds() -> None:
    work = cell_work(PLAN, SOURCE, SORT)
    assert work.trained == 2 * (20 + 10) * 10
    assert work.predicted == 2 * 4 * 10 + 5 * 10 + 2 * 3 * 10
    assert [(salad.texts.length, salad.transforms) for salad in work.salads] == [
        (10 * 10, ("sort",)),
        (3 * 10, ("sort", "drop")),
    ]


def test_a_training_on_one_kind_of_text_is_tested_on_whole_ones() -> None:
    for lesson, transform, broken in (("clean_only", "", 0), ("salad_only", "shuffle", 200)):
        work = cell_work(PLAN, SOURCE, Cell(lesson, transform, 20, 0))  # type: ignore[arg-type]  # of a table
        assert (work.trained, work.predicted) == (2 * 20 * 10, 2 * 4 * 10 + 5 * 10)
        assert sum(salad.texts.length for salad in work.salads) == broken


def test_rows_share_the_broken_test_texts_alone() -> None:
    both = cell_work(PLAN, SOURCE, SORT) + cell_work(PLAN, SOURCE, DROP)
    assert [salad.texts.length for salad in made_anew(both.salads)] == [100, 30, 100]


def test_a_longer_run_is_estimated_to_take_longer(classifier: Classifier) -> None:
    less = Plan("transfer estimated", TRAINING, ("sort",), (6,), (0,), tests=3)
    more = Plan("transfer estimated", TRAINING, ("sort", "drop"), (24,), (0, 1), tests=12)
    source = clean_source()
    seconds = estimate_seconds(less, source, classifier)
    assert 0 < seconds < estimate_seconds(more, source, classifier)
