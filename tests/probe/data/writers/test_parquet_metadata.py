"""What a Parquet file says of its columns stays true where ours stand behind them."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from probe.data.class_names import class_names, features_json, features_of
from probe.data.reading import reading_of
from probe.data.rows import read_rows
from probe.data.source import open_source
from probe.data.writers import Output
from probe.tasks.nli import NLI

NAMES = ["contradiction", "neutral", "entailment"]
CLASSES = {"names": NAMES, "_type": "ClassLabel"}


def scored(path: Path) -> Path:
    """Write every row of a file with two values behind it."""
    source = open_source(path)
    output = Output(path.with_name("out.parquet"), ("ours", "p"), path.with_name("spool"), source)
    output.write((record, ("neutral", 0.5)) for record in source.records())
    output.finish()
    return output.path


def written(folder: Path, metadata: dict[Any, str] | dict[bytes, bytes]) -> Path:
    """Write pairs with some metadata."""
    pairs = {"premise": ["A man sings."] * 3, "hypothesis": ["He sings."] * 3, "label": [0, 1, 2]}
    pq.write_table(pa.table(pairs).replace_schema_metadata(metadata), folder / "in.parquet")
    return folder / "in.parquet"


def golds(path: Path) -> list[str | None]:
    """Return the gold labels as they are read."""
    source = open_source(path)
    columns = reading_of(source, path, NLI).settled
    return [row.example.gold for row in read_rows(source, columns, NLI)]


def test_a_file_that_was_scored_means_the_same_labels(tmp_path: Path) -> None:
    path = written(tmp_path, features_json({"label": CLASSES}))
    out = scored(path)
    assert golds(out) == golds(path) == NAMES
    assert class_names(out) == {"label": tuple(NAMES)}


def test_features_are_of_the_columns_that_there_are_and_of_ours(tmp_path: Path) -> None:
    features = {"label": CLASSES, "gone": CLASSES, "ours": CLASSES}
    theirs = json.dumps({"info": {"features": features}, "fingerprint": "of the file before"})
    metadata = pq.read_schema(scored(written(tmp_path, {"huggingface": theirs}))).metadata
    assert features_of(metadata) == {
        "label": CLASSES,
        "ours": {"dtype": "string", "_type": "Value"},
        "p": {"dtype": "float64", "_type": "Value"},
    }
    assert b"fingerprint" not in metadata[b"huggingface"]


def test_pandas_reads_the_index_and_the_types_that_it_wrote(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "premise": ["A man sings."] * 3,
            "hypothesis": ["He sings."] * 3,
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "kind": pd.Categorical(["b", "a", "b"], categories=["b", "a", "c"], ordered=True),
        },
        index=pd.Index([7, 8, 9], name="key"),
    )
    frame.attrs = {"source": "by hand"}
    frame.to_parquet(tmp_path / "in.parquet")
    out = pd.read_parquet(scored(tmp_path / "in.parquet"))
    pd.testing.assert_frame_equal(out[frame.columns], frame)
    assert out.attrs == frame.attrs
    assert list(out["p"]) == [0.5] * 3


@pytest.mark.parametrize(
    "pandas",
    [
        "no JSON",
        "[]",
        json.dumps({"index_columns": ["gone"], "columns": [{"name": "gone"}]}),
        json.dumps(
            {
                "index_columns": [],
                "column_indexes": [{"name": None, "pandas_type": "int64", "numpy_type": "int64"}],
                "columns": [],
            }
        ),
    ],
)
def test_what_pandas_could_not_read_with_our_columns_is_left_out(
    pandas: str, tmp_path: Path
) -> None:
    out = scored(written(tmp_path, {"pandas": pandas, "mine": "kept"}))
    assert list(pd.read_parquet(out).columns) == ["premise", "hypothesis", "label", "ours", "p"]
    assert pq.read_schema(out).metadata == {b"mine": b"kept"}


@pytest.mark.parametrize("features", ["no JSON", "[]", '{"info": {"features": ["label"]}}'])
def test_features_that_cannot_be_read_are_left_out(features: str, tmp_path: Path) -> None:
    assert not pq.read_schema(scored(written(tmp_path, {"huggingface": features}))).metadata


def test_a_schema_that_lacks_our_columns_is_left_out(tmp_path: Path) -> None:
    spark = {"org.apache.spark.sql.parquet.row.metadata": "{}", "org.apache.spark.version": "4"}
    out = pq.read_schema(scored(written(tmp_path, spark)))
    assert out.metadata == {b"org.apache.spark.version": b"4"}
