"""A split of a hub's data set as one Parquet file on this disk, for the reader of tables.

It is named `hub:OWNER/NAME@REVISION:CONFIG/SPLIT` wherever a file of examples is; revision,
configuration and split may be left out where there is but one. The repository's own Parquet files
are taken, else those that the hub has made of it (its branch refs/convert/parquet).
"""

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from huggingface_hub import DatasetInfo, HfApi, hf_hub_download
from huggingface_hub.errors import RevisionNotFoundError

from probe.data.formats.encodings import MEGABYTE
from probe.data.formats.parquet import Features, card_features, features_json, features_of
from probe.data.names import PREFIX, UNUSABLE, listed
from probe.data.source import read_table
from probe.data.writers import in_place
from probe.errors import FileError, writing
from probe.hub import access, asking, make_room
from probe.limits import UNBOUNDED, Bounds
from probe.stopping import check_stop

DEFAULT = "default"
"""What the hub calls the one configuration of a data set that names none, and a preferred one."""
SPLIT_WORDS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("validation", "valid", "val", "dev"), "validation"),
    **dict.fromkeys(("test", "testing", "eval", "evaluation"), "test"),
}
"""Words in the names of files that tell their split, as the hub itself reads them."""


Parts = dict[tuple[str, str], list[str]]
"""By configuration and split the Parquet files in the order of their rows."""


def own_parts(paths: Sequence[str], card: Mapping[str, Any]) -> Parts:  # Any: YAML
    """Return the parts of a repository's own Parquet files.

    Its card names them (`configs`, with a pattern for each split); without that the names of files
    do, all as one configuration, and one that tells no split is of `train`.
    """
    parts: Parts = {}
    configs = card.get("configs")
    if not isinstance(configs, list):
        for path in paths:
            words = re.split(r"[^a-z]+", path.removesuffix(".parquet").lower())
            told = (SPLIT_WORDS[word] for word in reversed(words) if word in SPLIT_WORDS)
            parts.setdefault((DEFAULT, next(told, "train")), []).append(path)
        configs = []
    for config in configs:
        name, folder = str(config.get("config_name") or DEFAULT), str(config.get("data_dir") or "")
        for split, patterns in _patterns(config.get("data_files")):
            whole = [str(PurePosixPath(folder) / each).replace("**/", "*") for each in patterns]
            files = [path for path in paths if any(fnmatchcase(path, each) for each in whole)]
            if files:
                parts[name, split] = files
    return parts


def _patterns(files: Any) -> Iterator[tuple[str, list[str]]]:  # Any: YAML
    """Yield splits with their patterns, in each form that the hub reads."""
    given = [("train", files)]
    if isinstance(files, Mapping):
        given = list(files.items())
    elif isinstance(files, list) and files and isinstance(files[0], Mapping):
        given = [(entry.get("split") or "train", entry.get("path")) for entry in files]
    for split, paths in given:
        several = paths if isinstance(paths, list) else [paths]
        yield str(split), [str(path) for path in several if path]


def converted_parts(paths: Sequence[str], config: str | None = None) -> Parts:
    """Return the parts of the hub's conversion, whose files are CONFIG/SPLIT/NUMBER.parquet.

    They are those of one configuration, or of all.
    """
    parts: Parts = {}
    for path in paths:
        folders = PurePosixPath(path).parts
        if len(folders) == 3 and config in (None, folders[0]):
            parts.setdefault((folders[0], folders[1]), []).append(path)
    return parts


THING = "data set"
FORM = "hub:OWNER/NAME, hub:OWNER/NAME:SPLIT or hub:OWNER/NAME@REVISION:CONFIG/SPLIT"
REFERENCE = re.compile(
    r"hub:(?P<name>[^@:]+)(@(?P<revision>[^:]+))?(:((?P<config>[^/:]+)/)?(?P<split>[^/:]+))?"
)
CONVERTED = "refs/convert/parquet"
UNREACHED = "cannot be looked up; try again where there is a network, or give its file instead"


@dataclass(frozen=True)
class HubDataset:
    """What is asked of the hub; an empty configuration or split is the only one there is."""

    name: str
    revision: str | None = None
    config: str = ""
    split: str = ""

    def __str__(self) -> str:
        """Write it as commands take it."""
        part = "/".join(filter(None, (self.config, self.split)))
        return f"{PREFIX}{self.name}{'@' if self.revision else ''}{self.revision or ''}" + (
            f":{part}" if part else ""
        )


def choose_part(parts: Parts, asked: HubDataset) -> tuple[str, str]:
    """Return configuration and split; one that is not named is taken where there is no other.

    Raises FileError with the names that there are.
    """
    keys = list(parts)
    for at, (kind, named) in enumerate(
        {"configuration": asked.config, "split": asked.split}.items()
    ):
        there = list(dict.fromkeys(key[at] for key in keys))
        chosen = named or (there[0] if len(there) == 1 else DEFAULT)
        if chosen not in there:
            lacking = f"say which {kind} of the data set {asked.name!r}"
            if named:
                lacking = f"the data set {asked.name!r} has no {kind} {named!r}"
            raise FileError(f"{lacking}; it has: {listed(there)}")
        keys = [key for key in keys if key[at] == chosen]
    return keys[0]


