"""What the outputs of a model mean: which task, which label."""

import json
from pathlib import Path

import pytest

from probe.errors import LabelError, ModelError
from probe.models.errors import UnclearLabels, UnclearTask
from probe.models.library import entries, load
from probe.models.outputs import read_config
from probe.tasks.nli import NLI, NLI_TWO_WAY
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.reading import READING
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task, read_labels
from tests.support.commands import refusal
from tests.support.models.tiny_bert import tiny_bert

TWO, THREE = ["LABEL_0", "LABEL_1"], ["LABEL_0", "LABEL_1", "LABEL_2"]
OPINIONS = ["negative", "neutral", "positive"]
FIVE = [f"LABEL_{at}" for at in range(5)]
STARS = ["1 star", "2 stars", "3 stars", "4 stars", "5 stars"]


def folder_of(path: Path, names: list[str], task: Task = SENTIMENT) -> str:
    """Write a model of two outputs with these names, whose config names no task."""
    folder = tiny_bert(path, task)
    config = json.loads((folder / "config.json").read_text())
    config["id2label"] = {str(at): name for at, name in enumerate(names)}
    (folder / "config.json").write_text(json.dumps(config))
    return str(folder)


@pytest.mark.parametrize("names", [TWO, ["no", "yes"], ["False", "True"]])
def test_names_that_several_tasks_may_mean_ask_for_the_task(names: list[str]) -> None:
    with pytest.raises(UnclearTask, match=r"does not say what it answers; name its task: nli_two"):
        read_config("x", names)


@pytest.mark.parametrize(
    ("asked", "task"),
    [
        (NLI, NLI_TWO_WAY),
        (NLI_TWO_WAY, NLI_TWO_WAY),
        (PARAPHRASE_IDENTIFICATION, PARAPHRASE_IDENTIFICATION),
        (SENTIMENT, SENTIMENT),
    ],
)
def test_the_task_that_is_asked_for_is_taken(asked: Task, task: Task) -> None:
    assert read_config("x", TWO, asked=asked) == (task, None)


def test_yes_means_what_the_task_says() -> None:
    assert read_config("x", ["no", "yes"], asked=PARAPHRASE_IDENTIFICATION) == (
        PARAPHRASE_IDENTIFICATION,
        ("non-paraphrase", "paraphrase"),
    )
    assert read_config("x", ["no", "yes"], asked=NLI)[1] == ("non-entailment", "entailment")


@pytest.mark.parametrize(
    ("names", "own", "asked", "sentence"),
    [
        (["entailment", "neutral", "contradiction"], None, SENTIMENT, "answers natural language"),
        (["entailment", "neutral", "contradiction"], NLI, SENTIMENT, "answers natural language"),
        (["NEGATIVE", "POSITIVE"], None, PARAPHRASE_IDENTIFICATION, "answers sentiment classif"),
        (TWO, SENTIMENT, NLI, "answers sentiment classification (positive, negative), not natural"),
        (THREE, None, SENTIMENT, "answers natural language inference"),
        (FIVE, None, SENTIMENT, "has 5 outputs (LABEL_0, LABEL_1, LABEL_2, LABEL_3, LABEL_4), and"),
        (STARS, None, NLI, "has 3 (entailment, neutral, contradiction) or 2 (entailment, non-en"),
        (FIVE, None, None, "has 5 outputs, not 3, nor 2"),
        (TWO, None, READING, "(LABEL_0, LABEL_1), and reading comprehension is answered with"),
        (THREE, SENTIMENT, None, "has 3 outputs, Sentiment classification has: positive, neg"),
    ],
)
def test_a_model_of_another_task_is_told(
    names: list[str], own: Task | None, asked: Task | None, sentence: str
) -> None:
    with pytest.raises(ModelError) as told:
        read_config("x", names, own, asked)
    assert sentence in str(told.value)


@pytest.mark.parametrize("names", [OPINIONS, ["no", "yes", "unsure"]])
def test_names_of_three_outputs_may_be_of_inference_where_it_is_asked_for(names: list[str]) -> None:
    assert read_config("x", names, asked=NLI) == (NLI, None)
    assert read_config("x", names, likely=NLI) == (NLI, None)


def test_yes_and_no_of_three_outputs_are_not_of_two_labels() -> None:
    assert read_config("x", ["no", "yes", "unsure"]) == (NLI, None)


def test_outputs_of_no_task_are_told_the_labels_of_the_likely_one() -> None:
    with pytest.raises(ModelError, match=r"and sentiment classification has 2 \(positive, neg"):
        read_config("x", FIVE, likely=SENTIMENT)


@pytest.mark.parametrize("asked", [None, SENTIMENT])
def test_finer_outputs_of_sentiment_count_as_its_labels(asked: Task | None) -> None:
    assert read_config("x", OPINIONS, asked=asked) == (SENTIMENT, ("negative", "", "positive"))
    stars = ("negative", "negative", "", "positive", "positive")
    assert read_config("x", STARS, likely=asked) == (SENTIMENT, stars)


def test_a_given_order_says_the_task() -> None:
    assert read_config("x", TWO, order=("negative", "positive"))[0] is SENTIMENT
    with pytest.raises(ModelError, match="has 2 outputs; order these labels: paraphrase, non-par"):
        read_config("x", TWO, asked=PARAPHRASE_IDENTIFICATION, order=("negative", "positive"))


def test_labels_of_several_tasks_need_the_task() -> None:
    with pytest.raises(LabelError, match="'no, yes' may be labels of nli_two_way and of paraphr"):
        read_labels("no,yes")
    assert read_labels("no,yes", PARAPHRASE_IDENTIFICATION) == ("non-paraphrase", "paraphrase")
    assert read_labels("no,yes", NLI) == ("non-entailment", "entailment")


@pytest.mark.parametrize(
    ("task", "sentence"),
    [
        (SENTIMENT, r"^'no, yes' is no order of labels: each of positive, negative once$"),
        (READING, r"^reading comprehension is answered with spans, so it has no labels$"),
    ],
)
def test_labels_of_another_task_are_refused(task: Task, sentence: str) -> None:
    with pytest.raises(LabelError, match=sentence):
        read_labels("no,yes", task)


def test_unnamed_outputs_are_asked_for_in_the_tasks_labels(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", TWO)
    with pytest.raises(UnclearLabels, match=r"give the labels in their order: .*paraphrase"):
        load(folder, task=PARAPHRASE_IDENTIFICATION)
    assert load(folder, ("negative", "positive")).task is SENTIMENT


def test_a_model_on_disk_whose_task_is_unclear_has_none(home: Path) -> None:
    folder_of(home / "models" / "unclear", ["no", "yes"])
    folder_of(home / "models" / "moods", ["NEGATIVE", "POSITIVE"])
    tasks = {entry.name: entry.task for entry in entries()}
    assert (tasks["unclear"], tasks["moods"]) == (None, SENTIMENT)


def test_the_command_line_names_the_options(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", TWO)
    words = ("pair", "--model", folder, "--text", "text=Fine.")
    assert refusal(*words).endswith("paraphrase or sentiment (the option is --task)")
    assert refusal(*words, "--task", "sentiment").endswith("(the option is --labels)")
    wrong = refusal("pair", "--model", "minilm", "--text", "text=Fine.", "--task", "sentiment")
    assert wrong == (
        "the model 'minilm' answers natural language inference (entailment, neutral, "
        "contradiction), not sentiment classification"
    )
