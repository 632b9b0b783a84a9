"""Tables come in whatever form and go out unaltered."""

import gzip
import json
import random
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from probe.data.rows import guess
from probe.data.source import Table, read_table
from probe.data.writers import write_table
from probe.errors import FileError
from probe.settings import ASSETS
from probe.tasks.nli import NLI
from tests.support.files.pair_files import pair_columns
from tests.support.property_settings import STEADY


def table(folder: Path, name: str, data: bytes | str) -> Table:
    """Write a file and read it."""
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return read_table(path)


def cells(found: Table) -> list[list[object]]:
    """Return header and rows."""
    return [list(found.frame.columns), *found.frame.to_numpy(dtype=object).tolist()]


def test_csv_cells_may_hold_quotes_commas_and_line_breaks(tmp_path: Path) -> None:
    text = 'premise,hypothesis\n"He said ""no"", twice.","Two\nlines"\n'
    assert cells(table(tmp_path, "a.csv", text)) == [
        ["premise", "hypothesis"],
        ['He said "no", twice.', "Two\nlines"],
    ]


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_csv_may_be_split_by_another_mark(mark: str, tmp_path: Path) -> None:
    text = f"premise{mark}hypothesis\na, b{mark}c\n"
    assert cells(table(tmp_path, "a.csv", text))[1] == ["a, b", "c"]


@pytest.mark.parametrize(
    "name", ["id, nr, x, y", "id\nnr", "id\r\nnr, x", 'the "id", nr, x, y', ",\n,\n,\n"]
)
@pytest.mark.parametrize("first", [True, False])
def test_marks_and_line_breaks_in_a_quoted_name_split_no_fields(
    name: str, first: bool, tmp_path: Path
) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    names = [quoted, "premise"] if first else ["premise", quoted]
    found = table(tmp_path, "a.csv", ";".join(names) + "\n1, 2, 3;a\n")
    expected = [name, "premise"] if first else ["premise", name]
    assert cells(found) == [expected, ["1, 2, 3", "a"]]


@pytest.mark.parametrize("mark", ["^", "~", "\x01", "\x1f"])
def test_a_rare_mark_splits_where_none_of_the_usual_ones_does(mark: str, tmp_path: Path) -> None:
    found = table(tmp_path, "a.csv", f"premise{mark}hypothesis\na, b{mark}c\n")
    assert cells(found) == [["premise", "hypothesis"], ["a, b", "c"]]
    found = table(tmp_path, "b.csv", f"premise,x{mark}y{mark}z\na,b\n")
    assert cells(found) == [["premise", f"x{mark}y{mark}z"], ["a", "b"]]


@pytest.mark.parametrize("name", ["text", "premise: the first", "dc:title", "a/b-c_d.e #1 (f)"])
def test_a_file_of_one_column_stays_one(name: str, tmp_path: Path) -> None:
    assert cells(table(tmp_path, "a.csv", f"{name}\na: b\n")) == [[name], ["a: b"]]


