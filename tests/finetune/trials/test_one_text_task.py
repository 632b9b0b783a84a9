"""A task that is made up here, of one text and two labels, is learnt and inoculated."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from finetune.training.encoder import TrainingOptions, train
from finetune.trials.challenges import catalogue, challenged
from finetune.trials.datasets import Sets
from finetune.trials.inoculation import Plan, run_request
from probe.errors import Unavailable
from probe.models.library import load
from probe.runs.engine import Engine
from probe.runs.run import ended
from probe.runs.store import Store
from probe.statistics import accuracy
from probe.tasks.sentiment import Review
from probe.tasks.task import TASKS, Task, register
from probe.transforms import Options, apply
from probe.transforms.registry import ready
from tests.support.commands import answer, refusal
from tests.support.models.tiny_bert import tiny_bert
from tests.support.waiting import until

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
    shape = answer(
        "pair", "--model", folder, "--text", "text=The park was happy today.", "--transform", "sort"
    )
    assert set(shape["original"]["probabilities"]) == {"upbeat", "downbeat"}
    assert shape["transformed"][0]["text"] == "happy park the today was ."
    wrong = refusal("pair", "--model", folder, "--premise", "It was good.")
    assert wrong == "the task feeling has no text 'premise'; it has: text"
    assert not set(ready(FEELING)) & {"copysort", "pbsmt", "neghyp", "antonym", "shuffleboth"}
    with pytest.raises(Unavailable, match=r"^copysort is not for the task feeling"):
        list(apply("sort+copysort", TEST, FEELING, 0, Options(), lambda _: []))
    path = folder / "config.json"
    whole = json.loads(path.read_text())
    assert whole["task"] == "feeling"
    path.write_text(json.dumps({k: v for k, v in whole.items() if k != "task"}))
    assert load(str(folder)).task is FEELING  # by the names of its outputs
    path.write_text(json.dumps(whole))


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
