"""The hub's models: fetched files, commits, tokens, and the errors of what cannot be fetched."""

from pathlib import Path

import pytest

from probe.errors import ModelError
from probe.hub import make_room
from probe.models.library import ModelCache, load
from probe.tasks.nli import Pair
from tests.support.processes.hub import COMMIT, TOKEN, Broken, Hub

PAIR = Pair("A man walks.", "He moves.")


def sentence(name: str) -> str:
    with pytest.raises(ModelError) as caught:
        load(name)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_hubs_model_is_fetched_and_its_commit_is_kept(hub: Hub) -> None:
    fetched = load("owner/tiny")
    assert (fetched.name, fetched.revision) == ("owner/tiny", COMMIT)
    local = load(str(hub.folder)).probabilities([PAIR])
    assert fetched.probabilities([PAIR]) == pytest.approx(local, abs=1e-6)


def test_only_the_needed_files_are_fetched(hub: Hub) -> None:
    load("owner/tiny")
    assert "model.safetensors" in hub.fetched
    assert not {"pytorch_model.bin", "README.md"} & set(hub.fetched)


def test_a_commit_can_be_named(hub: Hub) -> None:
    assert load(f"owner/tiny@{COMMIT}").revision == COMMIT


def test_a_fetched_model_needs_no_network(hub: Hub) -> None:
    load("owner/tiny")
    hub.stop()
    assert load("owner/tiny").revision == COMMIT
    assert load(f"owner/tiny@{COMMIT}").revision == COMMIT


def test_without_a_network_a_new_model_is_a_sentence(hub: Hub) -> None:
    hub.stop()
    message = (
        "the hub cannot be reached from here, and the model 'owner/tiny' was not fetched before"
    )
    assert sentence("owner/tiny") == message


def test_a_hub_that_answers_nonsense_is_a_sentence(hub: Hub) -> None:
    hub.server.RequestHandlerClass = Broken
    assert sentence("owner/tiny") == (
        "the hub cannot be reached from here, and the model 'owner/tiny' was not fetched before"
    )


def test_a_model_that_the_hub_does_not_have(hub: Hub) -> None:
    message = "the hub has no model 'owner/none', or it is private and needs HF_TOKEN"
    assert sentence("owner/none") == message


def test_a_revision_that_the_hub_does_not_have(hub: Hub) -> None:
    assert sentence("owner/tiny@v9") == "the model 'owner/tiny' has no revision 'v9'"


def test_a_gated_model_says_what_to_do(hub: Hub) -> None:
    message = "the model 'owner/gated' is gated: agree to its terms, and set HF_TOKEN"
    assert sentence("owner/gated") == message


@pytest.mark.parametrize("name", ["owner/name/more", "owner/na me", "owner/--x"])
def test_an_impossible_name_is_a_sentence(name: str, hub: Hub) -> None:
    assert sentence(name).startswith(f"{name!r} is no name of a model; those of the hub are like")


def test_a_model_with_pickles_only_is_refused(hub: Hub) -> None:
    (hub.folder / "model.safetensors").unlink()
    assert sentence("owner/tiny").endswith("has no safetensors weights")
    assert "pytorch_model.bin" not in hub.fetched


def test_a_model_that_does_not_fit_is_not_fetched(hub: Hub) -> None:
    with (hub.folder / "model.safetensors").open("wb") as file:
        file.truncate(2**42)  # sparse: 4 TB of nothing
    assert "does not fit: its weights take 4,398.0 GB" in sentence("owner/tiny")
    assert hub.fetched == []


def test_the_cache_loads_the_same_commit_again(hub: Hub) -> None:
    cache = ModelCache(lambda: 1)
    first = cache.open("owner/tiny").model
    cache.get("minilm")
    (hub.folder / "config.json").write_text("{}")  # the hub has a newer commit
    reloaded = cache.get("owner/tiny")
    assert reloaded is not first
    assert (reloaded.name, reloaded.revision) == ("owner/tiny", COMMIT)


# whose token


@pytest.fixture(params=["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "a login"])
def owner(
    hub: Hub, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine's owner has a token, in each place where the client looks for one."""
    if request.param == "a login":
        (tmp_path / "token").write_text(TOKEN)
    else:
        monkeypatch.setenv(request.param, TOKEN)


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_PUBLIC", "1")


@pytest.mark.usefixtures("owner")
def test_a_local_app_asks_with_its_owner_s_token(hub: Hub) -> None:
    assert load("owner/private").revision == COMMIT


@pytest.mark.usefixtures("owner", "public")
def test_a_public_app_asks_without_a_token(hub: Hub) -> None:
    assert load("owner/tiny").revision == COMMIT
    assert sentence("owner/private") == "the hub has no open model 'owner/private'"
    assert set(hub.asked) == {None}


@pytest.mark.usefixtures("owner")
def test_a_public_app_does_not_open_what_its_owner_fetched(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    load("owner/private")
    monkeypatch.setenv("NLI_CLINIC_PUBLIC", "1")
    for name in ("owner/private", f"owner/private@{COMMIT}"):
        assert sentence(name) == "the hub has no open model 'owner/private'"


@pytest.mark.usefixtures("public")
def test_a_public_app_tells_nobody_to_set_a_token(hub: Hub) -> None:
    assert sentence("owner/gated") == (
        "the model 'owner/gated' is gated, and only open models of the hub can be used here"
    )


def test_a_folder_is_opened_without_asking_the_hub(hub: Hub) -> None:
    load(str(hub.folder))
    assert hub.asked == []


def test_a_fetched_commit_is_opened_without_asking_the_hub(hub: Hub) -> None:
    load(f"owner/tiny@{COMMIT}")
    hub.asked.clear()
    load(f"owner/tiny@{COMMIT}")
    assert hub.asked == []


# the disk of a public app


@pytest.fixture
def small_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A public app that gives the hub's models one megabyte."""
    monkeypatch.setenv("NLI_CLINIC_PUBLIC", "1")
    monkeypatch.setenv("NLI_CLINIC_HUB_MB", "1")


def test_a_model_that_is_larger_than_the_disk_for_them_is_not_fetched(
    hub: Hub, small_disk: None
) -> None:
    (hub.folder / "vocab.txt").write_bytes(bytes(1_000_001))
    assert sentence("owner/tiny").endswith(
        "are for what comes from the hub (this app's NLI_CLINIC_HUB_MB)"
    )
    assert hub.fetched == []


def test_the_least_used_model_makes_room_for_another(
    hub: Hub, small_disk: None, tmp_path: Path
) -> None:
    folder = tmp_path / "home" / "hub"
    load("owner/tiny")
    (kept,) = folder.glob("models--*")
    make_room("model", "owner/next", 10_000, ModelError)
    assert kept.is_dir()
    make_room("model", "owner/next", 1_000_000, ModelError)
    assert not kept.exists()
    assert load("owner/tiny").revision == COMMIT  # fetched anew


def test_a_local_app_keeps_what_it_fetches(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_HUB_MB", "1")
    (hub.folder / "vocab.txt").write_bytes(bytes(1_000_001))
    assert load("owner/tiny").revision == COMMIT
