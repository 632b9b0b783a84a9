"""A task that is made up here and nowhere else: one text, two labels.

A tiny model learns it; it is probed, a file is scored and compared, and it is inoculated.
"""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification
from typer.testing import CliRunner, Result

from finetune.training.encoder import TrainingOptions, train
from finetune.trials.challenges import catalogue, challenged
from finetune.trials.datasets import Sets
from finetune.trials.inoculation_plan import Plan, run_request
from finetune.trials.registry import register_experiments
from probe.analysis.transformed import examination_json, examine
from probe.cli.main import app
from probe.errors import Unavailable
from probe.models.classifier import Classifier
from probe.models.library import load
from probe.reports.json import transforms_json
from probe.runs.engine import Engine
from probe.runs.run import ended
from probe.runs.store import Store
from probe.statistics import accuracy
from probe.tasks.task import TASKS, Label, Task, register
from probe.transforms.registry import ready
from tests.support.models.tiny_models import POSITIONS, SHAPE, word_piece
from tests.support.waiting import until


@dataclass(frozen=True)
class Review:
    """One text and how its writer felt."""

    text: str
    gold: Label | None = None
    id: str = ""


MOODS = {
    "upbeat": ("good", "happy", "strong", "rich"),
    "downbeat": ("bad", "sad", "weak", "poor"),
}
FEELING = Task(
    "feeling",
    "How a writer felt",
    Review,
    ("text",),
    "text",
    labels=("upbeat", "downbeat"),
    golds=("upbeat", "downbeat"),
    spellings={"upbeat": "upbeat", "pos": "upbeat", "downbeat": "downbeat", "1": "downbeat"},
    columns={"text": ("text", "review")},
    sanity_examples=(
        Review("The dinner was good.", "upbeat"),
        Review("The dinner was bad.", "downbeat"),
        Review("The market was happy.", "upbeat"),
        Review("The market was sad.", "downbeat"),
    ),
)
PLACES = ("park", "shop", "school", "house", "church")
REVIEWS = tuple(
    Review(f"The {place} was {word} {when}.", label, f"{label}-{at}-{place}-{when}")
    for label, words in MOODS.items()
    for at, word in enumerate(words)
    for place in PLACES
    for when in ("today", "yesterday")
)
POOL, DEV, TEST = REVIEWS[::3], REVIEWS[1::3], REVIEWS[2::3]


@pytest.fixture(scope="module", autouse=True)
def known() -> Iterator[None]:
    """Make the task known for these tests."""
    register(FEELING)
    yield
    del TASKS[FEELING.name]