@pytest.mark.parametrize("mark", [";", ",", "\t", ":", "\N{SECTION SIGN}"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("line", ["sep={}\r\n", '\n"SEP={}"\n'])
def test_the_first_line_may_tell_what_splits_fields(
    mark: str, encoding: str, line: str, tmp_path: Path
) -> None:
    text = f"{line.format(mark)}a, b; c{mark}café\nd{mark}e\n" if mark not in ",;" else (
        f"{line.format(mark)}a b{mark}café\nd{mark}e\n"
    )  # fmt: skip
    found = cells(table(tmp_path, "a.csv", text.encode(encoding)))
    assert [row[1] for row in found] == ["café", "e"]
    assert len(found[0]) == 2


def test_a_quote_that_only_a_wrong_mark_opens_does_not_read_the_file(tmp_path: Path) -> None:
    rows = "".join(f"a,b{at}\n" for at in range(3000))
    found = table(tmp_path, "a.csv", f'premise,x;"y\n{rows}')
    assert cells(found)[:2] == [["premise", 'x;"y'], ["a", "b0"]]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_will_do(end: str, tmp_path: Path) -> None:
    text = end.join(["premise,hypothesis", "a,b", "c,d", ""])
    assert cells(table(tmp_path, "a.csv", text))[1:] == [["a", "b"], ["c", "d"]]


def test_a_byte_order_mark_is_not_part_of_the_first_name(tmp_path: Path) -> None:
    found = table(tmp_path, "a.csv", b"\xef\xbb\xbfpremise,hypothesis\nna\xc3\xafve,b\n")
    assert cells(found) == [["premise", "hypothesis"], ["naïve", "b"]]


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16"])
@pytest.mark.parametrize(
    "text",
    [
        "El niño comió una manzana.,El niño comió.",
        "Der Bär läuft über die Straße.,Ein Tier läuft.",
        "It costs £5.,The price is £5.",
        "Ça va très bien à l'école.,Où êtes-vous?",
    ],
)
def test_western_text_is_read_in_the_encodings_of_western_machines(
    text: str, encoding: str, tmp_path: Path
) -> None:
    found = table(tmp_path, "a.csv", f"premise,hypothesis\n{text}\n".encode(encoding))
    assert cells(found)[1] == text.split(",")


def test_a_text_that_ends_within_a_character_of_utf_8_is_western(tmp_path: Path) -> None:
    found = table(tmp_path, "a.csv", b"premise,hypothesis\na man,un caf\xe9")
    assert cells(found)[1] == ["a man", "un café"]


def test_the_curly_quotes_of_windows_are_read(tmp_path: Path) -> None:
    text = "premise,hypothesis\nThe café wasn’t open.,“Closed”\n"
    assert cells(table(tmp_path, "a.csv", text.encode("cp1252")))[1] == [
        "The café wasn’t open.",
        "“Closed”",
    ]


def test_polish_text_of_windows_is_read(tmp_path: Path) -> None:
    text = "premise,hypothesis\nZażółć gęślą jaźń.,Kot śpi.\n"
    found = table(tmp_path, "a.csv", text.encode("cp1250"))
    assert cells(found)[1] == ["Zażółć gęślą jaźń.", "Kot śpi."]


def test_a_lone_quote_in_tsv_swallows_no_line(tmp_path: Path) -> None:
    text = 'premise\thypothesis\n"He left.\tHe went.\nHe sat.\tHe "rested.\n'
    assert cells(table(tmp_path, "a.tsv", text))[1:] == [
        ['"He left.', "He went."],
        ["He sat.", 'He "rested.'],
    ]


def test_the_mnli_release_is_read() -> None:
    found = read_table(ASSETS / "examples" / "mnli_form.tsv")
    assert guess(list(found.frame.columns), NLI) == pair_columns(
        "sentence1", "sentence2", "gold_label"
    )
    assert found.broken == {}


def test_the_mnli_release_may_be_called_txt(tmp_path: Path) -> None:
    text = "gold_label\tsentence1_binary_parse\tsentence1\tsentence2\nneutral\t( a b )\ta b\tc\n"
    found = table(tmp_path, "multinli_1.0_dev_matched.txt", text)
    assert found.form == "tsv"
    assert cells(found)[1] == ["neutral", "( a b )", "a b", "c"]


def test_the_snli_release_is_read(tmp_path: Path) -> None:
    found = read_table(ASSETS / "examples" / "snli_form.jsonl")
    assert guess(list(found.frame.columns), NLI) == pair_columns(
        "sentence1", "sentence2", "gold_label"
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv.gz", "premise,hypothesis\na,b\n"),
        ("a.TSV.GZ", "premise\thypothesis\na\tb\n"),
        ("a.jsonl.gz", '{"premise": "a", "hypothesis": "b"}\n'),
    ],
)
def test_gzip_is_opened(name: str, text: str, tmp_path: Path) -> None:
    found = table(tmp_path, name, gzip.compress(text.encode()))
    assert cells(found) == [["premise", "hypothesis"], ["a", "b"]]


def test_only_line_feeds_end_a_json_line(tmp_path: Path) -> None:
    text = '{"premise": "a\u2028b\u0085c", "hypothesis": "d\\ne"}\n{"premise": "f"}\n'
    assert cells(table(tmp_path, "a.jsonl", text))[1:] == [["a\u2028b\u0085c", "d\ne"], ["f", None]]


def test_a_json_list_is_read_too(tmp_path: Path) -> None:
    found = table(tmp_path, "a.json", '[{"premise": "a", "hypothesis": "b"}]')
    assert cells(found)[1] == ["a", "b"]


def test_parquet_is_read(tmp_path: Path) -> None:
    frame = pd.DataFrame({"premise": ["a"], "hypothesis": ["b"], "n": [7]})
    frame.to_parquet(tmp_path / "a.parquet")
    assert cells(read_table(tmp_path / "a.parquet")) == [
        ["premise", "hypothesis", "n"],
        ["a", "b", 7],
    ]


def test_a_ragged_row_is_broken_and_the_rest_is_not(tmp_path: Path) -> None:
    found = table(tmp_path, "a.csv", "premise,hypothesis\na,b\nc\nd,e,f\ng,h\n")
    assert found.broken == {
        1: "the row has 1 fields, the header 2",
        2: "the row has 3 fields, the header 2",
    }
    assert cells(found)[4] == ["g", "h"]


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("a.csv", b"", "a.csv is empty"),
        ("a.csv", b" \n\n", "a.csv is empty"),
        ("a.csv", b"\xef\xbb\xbf", "a.csv is empty"),
        ("a.jsonl", b"\xef\xbb\xbf", "a.jsonl is empty"),
        ("a.csv", b"premise,hypothesis\n", "a.csv has no rows below its header"),
        ("a.json", b"[]", "a.json has no rows below its header"),
        ("a.csv", b"a,a\n1,2\n", "a.csv has two columns called 'a'; rename one"),
        ("a.xlsx", b"PK", "a.xlsx cannot be read as an Excel workbook: "),
        ("a.ods", b"PK", "a.ods: name the file .csv, .tsv, .jsonl, .parquet or .xlsx"),
        ("a", b"a,b\n1,2\n", "a: name the file .csv, .tsv, .jsonl, .parquet or .xlsx"),
        ("a.csv", random.Random(0).randbytes(4000), "a.csv is not text"),
        ("a.csv", b"\x89PNG\r\n\x1a\n" + random.Random(1).randbytes(4000), "a.csv is not text"),
        ("a.jsonl", b"premise,hypothesis\n", "a.jsonl is not JSON lines: "),
        ("a.json", b'{"data": [', "a.json is not JSON: it ends inside its list"),
        ("a.json", b'[{"a": 1},', "a.json is not JSON: it ends inside its list"),
        ("a.jsonl", b"1\n2\n", "a.jsonl: each line must be a JSON object"),
        ("a.parquet", b"premise,hypothesis\n", "a.parquet cannot be read as Parquet: "),
        ("a.csv.gz", b"premise,hypothesis\n", "a.csv.gz cannot be opened: "),
        ("a.csv.gz", gzip.compress(b"a,b\n" * 99, mtime=0)[:-20], "a.csv.gz cannot be opened: "),
        (
            "a.csv.gz",
            gzip.compress(b"a", mtime=0)[:10] + b"\xff" * 20,
            "a.csv.gz cannot be opened: ",
        ),
    ],
)
def test_a_bad_file_gets_one_sentence(
    name: str, data: bytes, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(FileError) as caught:
        table(tmp_path, name, data)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"^gone\.csv cannot be opened: "):
        read_table(tmp_path / "gone.csv")


