"""`python -m benchmarks.anew`: trainings from an encoder or from word vectors, side by side.

    python -m benchmarks.anew shuffled --train TRAIN --test DEV --model da --model esim \
        --model ENCODER --pairs 20000 --seeds 0,1,2 --out var/anew

`shuffled` is table 11 of Gupta et al. 2021, trained on whole texts and on the same ones shuffled;
`calibrated` is the trained part of tables 8 and 9, each loss on the same data as plain cross
entropy. In `--out` each training goes on where it was broken off, and table.md has what is done.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Literal

import torch
import typer
from pydantic import TypeAdapter
from transformers import AutoConfig

from finetune.report.tables import (
    FAMILIES,
    MarkdownTable,
    in_percent,
    staying,
    with_interval,
    written,
)
from finetune.training.data import read_pairs
from finetune.training.encoder import TrainingOptions, train
from finetune.training.recipes import PLAIN, WORD_MODELS
from finetune.training.word_models import train as train_words
from finetune.training.word_models import untrained
from finetune.trials.base import BASE, Training, numbers
from finetune.trials.calibration import Plan, Point
from finetune.trials.datasets import SourceData, drawn
from finetune.trials.trial import Repair, calibrate
from probe.errors import TrainingError, write_whole
from probe.models.checkpoint import start_from_encoder
from probe.models.classifier import Classifier, resolve
from probe.models.library import locate
from probe.published import published
from probe.statistics import mean_error, mean_share
from probe.tasks.task import Example, Task, task_named

What = Literal["shuffled", "calibrated"]
PLAINLY: Mapping[str, str] = {}
VARIANTS: Mapping[What, Mapping[str, Mapping[str, str]]] = {
    "shuffled": {"whole": PLAINLY, "shuffled": {"transform": "shuffle"}},
    "calibrated": {PLAIN: PLAINLY, "smoothing": {"loss": "smoothing"}, "focal": {"loss": "focal"}},
}
"""What is trained side by side, and by which options a training differs from the plain one."""
PUBLISHED: Mapping[What, tuple[str, Mapping[str, str]]] = {
    "shuffled": ("salad_only", {"whole": "clean", "shuffled": "salad"}),
    "calibrated": ("calibration", {PLAIN: "baseline"}),
}
"""The published table, and what it calls a variant that it calls otherwise."""


@dataclass(frozen=True)
class Asked:
    """What is trained, on how many examples, and what it is measured on."""

    source: SourceData
    pairs: int
    epochs: int
    minutes: float
    tests: int
    out: Path

    def model(self, name: str, how: Mapping[str, str], seed: int, folder: Path) -> Classifier:
        """Train a model, print each row and return it. Raises UserError."""
        examples, task = drawn(self.source.pool, seed, self.pairs), self.source.task
        rows: Iterator[Any]  # Any: of a training of either kind
        if name in WORD_MODELS:
            preset = WORD_MODELS[name].presets["allennlp"]
            preset = replace(preset, epochs=self.epochs, **how)
            begun: Any = untrained(name, "allennlp", seed=seed)
            rows = train_words(begun, preset, examples, folder, seed, self.minutes, tell=typer.echo)
        else:
            encoder = str(locate(name)[0])
            if task.read_order(list(AutoConfig.from_pretrained(encoder).id2label.values())):
                raise TrainingError(f"{name} has learnt {task.title} already; name a bare encoder")
            begun = start_from_encoder(encoder, task)
            options = TrainingOptions(
                epochs=self.epochs, seed=seed, precision=resolve("auto"), **how
            )
            rows = train(begun, examples, options, folder, tell=typer.echo)
        for row in rows:
            facts = {key: value for key, value in vars(row).items() if value or value == 0}
            typer.echo(f"  {json.dumps(facts)}")
        return begun  # type: ignore[no-any-return]  # a classifier of either kind

    def measured(self, model: Classifier) -> Point:
        """Return how right and how sure a model is on whole texts, and what it says of broken."""
        plan = Plan(model.name, Training(lr=1e-3, mode="full"), tests=self.tests)
        (point,) = calibrate(Repair(plan, self.source, BASE, model, model))
        assert isinstance(point, Point)  # nothing is trained
        return point


def table(
    what: What, points: Mapping[str, Mapping[str, Sequence[Point]]], says: str, task: Task
) -> MarkdownTable:
    """Return a row for each model and variant: means over the seeds, beside the paper's."""
    name, called = PUBLISHED[what]
    paper, rows = published(name, task.name), []
    for model, variants in points.items():
        for variant, own in variants.items():
            measured = [point.calibration for point in own]
            n, error = measured[0].n, mean_error(measured)
            right = [each.accuracy for each in measured]
            row = called.get(variant, variant)
            rows.append(
                [
                    f"`{model}`",
                    variant,
                    str(len(own)),
                    f"{n:,}",
                    with_interval(mean_share(right, n)),
                    f"{in_percent(min(right))} to {in_percent(max(right))}",
                    in_percent(fmean(each.confidence for each in measured)),
                    f"{with_interval(error.found)}, by chance {in_percent(error.chance.value)}",
                    *(with_interval(staying(own, family)) for family in FAMILIES),
                    *(in_percent(paper.value(row, each)) for each in paper.columns if paper),
                ]
            )
    heads = (
        *("model", "trained on" if what == "shuffled" else "loss", "seeds", "n", "accuracy"),
        *("by seed", "confidence", "error"),
        *(f"agreement: {title}" for title in FAMILIES.values()),
        *(f"paper: {each}" for each in (paper.columns if paper else ())),
    )
    return MarkdownTable(says, heads, rows, {})