@dataclass(frozen=True)
class FetchedDataset:
    """The file, and what is in it: `source` names the commit, configuration and split."""

    path: Path
    source: HubDataset

    @property
    def words(self) -> str:
        """Say what was fetched."""
        source = self.source
        revision = f"revision {(source.revision or '')[:12]}"
        return f"{source.name}, configuration {source.config}, split {source.split}, {revision}"


def source_name(file: Path) -> str:
    """Return what a result calls its file: the name without folders, or by which it was fetched."""
    origin = _origin(file)
    return origin.read_text(encoding="utf-8") if origin.is_file() else file.name


def read_reference(text: str | Path) -> HubDataset:
    """Read the name of a hub's data set. Raises FileError."""
    written = text.as_posix() if isinstance(text, Path) else text.strip()
    found = REFERENCE.fullmatch(written)
    if found is None:
        raise FileError(f"{written!r} names no data set of the hub; write {FORM}")
    parts = found.groupdict()
    return HubDataset(parts["name"], parts["revision"], parts["config"] or "", parts["split"] or "")


def fetch(asked: HubDataset, folder: Path, bounds: Bounds = UNBOUNDED) -> FetchedDataset:
    """Fetch a split into the hub's cache and put it into a folder as one Parquet file.

    Its name at the commit that was fetched is kept beside it. Raises FileError with a sentence,
    LimitError for files that are larger than the bounds.
    """
    with asking(THING, asked.name, asked.revision, UNREACHED, FileError):
        info = _info(asked.name, asked.revision)
        card = dict(vars(info.card_data)) if info.card_data else {}
        holder, parts = _parts(asked, info, card)
        config, split = choose_part(parts, asked)
        sizes = {file.rfilename: file.size or 0 for file in holder.siblings or ()}
        size = sum(sizes[file] for file in parts[config, split])
        bounds.check("max_unpacked_mb", size / MEGABYTE)
        make_room(THING, asked.name, size, FileError)
        files = []
        for file in parts[config, split]:
            check_stop()
            place: dict[str, Any] = {"repo_type": "dataset", "revision": holder.sha, **access()}
            files.append(Path(hf_hub_download(asked.name, file, **place)))
        source = HubDataset(asked.name, holder.sha, config, split)
        names = [source.name.split("/")[-1], source.config, source.split]
        stem = UNUSABLE.sub("_", "-".join(name for name in names if name != DEFAULT))
        path = folder / f"{stem.replace('.', '_')}.parquet"
        with writing(path):
            _put(files, card_features(card, config), path, bounds)
            _origin(path).write_text(str(source), encoding="utf-8")
    return FetchedDataset(path, source)


def _info(name: str, revision: str | None) -> DatasetInfo:
    token = access().get("token")
    return HfApi().dataset_info(name, revision=revision, files_metadata=True, token=token)


def _parts(asked: HubDataset, info: DatasetInfo, card: dict[str, Any]) -> tuple[DatasetInfo, Parts]:
    """Return the parts that there are, and the commit that holds them. Raises FileError.

    The hub's conversion is of the newest commit, so it does not stand for one that is named; but
    its own commits may be named, which have no card and a folder for each configuration.
    """
    files = _paths(info)
    if asked.revision and not card and (parts := converted_parts(files, asked.config)):
        return info, parts
    if parts := own_parts(files, card):
        return info, parts
    none = f"the {THING} {asked.name!r} has no Parquet files"
    if asked.revision not in (None, CONVERTED):
        raise FileError(f"{none} in its revision {asked.revision!r}")
    try:
        converted = _info(asked.name, CONVERTED)
    except RevisionNotFoundError:
        raise FileError(f"{none}, and the hub has made none of it") from None
    if parts := converted_parts(_paths(converted)):
        return converted, parts
    raise FileError(f"{none}, and the hub has made none of it")


def _paths(info: DatasetInfo) -> list[str]:
    """Return the Parquet files of a repository, in order."""
    names = (file.rfilename for file in info.siblings or ())
    return sorted(name for name in names if name.endswith(".parquet"))


def _origin(file: Path) -> Path:
    """Return where the name stands by which a file was fetched."""
    return file.with_name(f"{file.name}.hub")


def _put(files: Sequence[Path], features: Features, path: Path, bounds: Bounds) -> None:
    """Put the files together as one, with the names of classes where they have none themselves.

    Raises FileError for files that do not fit together, LimitError for one beyond the bounds: a
    few bytes of Parquet may stand for more than the memory holds.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    schema = pq.read_schema(files[0])
    metadata = schema.metadata or {}
    named = bool(features_of(metadata)) or not features
    if len(files) == 1 and named:
        path.unlink(missing_ok=True)
        try:  # a second name of the file in the cache
            os.link(files[0].resolve(), path)
        except OSError:
            shutil.copyfile(files[0], path)
        return
    whole = schema if named else schema.with_metadata({**metadata, **features_json(features)})
    for file in files if bounds != UNBOUNDED else ():
        read_table(file, bounds)
    try:  # not through the path, which may be a second name of a cached file
        with in_place(path) as fresh, pq.ParquetWriter(fresh, whole) as writer:
            for file in files:
                with pq.ParquetFile(file) as part:
                    for batch in part.iter_batches():
                        check_stop()
                        writer.write_table(pa.Table.from_batches([batch]).cast(whole))
    except (ValueError, pa.ArrowException) as problem:
        raise FileError(
            f"the files of {path.name} do not fit together: one is damaged, or their columns are "
            "of other names or kinds"
        ) from problem
