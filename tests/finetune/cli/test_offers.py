"""The command line offers each task what the table of offers says, and nothing else."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from finetune.cli.main import app
from probe.tasks.task import task_named
from tests.support.cases import failures
from tests.support.commands import answer, refusal, run
from tests.support.models.tiny_bert import tiny_bert
from tests.support.offers import CHALLENGES, EVERY, LABELLED, OPTIONS, SLICES, TEMPLATES, TRANSFORMS

TEXTS = {
    "paraphrase": ("--text", "text1=How old is it?", "--text", "text2=What is its age?"),
    "sentiment": ("--text", "text=It was good."),
}


def test_transforms_options_and_challenges_are_listed_as_offered() -> None:
    def listed(task: str) -> None:
        transforms = {row["name"] for row in answer("transforms", "--task", task)}
        assert transforms == {name for name, tasks in TRANSFORMS.items() if task in tasks}
        options = {row["name"] for row in answer("transforms", "--options", "--task", task)}
        assert options == {name for name, tasks in OPTIONS.items() if task in tasks}
        rows = json.loads(CliRunner().invoke(app, ["challenges", "--task", task, "--json"]).stdout)
        challenges = {row["name"] for row in rows}
        assert {name for name, tasks in CHALLENGES.items() if task in tasks} <= challenges
        assert not challenges & {name for name, tasks in CHALLENGES.items() if task not in tasks}

    assert failures(listed, EVERY) == {}


@pytest.mark.parametrize("task", LABELLED)
def test_a_file_is_compared_by_the_slices_offered(task: str, tmp_path: Path) -> None:
    asked, path = task_named(task), tmp_path / "file.jsonl"
    path.write_text(
        "\n".join(
            json.dumps({**asked.texts(example), "label": example.gold})
            for example in asked.sanity_examples
        ),
        encoding="utf-8",
    )
    folders = (str(tiny_bert(tmp_path / name, asked)) for name in ("one", "two"))
    models = [word for folder in folders for word in ("--model", folder)]
    groups = {one["group"] for one in answer("compare", str(path), *models)["slices"]} - {"all"}
    offered = {name for name, tasks in SLICES.items() if task in tasks}
    assert groups
    assert all(any(name in group for name in offered) for group in groups)


@pytest.mark.parametrize("kind", TEMPLATES)
def test_templates_make_examples_of_the_task_that_they_are_for(kind: str, tmp_path: Path) -> None:
    out = tmp_path / "made.jsonl"
    assert run("templates", kind, "--n", "6", "--out", str(out)).exit_code == 0
    made = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    tasks = [task_named(name) for name in TEMPLATES[kind]]
    assert all(set(task.fields) <= set(row) for task in tasks for row in made)


@pytest.mark.parametrize("task", list(TEXTS))
def test_what_is_not_offered_is_one_sentence(task: str, tmp_path: Path) -> None:
    folder = tiny_bert(tmp_path / "tiny", task_named(task))
    words = ("pair", "--model", str(folder), *TEXTS[task])
    absent = [name for name, tasks in TRANSFORMS.items() if task not in tasks]
    for name in {absent[0], absent[-1]}:
        sentence = refusal(*words, "--transform", name)
        assert sentence.startswith(f"{name} is not for the task {task}")
    file = tmp_path / "file.csv"
    file.write_text("any\nrow\n")
    scored = ("batch", str(file), "--out", str(tmp_path / "out.csv"), "--model", str(folder))
    for called in (words, scored):
        sentence = refusal(*called, "--set", "antonym=naik_code")
        assert sentence.startswith(f"the option antonym is not for the task {task}")
    assert "HANS is about NLI" in refusal("hans", "--model", str(folder))
    assert refusal("rules", "all", "none.csv", "--task", task).startswith("no rule speaks of the")
