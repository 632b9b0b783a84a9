"""Inoculation of models of other tasks than inference: what they are offered, how runs keep it."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from finetune.report.command_line import command
from finetune.report.inoculation import by_panel, points_frame
from finetune.trials.challenges import (
    UserFiles,
    challenge_name,
    challenged,
    challenges,
    file_sets,
    make_sets,
    read_sets,
    read_source_data,
)
from finetune.trials.datasets import SET_NAMES, Sets, SourceData
from finetune.trials.inoculation_plan import Plan, check, plan_from, sets_from, sets_json
from probe.errors import ExperimentError, FileError, FileQuestion
from probe.tasks.nli import NLI, NLI_TWO_WAY, Pair
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.sentiment import SENTIMENT, Review
from probe.tasks.task import Task
from tests.support.files.pair_files import PAIRS, write
from tests.support.runs.points import make_point, make_run

REVIEWS = tuple(
    Review(f"The {thing} was {word}.", label, f"{thing}-{word}")
    for thing in ("film", "book", "soup", "room")
    for word, label in (("good", "positive"), ("bad", "negative"))
)
OF_REVIEWS = SourceData(REVIEWS[:2], REVIEWS[2:4], REVIEWS[4:], SENTIMENT)


def test_a_task_keeps_its_name_where_another_has_the_same_dataclass() -> None:
    sets = Sets(PAIRS, PAIRS, PAIRS, PAIRS, task=NLI_TWO_WAY)
    assert sets_from(sets_json(sets)).task is NLI_TWO_WAY
    golds = [Pair("A.", "B.", gold) for gold in ("neutral", "contradiction", "entailment")]
    two, three = (Sets((), (), tuple(golds), (), task=task) for task in (NLI_TWO_WAY, NLI))
    assert (two.majority, three.majority) == (pytest.approx(2 / 3), pytest.approx(1 / 3))


def test_sets_and_plans_of_before_the_tasks_are_of_inference() -> None:
    rows = [asdict(pair) for pair in PAIRS[:3]]
    assert sets_from(dict.fromkeys(SET_NAMES, rows)).task is NLI
    old = asdict(Plan("da", "negation", (6,), (1e-3,), (0,)))
    assert plan_from({name: old[name] for name in old if name not in ("task", "labels")}) == Plan(
        "da", "negation", (6,), (1e-3,), (0,)
    )


def test_sets_of_each_task_are_read_back() -> None:
    sets = make_sets("negation", OF_REVIEWS)
    assert sets_from(sets_json(sets)) == sets
    assert (sets.task, sets.challenge_test[0].gold) == (SENTIMENT, "positive")
    assert sets.challenge_test[0].text == "The book was good and false is not true."


def test_a_tautology_of_another_task_has_its_control() -> None:
    (first, *_) = make_sets("negation", OF_REVIEWS).control
    assert first.text == "The book was good and green is not red."


def test_a_model_is_not_inoculated_with_another_tasks_examples() -> None:
    sets = make_sets("negation", OF_REVIEWS)
    plan = Plan("da", "negation", (1,), (1e-3,), (0,))
    with pytest.raises(ExperimentError, match="task nli, the challenge is one of sentiment"):
        check(plan, sets)


def test_a_challenge_of_another_task_is_told_whose_it_is() -> None:
    cases: list[tuple[Task, str, str]] = [
        (SENTIMENT, "templates_word_order", "paraphrase identification"),
        (SENTIMENT, "neghyp", "natural language inference"),
        (PARAPHRASE_IDENTIFICATION, "templates_hans", "natural language inference"),
        (NLI, "templates_word_order", "paraphrase identification"),
    ]
    for task, name, owner in cases:
        sentence = f"{name} is a challenge of {owner}, not of {task.title.lower()}; there are: "
        with pytest.raises(ExperimentError, match=sentence):
            challenged(name, (), task=task)


def test_templates_are_named_in_short_too() -> None:
    assert challenge_name("word_order", PARAPHRASE_IDENTIFICATION) == "templates_word_order"
    assert challenge_name("hans", NLI) == "templates_hans"
    assert challenge_name("numerical", NLI) == "numerical"  # a transform has this name
    assert challenge_name("word_order", SENTIMENT) == "word_order"


def test_other_tasks_offer_spelling_and_tautologies() -> None:
    for task in (PARAPHRASE_IDENTIFICATION, SENTIMENT):
        offered = {"spelling", "spelling_swap", "word_overlap", "negation"}
        assert offered <= set(challenges(task)), task.name


PREMISES = [{"premise": "A.", "hypothesis": "B.", "label": "neutral"}] * 4
TWO_SENTENCES = [{"sentence1": "A.", "sentence2": "B.", "label": "neutral"}] * 4
STARS = [{"text": "A.", "label": "5"}] * 4


def test_a_file_of_another_task_is_refused(tmp_path: Path) -> None:
    cases: list[tuple[Task, list[dict[str, object]], type[Exception], str]] = [
        (SENTIMENT, PREMISES, FileError, "no column 'text' in your file; it has: premise, hyp"),
        (PARAPHRASE_IDENTIFICATION, PREMISES, FileError, "no columns 'text1' and 'text2' in"),
        (PARAPHRASE_IDENTIFICATION, TWO_SENTENCES, FileQuestion, "holds 'neutral'"),
        (SENTIMENT, STARS, FileQuestion, "holds '5'"),
    ]
    for task, rows, kind, sentence in cases:
        file = write(tmp_path / "wrong.jsonl", rows)
        with pytest.raises(kind, match=sentence):
            read_sets("mine", UserFiles(challenge=file), task)


def test_a_file_is_read_as_the_task_says(tmp_path: Path) -> None:
    rows = [{"question1": "A?", "question2": f"B{n}?", "is_duplicate": n % 2} for n in range(6)]
    named = [{**row, "label": row.pop("is_duplicate")} for row in rows]
    source = SourceData((), (), (), PARAPHRASE_IDENTIFICATION)
    sets = file_sets(source, "paws", write(tmp_path / "paws.jsonl", named), train=2)
    assert (sets.task, len(sets.challenge_train), len(sets.challenge_test)) == (
        PARAPHRASE_IDENTIFICATION, 2, 4,
    )  # fmt: skip
    assert {pair.gold for pair in sets.challenge_test} == {"paraphrase", "non-paraphrase"}


def test_one_original_file_of_texts_is_halved(tmp_path: Path) -> None:
    rows = [{"sentence": review.text, "label": review.gold} for review in REVIEWS]
    file = write(tmp_path / "mine.jsonl", rows)
    source = read_source_data(UserFiles(original=file), SENTIMENT)
    halves = [{review.text for review in part} for part in (source.dev, source.test)]
    assert [len(half) for half in halves] == [4, 4]
    assert not set.intersection(*halves)


def test_the_command_names_the_outputs_that_a_person_named() -> None:
    run = make_run([make_point(80, 60)], "me/reviews")
    assert "--task" not in command(run)
    plan = replace(run.plan, task="sentiment", labels=("negative", "positive"))
    assert "--task sentiment --labels negative,positive" in command(replace(run, plan=plan))


def test_a_challenge_of_two_tasks_is_drawn_in_two_panels() -> None:
    runs = [make_run([make_point(80, 60)], model, run_id=model) for model in ("minilm", "other")]
    assert list(by_panel(runs)) == ["negation"]
    of_sentiment = replace(runs[1], plan=replace(runs[1].plan, task="sentiment"))
    assert list(by_panel([runs[0], of_sentiment])) == ["negation (nli)", "negation (sentiment)"]
    assert list(points_frame([runs[0], of_sentiment])["task"]) == ["nli", "sentiment"]