def main(
    what: Annotated[What, typer.Argument(help="shuffled or calibrated.")],
    train: Annotated[list[Path], typer.Option(help="Labelled, of any form.")],
    test: Annotated[Path, typer.Option(help="What each is measured on, whole and broken.")],
    model: Annotated[list[str], typer.Option(help="da, esim, esim_char or an encoder's folder.")],
    out: Annotated[Path, typer.Option(help="Folder for models, points and the table.")],
    pairs: Annotated[int, typer.Option(help="Examples of each training, drawn by its seed.")],
    seeds: Annotated[str, typer.Option(help="A training each.")] = "0",
    epochs: Annotated[int, typer.Option(help="Of each training; the paper's are 3.")] = 3,
    minutes: Annotated[float, typer.Option(help="No epoch of a word model ends later.")] = 600.0,
    tests: Annotated[int, typer.Option(help="Test examples that are broken; 0 for none.")] = 200,
    task: Annotated[str, typer.Option(help="What the models are to answer.")] = "nli",
    threads: Annotated[int, typer.Option(help="Torch threads.")] = 1,
) -> None:
    """Train each model in each way, measure it, and write what is done after each."""
    torch.set_num_threads(threads)
    asked_task = task_named(task)
    tested = read_pairs(test, asked_task)
    known = {asked_task.texts(each).__repr__() for each in tested}
    pool: list[Example] = [
        each
        for file in train
        for each in read_pairs(file, asked_task)
        if repr(asked_task.texts(each)) not in known
    ]
    if len(pool) < pairs:
        raise TrainingError(f"there are {len(pool):,} examples to train on, not {pairs:,}")
    asked = Asked(
        SourceData((), tested, tuple(pool), asked_task), pairs, epochs, minutes, tests, out
    )
    every: dict[str, dict[str, list[Point]]] = {}
    adapter = TypeAdapter(Point)
    for name in model:
        for seed in numbers("--seeds", seeds, int):
            for variant, how in VARIANTS[what].items():
                short = Path(name).name
                folder = out / f"{short}-{variant}-{pairs}-{epochs}-seed{seed}"
                kept = folder / f"measured-{test.name.split('.')[0]}-{tests}.json"
                typer.echo(folder.name)
                if not kept.exists():
                    point = asked.measured(asked.model(name, how, seed, folder))
                    write_whole(kept, json.dumps(asdict(point)).encode())
                point = adapter.validate_json(kept.read_bytes())
                every.setdefault(short, {}).setdefault(variant, []).append(point)
                says = f"{pairs:,} examples, at most {epochs} epochs"
                made = table(what, every, says, asked_task)
                write_whole(out / f"{what}.md", f"{says}.\n\n{written(made)}".encode())
    typer.echo((out / f"{what}.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    typer.run(main)
