"""The protocol of Liu et al. 2019, on a model small enough to train in a test."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from finetune.training.data import read_pairs
from finetune.trials.challenges import bundled_sets, challenged, challenges
from finetune.trials.datasets import Sets
from finetune.trials.inoculation_plan import (
    BASE,
    Cell,
    Epoch,
    Plan,
    Point,
    cells,
    check,
    kept_name,
    nested,
)
from finetune.trials.inoculation_trial import Cancelled, fresh, run_cell
from probe.errors import ExperimentError, FileError, FileQuestion
from probe.models.classifier import Classifier
from probe.tasks.nli import LABELS, NON_ENTAILMENT, TWO_WAY, Pair
from probe.tasks.task import Label
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import tiny_classifier

PLAN = Plan("tiny", "negation", (6, 12), (1e-3,), (0,), batch=4, max_epochs=4, precision="fp32")
CELL = Cell(12, 1e-3, 0)


def run(plan: Plan, sets: Sets, cell: Cell, classifier: Classifier) -> tuple[list[Epoch], Point]:
    """Drive a cell to its end."""
    *epochs, point = run_cell(plan, sets, cell, classifier)
    assert isinstance(point, Point)
    return [row for row in epochs if isinstance(row, Epoch)], point


def hits(classifier: Classifier, pairs: Sequence[Pair]) -> tuple[bool, ...]:
    """Return for each pair whether the model's prediction is its gold label."""
    said = classifier.predict(pairs)
    return tuple(each.label == pair.gold for each, pair in zip(said, pairs, strict=True))


def weights(classifier: Classifier) -> dict[str, torch.Tensor]:
    """Return a copy of the weights."""
    return {name: it.clone() for name, it in classifier.model.state_dict().items()}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    """Whether two sets of weights are equal bit by bit."""
    return all(torch.equal(one[name], other[name]) for name in one)


def test_challenges_keep_the_gold_label() -> None:
    assert set(challenges()) >= {"word_overlap", "negation"}
    assert "sort" not in challenges()


def test_challenged_pairs_carry_the_tautology_and_their_label() -> None:
    pair = Pair("A man walks.", "A man moves.", "entailment", "7")
    assert challenged("negation", [pair]) == (
        replace(pair, hypothesis="A man moves and false is not true."),
    )


def test_an_unknown_challenge_is_named_with_those_there_are() -> None:
    with pytest.raises(ExperimentError, match=r"no challenge 'sort'; there are: .*word_overlap"):
        challenged("sort", tiny_pairs(3))


def test_bundled_test_sets_hold_the_same_rows() -> None:
    sets = bundled_sets("word_overlap")
    assert sets.paired
    assert len(sets.challenge_train) >= 400


def test_bundled_training_pairs_are_not_tested_on() -> None:
    sets = bundled_sets("negation")
    tested = {pair.premise for pair in (*sets.original_dev, *sets.original_test)}
    assert not tested & {pair.premise for pair in sets.challenge_train}


def test_majority_is_the_share_of_the_commonest_label(sets: Sets) -> None:
    uneven = sets.challenge_train[:4]  # labels in turn: the first comes twice
    assert replace(sets, challenge_train=uneven).majority == 0.5


def test_a_smaller_set_is_the_start_of_a_larger_one(sets: Sets) -> None:
    assert nested(sets.challenge_train, 0, 20)[:6] == nested(sets.challenge_train, 0, 6)


def test_another_seed_draws_other_examples(sets: Sets) -> None:
    assert nested(sets.challenge_train, 0, 10) != nested(sets.challenge_train, 1, 10)


def test_a_size_beyond_the_list_names_how_many_there_are(sets: Sets) -> None:
    with pytest.raises(ExperimentError, match="there are 30 examples to train on, not 31"):
        nested(sets.challenge_train, 0, 31)


def test_cells_start_with_the_model_as_it_was_and_grow() -> None:
    plan = replace(PLAN, sizes=(12, 6), lrs=(1e-3, 1e-4), seeds=(0, 1))
    assert cells(plan)[0] == BASE
    assert [cell.size for cell in cells(plan)] == [0, 6, 6, 6, 6, 12, 12, 12, 12]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"sizes": ()}, "at least one size"),
        ({"sizes": (0,)}, "each size must be 1 or more"),
        ({"sizes": (31,)}, "has 30 pairs; no size can be larger"),
        ({"lrs": (-1.0,)}, "learning rate must be above 0"),
        ({"lrs": (float("nan"),)}, "learning rate must be above 0"),
        ({"patience": 0}, "patience must be 1 or more"),
        ({"precision": "int8"}, "precision must be one of auto, fp32, bf16"),
    ],
)
def test_a_plan_that_cannot_run_is_refused(
    change: dict[str, object], sentence: str, sets: Sets
) -> None:
    with pytest.raises(ExperimentError, match=sentence):
        check(replace(PLAN, **change), sets)  # type: ignore[arg-type]  # wrong on purpose


