"""Repairs of the bundled models of paraphrase and sentiment, small."""

import json
from pathlib import Path

import pytest

from finetune.trials.word_salad import salad_names
from probe.tasks.examples import bundled_examples
from probe.tasks.task import Task, task_named
from tests.support.cases import failures
from tests.support.commands import call
from tests.support.files.pair_files import write

pytestmark = pytest.mark.slow
TASKS = {"minilm_mrpc": "paraphrase", "minilm_qqp": "paraphrase", "minilm_sst2": "sentiment"}
COUNTS = {"dev": 6, "test": 8, "pool": 8}


def files(task: Task, folder: Path) -> list[object]:
    """Write a few of the bundled examples and return the options that name them."""
    options: list[object] = []
    for split, option in zip(COUNTS, ("--original-dev", "--original-test", "--pool"), strict=True):
        examples = bundled_examples(task, split)[: COUNTS[split]]
        rows = [{**task.texts(each), "label": each.gold} for each in examples]
        options += [option, write(folder / f"{split}.jsonl", rows)]
    return options


def test_a_small_repair_runs_on_the_task_of_the_model(home: Path) -> None:
    def runs(command: str, model: str) -> None:
        task = task_named(TASKS[model])
        words = ["--sizes", "6", "--seeds", "0", "--tests", "2", "--epochs", "1", "--in-process"]
        chosen = ["--transforms", "sort,drop"] if command == "transfer" else []
        result = call(
            command, "--model", model, "--out", home / "out", *words, *chosen, *files(task, home)
        )
        assert result.exit_code == 0, result.output
        summary = json.loads((home / "out" / "summary.json").read_text())
        assert summary["plan"]["task"] == task.name
        assert summary["artefacts"]["sets"]["test"]["n"] == COUNTS["test"]
        found = {
            "calibrate": lambda: set(summary["per_transform"]["baseline"]),
            "mitigate": lambda: set(summary["per_transform"]),
            "transfer": lambda: set(summary["columns"]),
        }[command]()
        assert {"sort", "drop"} <= found <= set(salad_names(task))

    cases = [
        (command, model) for command in ("calibrate", "mitigate", "transfer") for model in TASKS
    ]
    assert failures(runs, cases) == {}
