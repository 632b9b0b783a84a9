"""Training dynamics: the logits that each row gets while an epoch is trained.

They are those by which the weights are changed, in training mode, before the step of their batch:
no pass of their own is made. Written as the code of Swayamdipta et al. 2020 has them, with the name
of the right label beside its number.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch

from finetune.training.loop import Weights
from finetune.training.losses import admissible
from probe.analysis.cartography import FOLDER, REGIONS, DataMap, epoch_file
from probe.errors import TrainingError, write_whole, writing
from probe.models.classifier import Classifier
from probe.tasks.task import Example, Label

LOGITS, RANDOM = "logits", "random"


def subset_of(drawn: DataMap, name: str, seed: int) -> list[int]:
    """Return the places of a region's rows in a map, or of as many that are drawn by chance."""
    if name in REGIONS:
        return drawn.region(name)  # type: ignore[arg-type]  # one of them
    rows = range(len(drawn.dynamics.ids))
    return sorted(random.Random(f"subset|{seed}").sample(rows, drawn.size))


@dataclass
class Dynamics:
    """Keeps the logits of the epoch that is running, and writes those of one that is over.

    A row with no gold label, or one that admits several, is in none of the files.
    """

    folder: Path
    ids: Sequence[str]
    golds: Sequence[int | None]
    labels: Sequence[Label]
    logits: torch.Tensor = field(init=False)  # (rows, labels)

    def __post_init__(self) -> None:
        """Begin an epoch."""
        self.logits = torch.full((len(self.ids), len(self.labels)), torch.nan)

    @classmethod
    def of(cls, folder: Path, examples: Sequence[Example], classifier: Classifier) -> "Dynamics":
        """Return what is kept of examples. Raises TrainingError where two have one id."""
        admitted = admissible(examples, classifier.task, classifier.labels)
        golds = [int(row.int().argmax()) if row.sum() == 1 else None for row in admitted]
        ids = [example.id for example in examples]
        known = [each for each, gold in zip(ids, golds, strict=True) if gold is not None]
        if len({*known}) < len(known):
            raise TrainingError(
                "--dynamics names rows by their file and number, and two training files have one "
                "name; rename one"
            )
        return cls(folder, ids, golds, classifier.labels)

    @property
    def words(self) -> str:
        """Say what is kept, and of how many rows nothing is."""
        others = sum(gold is None for gold in self.golds)
        return f"the logits of {len(self.golds) - others:,} rows are kept in {self.folder}" + (
            f"; {others:,} without one right label among {len(self.labels)} are left out"
            if others
            else ""
        )

    def resume(self, kept: Weights, epochs: int) -> None:
        """Go on behind so many epochs, with what a checkpoint has `kept` of the running one.

        Raises TrainingError where the folder lacks one of them, or begins with another training's,
        FileError where there can be none.
        """
        if kept:
            self.logits = kept[LOGITS]
        before = [epoch for epoch in range(epochs) if not self._file(epoch).exists()]
        if before:
            raise TrainingError(
                f"{self.folder} lacks epoch {before[0]} of this training, which was begun with "
                "another --dynamics; name that folder again"
            )
        if not (kept or epochs) and self._file(0).exists():
            raise TrainingError(
                f"{self.folder} holds the dynamics of another training; name another folder with "
                "--dynamics"
            )
        with writing(self.folder):  # told before anything is trained
            (self.folder / FOLDER).mkdir(parents=True, exist_ok=True)

    def see(self, rows: Sequence[int], logits: torch.Tensor) -> None:
        """Keep the logits of a batch."""
        self.logits[list(rows)] = logits.float().cpu()

    @property
    def kept(self) -> Weights:
        """What a checkpoint keeps of the running epoch."""
        return {LOGITS: self.logits}

    def write(self, epoch: int) -> None:
        """Write the epoch that is over, numbered from 0, and begin another. Raises FileError."""
        lines = [
            json.dumps(
                {
                    "guid": int(name) if name.isdecimal() else name,
                    f"logits_epoch_{epoch}": logits,
                    "gold": gold,
                    "label": self.labels[gold],
                }
            )
            for name, gold, logits in zip(self.ids, self.golds, self.logits.tolist(), strict=True)
            if gold is not None
        ]
        write_whole(self._file(epoch), ("\n".join(lines) + "\n").encode())
        self.logits.fill_(torch.nan)

    def _file(self, epoch: int) -> Path:
        return self.folder / FOLDER / epoch_file(epoch)
