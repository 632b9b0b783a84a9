"""Scores from 0 to 1 in place of right and wrong: how spans are counted, packed and judged."""

from dataclasses import replace

import pytest

from finetune.report.inoculation import (
    curve_frame,
    details,
)
from finetune.trials.base import row_json
from finetune.trials.datasets import Sets, sets_facts, worst_variants
from finetune.trials.inoculation import INOCULATION, judge, pack_scores, unpack_scores, verdict_json
from finetune.trials.inoculation_plan import Cell, Plan, sets_from, sets_json
from probe.models.weights import pairs_hash
from probe.statistics import mean, mean_score, wilson
from probe.tasks.nli import NLI
from probe.tasks.reading import READING, Question, Span
from tests.support.runs.points import make_point

QUESTION = Question("Who sat?", "The man sat.", "man", "q1", (Span("man", 4),))
SCORES = (0.0, 0.5, 1.0, 1.0)


def test_a_label_is_right_or_wrong_and_a_span_right_in_part() -> None:
    assert (NLI.score("neutral", "neutral"), NLI.score("neutral", "entailment")) == (1.0, 0.0)
    assert READING.score("old man", "man") == pytest.approx(2 / 3)  # precision 1/2, recall 1
    assert (NLI.measure, READING.measure) == ("accuracy", "F1")


def test_of_the_variants_of_a_question_the_worst_counts() -> None:
    names = ("a", "b", "a", "", "", "b")
    questions = [replace(QUESTION, base=name) for name in names]
    assert worst_variants(READING, questions, (0.9, 0.4, 0.2, 0.7, 0.6, 0.5)) == (
        0.2, 0.4, 0.7, 0.6,
    )  # fmt: skip


def test_a_task_without_variants_keeps_every_score(sets: Sets) -> None:
    scores = [True, False] * (len(sets.challenge_test) // 2)
    assert worst_variants(NLI, sets.challenge_test, scores) == tuple(scores)


def test_packed_scores_come_back_however_many_rows_the_set_has() -> None:
    thirds = (1 / 3, 0.0, 1.0)
    assert unpack_scores(pack_scores(thirds), 7) == pytest.approx(thirds)


def test_a_point_of_spans_is_packed_and_read_back() -> None:
    point = replace(make_point(8, 6, 10), original_right=SCORES, challenge_right=SCORES[1:])
    counts = {"sets": {"original_test": {"n": 4}, "challenge_test": {"n": 9}}}
    read = INOCULATION.unpack(INOCULATION.pack(row_json(point)), counts)
    assert (read["original_right"], read["challenge_right"]) == (SCORES, SCORES[1:])


def test_questions_are_stored_with_the_places_of_their_answers() -> None:
    variant = replace(QUESTION, base="q0")
    sets = Sets((QUESTION,), (QUESTION,), (variant,), (variant,), task=READING)
    assert sets_from(sets_json(sets)) == sets


def test_the_hash_of_questions_depends_on_places_and_variants() -> None:
    moved, variant = replace(QUESTION, answers=()), replace(QUESTION, base="q0")
    hashes = {pairs_hash([question]) for question in (QUESTION, moved, variant)}
    assert len(hashes) == 3


def test_no_label_is_in_the_majority_where_answers_are_spans() -> None:
    assert Sets((), (), (QUESTION,), (QUESTION,), task=READING).majority == 0.0


def test_the_interval_of_a_mean_f1_is_students() -> None:
    assert mean_score(READING, SCORES) == mean(SCORES)
    assert mean_score(NLI, (True, False, False)) == wilson(1, 3)


def test_a_gap_of_f1_is_judged_as_one_of_accuracy() -> None:
    rows = 400
    before = replace(
        make_point(0, 0),
        original=0.75,
        challenge=0.25,
        original_right=(0.5, 1.0) * (rows // 2),
        challenge_right=(0.5, 0.0) * (rows // 2),
    )
    after = replace(
        before,
        cell=Cell(50, 1e-3, 0),
        challenge=0.75,
        challenge_right=(0.5, 1.0) * (rows // 2),
    )
    verdict = verdict_json(
        judge(Plan("tiny", "mine", (50,), (1e-3,), (0,)), before, [after], task=READING)
    )
    assert (verdict["outcome"], verdict["measure"]) == ("1", "F1")
    assert (verdict["gap"], verdict["closed"]) == (pytest.approx(0.5), pytest.approx(1.0))
    row = curve_frame([before], task=READING).iloc[0]
    expected = mean(before.challenge_right)
    assert (row["accuracy"], row["low"]) == (25.0, pytest.approx(100 * expected.low))
    control = {**verdict, "control": {"before": 0.2, "after": 0.3}}
    assert "F1 went from 20.0 to 30.0 %" in " ".join(details(control, "oracle_lr"))


def test_the_facts_of_questions_hold_no_text() -> None:
    facts = sets_facts(Sets((QUESTION,), (QUESTION,), (QUESTION,), (QUESTION,), task=READING))
    assert "man" not in str(facts)
