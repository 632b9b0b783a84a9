"""`python -m benchmarks.repairs`: compute the repairs and generalisations that the gallery lacks.

Those that are missing, or were made with other weights than those that are shipped, are computed
with the options below where the texts are bundled; the others have commands of their own, which
benchmarks/results/repairs.toml names. `--list` says what that is and how long it takes. It may be
stopped at any time: what is computed is kept, and taken over by the next call. `python -m
benchmarks.tables` then writes the tables.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import torch
import typer

from benchmarks.page.app_process import ROOT
from finetune.trials.generalisation import KIND as GENERALISATION
from finetune.trials.generalisation import PUBLISHED_SIZES
from finetune.trials.planning import Choices, Planned, planned, register_experiments
from probe.runs.gallery import FOLDER, read
from probe.runs.models import hash_if_there
from probe.tasks.nli import NLI

VERB = "generalise"
KINDS = {"calibrate": "calibration", "mitigate": "mitigation", "transfer": "transfer"}
MODELS = {
    "calibrate": ("minilm", "esim"),
    "mitigate": ("minilm", "esim"),
    "transfer": ("minilm", "esim"),
}
SETTINGS: Mapping[str, tuple[str, ...]] = {
    "calibrate": ("--mode", "full", "--seeds", "0"),
    "mitigate": ("--mode", "full", "--seeds", "0"),
    "transfer": ("--seeds", "0"),
}
"""What each is run with besides its defaults; transfer trains once for each change, so quickly."""
PUBLISHED = ("--mode", "full", "--seeds", "0,1,2,3,4")
"""Of each generalisation, as Rozen et al. train and repeat."""
VARIED = {"dative": ("complexity", "lexical"), "numerical": ("complexity", "lexical", "range")}
"""What varies in the templates of each skill, on which each of these models is trained."""
GENERALISED = ("da", "esim", "minilm")


@dataclass(frozen=True)
class GalleryRun:
    """A run of the gallery: the name of its file, its model, the words of its command."""

    name: str
    model: str
    words: tuple[str, ...]


RUNS = (
    *(
        GalleryRun(
            f"{model}-{KINDS[command]}", model, (command, "--model", model, *SETTINGS[command])
        )
        for command, models in MODELS.items()
        for model in models
    ),
    *(
        GalleryRun(
            f"{model}-{skill}-{vary}",
            model,
            (
                *("generalise", "--model", model, "--phenomenon", skill, "--vary", vary),
                *("--sizes", PUBLISHED_SIZES[skill], *PUBLISHED),
            ),
        )
        for model in GENERALISED  # the quickest first
        for skill, varied in VARIED.items()
        for vary in varied
    ),
)


def missing(gallery: Path, models: Sequence[str] = ()) -> list[GalleryRun]:
    """Return the runs that are to be computed, of some models or of all."""
    return [
        each
        for each in RUNS
        if each.model in (models or [each.model]) and not _there(gallery, each)
    ]


def _there(gallery: Path, wanted: GalleryRun) -> bool:
    """Whether a run lies there, of the weights that are shipped, as large as it is wanted."""
    path = gallery / f"{wanted.name}.json"
    if not path.is_file():
        return False
    run = read(path)
    if hash_if_there(run.plan["model"]) != run.artefacts["model"]:
        return False
    if wanted.words[0] != VERB:
        return True
    held, plan = run.plan, wanted_plan(wanted).plan
    return all(held[name] == list(getattr(plan, name)) for name in ("rows", "sizes", "seeds")) and (
        held["mode"] == plan.mode
    )


def wanted_plan(wanted: GalleryRun) -> Planned:
    """Return the plan of a run, and what it works on."""
    command, words = wanted.words[0], wanted.words[1:]
    options = [word.removeprefix("--") for word in words[::2]]
    values = dict(zip(options, words[1::2], strict=True))
    kind = GENERALISATION if command == VERB else KINDS[command]
    return planned(Choices(kind, NLI, values))


def hours(wanted: GalleryRun) -> float:
    """Return about how long a run takes on one core, without what is known of it already."""
    return wanted_plan(wanted).seconds() / 3600


def compute(wanted: Iterable[GalleryRun], gallery: Path) -> None:
    """Compute runs one after the other; what each prints goes to the error stream."""
    for each in wanted:
        with tempfile.TemporaryDirectory() as out:
            words = (*each.words, "--out", out, "--gallery", str(gallery))
            print(f"$ python -m finetune {' '.join(words)}", file=sys.stderr, flush=True)
            subprocess.run(
                [sys.executable, "-m", "finetune", *words], cwd=ROOT, check=True, stdout=sys.stderr
            )


def main(
    gallery: Annotated[Path, typer.Option(help="The finished runs.")] = FOLDER,
    model: Annotated[list[str], typer.Option(help="Only of these; may be repeated.")] = [],  # noqa: B006
    list_only: Annotated[bool, typer.Option("--list", help="Say what is missing.")] = False,
) -> None:
    """Compute what is missing, smaller than it is wanted or made with older weights."""
    register_experiments()
    torch.set_num_threads(1)  # as the commands, whose work is timed
    wanted = missing(gallery, model)
    if not list_only:
        compute(wanted, gallery)
        return
    takes = list[float]()
    for each in wanted:
        takes.append(hours(each))
        print(f"{takes[-1]:8.1f} h  python -m finetune {' '.join(each.words)}", flush=True)
    print(f"{sum(takes):8.1f} h  {len(wanted)} runs on one core")


if __name__ == "__main__":
    typer.run(main)
