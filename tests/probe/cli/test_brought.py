"""Files as people bring them: the right figure, or a question with the option that settles it.

The files of tests/brought are ours, in the forms in which data sets, students and tools publish
theirs. A figure is over all rows with a gold label: the same over fewer is wrong.
"""

import csv
import json
import shlex
from functools import cache
from pathlib import Path

import pytest

from probe.models.library import open_model
from tests.support.cases import check_each
from tests.support.commands import call, run

BROUGHT = Path(__file__).parents[2] / "brought"
ASKS: list[tuple[str, str]] = [
    ("01_wnli.tsv", "--label-value"),
    ("01_wnli.tsv --label-value 1=entailment", "--label-value 0="),
    ("03_cb_hub.jsonl", "--label-value"),
    ("10_stars.csv --model minilm_sst2", "--label-value"),
    ("15_klue_sts.json", "--gold"),
    ("15_klue_sts.json --model minilm_qqp", "--gold"),
    ("02_paws.tsv", "--model minilm_qqp"),
    ("02_paws_qqp_bytes.tsv", "--model minilm_qqp"),
    ("31_msrp.txt", "--model minilm_mrpc"),
    ("32_qnli.tsv", "--column premise="),
    ("19_tab_csv_lone_quote.csv", "--no-quotes"),
    ("16_no_header.tsv", "--no-header"),
    ("16_no_header_sentiment.csv --model minilm_sst2", "--no-header"),
    ("63_gap.xlsx", "--label-value"),
    ("64_pandas.parquet", "--label-value"),
    ("63_second_sheet.xlsx", "--label-value"),
    ("70_three_way_sentiment.csv --model minilm_sst2", "--gold airline_sentiment"),
    ("71_field_too_many.csv", "name every column in the first line"),
    ("72_web_page.xlsx", "a web page and no table"),
    ("73_fractions.csv", "--gold none"),
    ("74_answer_objects.jsonl --model minilm_reader", "answer.value"),
    ("12_squad2.json", "--model minilm_reader"),
]
"""What the command asks, and an option that it names."""
MNLI = "--label-value 0=entailment --label-value 1=neutral --label-value 2=contradiction"
NO_MIDDLE = "--label-value 0=entailment --label-value 2=contradiction"
FIGURES: list[tuple[str, int, int | None, float | None, str]] = [
    ("01_wnli.tsv --label-value 1=entailment --label-value 0=non-entailment", 8, 8, 7 / 8, ""),
    (f"03_cb_hub.jsonl {MNLI.replace('1=n', '2=n').replace('2=c', '1=c')}", 10, 10, 9 / 10, ""),
    ("29_label_text.jsonl", 10, 10, 9 / 10, "label_text"),
    ("08_assin.tsv", 10, 10, 9 / 10, "None as non-entailment"),
    ("06_glue_test.csv", 10, None, None, "no gold label"),
    ("10_amazon_polarity.csv --model minilm_sst2", 4, 4, 1.0, "1 as negative"),
    ("15_klue_sts.json --model minilm_qqp --gold labels.binary-label", 4, 4, 3 / 4, ""),
    ("02_paws.tsv --model minilm_qqp", 4, 4, 3 / 4, "1 as paraphrase"),
    ("02_paws_qqp_bytes.tsv --model minilm_mrpc", 4, 4, 3 / 4, "read as the text"),
    ("05_sick.txt", 10, 10, 9 / 10, ""),
    ("31_msrp.txt --model minilm_mrpc", 4, 4, 3 / 4, ""),
    ("32_qnli.tsv --premise sentence --hypothesis question", 2, 2, 1.0, ""),
    ("35_answer_col.csv", 10, None, None, "without a gold label"),
    ("07_quotes.tsv", 4, 4, 1.0, ""),
    ("19_tab_csv_lone_quote.csv --no-quotes", 4, 4, 3 / 4, ""),
    (
        "16_no_header.tsv --no-header --premise column1 --hypothesis column2 --gold column3",
        10,
        10,
        9 / 10,
        "",
    ),
    ("18_chaosnli.jsonl", 10, 10, 9 / 10, ""),
    ("20_data_list.json", 10, 10, 9 / 10, ""),
    ("20_hub_viewer_rows.json", 10, 10, 9 / 10, ""),
    ("20_pandas_to_json.json", 10, 10, 9 / 10, ""),
    ("20_pretty_objects.json", 10, 10, 9 / 10, ""),
    ("41_czech_cp1250.csv", 30, 30, 10 / 30, ""),
    ("41_czech_cp1250.csv --encoding cp1250", 30, 30, 10 / 30, ""),
    (f"63_gap.xlsx {NO_MIDDLE}", 3, 2, 1.0, ""),
    ("12_squad2.json --model minilm_reader", 3, 3, 1 / 3, ""),
    ("75_groups_of_columns.xlsx", 2, 2, 1.0, "its first row is a title"),
    ("76_json_lines.csv", 2, 2, 1.0, ""),
    ("77_header_again.csv", 2, 2, 1.0, ""),
    ("78_no_width.csv", 2, 2, 1.0, ""),
    ("13_squad_version_number.json --model minilm_reader", 1, 1, 1.0, ""),
    ("14_squad_to_csv.csv --model minilm_reader", 2, 2, 1.0, ""),
    ("62_mrqa.jsonl --model minilm_reader", 1, 1, 1.0, ""),
    ("40_languages.csv", 12, 12, 3 / 12, "not in English"),
    ("60_null_texts.csv", 7, 7, 2 / 7, ""),
    ("60_null_texts.jsonl", 8, 8, 3 / 8, ""),
    ("61_long.csv", 2, 2, 1 / 2, "longer than what the model reads"),
]
"""Rows that are scored, those with a gold label, how many are right, and what is said."""


