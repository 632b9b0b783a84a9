"""What a word-level training needs: examples to train on, and some to select epochs by."""

from collections.abc import Sequence

from probe.errors import TrainingError


def require_both(trained: Sequence[object], held_out: Sequence[object]) -> None:
    """Raise TrainingError where a training file is too small for one of the two."""
    if not (trained and held_out):
        raise TrainingError(
            f"of the training files {len(trained)} examples are left to train on and "
            f"{len(held_out)} are held out to select epochs by; it takes some of each, so give "
            "larger files"
        )
