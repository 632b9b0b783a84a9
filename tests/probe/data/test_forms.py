"""Files in the forms in which people have them: each is read right, or its question is asked."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyarrow as pa
import pytest

from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.rows import cell
from probe.data.source import open_source, read_table
from probe.errors import FileError, FileQuestion
from tests.support.cases import check_each

PAIRS = [
    {"premise": "The lamp is on.", "hypothesis": "The lamp is off.", "label": "c"},
    {"premise": "Two boats left.", "hypothesis": "Boats left.", "label": "e"},
    {"premise": "Ada ran, then sat.", "hypothesis": "Ada is tall.", "label": "n"},
]
FRAME = pd.DataFrame(PAIRS)
QUESTION = {"id": "q", "question": "Who?", "answers": [{"text": "Ada", "answer_start": 0}]}
PASSAGE = {"context": "Ada ran.", "qas": [QUESTION]}
ASKED = [{"context": "Ada ran.", **QUESTION}]
QID = {"qid": "q", "question": "Who?", "answers": ["Ada"]}


@dataclass(frozen=True)
class Form:
    """A file, what its rows are, and words of how it is read; or words of a refusal."""

    name: str
    content: str | bytes | Callable[[Path], object]
    rows: list[dict[str, Any]] | None = None
    words: str = ""
    options: FileOptions = AS_THE_FILE_TELLS
    asked: tuple[str, ...] = ()


def jsons(value: object, **options: Any) -> str:
    return json.dumps(value, ensure_ascii=False, **options)


def lines(*rows: object, **options: Any) -> str:
    return "".join(jsons(row, **options) + "\n" for row in rows)


JSON = {
    "a list under a key": Form("a.json", jsons({"version": "1", "data": PAIRS}), PAIRS, "'data'"),
    "another key": Form("a.json", jsons({"name": "own", "test": PAIRS}, indent=1), PAIRS, "'test'"),
    "a key of several": Form(
        "a.json", jsons({"train": PAIRS[:1], "test": PAIRS}), PAIRS, "'test'",
        FileOptions(sheet="test"),
    ),
    "several lists": Form(
        "a.json", jsons({"train": PAIRS[:1], "test": PAIRS}), words="several lists of rows",
        asked=("--sheet train", "--sheet test"),
    ),
    "no such list": Form(
        "a.json", jsons({"test": PAIRS}), words="no list of rows 'dev'; it has: test",
        options=FileOptions(sheet="dev"),
    ),
    **{
        f"pandas, {orient}": Form(
            "a.json", FRAME.to_json(orient=orient), PAIRS, words  # type: ignore[call-overload]
        )
        for orient, words in {
            "records": "", "columns": "each column", "index": "each row", "split": "'columns'",
            "table": "'data'",
        }.items()
    },
    "lists by column": Form("a.json", jsons(FRAME.to_dict("list")), PAIRS, "each column"),
    "lists of two lengths": Form("a.json", jsons({"a": ["b"], "c": ["d", "e"]}), [
        {"a": ["b"], "c": ["d", "e"]}
    ]),
    "rows by name": Form(
        "a.json", jsons(dict(zip("xyz", PAIRS, strict=True))),
        [{"index": key, **row} for key, row in zip("xyz", PAIRS, strict=True)], "each row",
    ),
    "the hub's viewer": Form(
        "a.json",
        jsons({"features": [{"name": "premise"}], "rows": [
            {"row_idx": at, "row": row, "truncated_cells": []} for at, row in enumerate(PAIRS)
        ]}),
        PAIRS, "'rows'",
    ),
    "over several lines": Form("a.json", lines(*PAIRS, indent=2), PAIRS, "one after another"),
    "one object": Form("a.json", jsons(PAIRS[0], indent=2), PAIRS[:1]),
    "one object with lists": Form("a.jsonl", lines({**PAIRS[0], "by": [{"a": 1}, {"a": 2}]}), [
        {**PAIRS[0], "by": [{"a": 1}, {"a": 2}]}
    ]),
    "a long object": Form("a.json", lines({"data": [{"a": "b" * 3_000_000}]}), [
        {"a": "b" * 3_000_000}
    ], "'data'"),
    "nested": Form("a.jsonl", lines({"example": PAIRS[0], "labels": {"x-y": 0}}), [
        {"example.premise": "The lamp is on.", "labels.x-y": 0, "example.label": "c"}
    ]),
    "SQuAD": Form("a.json", jsons({"version": 1.1, "data": [
        {"title": "t", "paragraphs": [PASSAGE]}
    ]}), [{"title": "t", **ASKED[0]}]),
    "SQuAD with other keys": Form("a.json", jsons({"name": "own", "n": 1, "data": [
        {"paragraphs": [PASSAGE]}
    ], "licence": "CC0"}), ASKED),
    "SQuAD that is broken": Form("a.json", jsons({"data": [{"paragraphs": [{"qas": [{}]}]}]}),
        words="not in SQuAD's form"),
    "passages in a list": Form("a.json", jsons([PASSAGE]), ASKED),
    "MRQA": Form("a.jsonl", lines(
        {"header": {"dataset": "own"}}, {"id": "", "context": "Ada ran.", "qas": [QID, QID]}
    ), [{"context": "Ada ran.", **QID, "id": "q"}] * 2),
}  # fmt: skip
TSV = "premise\thypothesis\tlabel\n"
TEXTS = [[*row.values()] for row in PAIRS]
QUOTED = [
    {"premise": '"We won!" cried Ada.', "hypothesis": 'She said "we won".', "label": "e"},
    {"premise": 'He read "Emma".', "hypothesis": "He read a\tbook.", "label": "e"},
    {"premise": "A note\nof two lines.", "hypothesis": "A note.", "label": "n"},
]
LONE = '"We won! cried Ada.\tAda won.\te\nHe left."\tHe went.\te\nHe sat.\tHe stood.\tc\n'
AS_QUOTED = "We won! cried Ada.\tAda won.\te\nHe left."
ASKS_QUOTES, ASKS_HEADER = ("--quotes", "--no-quotes"), ("--no-header", "--header")
NO_HEADER = FileOptions(header=False)
COLUMNS = [dict(zip(("column1", "column2", "column3"), row, strict=True)) for row in TEXTS]


def tabs(*rows: list[str]) -> str:
    return "".join("\t".join(row) + "\n" for row in rows)


def commas(*rows: list[str]) -> str:
    return pd.DataFrame(rows).to_csv(index=False, header=False)


DELIMITED = {
    "pandas with tabs": Form(
        "a.tsv", pd.DataFrame(QUOTED).to_csv(sep="\t", index=False), QUOTED, "quotes enclose"
    ),
    "the same as .csv": Form("a.csv", pd.DataFrame(QUOTED).to_csv(sep="\t", index=False), QUOTED),
    "every text in quotes": Form(
        "a.tsv", FRAME.to_csv(sep="\t", index=False, quoting=1), PAIRS, "quotes enclose"
    ),
    "MNLI": Form(
        "a.tsv", TSV + tabs(['"We won!" cried Ada.', "Ada won.", "e"], ['"No."', '"', "n"]),
        [
            {"premise": '"We won!" cried Ada.', "hypothesis": "Ada won.", "label": "e"},
            {"premise": '"No."', "hypothesis": '"', "label": "n"},
        ],
    ),
    "a ragged row of MNLI": Form(
        "a.tsv", TSV + tabs(['"We won!', "Ada won.", "e"], ["a", "b"], ["c", "d", "e"]),
        [{"premise": '"We won!'}, {"premise": "a"}, {"premise": "c"}],
    ),
    "a pair of lone quotes": Form("a.csv", TSV + LONE, words="fit both ways", asked=ASKS_QUOTES),
    "quotes that need not be": Form(
        "a.tsv", TSV + tabs(['"No."', "b", "e"], ["a", "b", "c"]), words="fit both ways",
        asked=ASKS_QUOTES,
    ),
    "the same, told to be text": Form(
        "a.csv", TSV + LONE,
        [{"premise": '"We won! cried Ada.'}, {"premise": 'He left."'}, {"premise": "He sat."}],
        "quotes belong to the text", FileOptions(quotes=False),
    ),
    "the same, told to enclose": Form(
        "a.csv", TSV + LONE, [{"premise": AS_QUOTED}, {"premise": "He sat."}],
        options=FileOptions(quotes=True),
    ),
    "lone quotes at commas": Form(
        "a.csv", 'premise,hypothesis\n"We won! cried Ada,b\n"a" b,c\nd,e\n',
        [{"premise": '"We won! cried Ada'}, {"premise": '"a" b'}, {"premise": "d"}],
        "quotes belong to the text",
    ),
    "lines in quotes at commas": Form(
        "a.csv", 'premise,hypothesis\n"a\nb, c",d\n', [{"premise": "a\nb, c", "hypothesis": "d"}]
    ),
    "a doubled quote where the text fits better": Form(
        "a.tsv", 'a\tb\n"x ""y"""\tz\n"u\tv"\n', words="fit both ways", asked=ASKS_QUOTES
    ),
    "lines in quotes at commas that fit both ways": Form(
        "a.csv", 'premise,hypothesis\n"a,b\nc",d\n', words="fit both ways", asked=ASKS_QUOTES
    ),
    "no header": Form(
        "a.tsv", tabs(*TEXTS, ["a", "b", "c"]), words="looks like data", asked=ASKS_HEADER
    ),
    "no header, numbers": Form(
        "a.csv", commas(["4", "17", "so good"], ["0", "18", "bad"]), words="looks like data",
        asked=ASKS_HEADER,
    ),
    "no header, one row": Form("a.tsv", tabs(["He sat in the hall.", "He was there on time."]),
        words="looks like data", asked=ASKS_HEADER),
    "told to have none": Form("a.csv", commas(*TEXTS), COLUMNS, "first row is data", NO_HEADER),
    "told to have one": Form(
        "a.csv", commas(["1", "2", "2"], ["3", "4", "5"]), words="two columns called '2'",
        options=FileOptions(header=True),
    ),
    "columns called by numbers": Form("a.csv", "0,1\n2,3\n", [{"0": "2", "1": "3"}]),
    "a long question": Form(
        "a.csv", commas(["Who was it, do you think?", "label"], ["a", "e"], ["b", "c"], ["c", "e"],
            ["d", "c"]), [{"Who was it, do you think?": at} for at in "abcd"],
    ),
    "a title": Form(
        "a.csv", "Our pairs\n" + FRAME.to_csv(index=False), PAIRS, "first row is a title"
    ),
    "a title and a date": Form(
        "a.tsv", "Our pairs\t\t\n2024\t\t\n" + TSV + tabs(*TEXTS), PAIRS, "2 rows are titles"
    ),
    "one column of texts": Form("a.csv", "text\nOne\nTwo\n", [{"text": "One"}, {"text": "Two"}]),
    "bytes": Form(
        "a.tsv", tabs(["n", "text"], ["1", "b'Ad\\xc3\\xa9 ran'"], ["2", 'b"it\'s"'], ["3", ""]),
        [{"text": "Adé ran"}, {"text": "it's"}, {"text": ""}], "b'…' is read as the text in text",
    ),
    "a text that is no bytes": Form("a.tsv", tabs(["text"], ["b'a'"], ["b"]), [
        {"text": "b'a'"}, {"text": "b"}
    ]),
    "JSON lines as .txt": Form("a.txt", lines(*PAIRS), PAIRS),
    "commas as .txt": Form("a.txt", commas([*PAIRS[0]], *TEXTS), PAIRS),
    "an encoding": Form(
        "a.csv", "text\nKůň pije.\n".encode("cp1250"), [{"text": "Kůň pije."}], "CP1250",
        FileOptions(encoding="windows-1250"),
    ),
    "no such encoding": Form("a.csv", "text\na\n", words="there is no encoding 'base64'",
        options=FileOptions(encoding="base64")),
    "another encoding": Form(
        "a.csv", b"text\n\xc5\xafK\xf9\xf2\n", options=FileOptions(encoding="utf8"),
        words="a.csv is not in UTF-8: its byte 9, in line 2, is 0xF9, which is none of such a text",
        asked=("--encoding cp1252", "--encoding cp1250", "--encoding latin-1"),
    ),
    "no such beginning": Form(
        "a.csv", b"text\na\n", options=FileOptions(encoding="utf-16"),
        words="a.csv is not in UTF-16: it does not begin or end as such a text does",
        asked=tuple(f"--encoding {name}" for name in ("utf-8", "cp1252", "cp1250", "latin-1")),
    ),
}  # fmt: skip


