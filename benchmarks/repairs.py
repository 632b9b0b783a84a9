"""Repairs and generalisations beside the papers', as Markdown for BENCHMARKS.md.

    python -m benchmarks.repairs [--no-compute] [--gallery FOLDER]

Runs of the gallery that are missing, or were made with other weights than those that are shipped,
are computed first, with the options below, where the texts are bundled; the others have commands of
their own, which the section names before this one. Then every table is printed with the line that
names its weights. A table of a run that was not computed anew says that its weights are older ones.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill, indent, wrap
from typing import Annotated

import typer

from benchmarks.figures import OLDER, current
from benchmarks.page.app_process import ROOT
from finetune.report.generalisation import (
    generalisation_tables,
)
from finetune.report.repairs import (
    MarkdownTable,
    repair_tables,
    written,
)
from finetune.trials.registry import register_experiments
from probe.runs.gallery import FOLDER, gallery_runs, read
from probe.runs.models import hash_if_there
from probe.runs.run import StoredRun

WIDTH = 100
COMMAND = "python -m benchmarks.repairs"
KINDS = {"calibrate": "calibration", "mitigate": "mitigation", "transfer": "transfer"}
MODELS = {
    "calibrate": ("minilm", "esim"),
    "mitigate": ("minilm", "esim"),
    "transfer": ("minilm", "esim"),
}
TEXTS = {
    "minilm_qqp": "--original qqp_dev_1500.jsonl --pool qqp_train_2000.jsonl",
    "minilm_sst2": "--original sst2_dev.jsonl.gz --pool sst2_train_2000.jsonl",
    "minilm_mrpc": "--original-dev mrpc_choice.jsonl.gz --original-test mrpc_report.jsonl.gz "
    "--pool mrpc_rest.jsonl.gz",
}
"""The texts of models that are mended and taught with files that are not in the project."""
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


INTERVALS = (
    "In brackets 95 % intervals, of as many examples as one repeat is tested on: repeats see the "
    "same ones, and the broken forms of an example are not independent."
)
OWN_COMMANDS = tuple(
    f"python -m finetune {command} --model {model} {' '.join(SETTINGS[command])} {texts} "
    f"--gallery assets/gallery --out {KINDS[command]}/{model}"
    for model, texts in TEXTS.items()
    for command in ("mitigate", "transfer")
)
SECTIONS: Mapping[
    str, tuple[Callable[[Iterable[StoredRun]], Iterator[MarkdownTable]], tuple[str, ...], str]
] = {
    "Repairs beside Gupta et al. (2021)": (
        repair_tables,
        (*OWN_COMMANDS, COMMAND),
        "Theirs is RoBERTa-base, fine-tuned as a whole on whole training sets. "
        f"{INTERVALS} That of a calibration error is a bootstrap over its bins.",
    ),
    "Learn or memorise beside Rozen et al. (2019)": (
        generalisation_tables,
        (COMMAND,),
        "Theirs is BERT-base. In brackets Wilson's 95 % intervals over the examples of all "
        "repeats, which draw templates and examples anew.",
    ),
}
"""What makes each section's tables, its commands, and what is said before the tables."""


def sections(runs: Sequence[StoredRun]) -> Iterator[str]:
    """Yield the sections that there are runs for, each with the commands that make it."""
    for title, (make, commands, words) in SECTIONS.items():
        if parts := [_part(table) for table in make(runs)]:
            block = "\n".join(map(_indented, commands))
            yield "\n\n".join([f"## {title}", block, fill(words, WIDTH), *parts])


def _indented(command: str) -> str:
    kept = re.sub(r"(--\S+) ", "\\1\N{NO-BREAK SPACE}", command)  # an option and its value
    lines = wrap(kept, WIDTH - 6, subsequent_indent=" " * 4, break_on_hyphens=False)
    return indent(" \\\n".join(lines).replace("\N{NO-BREAK SPACE}", " "), " " * 4)


def _part(table: MarkdownTable) -> str:
    return f"{fill(table.says, WIDTH)}\n\n{written(table)}\n{weights_line(table.models)}"


def weights_line(models: Mapping[str, str]) -> str:
    """Return the line below a table of models with these hashes."""
    named = [f"{model} {current(model)}" for model in models if current(model)]
    older = not all(hash_if_there(model) == digest for model, digest in models.items())
    return " ".join([f"Weights: {', '.join(named) or 'none'}", *([OLDER] if older else [])])


def main(
    gallery: Annotated[Path, typer.Option(help="The finished runs.")] = FOLDER,
    anew: Annotated[
        bool, typer.Option("--compute/--no-compute", help="Compute what is missing or older.")
    ] = True,
) -> None:
    """Compute what is missing or made with older weights, then print the sections."""
    register_experiments()
    if anew:
        compute(missing(gallery), gallery)
    gallery_runs.cache_clear()
    print("\n\n".join(sections(gallery_runs(gallery))))


if __name__ == "__main__":
    typer.run(main)
