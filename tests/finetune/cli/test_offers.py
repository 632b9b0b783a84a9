"""The command line offers each task what the table of offers says, and nothing else."""

import json
from pathlib import Path

from probe.tasks.task import task_named
from tests.support.cases import each, failures
from tests.support.commands import answer, call, refusal, run
from tests.support.files.pair_files import write
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
        rows = json.loads(call("challenges", "--task", task, "--json").stdout)
        challenges = {row["name"] for row in rows}
        assert {name for name, tasks in CHALLENGES.items() if task in tasks} <= challenges
        assert not challenges & {name for name, tasks in CHALLENGES.items() if task not in tasks}

    assert failures(listed, EVERY) == {}


@each("task", LABELLED)
def test_a_file_is_compared_by_the_slices_offered(task: str, tmp_path: Path) -> None:
    asked = task_named(task)
    rows = [{**asked.texts(each), "label": each.gold} for each in asked.sanity_examples]
    path = write(tmp_path / "file.jsonl", rows)
    folders = (str(tiny_bert(tmp_path / name, asked)) for name in ("one", "two"))
    models = [word for folder in folders for word in ("--model", folder)]
    groups = {one["group"] for one in answer("compare", str(path), *models)["slices"]} - {"all"}
    offered = {name for name, tasks in SLICES.items() if task in tasks}
    assert groups
    assert all(any(name in group for name in offered) for group in groups)


@each("kind", TEMPLATES)
def test_templates_make_examples_of_the_task_that_they_are_for(kind: str, tmp_path: Path) -> None:
    out = tmp_path / "made.jsonl"
    assert run("templates", kind, "--n", "6", "--out", str(out)).exit_code == 0
    made = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    tasks = [task_named(name) for name in TEMPLATES[kind]]
    assert all(set(task.fields) <= set(row) for task in tasks for row in made)


@each("task", TEXTS)
def test_what_is_not_offered_is_one_sentence(task: str, tmp_path: Path) -> None:
    folder = ("--model", str(tiny_bert(tmp_path / "tiny", task_named(task))))
    words = ("pair", *folder, *TEXTS[task])
    absent = [name for name, tasks in TRANSFORMS.items() if task not in tasks]
    for name in {absent[0], absent[-1]}:
        sentence = refusal(*words, "--transform", name)
        assert sentence.startswith(f"{name} is not for the task {task}")
    file = tmp_path / "file.csv"
    file.write_text("any\nrow\n")
    for called in (words, ("batch", str(file), "--out", str(tmp_path / "out.csv"), *folder)):
        sentence = refusal(*called, "--set", "antonym=naik_code")
        assert sentence.startswith(f"the option antonym is not for the task {task}")
    assert "HANS is about NLI" in refusal("hans", *folder)
    assert refusal("rules", "all", "none.csv", "--task", task).startswith("no rule speaks of the")
