"""An annotation set: its items and controls, who is given which batch, what the votes come to."""

import math
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from probe.errors import ArgumentError, ExampleError, FileError, LabelError, SurveyError
from probe.models.classifier import Classifier
from probe.models.library import load_any
from probe.runs.store import Store
from probe.surveys import annotation_set as module
from probe.surveys.annotation_results import (
    BROKEN,
    Judged,
    fleiss_kappa,
    items_frame,
    paper_share,
    progress_of,
    read_items,
    results,
    results_json,
    write_table,
)
from probe.surveys.annotation_set import (
    MODES,
    annotation_set,
    draw_items,
    example_of,
    into_batches,
    mode_for,
    modes_for,
    next_batch,
    sent_batches,
    set_control,
    shown_texts,
    submit_batch,
)
from probe.surveys.survey import end_survey, join, responses
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI
from probe.tasks.reading import READING
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import offered_tasks
from tests.support.pages.visitors import ME, YOU
from tests.support.runs.annotation import answer_all, honest, items, person, small_set

EXAMPLES = bundled_examples(NLI)[:60]
SALAD = ("sort", "shuffle", "copyone")
VALID = MODES["valid"]


@pytest.fixture
def store(home: Path) -> Store:
    return Store()


def test_as_many_of_each_transform_are_drawn_as_in_the_paper_and_controls_are_plain(
    classifier: Classifier,
) -> None:
    for mode, whole in {"valid": 9, "labels": 3}.items():
        *_, last = draw_items(NLI, MODES[mode], EXAMPLES, SALAD, 3, classifier)
        drawn, controls = last.items, last.controls
        assert Counter(item.transform for item in drawn) == {"": whole, **dict.fromkeys(SALAD, 3)}
        assert {item.transform for item in drawn if item.sign == "gupta"} == {"copyone"}
        assert len(controls) == 5 and not any(item.control for item in drawn)
        both = [*drawn, *controls]
        assert len({item.id for item in both}) == len(both)
        # no example serves twice
        assert len({tuple(item.before.values()) for item in both}) == len(both)
        valid, item = mode == "valid", next(item for item in drawn if item.transform == "sort")
        for each in controls:
            plain = "valid" if each.texts == each.before else "invalid"
            assert each.control == (plain if valid else each.gold)
        assert len({item.control for item in controls}) > 1
        titles = (
            {"Text": "hypothesis"} if valid else {"Premise": "premise", "Hypothesis": "hypothesis"}
        )
        seen = {title: item.texts[field] for title, field in titles.items()}
        assert shown_texts(NLI, MODES[mode], item) == seen
        for before, texts in ((False, item.texts), (True, item.before)):
            assert example_of(NLI, item, before).hypothesis == texts["hypothesis"]
    first, again, other = (
        list(draw_items(NLI, VALID, EXAMPLES, SALAD, 2, classifier, seed)) for seed in (1, 1, 2)
    )
    assert first == again != other
    assert [round(step.share, 1) for step in first] == [0.0, 0.3, 0.7, 1.0]
    for count, names, n, trouble in (
        (3, ["sort"], 1, "can be controls"),
        (10, ["sort"], 9, r"of the 5 examples that the controls left, fewer than 9"),
        (10, ["sort", "shuffle"], 3, "the controls left 5 examples, too few for 6 untouched"),
    ):
        with pytest.raises(ExampleError, match=trouble):
            list(draw_items(NLI, VALID, EXAMPLES[:count], names, n, classifier))


def test_of_a_distractor_the_question_and_the_new_sentence_are_seen() -> None:
    reader = load_any("minilm_reader", task=READING)
    mode = MODES["distractor"]
    *_, drawn = draw_items(READING, mode, bundled_examples(READING), ["addsent"], 2, reader)
    for item in [*drawn.items, *drawn.controls]:
        sentence = shown_texts(READING, mode, item)["Sentence"]
        if item.control:
            assert item.control == "no"
            assert any(answer in sentence for answer in str(item.gold).split(" | "))
        else:
            assert item.texts["passage"] == f"{item.before['passage']} {sentence}"


