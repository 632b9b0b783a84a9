"""The names that a Parquet or Arrow file gives to the whole numbers of its labels.

Files of the hub and those that its library `datasets` writes carry them, in the key `huggingface`
of their metadata. They say what a 0 means, where a task's convention only tells what it often does.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from probe.data.formats.parquet import arrow_files, is_arrow, open_arrow
from probe.data.formats.unpacking import packing_of
from probe.data.source import form_of
from probe.errors import FileError
from probe.limits import UNBOUNDED

KEY = b"huggingface"
Features = Mapping[str, Any]  # Any: JSON
"""What a data set says of its columns, by name."""


def class_names(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the names of classes by column; none where the file says nothing of them."""
    try:
        if packing_of(path):
            return {}
        if is_arrow(path):
            metadata = open_arrow(arrow_files(path)[0], UNBOUNDED).metadata
        elif form_of(path) != "parquet":
            return {}
        else:
            metadata = pq.read_schema(path).metadata or {}
    except (OSError, FileError, pa.ArrowException):
        return {}  # who reads the rows says what is wrong with the file
    features = features_of(metadata)
    named = {column: _names(feature) for column, feature in features.items()}
    return {column: names for column, names in named.items() if names}


def features_of(metadata: Mapping[bytes, bytes]) -> Features:
    """Return what a file's metadata say of its columns, {} where nothing can be read."""
    try:
        features = json.loads(metadata.get(KEY, b"{}"))["info"]["features"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return features if isinstance(features, dict) else {}


def features_json(features: Features) -> dict[bytes, bytes]:
    """Return metadata that say this of the columns."""
    return {KEY: json.dumps({"info": {"features": features}}).encode()}


def card_features(card: Mapping[str, Any], config: str) -> Features:  # Any: YAML
    """Return what a data set's card says of the columns of a configuration, {} for nothing.

    The card counts classes as `class_label: names: {'0': entailment, ...}`, a file as a list.
    """
    infos = card.get("dataset_info")
    every = [info for info in _list(infos) if isinstance(info, Mapping)]
    fitting = [info for info in every if info.get("config_name", config) == config]
    columns = _list(fitting[0].get("features")) if fitting else []
    names = {str(column.get("name")): _card_names(column) for column in columns}
    return {
        name: {"_type": "ClassLabel", "names": list(each)} for name, each in names.items() if each
    }


def _list(value: Any) -> list[Any]:  # Any: YAML
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _names(feature: Any) -> tuple[str, ...]:  # Any: JSON
    if not isinstance(feature, Mapping) or feature.get("_type") != "ClassLabel":
        return ()
    return tuple(map(str, _list(feature.get("names"))))


def _card_names(column: Mapping[str, Any]) -> tuple[str, ...]:  # Any: YAML
    kind = column.get("dtype")
    label = kind.get("class_label") if isinstance(kind, Mapping) else None
    names = label.get("names") if isinstance(label, Mapping) else None
    if isinstance(names, Mapping):
        return tuple(str(names[key]) for key in sorted(names, key=int))
    return tuple(map(str, _list(names)))
