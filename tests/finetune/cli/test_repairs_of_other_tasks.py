"""Repairs of the bundled models of paraphrase and sentiment, small."""

import json
from itertools import product
from pathlib import Path

import pytest

from finetune.trials.word_salad import salad_names
from probe.tasks.examples import bundled_examples
from probe.tasks.task import task_named
from tests.support.cases import failures
from tests.support.commands import call
from tests.support.files.pair_files import write

pytestmark = pytest.mark.slow
TASKS = {"minilm_mrpc": "paraphrase", "minilm_qqp": "paraphrase", "minilm_sst2": "sentiment"}
COUNTS = {"dev": 6, "test": 8, "pool": 8}
OPTIONS = ("--original-dev", "--original-test", "--pool")
SMALL = "--sizes 6 --seeds 0 --tests 2 --epochs 1 --in-process"


def test_a_small_repair_runs_on_the_task_of_the_model(home: Path) -> None:
    def runs(command: str, model: str) -> None:
        task, words = task_named(TASKS[model]), SMALL.split()
        words += ["--transforms", "sort,drop"] if command == "transfer" else []
        for (split, n), option in zip(COUNTS.items(), OPTIONS, strict=True):
            examples = bundled_examples(task, split)[:n]
            rows = [{**task.texts(each), "label": each.gold} for each in examples]
            words += [option, str(write(home / f"{split}.jsonl", rows))]
        result = call(command, "--model", model, "--out", home / "out", *words)
        assert result.exit_code == 0, result.output
        summary = json.loads((home / "out" / "summary.json").read_text())
        assert summary["plan"]["task"] == task.name
        assert summary["artefacts"]["sets"]["test"]["n"] == COUNTS["test"]
        key = "columns" if command == "transfer" else "per_transform"
        found = summary[key].get("baseline", summary[key]) if key != "columns" else summary[key]
        assert {"sort", "drop"} <= {*found} <= {*salad_names(task)}

    commands = ("calibrate", "mitigate", "transfer")
    assert failures(runs, product(commands, TASKS)) == {}