def test_each_task_has_its_modes() -> None:
    names = {task.name: [mode.name for mode in modes_for(task)] for task in offered_tasks()}
    two = ["valid", "labels"]
    assert names == {"nli": two, "paraphrase": two, "sentiment": two, "reading": ["distractor"]}
    with pytest.raises(ArgumentError, match="it has: distractor"):
        mode_for(READING, "valid")


def test_items_come_back_from_a_file_as_they_were_and_a_wrong_one_is_told_of(
    tmp_path: Path,
) -> None:
    write_table(items_frame(SENTIMENT, items()), path := tmp_path / "items.csv")
    assert read_items(path, SENTIMENT, VALID) == items()
    ranked = replace(items()[0], transform="drop", sign="gupta")
    write_table(items_frame(SENTIMENT, [ranked]), path)
    assert read_items(path, SENTIMENT, VALID) == [ranked]
    for text, trouble in {
        "words\na\n": "no column 'text'",
        "text,control\na,perhaps\n": "row 1 .* control 'perhaps'",
        "id,text\n1,a\n1,b\n": "the same id",
        "id,text\n1, \n": "row 1 .* an empty text",
        "text,gold\na,sideways\n": "sideways",
    }.items():
        path.write_text(text)
        with pytest.raises((FileError, LabelError), match=trouble):
            read_items(path, SENTIMENT, VALID)
    path.write_text("text\na\n''\n")
    assert len(read_items(path, SENTIMENT, VALID)) == 2


def test_three_people_judge_each_text_in_batches_whose_control_got_its_answer(
    store: Store,
) -> None:
    annotated = small_set(store)
    names = {item.id for item in items() if item.control}
    sizes = [(len(batch), len(names & {*batch})) for batch in annotated.batches]
    assert sizes == [(5, 1), (5, 1)]  # four items and a control
    whole = [item for batch in annotated.batches for item in batch if item not in names]
    assert whole == [item.id for item in items() if not item.control]
    assert [len(batch) for batch in into_batches(items(), [], 5)] == [5, 5]
    answer_all(store, annotated, person(9), lambda item: "valid" if item.transform else "invalid")
    progress, found = progress_of(store, annotated), results(store, annotated)
    assert (progress.returned, progress.share) == (found.returned, 0.0) == (2, 0.0)
    assert found.failed == 2 and math.isnan(found.kappa)
    assert [(line.share.n, line.open) for line in found.lines] == [(0, 4), (0, 4)]
    assert [answer_all(store, annotated, person(each), honest) for each in range(4)] == [2, 2, 2, 0]
    assert progress_of(store, annotated).share == 1.0
    assert [sent_batches(store, annotated, person(each)) for each in (0, 3)] == [2, 0]
    found = results(store, annotated)
    shares = {line.transform: (line.share.value, line.share.n) for line in found.lines}
    assert shares == {"": (0.0, 4), "sort": (1.0, 4)}
    assert (found.kappa, found.kappa_n) == (1.0, 8)
    assert [line.paper for line in found.lines] == [0.0783, 0.9407]
    told = results_json(annotated, found)
    assert [line["transform"] for line in told["lines"]] == ["untouched", "sort"]
    assert told["returned"] == {"batches": 8, "failed": 2}


