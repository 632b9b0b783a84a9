"""`python -m recipes.bag_of_words train TRAIN`: the words and weights of `hypothesis_only`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from sklearn.feature_extraction.text import CountVectorizer

from probe.baselines import WEIGHTS_FILE, BagWeights, bag_of_words, fit_bag
from probe.cli.file_options import labelled_and_told, takes_file
from probe.cli.group import group
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.errors import TrainingError, writing
from probe.tasks.nli import LABELS, NLI, Pair

app = group()
INVERSE_REGULARISATION = 0.03  # C; chosen with `min_count` on a tenth of the training set
DECIMALS = 3  # of weights; more change no accuracy and make the file larger


def train(pairs: Sequence[Pair], min_count: int) -> BagWeights:
    """Fit the words that at least `min_count` hypotheses have.

    Pairs with a label of two classes are left out. Raises TrainingError.
    """
    golden = [(pair, pair.gold) for pair in pairs if pair.gold in LABELS]
    targets = [LABELS.index(gold) for _, gold in golden if gold]
    if set(targets) != set(range(len(LABELS))):
        raise TrainingError("to train, the file needs pairs of all three labels")
    bags = CountVectorizer(analyzer=bag_of_words, binary=True, min_df=min_count)
    try:
        matrix = bags.fit_transform([pair.hypothesis for pair, _ in golden])
    except ValueError as none_left:
        raise TrainingError(
            f"no word is in {min_count} hypotheses; a lower --least keeps rarer words"
        ) from none_left
    model = fit_bag(matrix, np.array(targets), INVERSE_REGULARISATION)
    rows = {word: row for row, word in enumerate(bags.get_feature_names_out().tolist())}
    return BagWeights(rows, model.coef_.T.round(DECIMALS), model.intercept_.round(DECIMALS))


def write(weights: BagWeights, folder: Path) -> Path:
    """Write the weights where `hypothesis_only` reads them, and return the file."""
    table = {
        "words": list(weights.rows),
        "bias": dict(zip(LABELS, weights.bias.tolist(), strict=True)),
        "weights": dict(zip(LABELS, weights.matrix.T.tolist(), strict=True)),
    }
    path = folder / WEIGHTS_FILE
    text = json.dumps(table, ensure_ascii=False, separators=(",", ":"))
    with writing(path):
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    return path


@app.callback()
def main() -> None:
    """Train the baseline of a bag of the hypothesis's words."""


@app.command("train")
@takes_file(texts=False)
def train_command(
    file: Annotated[Path, typer.Argument(metavar="TRAIN", help="Labelled pairs.")],
    out: Annotated[Path, typer.Option(help="Folder for the weights.")],
    least: Annotated[int, typer.Option(min=1, help="Hypotheses a word must be in.")] = 20,
    reading: FileOptions = AS_THE_FILE_TELLS,
) -> None:
    """Train hypothesis_only and write its weights."""
    weights = train(labelled_and_told(file, NLI, reading).examples, least)
    path = write(weights, out)
    typer.echo(f"{len(weights.rows):,} words, {path.stat().st_size:,} bytes, written to {path}")


if __name__ == "__main__":
    app()