def batch(words: str, folder: Path) -> tuple[str, ...]:
    """Return the command that scores a file."""
    file, *options = shlex.split(words)
    outputs = ("--out", str(folder / "out.csv"), "--summary", str(folder / "s.json"))
    return ("batch", str(BROUGHT / file), *options, *outputs, "--precision", "fp32")


@pytest.fixture(autouse=True)
def loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load each model once for all files of a test."""
    monkeypatch.setattr("probe.cli.options.open_model", cache(open_model))


def test_what_a_file_does_not_tell_is_asked(tmp_path: Path) -> None:
    def check(case: tuple[str, str]) -> None:
        ended = run(*batch(case[0], tmp_path))
        assert ended.exit_code == 2, ended.output
        assert case[1] in ended.stderr.splitlines()[-1]
        assert not (tmp_path / "out.csv").exists()

    check_each({case[0]: case for case in ASKS}, check)


def test_the_figure_is_right(tmp_path: Path) -> None:
    def check(case: tuple[str, int, int | None, float | None, str]) -> None:
        words, scored, n, right, said = case
        ended = run(*batch(words, tmp_path))
        assert ended.exit_code == 0, ended.output
        shape = json.loads((tmp_path / "s.json").read_text())
        measure = "f1" if "f1" in shape else "accuracy"
        assert (shape["scored"], shape[f"{measure}_n"]) == (scored, n or 0)
        assert shape[measure] == (pytest.approx(right) if right is not None else None)
        assert said in ended.output
        lines = [line.removeprefix("note: ") for line in ended.output.splitlines() if line]
        assert len(lines) == len(set(lines)), "something is said twice"

    check_each({case[0]: case for case in FIGURES}, check)


def test_a_challenge_is_read_as_a_scored_file_is(tmp_path: Path) -> None:
    train, test = (BROUGHT / f"50_inoculate_{name}" for name in ("wnli.tsv", "test.csv"))
    words = [
        *("inoculate", "--model", "da", "--challenge", "mine", "--out", tmp_path / "out"),
        *("--challenge-train", train, "--challenge-test", test, "--sizes", "5", "--mode", "fast"),
        *("--max-epochs", "1", "--precision", "fp32", "--in-process"),
    ]
    asked = call(*words)
    assert asked.exit_code == 2 and "--label-value 1=LABEL" in asked.stderr
    read = ("--label-value", "1=entailment", "--label-value", "0=non-entailment")
    for more in ((), ("--gold", "entailment_judgment")):
        ended = call(*words, *read, *more)
        assert ended.exit_code == 0, ended.output
        assert "1 as entailment" in ended.stderr
        with (tmp_path / "out" / "points.csv").open() as points, test.open() as pairs:
            before = next(csv.DictReader(points))
            golds = [row["entailment_judgment"] for row in csv.DictReader(pairs)]
        # before it is trained da calls every pair entailment
        right = golds.count("ENTAILMENT") / len(golds)
        assert float(before["on_challenge"]) == pytest.approx(right), more
