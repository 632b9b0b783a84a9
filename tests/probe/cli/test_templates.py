"""`python -m probe templates`: the files it writes, what it refuses."""

import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from probe.cli.main import app
from probe.tasks.nli import NLI
from probe.templates import Request, TemplatePair, generate
from probe.templates.files import FACTS, write_pairs
from tests.support.files.template_files import texts


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["templates", *arguments])


def test_the_command_writes_what_generate_makes(tmp_path: Path) -> None:
    out = tmp_path / "made" / "n.csv"
    options = ["--complexity", "simple", "--range", "30-49", "--n", "40", "--seed", "4"]
    result = run("numerical", *options, "--out", str(out))
    assert result.exit_code == 0
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    pairs = list(generate(Request("numerical", "simple", low=30, high=49), 40, 4))
    assert tuple(rows[0]) == ("id", "premise", "hypothesis", *FACTS)
    assert [(row["premise"], row["hypothesis"]) for row in rows] == texts(pairs)
    assert [row["label"] for row in rows] == [row.gold for row in pairs]
    assert {row["kind"] for row in rows} == {"numerical"}


def test_the_command_writes_json_lines_and_tsv(tmp_path: Path) -> None:
    options = ["--subcase", "ce_adverb", "--n", "3"]
    for name in ("h.jsonl", "h.tsv"):
        assert run("hans", *options, "--out", str(tmp_path / name)).exit_code == 0
    lines = (tmp_path / "h.jsonl").read_text(encoding="utf-8").splitlines()
    table = (tmp_path / "h.tsv").read_text(encoding="utf-8").splitlines()
    assert [list(json.loads(line).values()) for line in lines] == [
        line.split("\t") for line in table[1:]
    ]


def test_a_file_is_packed_as_its_name_says(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv.gz"):
        assert run("dative", "--n", "3", "--out", str(tmp_path / name)).exit_code == 0
    plain = (tmp_path / "a.csv").read_bytes()
    assert gzip.decompress((tmp_path / "b.csv.gz").read_bytes()) == plain


def test_a_file_that_is_not_completed_leaves_the_older_one(tmp_path: Path) -> None:
    def interrupted() -> Iterator[TemplatePair]:
        yield from generate(Request("dative"), 1, 0)
        raise KeyboardInterrupt

    out = tmp_path / "a.csv"
    out.write_text("older")
    with pytest.raises(KeyboardInterrupt):
        write_pairs(interrupted(), NLI, out)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["older"]


def test_the_command_says_what_is_wrong_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for arguments, message in [
        (["dative", "--n", "999999", "--out", "a.csv"], "999,999 pairs were asked for"),
        (["dative", "--out", "a.parquet"], "name the file .csv, .tsv or .jsonl (packed"),
        (["dative", "--out", "a.png"], "name the file .csv, .tsv or .jsonl (packed"),
        (["numerical", "--range", "9", "--out", "a.csv"], "not of the form LO-HI"),
        (["numerical", "--range", "50-20", "--out", "a.csv"], "must begin with the smaller"),
        (["numerical", "--range", "20-21", "--out", "a.csv"], "needs at least 3 whole numbers"),
        (["dative", "--range", "5-9", "--out", "a.csv"], "range means nothing for dative"),
        (["hans", "--lexical", "A", "--out", "a.csv"], "lexical means nothing for hans"),
    ]:
        monkeypatch.chdir(tmp_path)
        result = run(*arguments)
        assert result.exit_code == 2, (arguments, message)
        assert message in result.output, (arguments, message)
        assert list(tmp_path.iterdir()) == [], (arguments, message)
