"""`python -m probe models`."""

from pathlib import Path

from tests.support.commands import answer, run


def test_models_are_listed() -> None:
    rows = answer("models")
    assert rows[0]["name"] == "minilm"
    assert rows[0]["source"] == "bundled"
    assert rows[0]["task"] == "nli"
    assert run("models").stdout.startswith("minilm ")


def test_a_model_is_exported_as_a_folder(tmp_path: Path) -> None:
    printed = run("models", "export", "da", str(tmp_path / "da")).stdout
    assert printed == f"da written to {tmp_path / 'da'}\n"
    assert (tmp_path / "da" / "model.safetensors").is_file()


def test_a_model_that_is_not_there_cannot_be_exported(tmp_path: Path) -> None:
    ended = run("models", "export", "none", str(tmp_path / "none"))
    assert ended.exit_code == 2
    assert ended.stderr.startswith("error: there is no model called 'none' here; there are: minilm")
