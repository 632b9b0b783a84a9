"""The printed command means the run it is printed for, to the command line's own parser."""

import shlex
from dataclasses import asdict, replace
from typing import Any

from typer.main import get_command

from finetune.cli.main import app
from finetune.report.command_line import command
from finetune.trials import calibration, debiasing, generalisation, mitigation, transfer
from finetune.trials.base import Training
from finetune.trials.inoculation import Plan, Thresholds
from probe.runs.gallery import OWNER
from tests.support.runs.points import make_point, make_run

RUN = make_run([make_point(80, 60)])
CHANGED = Plan(
    "my model", "negation+spelling", (5, 50), (1e-5, 2e-5), (0, 3), mode="fast", batch=16,
    max_epochs=3, patience=2, include_epoch0=True, thresholds=Thresholds(gap=0.01, tests=50),
)  # fmt: skip
LIMITS = ["min_gap", "max_drop", "cured", "uncured", "max_majority", "max_damage", "min_tests"]
"""The options of thresholds."""
TRAINING = Training(3e-5, "full", epochs=2, batch=8, precision="fp32")
REPAIRS: list[tuple[str, str, Any]] = [  # Any: each kind has a plan of its own
    ("calibrate", "calibration", calibration.Plan("esim", TRAINING, ("focal",), tests=50)),
    ("calibrate", "calibration", calibration.Plan("minilm", Training(1e-3))),
    (
        "mitigate", "mitigation",
        mitigation.Plan("da", TRAINING, ("entropic",), (100, 200), (3,), balance=False, weight=0.2,
                        gradient_share=0.25, transforms=("sort", "drop")),
    ),
    (
        "debias", "debiasing",
        debiasing.Plan("minilm", TRAINING, ("poe", "plain"), weak="overlap", augment="sort",
                       relabel=False, challenges=("negation", "templates_hans")),
    ),
    (
        "transfer", "transfer",
        transfer.Plan("minilm", TRAINING, ("sort", "pbsmt"), share=0.3, salad_only=False),
    ),
    (
        "generalise", "generalisation",
        generalisation.Plan(
            "minilm", "mine", "file", ("a", "b"), ("a", "b"), (10,), (1e-4,), (0, 2), tests=30,
            thresholds=generalisation.Thresholds(0.05),
        ),
    ),
]  # fmt: skip


def read_back(words: str, verb: str) -> dict[str, Any]:
    """What the command line reads in these words. Any: an option holds what its type is."""
    split = shlex.split(words)
    assert split[:4] == ["python", "-m", "finetune", verb]
    read: dict[str, Any] = get_command(app).commands[verb].make_context(verb, split[4:]).params  # type: ignore[attr-defined]  # a group's
    return read


def wrong(read: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """Return the options that are not read as they were; lists are one text."""
    told = {
        name: ",".join(map(str, value)) if isinstance(value, tuple) else value
        for name, value in wanted.items()
        if name in read and name not in ("task", "labels", "lrs")
    }
    told |= {"lr": str(told["lr"])} if "lr" in told else {}
    return {name: read[name] for name, value in told.items() if read[name] != value}


def test_the_parser_reads_every_plan_back() -> None:
    for plan in (RUN.plan, CHANGED):
        read = read_back(command(replace(RUN, plan=plan)), "inoculate")
        limits = {it: getattr(plan.thresholds, it.split("_")[-1]) for it in LIMITS}
        assert wrong(read, asdict(plan) | limits) == {}
        assert tuple(map(float, read["lrs"].split(","))) == plan.lrs
        assert {"model", "challenge", "sizes", "seeds", "mode", "batch", *LIMITS} <= {*read}
    for verb, kind, plan in REPAIRS:
        read, wanted = read_back(command(replace(RUN, kind=kind, plan=plan)), verb), asdict(plan)
        assert wrong(read, wanted | wanted.get("training", {})) == {}, plan
        if kind == "generalisation":
            assert (read["lrs"], read["max_loss"], read["mode"]) == ("0.0001", 0.05, "fast")


def test_ones_own_files_and_those_of_the_gallery_stand_at_their_options() -> None:
    sources = {"original-dev": "dev.csv", "challenge-file": "my file.csv", "train": "200"}
    read = read_back(command(replace(RUN, artefacts={"sources": sources})), "inoculate")
    assert str(read["original_dev"]) == "dev.csv"
    assert (str(read["challenge_file"]), read["train"]) == ("my file.csv", 200)
    sources = {"original": "mnli.jsonl.gz", "pool": "train.jsonl.gz"}
    run = replace(RUN, owner=OWNER, artefacts={"sources": sources})
    read = read_back(command(run), "gallery")
    assert (read["model"], read["challenge"]) == (["minilm"], ["negation"])
    assert str(read["pool"]) == "train.jsonl.gz"