CELLS = [
    "007",
    "NA",
    "1.10",
    " spaces ",
    'a "quote"',
    "a, b; c",
    "😀",
    "nan",
    "",
    "1e5",
    "TRUE",
    "-",
]
BREAKS = ["two\nlines", "two\r\nlines", "a\rb", "tab\tbed"]


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("a.csv", CELLS + BREAKS),
        ("a.csv.gz", CELLS + BREAKS),
        ("a.tsv", CELLS),
        ("a.jsonl", CELLS + BREAKS + ["\u2028"]),
        ("a.parquet", CELLS + BREAKS),
    ],
)
def test_every_cell_comes_out_as_it_went_in(name: str, texts: list[str], tmp_path: Path) -> None:
    frame = pd.DataFrame({"premise": texts, "a b": texts[::-1]}, dtype=object)
    write_table(frame, tmp_path / name)
    again = read_table(tmp_path / name)
    assert again.broken == {}
    assert cells(again) == [["premise", "a b"], *zip_rows(texts)]


def zip_rows(texts: list[str]) -> list[list[str]]:
    """Return the rows of a text and its mirror image."""
    return [list(row) for row in zip(texts, texts[::-1], strict=True)]


@STEADY
@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=8), min_size=1, max_size=5))
def test_any_text_survives_csv(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    write_table(pd.DataFrame({"premise": texts, "x": "y"}, dtype=object), path)
    assert list(read_table(path).frame["premise"]) == texts


@pytest.mark.parametrize("text", ["a\tb", "a\nb", "a\rb"])
def test_tsv_refuses_a_text_it_cannot_hold(text: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"^a\.tsv: a text holds a tab or line break"):
        write_table(pd.DataFrame({"premise": [text]}), tmp_path / "a.tsv")


def test_jsonl_keeps_numbers_and_what_is_missing(tmp_path: Path) -> None:
    first = '{"premise": "a", "n": 7, "x": null, "l": [1, "b"]}'
    second = '{"premise": "b", "n": 1.5, "t": true}'
    found = table(tmp_path, "a.jsonl", f"{first}\n{second}\n")
    write_table(found.frame, tmp_path / "b.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()]
    assert lines == [
        {"premise": "a", "n": 7, "x": None, "l": [1, "b"], "t": None},
        {"premise": "b", "n": 1.5, "x": None, "l": None, "t": True},
    ]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet"])
def test_what_parquet_holds_can_be_written_in_any_form(name: str, tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "premise": ["a", "b"],
            "tags": [["x", "y"], []],
            "when": pd.to_datetime(["2026-01-02", None]),
            "n": pd.array([1, None], dtype="Int64"),
        }
    )
    frame.to_parquet(tmp_path / "in.parquet")
    write_table(read_table(tmp_path / "in.parquet").frame, tmp_path / name)
    assert list(read_table(tmp_path / name).frame["premise"]) == ["a", "b"]


def test_a_whole_number_of_parquet_beside_an_empty_cell_stays_whole(tmp_path: Path) -> None:
    numbers = pa.table({"premise": ["a", "b"], "n": pa.array([1, None], pa.int64())})
    parquet.write_table(numbers, tmp_path / "in.parquet")
    for name in ("a.csv", "a.jsonl"):
        write_table(read_table(tmp_path / "in.parquet").frame, tmp_path / name)
    assert cells(read_table(tmp_path / "a.csv"))[1:] == [["a", "1"], ["b", ""]]
    assert cells(read_table(tmp_path / "a.jsonl"))[1:] == [["a", 1], ["b", None]]


def test_half_a_surrogate_pair_survives_jsonl(tmp_path: Path) -> None:
    row = '{"premise": "a \\ud83d", "hypothesis": "b"}\n'
    write_table(table(tmp_path, "a.jsonl", row).frame, tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_text() == row


def test_parquet_says_which_text_it_cannot_hold(tmp_path: Path) -> None:
    frame = pd.DataFrame({"premise": ["a", "b"], "n": ["one", 2]}, dtype=object)
    with pytest.raises(FileError, match=r"^a\.parquet: Parquet cannot hold a column"):
        write_table(frame, tmp_path / "a.parquet")


def test_a_folder_for_the_result_is_made(tmp_path: Path) -> None:
    write_table(pd.DataFrame({"a": ["b"]}), tmp_path / "new" / "folder" / "a.csv")
    assert (tmp_path / "new" / "folder" / "a.csv").is_file()
