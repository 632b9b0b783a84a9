"""Files in the forms in which people have them: each is read right, or its question is asked."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.records import cell
from probe.data.source import open_source
from probe.data.tables import read_table
from probe.errors import FileError, FileQuestion

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
    ]}), [{"title": "t", **ASKED[0]}], "'data'"),
    "SQuAD with other keys": Form("a.json", jsons({"name": "own", "n": 1, "data": [
        {"paragraphs": [PASSAGE]}
    ], "licence": "CC0"}), ASKED, "'data'"),
    "SQuAD that is broken": Form("a.json", jsons({"data": [{"paragraphs": [{"qas": [{}]}]}]}),
        words="not in SQuAD's form"),
    "passages in a list": Form("a.json", jsons([PASSAGE]), ASKED),
    "MRQA": Form("a.jsonl", lines(
        {"header": {"dataset": "own"}}, {"id": "", "context": "Ada ran.", "qas": [QID, QID]}
    ), [{"context": "Ada ran.", **QID, "id": "q"}] * 2),
}  # fmt: skip
FORMS = {**JSON}


@pytest.mark.parametrize("known", FORMS)
def test_a_file_is_read_in_the_form_that_it_has(known: str, tmp_path: Path) -> None:
    form, path = FORMS[known], tmp_path / FORMS[known].name
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
        assert table.words == form.words if not form.words else form.words in table.words