def book(**sheets: list[list[Any]]) -> Callable[[Path], None]:
    """Return what writes a workbook of sheets by name."""

    def write(path: Path) -> None:
        workbook = openpyxl.Workbook()
        del workbook[workbook.sheetnames[0]]
        for name, rows in sheets.items():
            sheet = workbook.create_sheet(name)
            for row in rows:
                sheet.append(row)
        workbook.save(path)

    return write


SHEET: list[list[Any]] = [[*PAIRS[0]], *TEXTS]
EXCEL = {
    "one sheet": Form("a.xlsx", book(a=SHEET), PAIRS),
    "the second sheet": Form("a.xlsx", book(a=[], b=SHEET), PAIRS, "sheet 'b'"),
    "a sheet of notes": Form("a.xlsx", book(b=SHEET, a=[["By"], ["Ada"]]), PAIRS),
    "two sheets": Form(
        "a.xlsx", book(**{"of a": SHEET, "b": SHEET}), words="several sheets",
        asked=("--sheet 'of a'", "--sheet b"),
    ),
    "a sheet by name": Form("a.xlsx", book(a=SHEET, b=SHEET[:2]), PAIRS[:1], "sheet 'b'",
        FileOptions(sheet="b")),
    "a sheet by number": Form("a.xlsx", book(a=SHEET, b=SHEET[:2]), PAIRS[:1], "sheet 'b'",
        FileOptions(sheet="2")),
    "no such sheet": Form("a.xlsx", book(a=SHEET), words="no sheet 'c'; it has: a",
        options=FileOptions(sheet="c")),
    "a title in Excel": Form("a.xlsx", book(a=[["Our pairs"], [], *SHEET]), PAIRS, "is a title"),
    "no header in Excel": Form("a.xlsx", book(a=[*TEXTS, ["a", "b", "c"]]),
        words="looks like data", asked=ASKS_HEADER),
    "told to have none in Excel": Form("a.xlsx", book(a=TEXTS), COLUMNS, "is data", NO_HEADER),
}  # fmt: skip
TEXT_IN = {
    "cp1250": ("Muž čte knihu v zahradě, děti si zpívají.", "Kobieta stoi obok łóżka.",
        "A férfi könyvet olvas, a nő őt nézi a fűben.", "Bărbatul citeşte o carte în grădină."),
    "iso8859_2": ("Muž čte knihu v zahradě, děti si zpívají.", "Zażółć gęślą jaźń."),
    "cp1252": ("Ça va très bien à l’école.", "El niño comió.", "It costs £5.", "un café", "español",
        "Søren", "En man läser på gården.", "It was 20 °C.", "Müller"),
    "cp1254": ("Adam bahçede kitap okuyor, çocuklar gülüşüyor ve ağaç altında.",),
    "cp1257": ("Vyras skaito knygą sode, vaikai žaidžia šalia upės.",
        "Vīrietis lasa grāmatu dārzā, un bērni spēlējas."),
    "cp1251": ("Мужчина читает книгу в саду, а дети играют на улице.",),
    "cp1253": ("Ο άντρας διαβάζει ένα βιβλίο στον κήπο και τα παιδιά παίζουν έξω.",),
    "shift_jis": ("男性が庭で本を読んでいます。その男性は外に座っている。",),
}  # fmt: skip
ENCODINGS = {
    **{
        f"{encoding}, {text}": Form("a.tsv", f"text\n{text}\n".encode(encoding), [{"text": text}])
        for encoding, texts in TEXT_IN.items()
        for text in texts
    },
    "letters of two encodings": Form(
        "a.csv", "text\nČovjek čita.\n".encode("cp1250"), words="('Čovjek')",
        asked=("--encoding cp1252", "--encoding cp1250"),
    ),
}  # fmt: skip


