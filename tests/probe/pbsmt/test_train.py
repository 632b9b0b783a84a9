"""Training from pairs, and what it needs."""

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from probe.errors import TrainingError
from probe.pbsmt.train import TrainingSettings, align, estimate, train
from probe.pbsmt.translate import DecoderWeights, load
from probe.text.words import tokenise

TRAINING_PAIRS = [
    ("The old man walks to the green park.", "The man walks to the park."),
    ("A young woman reads a letter in the kitchen.", "The woman reads a letter."),
    ("The old woman walks to the kitchen.", "The woman walks to the kitchen."),
    ("A young man reads a letter in the park.", "The man reads a letter."),
    ("The green letter is in the park.", "The letter is in the park."),
    ("A man walks in the green kitchen.", "The man walks."),
    ("A woman walks in the old park.", "The woman walks."),
    ("The young man is in the kitchen.", "The man is in the kitchen."),
    ("The young woman is in the green park.", "The woman is in the park."),
    ("A letter is in the old kitchen.", "The letter is in the kitchen."),
] * 2


@pytest.mark.skipif(
    not (find_spec("eflomal") and shutil.which("lmplz")),
    reason="eflomal and KenLM's lmplz are for training only",
)
def test_a_translator_is_trained_from_pairs(tmp_path: Path) -> None:
    counts = train("entailment", TRAINING_PAIRS, tmp_path, tmp_path / "links")
    assert counts.pairs == 20
    system = load("entailment", tmp_path)
    words = system.translate(
        tokenise("a young man walks to the park."), DecoderWeights(0.5, 0.3, 6)
    )
    assert words[-1] == "."
    assert set(words) <= {word for _, text in TRAINING_PAIRS for word in tokenise(text.lower())}
    before = [path.read_bytes() for path in sorted(tmp_path.glob("*.gz"))]
    train("entailment", TRAINING_PAIRS, tmp_path, tmp_path / "links")
    assert [path.read_bytes() for path in sorted(tmp_path.glob("*.gz"))] == before


def test_without_lmplz_training_says_so() -> None:
    with pytest.raises(TrainingError, match="training needs KenLM's no-such-program"):
        estimate([["a"]], TrainingSettings(lmplz="no-such-program"))


@pytest.mark.skipif(find_spec("eflomal") is not None, reason="eflomal is installed")
def test_without_eflomal_training_says_so(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="pip install eflomal"):
        align([["a"]], [["a"]], tmp_path)
