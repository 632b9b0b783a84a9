"""A bag of words over both sides, as a baseline for the papers' models with attention.

    python -m benchmarks.bag_of_words --train TRAIN.jsonl.gz --test FILE [--test FILE ...]

Logistic regression over the words of the premise, those of the hypothesis, and those of both.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from probe.baselines import bag_of_words
from probe.data.reading import stream_examples
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI, Pair


def words(pair: Pair) -> list[str]:
    """Mark each word by the side it is on, and once more where it is on both."""
    premise, hypothesis = bag_of_words(pair.premise), bag_of_words(pair.hypothesis)
    sides = (("p", premise), ("h", hypothesis), ("b", premise & hypothesis))
    return [f"{side}:{word}" for side, words_of_side in sides for word in sorted(words_of_side)]


def main(
    train: Annotated[list[Path], typer.Option(help="JSON lines, maybe gzipped.")],
    test: Annotated[list[Path], typer.Option(help="Likewise.")] = [],  # noqa: B006
    min_pairs: Annotated[int, typer.Option("--least", help="Pairs that a word must occur in.")] = 5,
    inverse_regularisation: Annotated[
        float, typer.Option("--strength", help="scikit-learn's C.")
    ] = 0.03,
) -> None:
    """Train, then print the accuracy on each file and on the bundled pairs."""
    train_pairs = [pair for file in train for pair in stream_examples(file, NLI)]
    model = make_pipeline(
        CountVectorizer(analyzer=words, min_df=min_pairs, binary=True),
        LogisticRegression(C=inverse_regularisation, max_iter=300),
    ).fit(train_pairs, [pair.gold for pair in train_pairs])
    for name, pairs in _test_sets(test):
        accuracy = float(model.score(pairs, [pair.gold for pair in pairs]))
        typer.echo(f"{name:40} n {len(pairs):6}  {100 * accuracy:.1f} %")


def _test_sets(files: Iterable[Path]) -> Iterable[tuple[str, list[Pair]]]:
    for file in files:
        yield file.name, list(stream_examples(file, NLI))
    yield "bundled pairs", list(bundled_examples(NLI))


if __name__ == "__main__":
    typer.run(main)
