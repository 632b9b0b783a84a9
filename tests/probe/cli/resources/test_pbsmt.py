"""`python -m probe pbsmt`: its copies, and files that it refuses."""

import gzip
from pathlib import Path

import pytest
from typer.testing import CliRunner

from probe.cli.resources.pbsmt import app
from probe.tasks.nli import LABELS
from tests.support.models.toy_ngrams import ARPA


@pytest.fixture
def toy_tables(tmp_path: Path) -> Path:
    """Write the toy tables for each label, and two pairs of each: one can only be copied."""
    for label in LABELS:
        (tmp_path / f"{label}.phrases.gz").write_bytes(gzip.compress(b"c\t-0.1\tb\n"))
        (tmp_path / f"{label}.arpa.gz").write_bytes(gzip.compress(ARPA.encode()))
    rows = [f"{premise}\tsomething\t{label}\n" for label in LABELS for premise in ("zu", "c")]
    (tmp_path / "pairs.tsv").write_text("".join(["premise\thypothesis\tlabel\n", *rows]))
    return tmp_path


def test_copies_are_counted_for_each_label(toy_tables: Path) -> None:
    command = ["copies", str(toy_tables / "pairs.tsv"), "--tables", str(toy_tables)]
    result = CliRunner().invoke(app, command)
    shares = [f"{label}: 1 of 2 copied, 50.0%" for label in LABELS]
    assert result.output.splitlines() == [*shares, "all: 3 of 6 copied, 50.0%"]


def test_a_file_without_labels_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("premise\thypothesis\na\tb\n")
    result = CliRunner().invoke(app, ["train", str(path), "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "gold labels are needed here, and of the columns of pairs.tsv" in result.output


def test_a_folder_without_tables_is_refused(toy_tables: Path) -> None:
    command = ["copies", str(toy_tables / "pairs.tsv"), "--tables", str(toy_tables / "none")]
    result = CliRunner().invoke(app, command)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {toy_tables / 'none'} lacks entailment.phrases.gz, ")
