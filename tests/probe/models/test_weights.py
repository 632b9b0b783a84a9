"""The files of a model's weights: several, one that models share, and what their hashes count."""

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor
from transformers import pipeline

from finetune.trials.datasets import Sets, sets_facts
from probe.errors import FileError, ModelError
from probe.models.library import load, models_on_disk
from probe.models.weights import (
    INDEX,
    OWN,
    WHOLE,
    export_model,
    model_hash,
    pairs_hash,
    read_weights,
    share_weights,
    weight_files,
    write_weights,
)
from probe.tasks.nli import Pair
from tests.support.cases import each
from tests.support.models.tiny_bert import tiny_bert, tiny_pairs

WEIGHT = "bert.embeddings.word_embeddings.weight"
PAIRS = [Pair("A man walks.", "He moves."), Pair("A dog sleeps.", "A cat runs.")]


@pytest.fixture
def models(home: Path) -> Path:
    """A home with a model `mine` and the word embeddings of an encoder beside it."""
    folder = home / "models"
    tiny_bert(folder / "mine")
    encoder = {WEIGHT: load_file(folder / "mine" / WHOLE)[WEIGHT].half()}
    (folder / "word_embeddings").mkdir()
    write_weights(encoder, folder / "word_embeddings" / "tiny.safetensors")
    return folder


@pytest.fixture
def sharing(models: Path) -> Path:
    """The folder of `mine`, which shares that file."""
    share_weights(models / "mine", "tiny.safetensors")
    return models / "mine"


def test_a_model_that_shares_keeps_all_but_the_shared_weight(models: Path) -> None:
    before = load_file(models / "mine" / WHOLE)
    share_weights(models / "mine", "tiny.safetensors")
    assert [path.name for path in weight_files(models / "mine")] == [OWN, "tiny.safetensors"]
    assert not (models / "mine" / WHOLE).exists()
    after = read_weights(models / "mine")
    assert set(after) == set(before)
    assert torch.equal(after[WEIGHT], before[WEIGHT].half())
    assert all(torch.equal(after[name], before[name]) for name in before if name != WEIGHT)
    with pytest.raises(ModelError, match="'mine' shares weights already"):
        share_weights(models / "mine", "tiny.safetensors")
    entry = models_on_disk()["mine"]
    assert entry.size == (models / "mine" / OWN).stat().st_size
    assert entry.parameters == sum(weight.numel() for weight in after.values())


def test_it_answers_alike_in_plain_transformers_and_exported_without_the_others(
    sharing: Path, tmp_path: Path
) -> None:
    before, alone = load("mine").predict(PAIRS), tmp_path / "alone"
    answer = pipeline("text-classification", model=str(sharing))(
        {"text": PAIRS[0].premise, "text_pair": PAIRS[0].hypothesis}
    )
    assert answer["score"] == pytest.approx(before[0].confidence, abs=1e-5)
    export_model(sharing, alone)
    with pytest.raises(FileError, match="is there already"):
        export_model(sharing, alone)
    shutil.rmtree(sharing.parent)
    assert not (alone / INDEX).exists()
    assert load(str(alone)).predict(PAIRS) == before


@each("change", [lambda own: own[:3], lambda own: own * 1.01])
def test_other_embeddings_are_refused(
    change: Callable[[Tensor], Tensor], models: Path, tmp_path: Path
) -> None:
    other = change(load_file(models / "mine" / WHOLE)[WEIGHT]).contiguous()
    write_weights({WEIGHT: other}, models / "word_embeddings" / "other.safetensors")
    sentence = rf"'mine' cannot share other\.safetensors: its {WEIGHT} has other values; train it"
    with pytest.raises(ModelError, match=sentence):
        share_weights(models / "mine", "other.safetensors")
    assert [path.name for path in weight_files(models / "mine")] == [WHOLE]
    for name in ("absent.safetensors", "../mine/model.safetensors"):
        with pytest.raises(ModelError, match="there is no word_embeddings/"):
            share_weights(models / "mine", name)


def test_an_index_is_one_and_names_no_file_elsewhere(sharing: Path) -> None:
    index = json.loads((sharing / INDEX).read_text())
    for name in ("../../secret.safetensors", "/etc/secret.safetensors"):
        index["weight_map"][WEIGHT] = name
        (sharing / INDEX).write_text(json.dumps(index))
        with pytest.raises(ModelError, match="names a file of another folder"):
            load(str(sharing))
    for text in ("", "[]", '{"weight_map": 3}'):
        (sharing / INDEX).write_text(text)
        with pytest.raises(ModelError, match=f"{INDEX} of 'mine' cannot be read"):
            weight_files(sharing)
    assert models_on_disk()["mine"].parameters == 0  # it is listed, and damaged


PAIR = Pair("It rains.", "It is wet.", "entailment", "1")


def test_the_hash_of_pairs_is_that_of_their_json_lines(sets: Sets) -> None:
    line = b'["It rains.", "It is wet.", "entailment"]\n'
    assert pairs_hash([PAIR, PAIR]) == hashlib.sha256(line + line).hexdigest()
    assert pairs_hash([PAIR]) == pairs_hash([replace(PAIR, id="2")])
    changes = ({"premise": "x"}, {"hypothesis": "x"}, {"gold": "neutral"}, {"premise": "\ud83d"})
    hashes = [pairs_hash([PAIR]), *(pairs_hash([replace(PAIR, **change)]) for change in changes)]
    first, second = tiny_pairs(2)
    hashes += [pairs_hash([first, second]), pairs_hash([second, first])]
    assert len(set(hashes)) == 7
    facts = sets_facts(sets)  # which have no sentence
    assert facts["challenge_train"] == {"n": 30, "sha256": pairs_hash(sets.challenge_train)}
    assert facts["control"]["n"] == 0


def test_all_that_an_answer_rests_on_counts_in_the_hash_of_a_model(
    model: str, sharing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, shared = model_hash(sharing), sharing.parent / "word_embeddings" / "tiny.safetensors"
    write_weights({WEIGHT: load_file(shared)[WEIGHT] * 2}, shared)
    assert model_hash(sharing) != before
    copy = Path(shutil.copytree(model, tmp_path / "copy"))
    (copy / "README.md").write_text("A card.")
    hashes = [model_hash(Path(model))]
    assert model_hash(copy) == hashes[0]
    for name in (WHOLE, "tokenizer.json", "config.json"):
        (copy / name).write_bytes((copy / name).read_bytes() + b"\n")
        hashes.append(model_hash(copy))
    monkeypatch.setattr("probe.models.weights.VECTORS", tmp_path)
    config = copy / "config.json"
    config.write_text(config.read_text().replace("{", '{"vectors": "words",', 1))
    for vectors in (b"one", b"two"):
        (tmp_path / "words.safetensors").write_bytes(vectors)
        hashes.append(model_hash(copy))
    assert len(set(hashes)) == len(hashes)
    with pytest.raises(ModelError, match="no weights"):
        model_hash(tmp_path / "none")
