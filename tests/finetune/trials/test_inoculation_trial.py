"""The protocol of Liu et al. 2019, on a model small enough to train in a test."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from finetune.training.data import read_pairs
from finetune.trials.challenges import bundled_sets
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


def test_bundled_sets_are_paired_and_not_trained_on_what_they_test() -> None:
    sets = bundled_sets("word_overlap")
    assert sets.paired
    assert len(sets.challenge_train) >= 400
    tested = {pair.premise for pair in (*sets.original_dev, *sets.original_test)}
    assert not tested & {pair.premise for pair in sets.challenge_train}


def test_majority_is_the_share_of_the_commonest_label(sets: Sets) -> None:
    uneven = sets.challenge_train[:4]  # labels in turn: the first comes twice
    assert replace(sets, challenge_train=uneven).majority == 0.5


def test_a_smaller_set_is_the_start_of_a_larger_one_and_each_seed_draws_its_own(sets: Sets) -> None:
    learnt = sets.challenge_train
    assert nested(learnt, 0, 20)[:6] == nested(learnt, 0, 6)
    assert nested(learnt, 0, 10) != nested(learnt, 1, 10)
    with pytest.raises(ExperimentError, match="there are 30 examples to train on, not 31"):
        nested(learnt, 0, 31)
    with pytest.raises(ExperimentError, match="empty"):
        check(PLAN, replace(sets, original_dev=()))


def test_cells_start_with_the_model_as_it_was_and_grow() -> None:
    plan = replace(PLAN, sizes=(12, 6), lrs=(1e-3, 1e-4), seeds=(0, 1))
    assert cells(plan)[0] == BASE
    assert [cell.size for cell in cells(plan)] == [0, 6, 6, 6, 6, 12, 12, 12, 12]


def test_the_model_as_it_was_is_scored_and_its_weights_left_alone(
    classifier: Classifier, sets: Sets
) -> None:
    before = weights(classifier)
    epochs, point = run(PLAN, sets, BASE, classifier)
    assert epochs == [] and same(before, weights(classifier))
    assert point.original_right == hits(classifier, sets.original_test)
    assert point.challenge_right == hits(classifier, sets.challenge_test)
    assert point.challenge == sum(point.challenge_right) / 12
    assert point.control is None


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
    controlled = replace(sets, control=sets.challenge_train)
    epochs, point = run(replace(PLAN, max_epochs=8, patience=8), controlled, CELL, classifier)
    best = max(row.dev for row in epochs)
    assert point.dev == best == sum(hits(classifier, sets.original_dev)) / 12
    assert point.best_epoch == next(row.epoch for row in epochs if row.dev == best)
    assert point.control == sum(hits(classifier, sets.challenge_train)) / 30
    assert epochs[-1].loss < epochs[0].loss


def test_epoch_zero_is_restored_only_where_it_is_a_candidate(
    classifier: Classifier, sets: Sets
) -> None:
    # a rate this small changes weights but no prediction, so dev never improves on epoch 0
    before = weights(classifier)
    for candidate in (True, False):
        plan, copy = replace(PLAN, include_epoch0=candidate), fresh(classifier)
        point = run(plan, sets, Cell(6, 1e-9, 0), copy)[1]
        assert same(before, weights(copy)) is candidate
        assert point.best_epoch == (0 if candidate else 1)


def test_pairs_that_are_only_not_entailed_are_learnt() -> None:
    pairs = tuple(replace(pair, gold=NON_ENTAILMENT) for pair in tiny_pairs(30))
    for order in (LABELS, TWO_WAY):
        sets, classifier = Sets(pairs, pairs, pairs, pairs), tiny_classifier(order=order)
        with torch.no_grad():  # it leans to what is wrong
            classifier.model.get_parameter("classifier.bias")[order.index("entailment")] += 2.0
        epochs, point = run(replace(PLAN, sizes=(30,)), sets, Cell(30, 3e-2, 0), classifier)
        assert epochs[-1].loss < epochs[0].loss
        assert point.challenge == 1.0


def test_a_cell_gives_the_same_weights_again_and_leaves_model_and_chance_alone(
    classifier: Classifier, sets: Sets
) -> None:
    before, chance = weights(classifier), torch.get_rng_state()
    one, other = fresh(classifier), fresh(classifier)
    run(PLAN, sets, CELL, one)
    run(PLAN, sets, CELL, other)
    assert same(weights(one), weights(other)) and not same(weights(one), before)
    assert same(before, weights(classifier))
    assert torch.equal(chance, torch.get_rng_state())


def test_a_cell_ends_at_the_question_that_says_stop(classifier: Classifier, sets: Sets) -> None:
    # more slices of evaluation than answers, also where the shared start is known already
    pairs = tuple(pair for _ in range(30) for pair in tiny_pairs(30))
    for cell in (BASE, CELL):
        for answers in (0, 1, 3):
            asked: list[int] = []

            def stop(asked: list[int] = asked, answers: int = answers) -> bool:
                asked.append(1)
                return len(asked) > answers

            whole = replace(sets, original_test=pairs)
            with pytest.raises(Cancelled):
                list(run_cell(PLAN, whole, cell, fresh(classifier), stop))
            assert len(asked) == answers + 1, (cell, answers)


def test_the_kept_model_is_named_after_its_plan_and_leads_to_no_run() -> None:
    plan = replace(PLAN, model="/models/minilm", sizes=(400, 10))
    first, second = kept_name(plan), kept_name(plan)
    assert re.fullmatch("minilm-negation-400-[0-9a-f]{8}", first)
    assert first != second
    assert "/" not in kept_name(replace(PLAN, challenge="../../x y"))
    assert len(kept_name(replace(PLAN, challenge="é" * 500)).encode()) < 200


def test_labelled_pairs_are_read_and_a_file_without_them_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("premise,hypothesis,label\nA b.,C d.,neutral\nE f.,G h.,-\n,I j.,neutral\n")
    assert read_pairs(path) == (Pair("A b.", "C d.", "neutral", "0"),)
    release = tmp_path / "dev.jsonl"
    row = '{"sentence1": "A b.", "sentence2": "C d.", "gold_label": "%s"}\n'
    release.write_text("".join(row % label for label in (*LABELS, "-")))
    assert [pair.gold for pair in read_pairs(release)] == list(LABELS)
    refused: list[tuple[str, type[Exception], str]] = [
        ("text,label\na,neutral\n", FileError, "no columns 'premise' and 'hypothesis'"),
        ("premise,hypothesis\na,b\n", FileError, "gold labels are needed here, and of the col"),
        ("premise,hypothesis,label\na,b,\n", FileError, "holds no pair"),
        ("premise,hypothesis,label\na,b,perhaps\n", FileQuestion, "holds 'perhaps'"),
    ]
    for text, error, sentence in refused:
        path.write_text(text)
        with pytest.raises(error, match=sentence):
            read_pairs(path)


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