def arrow(path: Path, count: int = 3, stream: bool = True) -> None:
    """Write the first pairs as an Arrow file."""
    table = pa.table(FRAME[:count])
    new = pa.ipc.new_stream if stream else pa.ipc.new_file
    with new(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


def saved(path: Path, **state: object) -> None:
    """Write what `save_to_disk` writes of a data set."""
    path.mkdir(parents=True)
    names = [f"data-0000{at}-of-00002.arrow" for at in range(2)]
    for count, name in zip((1, 2), names, strict=True):
        arrow(path / name, count)
    files = [{"filename": name} for name in names]
    (path / "state.json").write_text(jsons({"_data_files": files, **state}))


def splits(*names: str) -> Callable[[Path], None]:
    """Return what writes a folder of splits."""

    def write(path: Path) -> None:
        for name in names:
            saved(path / name)
        (path / "dataset_dict.json").write_text(jsons({"splits": names}))

    return write


SAVED = [PAIRS[0], *PAIRS[:2]]
ARROW = {
    "a stream": Form("a.arrow", arrow, PAIRS),
    "a file": Form("a.feather", lambda path: arrow(path, stream=False), PAIRS),
    "no Arrow": Form("a.arrow", "text\n", words="a.arrow cannot be read as Arrow: "),
    "a folder of datasets": Form("a", saved, SAVED),
    "chosen rows": Form("a", lambda path: saved(path, _indices_data_files=[{}]),
        words="flatten_indices()"),
    "splits": Form("a", splits("train", "test"), words="several splits: train, test",
        asked=("--sheet train", "--sheet test")),
    "a split": Form("a", splits("train", "test"), SAVED, "split 'test'", FileOptions(sheet="test")),
    "the only split": Form("a", splits("test"), SAVED, "split 'test'"),
    "no such split": Form("a", splits("test"), words="no split 'dev'; it has: test",
        options=FileOptions(sheet="dev")),
    "an archive": Form("a.zip", "", words="the file data-00000-of-00001.arrow"),
    "another folder": Form("a", Path.mkdir, words="a is a folder without Arrow files"),
}  # fmt: skip
FORMS = {**JSON, **DELIMITED, **EXCEL, **ENCODINGS, **ARROW}


def test_a_file_is_read_in_the_form_that_it_has(tmp_path: Path) -> None:
    def check(case: tuple[int, str, Form]) -> None:
        number, known, form = case
        (folder := tmp_path / str(number)).mkdir()
        path = folder / form.name
        if callable(form.content):
            form.content(path)
        else:
            content = form.content
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        for read in (read_table, open_source):
            if form.rows is None:
                with pytest.raises(FileError) as caught:
                    read(path, options=form.options)
                assert form.words in str(caught.value)
                options = caught.value.options if isinstance(caught.value, FileQuestion) else ()
                assert options == form.asked
                continue
            table = read(path, options=form.options)
            records = list(table.records())
            assert [record.number for record in records] == list(range(len(form.rows)))
            for record, row in zip(records, form.rows, strict=True):
                assert {name: cell(record.cells, name) for name in row} == row
                assert set(row) <= set(table.names)
            assert form.words in table.words
            assert bool(table.words) == bool(form.words) or known in ENCODINGS

    check_each({known: (at, known, form) for at, (known, form) in enumerate(FORMS.items())}, check)
