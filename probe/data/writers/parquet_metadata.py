"""What a Parquet file says of its columns besides their types, where ours stand behind them."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from probe.data.class_names import KEY, Features, features_json, features_of

PANDAS = b"pandas"
WHOLE_SCHEMAS = (
    b"org.apache.spark.sql.parquet.row.metadata",
    b"parquet.avro.schema",
    b"avro.schema",
    b"iceberg.schema",
)
"""Keys from which Spark, Avro and Iceberg take every column of a file, so that ours would lack."""
VALUE_TYPES: Mapping[str, str] = {"double": "float64"}
"""Types that the library `datasets` names in another way than Arrow does."""


def metadata_beside(
    metadata: Mapping[bytes, bytes], theirs: Any, ours: Any
) -> dict[bytes, bytes]:  # Any: pyarrow's schemas
    """Return the metadata of a file that has our columns behind those it had.

    Nothing is kept that names other columns or by which pandas could not read the file.
    """
    dropped = (*WHOLE_SCHEMAS, KEY)
    kept = {key: value for key, value in metadata.items() if key not in dropped}
    features = {name: each for name, each in features_of(metadata).items() if name in theirs.names}
    if features:
        kept |= features_json({**features, **_features(ours)})
    if not _is_read_by_pandas(pa.schema([*theirs, *ours], kept)):
        kept.pop(PANDAS, None)
    return kept


def _features(schema: Any) -> Features:  # Any: pyarrow
    types = {field.name: str(field.type) for field in schema}
    return {
        name: {"dtype": VALUE_TYPES.get(kind, kind), "_type": "Value"}
        for name, kind in types.items()
    }


def _is_read_by_pandas(schema: Any) -> bool:  # Any: pyarrow
    """Whether what pandas itself noted of the columns fits these."""
    unfit = (ValueError, TypeError, LookupError, AttributeError, SyntaxError, RecursionError)
    try:
        schema.empty_table().to_pandas()
    except (pa.ArrowException, *unfit):
        return False
    return True
