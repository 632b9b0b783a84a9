"""Which Parquet files of a hub's data set hold which configuration and split."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any

from probe.data.names import listed
from probe.errors import FileError

DEFAULT = "default"
"""What the hub calls the one configuration of a data set that names none, and a preferred one."""
SPLIT_WORDS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("validation", "valid", "val", "dev"), "validation"),
    **dict.fromkeys(("test", "testing", "eval", "evaluation"), "test"),
}
"""Words in the names of files that tell their split, as the hub itself reads them."""


@dataclass(frozen=True)
class Part:
    """A split of a configuration, and its Parquet files in the order of their rows."""

    config: str
    split: str
    files: tuple[str, ...]


def parquet_of(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the Parquet files among the paths of a repository, in order."""
    return tuple(sorted(path for path in paths if path.endswith(".parquet")))


def own_parts(paths: Sequence[str], card: Mapping[str, Any]) -> list[Part]:  # Any: YAML
    """Return the parts of a repository's own Parquet files.

    Its card names them (`configs`, with a pattern for each split); without that the names of files
    do, all as one configuration, and one that tells no split is of `train`.
    """
    configs = card.get("configs")
    if isinstance(configs, list):
        return [part for config in configs for part in _declared(paths, config) if part.files]
    splits: dict[str, list[str]] = {}
    for path in paths:
        splits.setdefault(_split_of(path), []).append(path)
    return [Part(DEFAULT, split, tuple(files)) for split, files in splits.items()]


def converted_parts(paths: Sequence[str], config: str | None = None) -> list[Part]:
    """Return the parts of the hub's conversion, whose files are CONFIG/SPLIT/NUMBER.parquet.

    They are those of one configuration, or of all.
    """
    parts: dict[tuple[str, str], list[str]] = {}
    for path in paths:
        folders = PurePosixPath(path).parts
        if len(folders) == 3 and config in (None, folders[0]):
            parts.setdefault((folders[0], folders[1]), []).append(path)
    return [Part(config, split, tuple(files)) for (config, split), files in parts.items()]


def choose_part(parts: Sequence[Part], name: str, config: str, split: str) -> Part:
    """Return the part that is named; one that is not named is taken where there is no other.

    Raises FileError with the names that there are.
    """
    configs = list(dict.fromkeys(part.config for part in parts))
    chosen = config or _only(configs)
    if chosen not in configs:
        raise FileError(f"{_lacking('configuration', name, config)}; it has: {listed(configs)}")
    of_config = {part.split: part for part in parts if part.config == chosen}
    found = split or _only(list(of_config))
    if found not in of_config:
        raise FileError(f"{_lacking('split', name, split)}; it has: {listed(list(of_config))}")
    return of_config[found]


def _only(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    return DEFAULT if DEFAULT in names else ""


def _lacking(kind: str, name: str, asked: str) -> str:
    if asked:
        return f"the data set {name!r} has no {kind} {asked!r}"
    return f"say which {kind} of the data set {name!r}"


def _declared(paths: Sequence[str], config: Mapping[str, Any]) -> Iterator[Part]:  # Any: YAML
    """Yield the parts of an entry of a card's `configs`."""
    name, folder = str(config.get("config_name") or DEFAULT), str(config.get("data_dir") or "")
    for split, patterns in _patterns(config.get("data_files")):
        whole = [str(PurePosixPath(folder) / pattern) for pattern in patterns]
        yield Part(name, split, tuple(path for path in paths if _fits(path, whole)))


def _patterns(files: Any) -> Iterator[tuple[str, list[str]]]:  # Any: YAML
    """Yield splits with their patterns, in each form that the hub reads."""
    if isinstance(files, Mapping):
        yield from ((str(split), _texts(paths)) for split, paths in files.items())
    elif isinstance(files, list) and files and isinstance(files[0], Mapping):
        for entry in files:
            yield str(entry.get("split") or "train"), _texts(entry.get("path"))
    else:
        yield "train", _texts(files)


def _texts(value: Any) -> list[str]:  # Any: YAML
    return [str(each) for each in (value if isinstance(value, list) else [value]) if each]


def _fits(path: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(path, pattern.replace("**/", "*")) for pattern in patterns)


def _split_of(path: str) -> str:
    words = re.split(r"[^a-z]+", path.removesuffix(".parquet").lower())
    return next((SPLIT_WORDS[word] for word in reversed(words) if word in SPLIT_WORDS), "train")
