"""A training that is broken off where it would save a checkpoint."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import finetune.training.encoder as encoder
import finetune.training.word_models as word_models
from finetune.training.checkpoints import save_checkpoint


@contextmanager
def broken_off(monkeypatch: pytest.MonkeyPatch, saved: int) -> Iterator[None]:
    """Let a training save so many checkpoints, and require that it is broken off at the next."""
    left = iter(range(saved))

    def dies(*given: Any) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        save_checkpoint(*given)

    with monkeypatch.context() as dying, pytest.raises(KeyboardInterrupt):
        for module in (encoder, word_models):
            dying.setattr(module, "save_checkpoint", dies)
        yield
