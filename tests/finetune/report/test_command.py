"""The printed command means the run it is printed for, to the command line's own parser."""

import shlex
from dataclasses import replace
from typing import Any

import pytest
from typer.main import get_command

from finetune.cli.main import app
from finetune.experiments.inoculation.plan import Plan, Thresholds
from finetune.report.command import command
from probe.runs.gallery import OWNER
from probe.runs.run import Run
from tests.support.points import make_point, make_run

RUN = make_run([make_point(80, 60)])
CHANGED = Plan(
    "my model", "negation+spelling", (5, 50), (1e-5, 2e-5), (0, 3), mode="fast", batch=16,
    max_epochs=3, patience=2, include_epoch0=True, thresholds=Thresholds(gap=0.01, tests=50),
)  # fmt: skip


def parsed(run: Run, verb: str = "inoculate") -> dict[str, Any]:
    """What the command line reads in the command. Any: an option holds what its type is."""
    words = shlex.split(command(run))
    assert words[:4] == ["python", "-m", "finetune", verb]
    read: dict[str, Any] = get_command(app).commands[verb].make_context(verb, words[4:]).params  # type: ignore[attr-defined]  # a group's
    return read


@pytest.mark.parametrize("plan", [RUN.plan, CHANGED])
def test_the_parser_reads_the_plan_back(plan: Plan) -> None:
    read, limits = parsed(replace(RUN, plan=plan)), plan.thresholds
    assert read["sizes"] == ",".join(map(str, plan.sizes))
    assert tuple(float(one) for one in read["lrs"].split(",")) == plan.lrs
    assert tuple(int(one) for one in read["seeds"].split(",")) == plan.seeds
    for name in ("model", "challenge", "mode", "batch", "max_epochs", "patience", "precision"):
        assert read[name] == getattr(plan, name), name
    assert read["include_epoch0"] == plan.include_epoch0
    said = [read[name] for name in ("min_gap", "max_drop", "cured", "uncured", "max_majority")]
    assert said == [limits.gap, limits.drop, limits.cured, limits.uncured, limits.majority]
    assert (read["max_damage"], read["min_tests"]) == (limits.damage, limits.tests)


def test_ones_own_files_stand_at_their_options() -> None:
    sources = {"original-dev": "dev.csv", "challenge-file": "my file.csv", "train": "200"}
    read = parsed(replace(RUN, artefacts={"sources": sources}))
    assert str(read["original_dev"]) == "dev.csv"
    assert (str(read["challenge_file"]), read["train"]) == ("my file.csv", 200)


def test_a_run_of_the_gallery_is_repeated_by_the_gallerys_command() -> None:
    sources = {"original": "mnli.jsonl.gz", "pool": "train.jsonl.gz"}
    run = replace(RUN, owner=OWNER, artefacts={"sources": sources})
    read = parsed(run, "gallery")
    assert (read["model"], read["challenge"]) == (["minilm"], ["negation"])
    assert str(read["pool"]) == "train.jsonl.gz"
