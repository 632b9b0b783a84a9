"""Contrast sets (Gardner et al. 2020): rows joined by a key; who is right on all of a bundle."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from probe.data.names import listed, shown
from probe.data.rows import Source, cell, find, is_missing
from probe.errors import FileError
from probe.statistics import Drawn, Estimate, clustered, exact_p, mean, percent, share

KEYS = ("key", "base_id", "bundle", "bundle_id", "contrast_id", "contrast_set", "pair_key")
"""How files call the column that joins the rows of a bundle."""
MOST_SPLIT = 100
"""Bundles with right and wrong answers that a summary lists."""


@dataclass(frozen=True)
class Keyed:
    """A row of a bundle, from 1, and whether each model is right, None where that is not known."""

    key: str
    row: int
    right: Sequence[bool | None]


@dataclass(frozen=True)
class Consistency:
    """What a model reaches on bundles: right on all rows of one is consistent.

    `by_bundle` is the mean over bundles of the share that is right, `by_row` that over rows, with
    an interval over bundles.
    """

    consistency: Estimate
    by_bundle: Estimate
    by_row: Estimate
    all_right: int
    split: int
    all_wrong: int


def offered_key(names: Sequence[str]) -> str | None:
    """Return the column of a file that may join rows, by its name; None for none."""
    return find(names, KEYS)


def offer(names: Sequence[str]) -> str:
    """Say which column of a file may join rows, "" for none; it is never taken unasked."""
    key = offered_key(names)
    return (
        f"the column {shown(key)} may join rows to contrast sets; --bundle {key} measures how "
        "often all rows of one are right"
        if key
        else ""
    )


def check_key(source: Source, column: str) -> None:
    """Refuse a column that a file has not. Raises FileError."""
    if column not in source.names:
        raise FileError(
            f"no column {shown(column)} in your file to join rows by; it has: "
            f"{listed(source.names)}"
        )


def key_of(cells: Mapping[str, Any], column: str) -> str:  # Any: whatever a file may hold
    """Return what joins a row to others, "" where it has nothing there."""
    value = cell(cells, column)
    return "" if is_missing(value) else str(value).strip()


def contrast_json(
    rows: Iterable[Keyed], names: Sequence[str], column: str
) -> dict[str, Any]:  # Any: JSON
    """Return what models come to on bundles of two rows or more; rows without a key are in none.

    models: by name what `Consistency` has. pairs_of_models: for each two how many bundles only one
    is consistent on, and McNemar's exact p over bundles. split: the first bundles on which a model
    is right of some rows alone, with their rows from 1 and who is right. A bundle with a row that
    is not judged is left out, and counted. Raises FileError where no bundle is left.
    """
    bundles: dict[str, list[Keyed]] = {}
    for row in rows:
        if row.key:
            bundles.setdefault(row.key, []).append(row)
    several = {key: group for key, group in bundles.items() if len(group) > 1}
    judged = {
        key: group
        for key, group in several.items()
        if all(right is not None for row in group for right in row.right)
    }
    if not judged:
        why = "whose rows are all judged" if several else "two rows"
        raise FileError(
            f"no value of the column {shown(column)} has {why}, so that there are no contrast sets"
        )
    whole = [
        [all(row.right[at] for row in group) for group in judged.values()]
        for at in range(len(names))
    ]
    some = [
        [any(row.right[at] for row in group) for group in judged.values()]
        for at in range(len(names))
    ]
    split = [
        (key, group)
        for at, (key, group) in enumerate(judged.items())
        if any(some[model][at] and not whole[model][at] for model in range(len(names)))
    ]

    def consistency(at: int) -> Consistency:
        counts = [
            (key, sum(map(bool, _of(group, at))), len(group)) for key, group in judged.items()
        ]
        return Consistency(
            share(whole[at]),
            mean([right / n for _, right, n in counts]),
            clustered([Drawn(0, *each) for each in counts]),
            sum(whole[at]),
            sum(some[at]) - sum(whole[at]),
            len(judged) - sum(some[at]),
        )

    def compared(a: int, b: int) -> dict[str, Any]:
        only = [
            sum(x and not y for x, y in zip(whole[one], whole[other], strict=True))
            for one, other in ((a, b), (b, a))
        ]
        told = dict(zip(("only_first", "only_second"), only, strict=True))
        return {"first": names[a], "second": names[b], **told, "p": exact_p(*only)}

    return {
        "column": column,
        "bundles": len(judged),
        "rows": sum(map(len, judged.values())),
        "alone": len(bundles) - len(several),
        "not_judged": len(several) - len(judged),
        "models": {name: asdict(consistency(at)) for at, name in enumerate(names)},
        "pairs_of_models": [compared(a, b) for a, b in combinations(range(len(names)), 2)],
        "splits": len(split),
        "split": [
            {
                "key": key,
                "rows": [row.row for row in group],
                "right": {name: _of(group, at) for at, name in enumerate(names)},
            }
            for key, group in split[:MOST_SPLIT]
        ],
    }


def _of(group: Sequence[Keyed], model: int) -> list[bool | None]:
    return [row.right[model] for row in group]


def contrast_lines(shape: Mapping[str, Any]) -> list[str]:  # Any: JSON
    """Say what a model comes to on contrast sets, and what is left out."""
    lines = [
        f"Contrast sets by {shape['column']}: {shape['bundles']:,} bundles of {shape['rows']:,} "
        f"rows; {shape['alone']:,} keys with one row and {shape['not_judged']:,} bundles with a "
        "row that is not judged are left out"
    ]
    for name, one in shape["models"].items():
        consistent, by_row = (percent(Estimate(**one[each])) for each in ("consistency", "by_row"))
        lines.append(
            f"{name}: right on all rows of {consistent} of the bundles, on some of "
            f"{one['split']:,}, on none of {one['all_wrong']:,}; right on {by_row} of their rows"
        )
    for two in shape["pairs_of_models"]:
        lines.append(
            f"Consistent on a bundle: only {two['first']} {two['only_first']:,}, only "
            f"{two['second']} {two['only_second']:,}, exact McNemar p = {two['p']:.3f}"
        )
    return lines
