"""The command line offers each task what the table of offers says, and nothing else."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from finetune.cli.main import app
from probe.tasks.task import task_named
from tests.support.commands import answer, refusal
from tests.support.offers import CHALLENGES, EVERY, TRANSFORMS
from tests.support.tiny_bert import tiny_bert

TEXTS = {
    "paraphrase": ("--text", "text1=How old is it?", "--text", "text2=What is its age?"),
    "sentiment": ("--text", "text=It was good."),
}


@pytest.mark.parametrize("task", EVERY)
def test_transforms_are_listed_as_offered(task: str) -> None:
    listed = {row["name"] for row in answer("transforms", "--task", task)}
    assert listed == {name for name, tasks in TRANSFORMS.items() if task in tasks}


@pytest.mark.parametrize("task", EVERY)
def test_challenges_are_listed_as_offered(task: str) -> None:
    rows = json.loads(CliRunner().invoke(app, ["challenges", "--task", task, "--json"]).stdout)
    listed = {row["name"] for row in rows}
    assert {name for name, tasks in CHALLENGES.items() if task in tasks} <= listed
    assert not listed & {name for name, tasks in CHALLENGES.items() if task not in tasks}


@pytest.mark.parametrize("task", list(TEXTS))
def test_what_is_not_offered_is_one_sentence(task: str, tmp_path: Path) -> None:
    folder = tiny_bert(tmp_path / "tiny", task_named(task))
    words = ("pair", "--model", str(folder), *TEXTS[task])
    absent = [name for name, tasks in TRANSFORMS.items() if task not in tasks]
    for name in {absent[0], absent[-1]}:
        sentence = refusal(*words, "--transform", name)
        assert sentence.startswith(f"{name} is not for the task {task}")
    assert "HANS is about NLI" in refusal("hans", "--model", str(folder))
    assert refusal("rules", "all", "none.csv", "--task", task).startswith("no rule speaks of the")
