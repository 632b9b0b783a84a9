"""What a person can put right is one sentence on stderr and exit code 2; a bug stays a bug."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

import finetune.cli.main
import probe.cli.main
from probe.cli.group import group
from probe.errors import ModelError
from tests.support.files.pair_files import PAIRS, row, write
from tests.support.models.tiny_bert import tiny_bert

PROBE, FINETUNE = probe.cli.main.app, finetune.cli.main.app


def failing(problem: Exception) -> typer.Typer:
    """Return a group that has a failing command in itself and in a group of its own."""
    app, inner = group(), group()

    def fail() -> None:
        raise problem

    for commands in (app, inner):
        commands.callback()(lambda: None)
        commands.command("fail")(fail)
    app.add_typer(inner, name="inner")
    return app


def test_a_user_error_is_one_sentence_and_exit_code_2() -> None:
    for words in [["fail"], ["inner", "fail"]]:
        ended = CliRunner().invoke(failing(ModelError("there is no such model")), words)
        assert (ended.exit_code, ended.stdout) == (2, ""), words
        assert ended.stderr == "error: there is no such model\n", words


def test_any_other_error_is_not_swallowed() -> None:
    ended = CliRunner().invoke(failing(KeyError("ours")), ["fail"])
    assert isinstance(ended.exception, KeyError)


def test_words_that_a_command_does_not_take_are_one_sentence() -> None:
    for words, sentence in [
        (["pair", "--seed", "x"], "invalid value for '--seed': "),
        (["batch", "a.csv"], "missing option '--out'"),
        (["models", "nosuch"], "no such command 'nosuch'"),
        (["--nosuch"], "no such option: --nosuch"),
    ]:
        ended = CliRunner().invoke(PROBE, words)
        assert (ended.exit_code, ended.stdout) == (2, ""), (words, sentence)
        assert ended.stderr.startswith(f"error: {sentence}"), (words, sentence)
        assert len(ended.stderr.splitlines()) == 1, (words, sentence)


def test_no_words_print_the_help() -> None:
    assert "Usage:" in CliRunner().invoke(PROBE, []).output


# files that cannot be written or read


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_bert(tmp_path_factory.mktemp("tiny")))


@pytest.fixture
def pairs(tmp_path: Path) -> str:
    return str(write(tmp_path / "pairs.jsonl", [row(pair) for pair in PAIRS[:20]]))


@pytest.fixture
def blocked(tmp_path: Path) -> str:
    """A place that cannot be written, since a file stands where its folder should be."""
    (tmp_path / "file").touch()
    return str(tmp_path / "file" / "out.csv")


def sentence(ended: Result) -> str:
    """Return the last line of a command that ended with a sentence."""
    assert ended.exit_code == 2, ended.exception
    assert isinstance(ended.exception, SystemExit)
    return ended.stderr.splitlines()[-1]


def test_what_cannot_be_written_is_one_sentence(blocked: str, pairs: str, model: str) -> None:
    models = ["--model", model, "--model", "minilm"]
    for app, words in [
        (PROBE, ["templates", "numerical", "--n", "2", "--out", blocked]),
        (PROBE, ["batch", pairs, "--model", model, "--out", blocked]),
        (PROBE, ["batch", pairs, "--model", model, "--out", f"{pairs}.csv", "--summary", blocked]),
        (PROBE, ["compare", pairs, *models, "--out", blocked]),
        (PROBE, ["compare", pairs, *models, "--summary", blocked]),
        (FINETUNE, ["train", "--model", model, "--train", pairs, "--out", blocked]),
        (FINETUNE, ["words", "--model", "da", "--train", pairs, "--out", blocked]),
        (FINETUNE, ["vectors", "--encoder", model, "--train", pairs, "--out", f"{blocked}/v"]),
        (FINETUNE, ["report", "gallery-da-negation", "--out", blocked]),
    ]:
        ended = CliRunner().invoke(app, words)
        assert sentence(ended).startswith(f"error: {Path(blocked).parent}"), words
        assert " cannot be written: " in ended.stderr


def test_a_folder_where_a_file_should_be_is_one_sentence(tmp_path: Path) -> None:
    for out in ["out.csv", "pairs.jsonl"]:
        (tmp_path / out).mkdir()
        words = ["templates", "numerical", "--n", "2", "--out", str(tmp_path / out)]
        assert "cannot be written: it is a folder" in sentence(CliRunner().invoke(PROBE, words)), (
            out
        )


def test_a_missing_file_is_one_sentence(tmp_path: Path, model: str) -> None:
    gone, out = str(tmp_path / "gone.jsonl"), str(tmp_path / "out")
    for app, words in [
        (PROBE, ["rules", "all", gone]),
        (FINETUNE, ["train", "--model", model, "--train", gone, "--out", out]),
        (FINETUNE, ["words", "--model", "da", "--train", gone, "--out", out]),
        (FINETUNE, ["vectors", "--encoder", model, "--train", gone, "--out", out]),
    ]:
        assert "gone.jsonl cannot be" in sentence(CliRunner().invoke(app, words)), words


def test_a_summary_is_whole_json_in_a_folder_of_its_own(
    pairs: str, model: str, tmp_path: Path
) -> None:
    summary = tmp_path / "new" / "summary.json"
    words = ["batch", pairs, "--model", model, "--out", str(tmp_path / "o.csv")]
    assert CliRunner().invoke(PROBE, [*words, "--summary", str(summary)]).exit_code == 0
    assert json.loads(summary.read_text())["rows"] == 20
