"""`python -m probe models`."""

from pathlib import Path

from tests.support.commands import answer, run
from tests.support.models.tiny_bert import tiny_bert


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
    assert ended.stderr.startswith(
        "error: there is no model or folder called 'none'; bundled are m"
    )


def test_a_step_of_a_training_is_exported_without_what_the_training_needs(tmp_path: Path) -> None:
    step = tiny_bert(tmp_path / "checkpoint-500")
    for name in ("optimizer.pt", "training_args.bin", "trainer_state.json"):
        (step / name).write_bytes(b"x")
    run("models", "export", str(step), str(tmp_path / "out"))
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    }
