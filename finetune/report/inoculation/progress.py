"""A row of an inoculation as one line of text."""

from finetune.experiments.inoculation.point import Epoch, Point


def row_text(row: Epoch | Point) -> str:
    """Return size, rate and seed, and how far the cell is or what it came to."""
    cell = f"size {row.cell.size:<4} lr {row.cell.lr:g}  seed {row.cell.seed}"
    if isinstance(row, Epoch):
        return (
            f"{cell}  epoch {row.epoch}  loss {row.loss:.4f}  dev {row.dev:.4f}  "
            f"{row.examples_per_second:.1f} examples/s"
        )
    ended = "diverged  " if row.diverged else ""
    dose = "" if row.dose is None else f"dose {row.dose:g} of {row.cell.size}  "
    return (
        f"{cell}  original {row.original:.4f}  challenge {row.challenge:.4f}  "
        f"best epoch {row.best_epoch} of {row.epochs}  {dose}{ended}{row.seconds:.1f} s"
    )
