"""The hub's models: fetched files, commits, tokens, and the errors of what cannot be fetched."""

from collections.abc import Callable
from pathlib import Path

import pytest

from probe.errors import ModelError
from probe.hub import make_room
from probe.models.library import ModelCache, load
from probe.tasks.nli import Pair
from tests.support.cases import each
from tests.support.processes.hub import COMMIT, TOKEN, Broken, Hub

PAIR = Pair("A man walks.", "He moves.")
UNREACHED = (
    "the hub cannot be reached from here, and the model 'owner/tiny' was not fetched before; try "
    "again where there is a network, or name a folder that holds it"
)


def sentence(name: str) -> str:
    with pytest.raises(ModelError) as caught:
        load(name)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_hubs_model_is_fetched_once_and_its_commit_is_kept(hub: Hub) -> None:
    fetched = load("owner/tiny")
    assert (fetched.name, fetched.revision) == ("owner/tiny", COMMIT)
    local = load(str(hub.folder)).probabilities([PAIR])
    assert fetched.probabilities([PAIR]) == pytest.approx(local, abs=1e-6)
    assert "model.safetensors" in hub.fetched
    assert not {"pytorch_model.bin", "README.md"} & set(hub.fetched)
    hub.asked.clear()
    assert load(f"owner/tiny@{COMMIT}").revision == COMMIT
    load(str(hub.folder))
    assert hub.asked == []  # neither for a folder nor for a commit that was fetched
    hub.stop()
    assert load("owner/tiny").revision == load(f"owner/tiny@{COMMIT}").revision == COMMIT


def test_what_cannot_be_fetched_is_a_sentence(hub: Hub) -> None:
    none = "the hub has no model 'owner/none', or it is private and needs HF_TOKEN"
    told = {
        "owner/none": none,
        "owner/tiny@v9": "the model 'owner/tiny' has no revision 'v9'",
        "owner/gated": "the model 'owner/gated' is gated: agree to its terms, and set HF_TOKEN",
    }
    assert {name: sentence(name) for name in told} == told
    for name in ("owner/name/more", "owner/na me", "owner/--x"):
        assert sentence(name).startswith(f"{name!r} is no name of a model; those of the hub are li")


@each("break_it", [Hub.stop, lambda hub: setattr(hub.server, "RequestHandlerClass", Broken)])
def test_a_hub_that_does_not_answer_is_a_sentence(
    break_it: Callable[[Hub], object], hub: Hub
) -> None:
    break_it(hub)
    assert sentence("owner/tiny") == UNREACHED


def test_pickles_and_what_does_not_fit_are_not_fetched(hub: Hub) -> None:
    with (hub.folder / "model.safetensors").open("wb") as file:
        file.truncate(2**42)  # sparse: 4 TB of nothing
    assert "does not fit: its weights take 4,398.0 GB" in sentence("owner/tiny")
    assert hub.fetched == []
    (hub.folder / "model.safetensors").unlink()
    assert sentence("owner/tiny").endswith("has no safetensors weights")
    assert "pytorch_model.bin" not in hub.fetched


def test_the_cache_loads_the_same_commit_again(hub: Hub) -> None:
    cache = ModelCache(lambda: 1)
    first = cache.open("owner/tiny").model
    cache.get("minilm")
    (hub.folder / "config.json").write_text("{}")  # the hub has a newer commit
    reloaded = cache.get("owner/tiny")
    assert reloaded is not first
    assert (reloaded.name, reloaded.revision) == ("owner/tiny", COMMIT)


@pytest.mark.parametrize("place", ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "a login"])
def test_a_public_app_neither_asks_with_its_owner_s_token_nor_opens_what_that_fetched(
    place: str, hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if place == "a login":
        (tmp_path / "token").write_text(TOKEN)
    else:
        monkeypatch.setenv(place, TOKEN)
    assert load("owner/private").revision == COMMIT
    hub.asked.clear()
    monkeypatch.setenv("NLI_CLINIC_PUBLIC", "1")
    assert load("owner/tiny").revision == COMMIT
    for name in ("owner/private", f"owner/private@{COMMIT}"):
        assert sentence(name) == "the hub has no open model 'owner/private'"
    assert set(hub.asked) == {None}
    gated = "the model 'owner/gated' is gated, and only open models of the hub can be used here"
    assert sentence("owner/gated") == gated


def test_a_public_app_s_disk_has_a_bound_and_the_least_used_model_makes_room(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_HUB_MB", "1")
    monkeypatch.setenv("NLI_CLINIC_PUBLIC", "1")
    vocabulary, place = hub.folder / "vocab.txt", "(this app's NLI_CLINIC_HUB_MB)"
    vocabulary.write_bytes(bytes(1_000_001))
    assert sentence("owner/tiny").endswith(f"are for what comes from the hub {place}")
    assert hub.fetched == []
    with monkeypatch.context() as local:
        local.delenv("NLI_CLINIC_PUBLIC")
        assert load("owner/tiny").revision == COMMIT  # a local app keeps what it fetches
    vocabulary.unlink()
    load("owner/tiny")
    (kept,) = (tmp_path / "home" / "hub").glob("models--*")
    make_room("model", "owner/next", 10_000, ModelError)
    assert kept.is_dir()
    make_room("model", "owner/next", 1_000_000, ModelError)
    assert not kept.exists()
    assert load("owner/tiny").revision == COMMIT  # fetched anew
