"""`python -m probe compare`."""

from pathlib import Path

import pytest

from tests.support.commands import refusal, run

PAIR = ["--premise", "A man walks.", "--hypothesis", "He moves."]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["in.csv", "--gold", "neutral"], "--gold is the label of a pair; "),
        ([*PAIR, "--columns", "a,b"], "--columns is for a file; name one"),
        ([*PAIR, "--out", "o.csv"], "--summary and --out are for a file; name one"),
        (["in.csv", *PAIR], "give a file, or --premise and --hypothesis (or --text), not both"),
    ],
)
def test_options_of_a_file_and_of_a_pair_do_not_mix(words: list[str], said: str) -> None:
    assert refusal("compare", *words, "--model", "one", "--model", "two").startswith(said)


def test_labels_that_are_not_known_are_the_reason_why_nothing_is_scored(
    model: str, tmp_path: Path
) -> None:
    source = tmp_path / "in.csv"
    source.write_text("premise,hypothesis,label\nA man walks.,He moves.,oui\n")
    ended = run("compare", str(source), "--model", model, "--model", "da")
    assert "not read as a label, so not scored: 'oui' (1)" in ended.stderr
    assert ended.stdout.startswith("0 of 1 rows scored")


def test_a_form_that_cannot_hold_the_file_is_refused_before_it_is_compared(
    model: str, tmp_path: Path
) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.parquet"
    row = '{{"premise": "A man walks.", "hypothesis": "He moves.", "label": "neutral", "n": {}}}\n'
    source.write_text(row.format(1) + row.format('"x"'))
    words = ["--model", model, "--model", "da", "--out", str(out)]
    assert refusal("compare", str(source), *words).startswith("out.parquet: Parquet cannot hold ")
    assert not out.exists()
