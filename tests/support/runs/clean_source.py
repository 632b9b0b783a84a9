"""Clean examples for experiments on word salad, and a plan's training of a second."""

from dataclasses import replace
from pathlib import Path

from finetune.trials.base import Training
from finetune.trials.datasets import SourceData
from tests.support.files.pair_files import row, write
from tests.support.models.tiny_bert import tiny_pairs

TRAINING = Training(1e-3, epochs=2, batch=8, precision="fp32")


def clean_source() -> SourceData:
    """Return 12 dev, 12 test and 24 pairs to train on."""
    pairs = tiny_pairs(48)
    pool = tuple(replace(pair, premise=f"Today {pair.premise}") for pair in pairs[24:])
    return SourceData(pairs[:12], pairs[12:24], pool)


def write_clean(source: SourceData, folder: Path) -> list[str]:
    """Write the examples as files and return the options that name them."""
    options = []
    for name, pairs in (
        ("original-dev", source.dev),
        ("original-test", source.test),
        ("pool", source.pool),
    ):
        path = write(folder / f"{name}.jsonl", [row(pair) for pair in pairs])
        options += [f"--{name}", str(path)]
    return options
