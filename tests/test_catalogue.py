"""Which models there are, what cannot be loaded and why, and what is kept in memory."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from probe.labels import LABELS
from probe.models.cache import ModelCache, weight
from probe.models.catalogue import (
    ModelError,
    entries,
    find,
    load,
    require,
    start_from_encoder,
)
from probe.pairs import ASSETS, Pair
from tests.tiny import tiny_bert
from tests.tiny_models import shared

PAIR = Pair("A man walks.", "He moves.")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny model, to be copied."""
    return tiny_bert(tmp_path_factory.mktemp("saved"))


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    return Path(shutil.copytree(saved, tmp_path / "model"))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, so that its shelf holds only what a test puts there."""
    monkeypatch.setenv("NLI_CLINIC_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def configure(folder: Path, **changes: object) -> None:
    """Change the config of a saved model."""
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def sentence(name: str | Path) -> str:
    """Return what loading says is wrong; it is one line."""
    with pytest.raises(ModelError) as caught:
        load(str(name))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_folder_is_loaded_in_eval_mode_and_full_precision(folder: Path) -> None:
    model = load(str(folder)).model
    assert not model.training
    assert {p.dtype for p in model.parameters()} == {torch.float32}


def test_the_label_order_of_the_config_is_used(folder: Path) -> None:
    plain = load(str(folder)).probabilities([PAIR])[0]
    configure(folder, id2label={"0": "CONTRADICTION", "1": "ENTAILMENT", "2": "NEUTRAL"})
    other = load(str(folder))
    assert other.order == ("contradiction", "entailment", "neutral")
    assert other.probabilities([PAIR])[0] == pytest.approx(plain[[1, 2, 0]], abs=1e-6)


def test_a_given_order_overrides_that_of_the_config(folder: Path) -> None:
    configure(folder, id2label={"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"})
    assert load(str(folder), LABELS).order == LABELS


def test_an_unknown_name_is_answered_with_the_models_there_are(home: Path) -> None:
    assert sentence("minilmm").startswith("there is no model or folder called 'minilmm'; on this")
    assert "minilm" in sentence("minilmm").split("disk: ")[1]


def test_a_path_that_is_not_there_is_not_looked_up_elsewhere(tmp_path: Path) -> None:
    assert sentence(tmp_path / "gone").startswith("there is no model or folder called ")


def test_only_safetensors_are_loaded(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    torch.save(shared().model.state_dict(), folder / "pytorch_model.bin")
    assert "cannot be loaded: " in sentence(folder)
    assert "safetensors" in sentence(folder)


def test_an_empty_folder_says_what_is_missing(tmp_path: Path) -> None:
    assert "cannot be loaded: " in sentence(tmp_path)


def test_weights_that_are_cut_off_are_a_sentence(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    assert "cannot be loaded: " in sentence(folder)


def test_weights_of_another_shape_are_a_sentence(folder: Path) -> None:
    configure(folder, hidden_size=48)
    assert "cannot be loaded: " in sentence(folder)


def test_a_config_that_is_not_json_is_a_sentence(folder: Path) -> None:
    (folder / "config.json").write_text("{")
    assert "cannot be loaded: " in sentence(folder)


def test_a_tokenizer_that_is_not_json_is_a_sentence(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{")
    assert "cannot be loaded: " in sentence(folder)


@pytest.mark.parametrize("kind", ["vit", "clip", "no-such-model"])
def test_a_model_of_another_kind_is_refused(kind: str, folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({"model_type": kind}))
    assert "cannot be loaded: " in sentence(folder)


def test_an_encoder_without_a_head_is_refused(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    encoder = {name: value for name, value in weights.items() if "classifier" not in name}
    save_file(encoder, folder / "model.safetensors", {"format": "pt"})
    assert "classifier.weight" in sentence(folder)


def test_two_outputs_are_not_three(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    two = {name: value[:2] if "classifier" in name else value for name, value in weights.items()}
    save_file(two, folder / "model.safetensors", {"format": "pt"})
    configure(folder, id2label={"0": "entailment", "1": "not_entailment"})
    assert "cannot be read: the model's outputs are named entailment, not_ent" in sentence(folder)


def test_unclear_label_names_are_quoted(folder: Path) -> None:
    configure(folder, id2label={"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"})
    assert sentence(folder).endswith(
        "the model's outputs are named LABEL_0, LABEL_1, LABEL_2, not the three labels"
    )


def test_models_on_disk_are_listed_with_their_parameters(saved: Path, home: Path) -> None:
    shutil.copytree(saved, home / "models" / "mine")
    found = {entry.name: entry for entry in entries()}
    parameters = sum(p.numel() for p in load(str(saved)).model.parameters())
    assert found["mine"].source == "inoculated"
    assert found["mine"].parameters == parameters
    assert found["mine"].size == (saved / "model.safetensors").stat().st_size
    assert find("mine") == str(home / "models" / "mine")
    assert load("mine").name == "mine"


def test_the_bundled_model_is_listed_first(home: Path) -> None:
    first = next(entries())
    assert (first.name, first.source) == ("minilm", "bundled")
    assert 22_000_000 < first.parameters < 23_000_000
    assert first.folder == ASSETS / "models" / "minilm"


@pytest.mark.parametrize("data", [b"", b"version https://git-lfs.github.com/spec/v1\noid sha256:1"])
def test_a_damaged_model_does_not_hide_the_others(data: bytes, saved: Path, home: Path) -> None:
    shutil.copytree(saved, home / "models" / "mine")
    (home / "models" / "damaged").mkdir()
    (home / "models" / "damaged" / "model.safetensors").write_bytes(data)
    assert {"minilm", "mine"} <= {entry.name for entry in entries()}


def test_a_page_opens_no_folder_that_is_not_listed(saved: Path, home: Path) -> None:
    require("minilm")
    with pytest.raises(ModelError, match=r"^there is no model called '.*' here; there are: minilm"):
        require(str(saved))


def test_a_fresh_head_is_always_the_same_and_leaves_chance_alone(saved: Path) -> None:
    before = torch.get_rng_state()
    one, other = start_from_encoder(str(saved)), start_from_encoder(str(saved))
    assert torch.equal(torch.get_rng_state(), before)
    assert one.probabilities([PAIR]).tolist() == other.probabilities([PAIR]).tolist()
    assert one.order == LABELS


def test_the_cache_gives_the_same_model_again(saved: Path) -> None:
    cache = ModelCache()
    assert cache.get(str(saved)) is cache.get(str(saved))


def test_a_models_weight_is_four_bytes_a_parameter() -> None:
    parameters = sum(p.numel() for p in shared().model.parameters())
    assert weight(shared()) == 4 * parameters


def test_the_cache_lets_the_oldest_go_when_they_weigh_too_much(saved: Path, home: Path) -> None:
    for name in ("a", "b", "c"):
        shutil.copytree(saved, home / "models" / name)
    room_for_two = 2 * weight(load(str(saved)))
    cache = ModelCache(room_for_two)
    first, second = cache.get("a"), cache.get("b")
    assert cache.get("a") is first  # used again, so b is now the oldest
    cache.get("c")
    assert cache.get("a") is first
    assert cache.get("b") is not second


def test_the_newest_stays_however_heavy(saved: Path) -> None:
    cache = ModelCache(1)
    assert cache.get(str(saved)) is cache.get(str(saved))


def test_what_cannot_be_loaded_is_not_kept(home: Path) -> None:
    cache = ModelCache()
    for _ in range(2):
        with pytest.raises(ModelError):
            cache.get("minilmm")


def test_the_bound_is_a_setting_in_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_MODEL_MB", "7")
    assert ModelCache().limit == 7_000_000
