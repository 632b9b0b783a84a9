"""A part of a file as it is sent to a worker, and what the worker sends back of it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from probe.data.questions import ADVERSARIAL, BASE
from probe.data.records import Record, cell
from probe.data.rows import Columns
from probe.data.source import Source
from probe.data.writers.cells import as_json
from probe.limits import UNBOUNDED, Bounds
from probe.runs.run import Json
from probe.scoring.folder import pack, unpack, write_part
from probe.scoring.plan import ScoringPlan
from probe.scoring.values import RowValues

BYTES = "bytes in a cell"
"""Stands for bytes, which are refused as a text; what they are is not sent."""


@dataclass(frozen=True)
class Part:
    """The rows of a part, with no more columns than are scored; they keep their numbers."""

    names: Sequence[str]
    rows: Sequence[Record]
    bounds: Bounds = UNBOUNDED

    def __len__(self) -> int:
        """Return the number behind the last row."""
        return self.rows[-1].number + 1 if self.rows else 0

    def records(self, start: int = 0) -> Iterator[Record]:
        """Yield the rows from the one of this number on."""
        return (row for row in self.rows if row.number >= start)


def write_parts(plan: ScoringPlan, source: Source) -> None:
    """Keep the parts of a file, each to be sent by itself. Raises FileError."""
    names = scored_columns(source.names, plan.request.columns)
    records = source.records()
    for key in plan.parts:
        rows = list(islice(records, key["rows"]))
        write_part(plan.folder, key, packed_part(Part(names, rows, source.bounds)))


def scored_columns(names: Sequence[str], columns: Columns) -> list[str]:
    """Return the columns that are read to score a row and to sum it up."""
    wanted = {*columns.texts.values(), columns.gold, BASE, ADVERSARIAL}
    return [name for name in names if name in wanted]


def packed_part(part: Part) -> bytes:
    """Return a part as it is sent."""
    values = {
        "names": part.names,
        "start": part.rows[0].number,
        "cells": [[cell(row.cells, name) for name in part.names] for row in part.rows],
        "broken": {row.number: row.broken for row in part.rows if row.broken},
        "bounds": asdict(part.bounds),
    }
    return pack(json.dumps(values, default=_packed_cell).encode())


def _packed_cell(cell: object) -> object:
    return {BYTES: len(cell)} if isinstance(cell, bytes) else as_json(cell)


def _unpacked_cell(cell: dict[str, Any]) -> Any:  # Any: JSON
    return b"" if BYTES in cell else cell


def read_packed_part(content: bytes) -> Part:
    """Return a part that was sent."""
    values = json.loads(unpack(content), object_hook=_unpacked_cell)
    names, broken = values["names"], values["broken"]
    rows = [
        Record(number, dict(zip(names, cells, strict=True)), broken=broken.get(str(number), ""))
        for number, cells in enumerate(values["cells"], values["start"])
    ]
    return Part(names, rows, Bounds(**values["bounds"]))


@dataclass(frozen=True)
class ScoredPart:
    """What came of a part: its rows' values, what they come to, and by which model."""

    values: RowValues
    totals: Mapping[str, Any]  # Any: JSON
    labels: tuple[str, ...]
    model: str
    revision: str | None
    precision: str


def packed_values(part: ScoredPart) -> bytes:
    """Return what came of a part as it is sent back."""
    values = vars(part) | {"values": vars(part.values)}
    return pack(json.dumps(values, default=as_json).encode())


def read_packed_values(content: bytes) -> ScoredPart:
    """Return what was sent back of a part."""
    values: Json = json.loads(unpack(content))
    labels = tuple(values.pop("labels"))
    return ScoredPart(RowValues(**values.pop("values")), labels=labels, **values)