def test_an_empty_set_is_refused(sets: Sets) -> None:
    with pytest.raises(ExperimentError, match="empty"):
        check(PLAN, replace(sets, original_dev=()))


def test_size_zero_leaves_the_weights_alone(classifier: Classifier, sets: Sets) -> None:
    before = weights(classifier)
    epochs, point = run(PLAN, sets, BASE, classifier)
    assert epochs == []
    assert same(before, weights(classifier))
    assert point.original_right == hits(classifier, sets.original_test)


def test_a_point_counts_what_is_right(classifier: Classifier, sets: Sets) -> None:
    point = run(PLAN, sets, BASE, classifier)[1]
    assert point.challenge_right == hits(classifier, sets.challenge_test)
    assert point.challenge == sum(point.challenge_right) / 12
    assert point.control is None


def test_the_control_set_is_scored_where_there_is_one(classifier: Classifier, sets: Sets) -> None:
    point = run(PLAN, replace(sets, control=sets.challenge_train), CELL, classifier)[1]
    assert point.control == sum(hits(classifier, sets.challenge_train)) / 30


def test_the_rate_halves_whenever_dev_does_not_improve(classifier: Classifier, sets: Sets) -> None:
    plan = replace(PLAN, max_epochs=12, patience=12)
    epochs, _ = run(plan, sets, CELL, classifier)
    best, rate = -1.0, 1e-3
    for row in epochs:
        assert row.lr == rate
        rate = rate if row.dev > best else rate / 2
        best = max(best, row.dev)
    assert rate < 1e-3  # it did halve


def test_training_stops_after_patience_without_improvement(
    classifier: Classifier, sets: Sets
) -> None:
    epochs, point = run(replace(PLAN, lrs=(1e-9,), patience=2), sets, Cell(6, 1e-9, 0), classifier)
    assert [row.epoch for row in epochs] == [1, 2, 3]  # the first counts as the best so far
    assert point.best_epoch == 1


def test_the_best_epoch_is_restored(classifier: Classifier, sets: Sets) -> None:
    epochs, point = run(replace(PLAN, max_epochs=8, patience=8), sets, CELL, classifier)
    best = max(row.dev for row in epochs)
    assert point.dev == best == sum(hits(classifier, sets.original_dev)) / 12
    assert point.best_epoch == next(row.epoch for row in epochs if row.dev == best)


@pytest.mark.parametrize(("candidate", "unchanged"), [(True, True), (False, False)])
def test_epoch_zero_is_restored_only_where_it_is_a_candidate(
    candidate: bool, unchanged: bool, classifier: Classifier, sets: Sets
) -> None:
    # a rate this small changes weights but no prediction, so dev never improves on epoch 0
    before = weights(classifier)
    plan = replace(PLAN, include_epoch0=candidate)
    point = run(plan, sets, Cell(6, 1e-9, 0), classifier)[1]
    assert same(before, weights(classifier)) is unchanged
    assert point.best_epoch == (0 if candidate else 1)


def test_training_lowers_the_loss(classifier: Classifier, sets: Sets) -> None:
    epochs, _ = run(replace(PLAN, max_epochs=8, patience=8), sets, CELL, classifier)
    assert epochs[-1].loss < epochs[0].loss


@pytest.mark.parametrize("order", [LABELS, TWO_WAY])
def test_pairs_that_are_only_not_entailed_are_learnt(order: tuple[Label, ...]) -> None:
    pairs = tuple(replace(pair, gold=NON_ENTAILMENT) for pair in tiny_pairs(30))
    sets, classifier = Sets(pairs, pairs, pairs, pairs), tiny_classifier(order=order)
    with torch.no_grad():  # it leans to what is wrong
        classifier.model.get_parameter("classifier.bias")[order.index("entailment")] += 2.0
    epochs, point = run(replace(PLAN, sizes=(30,)), sets, Cell(30, 3e-2, 0), classifier)
    assert epochs[-1].loss < epochs[0].loss
    assert point.challenge == 1.0


