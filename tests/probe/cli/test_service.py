"""The upload to a Space, with a stub in the place of the hub's API."""

from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
from typer.testing import CliRunner

from probe.cli import service
from probe.cli.main import app
from tests.support.checkout import ROOT


class Hub:
    """Remembers what it is asked, and which files a folder had when it was uploaded."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.files: dict[str, bytes] = {}

    def create_repo(self, repo_id: str, **options: Any) -> None:
        self.calls.append(("create_repo", {"repo_id": repo_id, **options}))

    def upload_folder(self, folder_path: Path, **options: Any) -> None:
        self.calls.append(("upload_folder", options))
        self.files = {
            path.relative_to(folder_path).as_posix(): path.read_bytes()
            for path in folder_path.rglob("*")
            if path.is_file()
        }


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
    ended = CliRunner().invoke(app, ["space", "me/clinic"])
    assert ended.exit_code == 0, ended.output
    assert ended.output.endswith(
        "8 files, 0.0 MB, uploaded to https://huggingface.co/spaces/me/clinic\n"
    )
    (made, how), (uploaded, where) = hub.calls
    assert (made, how["repo_id"], how["repo_type"]) == ("create_repo", "me/clinic", "space")
    assert (how["space_sdk"], how["exist_ok"]) == ("gradio", True)
    assert (uploaded, where["repo_id"], where["repo_type"]) == (
        "upload_folder",
        "me/clinic",
        "space",
    )
    assert set(hub.files) == {
        *("README.md", "LICENSE", "app.py", "requirements.txt", "packages.txt"),
        *("assets/one.py", "probe/one.py", "finetune/one.py"),
    }


def test_what_is_gone_here_goes_there(hub: Hub) -> None:
    CliRunner().invoke(app, ["space", "me/clinic"])
    assert hub.calls[1][1]["delete_patterns"] == "*"


def test_the_thumbnail_is_the_space_s_own_picture(hub: Hub) -> None:
    CliRunner().invoke(app, ["space", "me/clinic"])
    thumbnail = "https://huggingface.co/spaces/me/clinic/resolve/main/assets/screenshot.png"
    lines = hub.files["README.md"].decode().splitlines()
    assert lines == ["---", f"thumbnail: {thumbnail}", "title: NLI Clinic", "---"]
    assert (ROOT / "assets/screenshot.png").is_file()


def test_a_dry_run_lists_the_files_and_asks_the_hub_nothing(hub: Hub) -> None:
    ended = CliRunner().invoke(app, ["space", "me/clinic", "--dry-run"])
    assert "  probe/one.py\n" in ended.output
    assert ended.output.endswith("8 files, 0.0 MB; nothing was uploaded\n")
    assert hub.calls == []


def test_only_the_name_of_a_space_is_taken(hub: Hub) -> None:
    for name in ["clinic", "me/clinic/x", "", "https://huggingface.co/me/clinic"]:
        ended = CliRunner().invoke(app, ["space", name])
        assert "those are like owner/name" in f"{ended.output}{ended.exception}", name
        assert hub.calls == [], name


def test_a_hub_that_does_not_answer_is_one_sentence(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreached(*words: object, **options: object) -> None:
        raise ConnectionError("no network")

    monkeypatch.setattr(hub, "create_repo", unreached)
    ended = CliRunner().invoke(app, ["space", "me/clinic"])
    assert ended.exit_code == 2
    assert ended.stderr.startswith("error: the hub cannot be reached from here, and me/clinic ")
