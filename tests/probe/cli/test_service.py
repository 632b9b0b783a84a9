"""The upload to a Space, with a stub in the place of the hub's API."""

from pathlib import Path
from typing import Any

import huggingface_hub
import pytest

from probe.cli import service
from probe.errors import UserError
from tests.support.checkout import ROOT
from tests.support.commands import run


class Hub:
    """Remembers what it is asked, and which files a folder had when it was uploaded."""

    def __init__(self) -> None:
        self.made, self.uploaded = dict[str, Any](), dict[str, Any]()
        self.files = dict[str, bytes]()

    def create_repo(self, repo_id: str, **options: Any) -> None:
        self.made = {"repo_id": repo_id, **options}

    def upload_folder(self, folder_path: Path, **options: Any) -> None:
        self.uploaded = options
        paths = (path for path in folder_path.rglob("*") if path.is_file())
        self.files = {str(path.relative_to(folder_path)): path.read_bytes() for path in paths}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Hub:
    """The stub, and a small checkout instead of ours."""
    checkout, stub = tmp_path / "checkout", Hub()
    for name in service.BELONGS:
        inside = Path(name) if Path(name).suffix or name.isupper() else Path(name, "one.py")
        (checkout / inside).parent.mkdir(parents=True, exist_ok=True)
        (checkout / inside).write_text("---\ntitle: NLI Clinic\n---\n", encoding="utf-8")
    for junk in ("var/runs.sqlite", "tests/x.py", "probe/__pycache__/x.pyc", "probe/.cache/x"):
        (checkout / junk).parent.mkdir(parents=True, exist_ok=True)
        (checkout / junk).touch()
    monkeypatch.setattr(service, "CHECKOUT", checkout)
    monkeypatch.setattr(huggingface_hub, "HfApi", lambda: stub)
    return stub


def test_the_space_is_made_and_gets_what_belongs_there(hub: Hub) -> None:
    said = run("space", "me/clinic").output
    assert said.endswith("8 files, 0.0 MB, uploaded to https://huggingface.co/spaces/me/clinic\n")
    where = {"repo_id": "me/clinic", "repo_type": "space"}
    assert hub.made == {**where, "space_sdk": "gradio", "exist_ok": True}
    assert hub.uploaded.items() >= where.items()
    assert hub.uploaded["delete_patterns"] == "*"  # what is gone here goes there
    assert set(hub.files) == {
        *("README.md", "LICENSE", "app.py", "requirements.txt", "packages.txt"),
        *("assets/one.py", "probe/one.py", "finetune/one.py"),
    }
    thumbnail = "https://huggingface.co/spaces/me/clinic/resolve/main/assets/screenshot.png"
    lines = hub.files["README.md"].decode().splitlines()
    assert lines == ["---", f"thumbnail: {thumbnail}", "title: NLI Clinic", "---"]
    assert (ROOT / "assets/screenshot.png").is_file()


def test_a_dry_run_asks_the_hub_nothing_and_one_that_does_not_answer_is_a_sentence(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = run("space", "me/clinic", "--dry-run").output
    assert "  probe/one.py\n" in said
    assert said.endswith("8 files, 0.0 MB; nothing was uploaded\n")
    assert hub.made == hub.uploaded == {}

    def unreached(*words: object, **options: object) -> None:
        raise ConnectionError("no network")

    monkeypatch.setattr(hub, "create_repo", unreached)
    with pytest.raises(UserError, match="the hub cannot be reached from here, and me/clinic "):
        service.upload(Path(), "me/clinic")