def test_a_fresh_copy_leaves_the_loaded_model_alone(classifier: Classifier, sets: Sets) -> None:
    before = weights(classifier)
    run(PLAN, sets, CELL, fresh(classifier))
    assert same(before, weights(classifier))


def test_a_cell_gives_the_same_weights_again(classifier: Classifier, sets: Sets) -> None:
    one, other = fresh(classifier), fresh(classifier)
    run(PLAN, sets, CELL, one)
    run(PLAN, sets, CELL, other)
    assert same(weights(one), weights(other))


def test_a_cell_leaves_the_global_chance_alone(classifier: Classifier, sets: Sets) -> None:
    before = torch.get_rng_state()
    run(PLAN, sets, CELL, classifier)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("cell", [BASE, CELL])
@pytest.mark.parametrize("answers", [0, 1, 3])
def test_a_cell_ends_at_the_question_that_says_stop(
    answers: int, cell: Cell, classifier: Classifier, sets: Sets
) -> None:
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > answers

    # more slices of evaluation than answers, also where the shared start is known already
    pairs = tuple(pair for _ in range(30) for pair in tiny_pairs(30))
    with pytest.raises(Cancelled):
        list(run_cell(PLAN, replace(sets, original_test=pairs), cell, classifier, stop))
    assert len(asked) == answers + 1


def test_the_kept_model_is_named_after_its_plan_and_leads_to_no_run() -> None:
    plan = replace(PLAN, model="/models/minilm", sizes=(400, 10))
    first, second = kept_name(plan), kept_name(plan)
    assert re.fullmatch("minilm-negation-400-[0-9a-f]{8}", first)
    assert first != second


def test_a_challenge_name_cannot_leave_the_folder_of_models() -> None:
    assert "/" not in kept_name(replace(PLAN, challenge="../../x y"))
    assert len(kept_name(replace(PLAN, challenge="é" * 500)).encode()) < 200


def test_labelled_pairs_are_read_from_csv(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("premise,hypothesis,label\nA b.,C d.,neutral\nE f.,G h.,-\n,I j.,neutral\n")
    assert read_pairs(path) == (Pair("A b.", "C d.", "neutral", "0"),)


def test_the_mnli_release_is_read(tmp_path: Path) -> None:
    path = tmp_path / "dev.jsonl"
    row = '{"sentence1": "A b.", "sentence2": "C d.", "gold_label": "%s"}\n'
    path.write_text("".join(row % label for label in (*LABELS, "-")))
    assert [pair.gold for pair in read_pairs(path)] == list(LABELS)


@pytest.mark.parametrize(
    ("text", "error", "sentence"),
    [
        ("text,label\na,neutral\n", FileError, "no columns 'premise' and 'hypothesis'"),
        (
            "premise,hypothesis\na,b\n",
            FileError,
            "gold labels are needed here, and of the columns of pairs.csv",
        ),
        ("premise,hypothesis,label\na,b,\n", FileError, "holds no pair"),
        ("premise,hypothesis,label\na,b,perhaps\n", FileQuestion, "holds 'perhaps'"),
    ],
)
def test_a_file_without_labelled_pairs_is_refused(
    text: str, error: type[Exception], sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(text)
    with pytest.raises(error, match=sentence):
        read_pairs(path)


def test_a_name_with_half_a_character_is_refused(sets: Sets) -> None:
    with pytest.raises(ExperimentError, match="half of a character"):
        check(replace(PLAN, challenge="mine\ud800"), sets)


def test_the_dose_is_measured_at_the_last_epoch_trained_not_at_the_one_restored(
    sets: Sets, classifier: Classifier
) -> None:
    known = classifier.predict(sets.original_dev)
    dev = tuple(
        replace(pair, gold=said.label) for pair, said in zip(sets.original_dev, known, strict=True)
    )
    plan = replace(PLAN, max_epochs=12, patience=12, include_epoch0=True)  # nothing beats epoch 0
    learnt = nested(sets.challenge_train, CELL.seed, CELL.size)
    _, point = run(plan, replace(sets, original_dev=dev), replace(CELL, lr=1e-2), classifier)
    assert point.best_epoch == 0 and point.dose is not None
    assert sum(hits(classifier, learnt)) < point.dose <= CELL.size
    assert run(plan, sets, BASE, classifier)[1].dose is None
