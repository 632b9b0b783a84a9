"""`python -m benchmarks.repairs`: compute the repairs and generalisations that the gallery lacks.

Those that are missing, or were made with other weights than those that are shipped, are computed
with the options below where the texts are bundled; the others have commands of their own, which
benchmarks/results/repairs.toml names. `python -m benchmarks.tables` then writes the tables.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.page.app_process import ROOT
from finetune.trials.planning import register_experiments
from probe.runs.gallery import FOLDER, read
from probe.runs.models import hash_if_there

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
REPEATS = ("--seeds", "0,1")
SIZES = {
    "complexity": ("--sizes", "50,200,1000", *REPEATS),
    "lexical": ("--sizes", "50,200,1000,4000", *REPEATS),
    "range": ("--sizes", "50,200,1000,4000", *REPEATS),
}
"""What each generalisation is run with, by what varies."""
VARIED = {
    ("minilm", "dative"): ("complexity", "lexical"),
    ("minilm", "numerical"): ("complexity", "lexical", "range"),
    ("esim", "numerical"): ("complexity",),
}
"""What varies in the templates that each model is trained on."""


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
                *("generalise", "--model", model, "--phenomenon", skill),
                *("--vary", vary, *SIZES[vary]),
            ),
        )
        for (model, skill), varied in VARIED.items()
        for vary in varied
    ),
)


def missing(gallery: Path) -> list[GalleryRun]:
    """Return the runs that are to be computed."""
    return [each for each in RUNS if not _there(gallery / f"{each.name}.json")]


def _there(path: Path) -> bool:
    if not path.is_file():
        return False
    run = read(path)
    return hash_if_there(run.plan["model"]) == run.artefacts["model"]


def compute(wanted: Iterable[GalleryRun], gallery: Path) -> None:
    """Compute runs one after the other; what each prints goes to the error stream."""
    for each in wanted:
        with tempfile.TemporaryDirectory() as out:
            words = (*each.words, "--out", out, "--gallery", str(gallery))
            print(f"$ python -m finetune {' '.join(words)}", file=sys.stderr, flush=True)
            subprocess.run(
                [sys.executable, "-m", "finetune", *words], cwd=ROOT, check=True, stdout=sys.stderr
            )


def main(gallery: Annotated[Path, typer.Option(help="The finished runs.")] = FOLDER) -> None:
    """Compute what is missing or made with older weights."""
    register_experiments()
    compute(missing(gallery), gallery)


if __name__ == "__main__":
    typer.run(main)
