"""Hashes change with everything that a result depends on, and with nothing else."""

import hashlib
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from finetune.trials.datasets import Sets, sets_facts
from probe.errors import ModelError
from probe.models.weights import model_hash, pairs_hash
from probe.tasks.nli import Pair
from tests.support.models.tiny_bert import tiny_pairs

PAIR = Pair("It rains.", "It is wet.", "entailment", "1")


@pytest.fixture
def copy(model: str, tmp_path: Path) -> Path:
    """A copy of the tiny model's folder."""
    return Path(shutil.copytree(model, tmp_path / "copy"))


def test_the_hash_of_pairs_is_that_of_their_json_lines() -> None:
    line = b'["It rains.", "It is wet.", "entailment"]\n'
    assert pairs_hash([PAIR, PAIR]) == hashlib.sha256(line + line).hexdigest()


def test_ids_do_not_count() -> None:
    assert pairs_hash([PAIR]) == pairs_hash([replace(PAIR, id="2")])


@pytest.mark.parametrize("change", [{"premise": "x"}, {"hypothesis": "x"}, {"gold": "neutral"}])
def test_each_text_and_the_label_count(change: dict[str, str]) -> None:
    assert pairs_hash([PAIR]) != pairs_hash([replace(PAIR, **change)])


def test_the_order_of_pairs_counts() -> None:
    first, second = tiny_pairs(2)
    assert pairs_hash([first, second]) != pairs_hash([second, first])


def test_half_a_surrogate_pair_is_hashed() -> None:
    assert len(pairs_hash([replace(PAIR, premise="\ud83d")])) == 64


def test_the_facts_of_sets_have_no_sentence(sets: Sets) -> None:
    facts = sets_facts(sets)
    assert facts["challenge_train"] == {"n": 30, "sha256": pairs_hash(sets.challenge_train)}
    assert facts["control"]["n"] == 0


def test_a_copied_model_has_the_same_hash(model: str, copy: Path) -> None:
    assert model_hash(copy) == model_hash(Path(model))


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_weights_config_and_tokenizer_count(name: str, copy: Path) -> None:
    before = model_hash(copy)
    (copy / name).write_bytes((copy / name).read_bytes() + b"\n")
    assert model_hash(copy) != before


def test_a_model_card_does_not_count(copy: Path) -> None:
    before = model_hash(copy)
    (copy / "README.md").write_text("A card.")
    assert model_hash(copy) == before


def test_shared_word_vectors_count(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("probe.models.weights.VECTORS", tmp_path)
    config = copy / "config.json"
    config.write_text(config.read_text().replace("{", '{"vectors": "words",', 1))
    (tmp_path / "words.safetensors").write_bytes(b"one")
    before = model_hash(copy)
    (tmp_path / "words.safetensors").write_bytes(b"two")
    assert model_hash(copy) != before


def test_a_folder_without_weights_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no weights"):
        model_hash(tmp_path)