def test_who_comes_back_gets_the_batch_that_was_begun(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    annotated = small_set(store, votes=1)
    for number in range(3):
        join(store, annotated.survey, person(number))
    first = next_batch(store, annotated, person(0))
    assert next_batch(store, annotated, person(0)) == first
    assert next_batch(store, annotated, person(1)) not in (first, None)
    assert next_batch(store, annotated, person(2)) is None
    monkeypatch.setattr(module, "RESERVED_SECONDS", -1)
    assert next_batch(store, annotated, person(2)) == first


def test_a_batch_is_answered_whole_once_and_in_time_by_who_was_given_it(store: Store) -> None:
    annotated = small_set(store)
    with pytest.raises(SurveyError, match="open the link first"):
        next_batch(store, annotated, person(0))
    join(store, annotated.survey, person(0))
    batch = next_batch(store, annotated, person(0))
    assert batch is not None
    ids = annotated.batches[batch]
    with pytest.raises(SurveyError, match="still open is number 2, 3, 4, 5"):
        submit_batch(store, annotated, person(0), batch, {ids[0]: "valid", ids[1]: "perhaps"})
    with pytest.raises(SurveyError, match="were not given to you"):
        submit_batch(store, annotated, person(1), batch, dict.fromkeys(ids, "valid"))
    for answer in ("valid", "invalid"):
        submit_batch(store, annotated, person(0), batch, dict.fromkeys(ids, answer))
    assert [row.answer for row in responses(store, annotated.survey.id)] == ["valid"] * 5
    end_survey(store, ME, annotated.survey.id)
    ended = annotation_set(store, annotated.survey.id)
    with pytest.raises(SurveyError, match="ended"):
        next_batch(store, ended, person(0))
    with pytest.raises(SurveyError, match="ended"):
        submit_batch(store, ended, person(0), 0, {})


def test_thirty_people_at_once_lose_no_answer_and_two_pages_of_one_get_the_same_batch(
    store: Store,
) -> None:
    annotated = small_set(store, votes=15)
    join(store, annotated.survey, person(0))
    with ThreadPoolExecutor(30) as pool:
        assert len({*pool.map(lambda _: next_batch(store, annotated, person(0)), range(8))}) == 1
        people = [person(each) for each in range(30)]
        sent = sum(pool.map(lambda one: answer_all(store, annotated, one, honest), people))
    progress = progress_of(store, annotated)
    assert progress.returned == sent >= 30
    assert progress.share == 1.0
    assert len(responses(store, annotated.survey.id)) == 5 * sent


def test_kappa_is_that_of_fleiss_own_example_and_undefined_without_disagreement() -> None:
    counts = [
        *([0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1]),
        *([7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]),
    ]
    assert fleiss_kappa(counts) == pytest.approx(0.210, abs=5e-4)
    assert [*map(fleiss_kappa, ([], [[1, 0], [0, 1]], [[3, 0], [3, 0]]))] == pytest.approx(
        [math.nan] * 3, nan_ok=True
    )


def test_a_majority_is_more_than_half_of_the_wanted_votes(store: Store) -> None:
    cases = [("aab", 3, "a"), ("aa", 3, "a"), ("abc", 3, ""), ("a", 3, ""), ("aabb", 4, "")]
    for votes, wanted, majority in (*cases, ("", 3, "")):
        assert Judged(items()[0], votes, wanted).majority == majority, votes
    annotated = small_set(store, votes=2)
    answer_all(store, annotated, person(0), honest)
    answer_all(store, annotated, person(1), lambda item: item.control or "valid")
    undecided = {line.transform: line.undecided for line in results(store, annotated).lines}
    assert undecided == {"": 0, "sort": 4}
    annotated.items = {  # a version that did not tell the sign ranked by ours
        id: replace(item, transform="drop" if item.transform else "")
        for id, item in annotated.items.items()
    }
    assert [line.sign for line in results(store, annotated).lines] == ["", "support"]


def test_people_and_a_model_answer_the_same_texts(store: Store) -> None:
    annotated = small_set(store, "labels")
    for number in range(3):
        answer_all(store, annotated, person(number), lambda item: item.control or "positive")
    whole, changed = results(store, annotated, load_any("minilm_sst2", task=SENTIMENT)).lines
    assert whole.share.value == 1.0
    assert whole.model is not None and changed.model is not None
    assert (whole.model.agreement.value, whole.model.agreement.n) == (1.0, 4)
    assert 0.5 <= changed.model.confidence.value <= 1.0
    assert [paper_share(annotated, name) for name in ("", BROKEN, "sort")] == [0.83, 0.49, None]


def test_controls_can_be_changed_by_the_owner_until_somebody_has_answered(store: Store) -> None:
    annotated = small_set(store)
    set_control(store, ME, annotated.survey.id, "i8", "invalid")
    for owner, item, answer, trouble in (
        (YOU, "i8", "valid", "no such set"),
        (ME, "i1", "valid", "no control of the set"),
        (ME, "i8", "perhaps", "none of its answers"),
        (ME, "i8", "valid", "have answered already"),
    ):
        if "already" in trouble:
            answer_all(store, annotated, person(0), honest)
        with pytest.raises(SurveyError, match=trouble):
            set_control(store, owner, annotated.survey.id, item, answer)
    assert annotation_set(store, annotated.survey.id).items["i8"].control == "invalid"
