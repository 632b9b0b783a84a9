"""A task that is made up here and nowhere else: one text, two labels.

A tiny model learns it; it is probed, a file is scored and compared, and it is inoculated.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from finetune.training.encoder import TrainingOptions, train
from finetune.trials.challenges import catalogue, challenged
from finetune.trials.datasets import Sets
from finetune.trials.inoculation_plan import Plan, run_request
from probe.cli.listings import transforms_json
from probe.errors import Unavailable
from probe.models.library import load
from probe.runs.engine import Engine
from probe.runs.run import ended
from probe.runs.store import Store
from probe.statistics import accuracy
from probe.tasks.task import TASKS, Label, Task, register
from probe.transforms import Options, apply
from probe.transforms.registry import ready
from tests.support.commands import answer, refusal, run
from tests.support.models.tiny_bert import tiny_bert
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
    out = tmp_path_factory.mktemp("feeling")
    classifier = load(str(tiny_bert(tmp_path_factory.mktemp("untrained"), FEELING)))
    options = TrainingOptions(lr=3e-3, epochs=12, batch=8, precision="fp32")
    for _ in train(classifier, POOL, options, out):
        pass
    return out


def test_a_trained_model_says_what_it_was_trained_for(folder: Path) -> None:
    model = load(str(folder))
    assert model.task is FEELING
    predicted = [prediction.label for prediction in model.predict(TEST)]
    assert accuracy(FEELING, predicted, TEST) >= 0.9
    path = folder / "config.json"
    whole = path.read_text()
    assert json.loads(whole)["task"] == "feeling"
    path.write_text(json.dumps({k: v for k, v in json.loads(whole).items() if k != "task"}))
    assert load(str(folder)).task is FEELING  # by the names of its outputs
    path.write_text(whole)


def test_an_example_is_examined_by_what_needs_one_text_and_none_of_nlis_labels(
    folder: Path,
) -> None:
    offered = set(ready(FEELING))
    assert {"sort", "reverse", "shuffle", "drop", "repeat", "replace", "negation"} <= offered
    assert not offered & {"copysort", "copyone", "pbsmt", "neghyp", "antonym", "shuffleboth"}
    assert {row["side"] for row in transforms_json(FEELING)} == {"text"}
    pair, text = ("pair", "--model", str(folder)), "The park was happy today."
    names = ("--transform", "sort", "--transform", "negation")
    shape = answer(*pair, "--text", f"text={text}", *names)
    assert (shape["original"]["text"], shape["rules"]) == (text, {})
    assert set(shape["original"]["probabilities"]) == {"upbeat", "downbeat"}
    assert [row["token"] for row in shape["importance"]["text"]][:2] == ["the", "park"]
    assert {row["transform"]: row["text"] for row in shape["transformed"]} == {
        "sort": "happy park the today was .",
        "negation": "The park was happy today and false is not true.",
    }
    wrong = "the task feeling has no text 'premise'; it has: text"
    assert refusal(*pair, "--premise", "It was good.") == wrong
    with pytest.raises(Unavailable, match=r"^copysort is not for the task feeling"):
        list(apply("sort+copysort", TEST, FEELING, 0, Options(), lambda _: []))


def test_a_file_is_scored_transformed_and_summed_up(folder: Path, tmp_path: Path) -> None:
    path, out, summary = (tmp_path / name for name in ("in.csv", "out.csv", "summary.json"))
    rows = [*((review.text, review.gold) for review in TEST), ("", "pos")]
    pd.DataFrame(rows, columns=["body", "felt"]).to_csv(path, index=False)
    options = ["--transforms", "sort,shuffle,drop,negation", "--model", str(folder)]
    columns = ["--column", "text=body", "--gold", "felt"]
    scored = run(
        "batch", str(path), "--out", str(out), "--summary", str(summary), *options, *columns
    )
    assert scored.exit_code == 0, scored.output
    table = pd.read_csv(out, keep_default_na=False)
    assert table["error"].iloc[-1] == "the text is empty"
    assert table["sort.text"][0] == " ".join(sorted(TEST[0].text[:-1].lower().split())) + " ."
    assert {"p_upbeat", "p_downbeat"} <= set(table)
    shape = json.loads(summary.read_text())
    hits = [said == each.gold for said, each in zip(table["prediction"], TEST, strict=False)]
    assert shape["accuracy"] == pytest.approx(sum(hits) / len(TEST))
    assert shape["transforms"]["sort"]["accuracy"] is None  # destroyed
    assert shape["transforms"]["negation"]["accuracy_n"] == len(TEST)
    assert "entailed" not in shape
    assert set(shape["by_label"]) == {"upbeat", "downbeat"}
    models = ("--model", str(folder), "--model", "minilm")
    assert "these models answer different tasks: " in refusal("compare", str(path), *models)


def test_it_is_inoculated_through_store_and_engine(folder: Path, home: Path) -> None:
    assert "negation" in {challenge.name for challenge in catalogue(FEELING)}
    learnt, tested = (challenged("negation", part, task=FEELING) for part in (POOL, TEST))
    sets = Sets(DEV, TEST, learnt, tested, task=FEELING)
    assert (sets.task, sets.majority) == (FEELING, pytest.approx(0.5, abs=0.05))
    plan = Plan(
        str(folder), "negation", (4,), (1e-3,), (0,), max_epochs=2, precision="fp32",
        task=FEELING.name,
    )  # fmt: skip
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