@pytest.fixture(scope="module")
def folder(known: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny model that learnt the task."""
    tokenizer, order = word_piece(), ("downbeat", "upbeat")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = BertConfig(
            vocab_size=len(tokenizer),
            intermediate_size=64,
            max_position_embeddings=POSITIONS,
            id2label=dict(enumerate(order)),
            **SHAPE,
        )
        model = BertForSequenceClassification(config).eval()
    classifier = Classifier("tiny", model, tokenizer, FEELING, order, torch.device("cpu"))
    out = tmp_path_factory.mktemp("feeling")
    options = TrainingOptions(lr=3e-3, epochs=12, batch=8, precision="fp32")
    for _ in train(classifier, POOL, options, out):
        pass
    return out


def run(*words: str) -> Result:
    """Run a command of `python -m probe`."""
    return CliRunner().invoke(app, words, catch_exceptions=False)


def test_a_trained_model_says_what_it_was_trained_for(folder: Path) -> None:
    model = load(str(folder))
    assert model.task is FEELING
    assert (model.labels, model.order) == (("upbeat", "downbeat"), ("downbeat", "upbeat"))
    predicted = [prediction.label for prediction in model.predict(TEST)]
    assert accuracy(FEELING, predicted, TEST) >= 0.9


def test_the_names_of_outputs_say_the_task_where_the_config_does_not(folder: Path) -> None:
    path = folder / "config.json"
    whole = path.read_text()
    assert json.loads(whole)["task"] == "feeling"
    path.write_text(json.dumps({k: v for k, v in json.loads(whole).items() if k != "task"}))
    assert load(str(folder)).task is FEELING
    path.write_text(whole)


def test_transforms_are_offered_that_need_one_text_and_none_of_nlis_labels() -> None:
    offered = set(ready(FEELING))
    assert {"sort", "reverse", "shuffle", "drop", "repeat", "replace", "negation"} <= offered
    assert not offered & {"copysort", "copyone", "pbsmt", "neghyp", "antonym", "shuffleboth"}
    assert {row["side"] for row in transforms_json(FEELING)} == {"text"}


def test_an_example_is_examined(folder: Path) -> None:
    names = ["sort", "drop", "negation"]
    examination = examine(load(str(folder)), Review("The park was happy today."), names)
    shape = examination_json(examination, "fp32")
    assert shape["original"]["text"] == "The park was happy today."
    assert set(shape["original"]["probabilities"]) == {"upbeat", "downbeat"}
    assert [row["token"] for row in shape["importance"]["text"]][:2] == ["the", "park"]
    assert shape["rules"] == {}
    texts = {row["transform"]: row["text"] for row in shape["transformed"]}
    assert texts["sort"] == "happy park the today was ."
    assert texts["negation"] == "The park was happy today and false is not true."


def test_a_copy_has_nothing_to_copy_from(folder: Path) -> None:
    with pytest.raises(Unavailable, match=r"^copysort is not for the task feeling"):
        examine(load(str(folder)), TEST[0], ["sort+copysort"])


def test_the_command_asks_for_its_text(folder: Path) -> None:
    ended_well = run("pair", "--model", str(folder), "--text", "text=It was good.", "--json")
    assert json.loads(ended_well.stdout)["original"]["text"] == "It was good."
    plain = run("pair", "--model", str(folder), "--text", "text=It was.", "--transform", "reverse")
    assert plain.stdout.splitlines()[1].endswith("was it .")
    wrong = run("pair", "--model", str(folder), "--premise", "It was good.")
    assert (wrong.exit_code, wrong.stderr) == (
        2,
        "error: the task feeling has no text 'premise'; it has: text\n",
    )


def write(path: Path, header: tuple[str, str]) -> Path:
    """Write the test reviews with two columns of these names."""
    with path.open("w", newline="") as file:
        rows = [header, *((review.text, review.gold) for review in TEST), ("", "pos")]
        csv.writer(file).writerows(rows)
    return path


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        (("review", "label"), []),
        (("body", "felt"), ["--column", "text=body", "--gold", "felt"]),
    ],
)
def test_a_file_is_scored_transformed_and_summed_up(
    header: tuple[str, str], columns: list[str], folder: Path, tmp_path: Path
) -> None:
    path, out, summary = write(tmp_path / "in.csv", header), tmp_path / "o.csv", tmp_path / "s.json"
    options = ["--transforms", "sort,shuffle,drop,negation", "--model", str(folder)]
    ended = run(
        "batch", str(path), "--out", str(out), "--summary", str(summary), *options, *columns
    )
    assert ended.exit_code == 0, ended.output
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[-1]["error"] == "the text is empty"
    assert rows[0]["sort.text"] == " ".join(sorted(TEST[0].text[:-1].lower().split())) + " ."
    assert {"p_upbeat", "p_downbeat"} <= set(rows[0])
    shape = json.loads(summary.read_text())
    hits = [row["prediction"] == review.gold for row, review in zip(rows, TEST, strict=False)]
    assert shape["accuracy"] == pytest.approx(sum(hits) / len(TEST))
    assert shape["transforms"]["sort"]["accuracy"] is None  # destroyed
    assert shape["transforms"]["negation"]["accuracy_n"] == len(TEST)
    assert "entailed" not in shape
    assert set(shape["by_label"]) == {"upbeat", "downbeat"}


def test_two_models_are_compared(folder: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "in.csv", ("text", "label"))
    models = ["--model", str(folder), "--model", "minilm"]
    mixed = run("compare", str(path), *models)
    assert mixed.exit_code == 2
    assert "these models answer different tasks: " in mixed.stderr


def test_it_is_inoculated_through_store_and_engine(folder: Path, home: Path) -> None:
    register_experiments()
    assert "negation" in {challenge.name for challenge in catalogue(FEELING)}
    learnt, tested = (challenged("negation", part, task=FEELING) for part in (POOL, TEST))
    sets = Sets(DEV, TEST, learnt, tested, task=FEELING)
    assert (sets.task, sets.majority) == (FEELING, pytest.approx(0.5, abs=0.05))
    plan = Plan(
        str(folder),
        "negation",
        (4,),
        (1e-3,),
        (0,),
        max_epochs=2,
        precision="fp32",
        task=FEELING.name,
    )
    store = Store()
    engine = Engine(store, in_process=True)
    created = store.create("me", run_request(plan, sets))
    engine.submit(created.id)
    done = until(store, created.id, ended)
    engine.close()
    assert (done.state, done.error) == ("done", "")
    assert list(done.verdict["baselines"]) == ["majority"]
    assert done.verdict["by_size"]["4"]["original"] >= 0.8
    assert load(done.kept).task is FEELING
