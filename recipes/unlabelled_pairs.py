"""`python -m recipes.unlabelled_pairs make FILE...`: pairs that a student learns from its teachers.

`python -m finetune train --teacher ... --unlabelled ...` takes them. They are made from labelled
ones: premises with the hypotheses of their neighbours, synonyms, and halves. The stress tests keep
meaning too, and make none: a student that knew their suffixes and typos would be inoculated.
"""

import gzip
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from sklearn.feature_extraction.text import TfidfVectorizer

from probe.cli.file_options import labelled_and_told, takes_file
from probe.cli.group import group
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.errors import writing
from probe.tasks.nli import NLI, Pair
from probe.transforms.apply import apply
from probe.transforms.options import Options

app = group()
SYNONYMS = ("hnounsyn", "hverbsyn", "hadjsyn", "hadvsyn")
"""Transforms that keep the meaning of a hypothesis."""
NEAREST = 6  # neighbours of a premise, the nearest first
COMMON = 400  # premises; a word of more does not make two of them alike
TOGETHER = 500  # rows of a product, or pairs of a transform
FEWEST_WORDS = 4  # of a text that is cut in half


def neighbours(pairs: Sequence[Pair], rng: random.Random) -> Iterator[Pair]:
    """Yield each premise with a hypothesis of the nearest other, then of the second nearest...

    Premises are near whose rarer words are the same, by the cosine of their TF-IDF.
    """
    hypotheses: dict[str, list[str]] = {}
    for pair in pairs:
        hypotheses.setdefault(pair.premise, []).append(pair.hypothesis)
    premises = list(hypotheses)
    words = TfidfVectorizer(max_df=COMMON).fit_transform(premises).tocsr()  # rows of length 1
    near: list[list[int]] = []
    for start in range(0, len(premises), TOGETHER):
        for own, alike in enumerate((words[start : start + TOGETHER] @ words.T).tocsr(), start):
            order = np.lexsort((alike.indices, -alike.data.round(6)))
            others = alike.indices[order[: NEAREST + 1]].tolist()
            near.append([other for other in others if other != own][:NEAREST])
    for rank in range(NEAREST):
        for premise, others in zip(premises, near, strict=True):
            if rank < len(others):
                yield Pair(premise, rng.choice(hypotheses[premises[others[rank]]]))


def synonyms(pairs: Sequence[Pair], rng: random.Random) -> Iterator[Pair]:
    """Yield pairs whose hypothesis has other nouns, verbs, adjectives or adverbs of its meaning."""
    seed = rng.randrange(2**32)
    for name in SYNONYMS:
        for start in range(0, len(pairs), TOGETHER):
            some = pairs[start : start + TOGETHER]
            for results in apply(name, some, NLI, seed, Options(), lambda unread: []):
                yield from (result.example for result in results if result.changed)


def halves(pairs: Sequence[Pair], rng: random.Random) -> Iterator[Pair]:
    """Yield pairs with the first or the second half of the words of one text, then of the other."""
    for field in ("premise", "hypothesis"):
        for pair in pairs:
            words = getattr(pair, field).split()
            if len(words) >= FEWEST_WORDS:
                middle = len(words) // 2
                half = rng.choice((words[:middle], words[middle:]))
                yield replace(pair, **{field: " ".join(half)})


Maker = Callable[[Sequence[Pair], random.Random], Iterator[Pair]]
SHARES: Mapping[Maker, float] = {neighbours: 0.5, synonyms: 0.2, halves: 0.3}
"""What makes pairs, and how large a part of all is to be made by it."""


def unlabelled(pairs: Sequence[Pair], count: int, seed: int) -> dict[str, list[Pair]]:
    """Make so many pairs, fewer where a way ends before; by the name of what makes them.

    No pair is among the given ones or made twice.
    """
    order = [replace(pair, gold=None, id=str(number)) for number, pair in enumerate(pairs)]
    random.Random(seed).shuffle(order)
    known = {(pair.premise, pair.hypothesis) for pair in order}
    made: dict[str, list[Pair]] = {}
    for maker, share in SHARES.items():
        kept = made[maker.__name__] = list[Pair]()
        for pair in maker(order, random.Random(f"{seed}|{maker.__name__}")):
            if len(kept) >= share * count:
                break
            if (texts := (pair.premise, pair.hypothesis)) not in known:
                known.add(texts)
                kept.append(pair)
    return made


@app.callback()
def main() -> None:
    """Make pairs without a label of labelled ones."""


@app.command("make")
@takes_file(texts=False)
def make_command(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Labelled pairs.")],
    out: Annotated[Path, typer.Option(help="JSON lines, gzipped.")],
    count: Annotated[int, typer.Option(min=1, help="Pairs to make.")] = 200_000,
    seed: Annotated[int, typer.Option(min=0, help="Of all chance.")] = 0,
    reading: FileOptions = AS_THE_FILE_TELLS,
) -> None:
    """Make pairs and write them in random order; the same files and seed give the same bytes."""
    pairs = [pair for file in files for pair in labelled_and_told(file, NLI, reading).examples]
    made = unlabelled(pairs, count, seed)
    rows = [
        json.dumps({"premise": pair.premise, "hypothesis": pair.hypothesis, "source": name})
        for name, some in made.items()
        for pair in some
    ]
    random.Random(seed).shuffle(rows)
    with writing(out):
        out.write_bytes(gzip.compress("".join(f"{row}\n" for row in rows).encode(), mtime=0))
    counted = ", ".join(f"{len(some):,} {name}" for name, some in made.items())
    typer.echo(f"{counted}, written to {out}")


if __name__ == "__main__":
    app()
