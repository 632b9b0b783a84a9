"""`python -m probe pbsmt`: train the translators, and see how often they copy."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from probe.cli.file_options import labelled_and_told, takes_file
from probe.cli.group import group
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.errors import FileError
from probe.pbsmt.train import Pruning, TrainingSettings, train
from probe.pbsmt.translate import FOLDER, DecoderWeights, load, missing
from probe.tasks.nli import NLI
from probe.tasks.task import Example, Label, Task, task_named
from probe.text.words import join, tokenise
from probe.transforms.options import Options

app = group()
TaskOption = Annotated[str, typer.Option("--task", help="The task of the file.")]
Pairs = dict[Label, list[tuple[str, str]]]
DEFAULT, CHOSEN = TrainingSettings(), Options()


def pairs_of(path: Path, task: Task, reading: FileOptions = AS_THE_FILE_TELLS) -> Pairs:
    """Read the texts to translate and their translations by label, premises and hypotheses in NLI.

    Where a task has one text its two halves are such a pair. Rows without a label are left out.
    Raises FileError.
    """
    pairs: Pairs = {label: [] for label in task.translated}
    for example in labelled_and_told(path, task, reading).examples:
        if example.gold in pairs:
            pairs[example.gold].append(_source_and_target(task, example))
    return pairs


def _source_and_target(task: Task, example: Example) -> tuple[str, str]:
    target = str(getattr(example, task.target))
    if task.source:
        return str(getattr(example, task.source)), target
    words = tokenise(target)
    return join(words[: len(words) // 2]), join(words[len(words) // 2 :])


@app.callback()
def main() -> None:
    """Phrase-based translators: train them, count what they copy."""


@app.command("train")
@takes_file(texts=False)
def train_command(
    file: Annotated[Path, typer.Argument(help="Examples with labels.")],
    task: TaskOption = NLI.name,
    out: Annotated[Path, typer.Option(help="Where the tables go.")] = FOLDER,
    links: Annotated[Path, typer.Option(help="Where eflomal's links are or go.")] = Path(
        "build/links"
    ),
    max_phrase: Annotated[
        int, typer.Option(min=1, help="Words of a phrase.")
    ] = DEFAULT.max_phrase_words,
    order: Annotated[int, typer.Option(min=2, max=6, help="Words of an n-gram.")] = DEFAULT.order,
    least: Annotated[int, typer.Option(min=1, help="Times a pair is seen.")] = Pruning.min_count,
    options: Annotated[int, typer.Option(min=1, help="Targets of a source.")] = Pruning.max_options,
    lmplz: Annotated[str, typer.Option(help="KenLM's estimator.")] = DEFAULT.lmplz,
    reading: FileOptions = AS_THE_FILE_TELLS,
) -> None:
    """Train a translator for each label.

    Needs eflomal and KenLM's lmplz. eflomal cannot be seeded; from the same links come the same
    tables.
    """
    settings = TrainingSettings(max_phrase, order, pruning=Pruning(least, options), lmplz=lmplz)
    for label, pairs in pairs_of(file, task_named(task), reading).items():
        counts = train(label, pairs, out, links / label, settings)
        typer.echo(
            f"{label}: {counts.pairs} pairs, {counts.links} links, {counts.phrase_pairs} phrase "
            f"pairs; kept {counts.translations} translations of {counts.sources} phrases, n-grams "
            f"{counts.ngrams}"
        )


@app.command("copies")
@takes_file(texts=False)
def copies_command(
    file: Annotated[Path, typer.Argument(help="Examples with labels.")],
    task: TaskOption = NLI.name,
    most: Annotated[int, typer.Option(min=1, help="Pairs of a label.")] = 500,
    lm_weight: Annotated[float, typer.Option(min=0)] = CHOSEN.lm_weight,
    distortion_weight: Annotated[float, typer.Option(min=0)] = CHOSEN.distortion_weight,
    distortion_limit: Annotated[int, typer.Option(min=0)] = CHOSEN.distortion_limit,
    tables: Annotated[Path, typer.Option(help="Where the tables are.")] = FOLDER,
    reading: FileOptions = AS_THE_FILE_TELLS,
) -> None:
    """Print the share of texts that their label's system translates into themselves."""
    weights = DecoderWeights(lm_weight, distortion_weight, distortion_limit)
    copies: list[bool] = []
    asked = task_named(task)
    if lacking := missing(tuple(asked.translated), tables):
        raise FileError(lacking.rstrip("."))
    for label, pairs in pairs_of(file, asked, reading).items():
        system = load(label, tables)
        texts = [words for premise, _ in pairs[:most] if (words := tokenise(premise.lower()))]
        copied = [system.translate(words, weights) == words for words in texts]
        copies += copied
        typer.echo(f"{label}: {_share(copied)}")
    typer.echo(f"all: {_share(copies)}")


def _share(copies: Sequence[bool]) -> str:
    return f"{sum(copies)} of {len(copies)} copied, {sum(copies) / max(len(copies), 1):.1%}"
