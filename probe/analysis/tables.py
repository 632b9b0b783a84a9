"""The tables of a summary as people put them into papers: as CSV, Markdown and LaTeX (booktabs)."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probe.errors import FileError, writing
from probe.models.bundled import title_of
from probe.statistics import p_text

NONE = "–"
Json = Mapping[str, Any]  # Any: JSON


@dataclass(frozen=True)
class Table:
    """A table: its title, what its columns are called, and its rows; figures are texts."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


def markdown(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write rows below their heads as a table of Markdown; cells keep on one line."""

    def line(cells: Sequence[object]) -> str:
        texts = (" ".join(str(cell).split()).replace("|", "\\|") for cell in cells)
        return f"| {' | '.join(texts)} |\n"

    return "".join((line(heads), f"|{'---|' * len(heads)}\n", *map(line, rows)))


def _markdown(tables: Sequence[Table]) -> str:
    return "\n".join(f"**{one.title}**\n\n{markdown(one.heads, one.rows)}" for one in tables)


def _csv(tables: Sequence[Table]) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    for number, one in enumerate(tables):
        writer.writerows([*([[]] * bool(number)), [one.title], one.heads, *one.rows])
    return out.getvalue()


LATEX = str.maketrans(
    {
        **{mark: f"\\{mark}" for mark in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "–": "--",
        "\N{MINUS SIGN}": "$-$",
        "<": "$<$",
        ">": "$>$",
        "“": "``",
        "”": "''",
    }
)


def _latex(tables: Sequence[Table]) -> str:
    """Write tables with the rules of the package booktabs."""

    def line(cells: Sequence[str]) -> str:
        return f"{' & '.join(cell.translate(LATEX) for cell in cells)} \\\\\n"

    return "\n".join(
        "\\begin{table}\n\\centering\n"
        f"\\caption{{{one.title.translate(LATEX)}}}\n"
        f"\\begin{{tabular}}{{l{'r' * (len(one.heads) - 1)}}}\n\\toprule\n"
        f"{line(one.heads)}\\midrule\n{''.join(map(line, one.rows))}\\bottomrule\n"
        "\\end{tabular}\n\\end{table}\n"
        for one in tables
    )


WRITERS: Mapping[str, Callable[[Sequence[Table]], str]] = {
    ".csv": _csv,
    ".md": _markdown,
    ".tex": _latex,
}
"""What writes tables, by the end of a file's name."""


def check_tables_file(path: Path | None) -> None:
    """Refuse a name that says no form of tables. Raises FileError."""
    if path and path.suffix not in WRITERS:
        raise FileError(f"{path.name}: name the file of tables {', '.join(WRITERS)}")


def write_tables(shape: Json, path: Path) -> None:
    """Write the tables of a summary in the form that the file's name says. Raises FileError."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(WRITERS[path.suffix](list(tables_of(shape))), encoding="utf-8")


def _share(value: float | None) -> str:
    return NONE if value is None else f"{100 * value:.1f}"


def _shown(estimate: Json | None) -> str:
    """Write an estimate in per cent with its interval and n."""
    if not estimate or not estimate["n"]:
        return NONE
    ends = f"{_share(estimate['low'])}–{_share(estimate['high'])}"
    return f"{_share(estimate['value'])} ({ends}), n = {estimate['n']}"


def _estimate(measured: Json, name: str) -> Json:
    """Return an estimate of a summary of one model, whose parts stand beside each other."""
    low, high = measured.get(f"{name}_interval") or (None, None)
    n = measured.get(f"{name}_n", 0)
    return {"value": measured.get(name), "low": low, "high": high, "n": n}


MEASURED = {
    "accuracy": "accuracy",
    "em": "exact match",
    "f1": "F1",
    "confidence": "confidence",
    "agreement": "answers that stay",
}


def tables_of(shape: Json) -> Iterator[Table]:
    """Yield the tables of a summary, of one model or of several that are compared.

    Shares are in per cent with 95 % intervals and n.
    """
    compared = "pairs_of_models" in shape
    if compared:
        yield from _compared(shape)
    else:
        name = str(shape["model"])
        several = {"as they are": shape, **shape["transforms"]}
        heads = [
            name for name in MEASURED if any(_estimate(one, name)["n"] for one in several.values())
        ]
        rows = [
            [title, *(_shown(_estimate(one, head)) for head in heads)]
            for title, one in several.items()
        ]
        yield Table(
            f"{title_of(name)}, {shape['scored']:,} rows",
            ["texts", *(MEASURED[head] for head in heads)],
            rows,
        )
    own = shape["by_model"] if compared else {shape["model"]: shape}
    for name, one in own.items():
        if "confusion" in one:
            yield from _of_classes(title_of(name), one)
    if shape.get("slices"):
        yield _slices(shape)


def _compared(shape: Json) -> Iterator[Table]:
    measure = "f1" if "f1" in shape else "accuracy"
    heads, rows = ["model", MEASURED[measure]], list[list[str]]()
    for name, one in shape[measure].items():
        more = shape["by_model"].get(name, {})
        beside = [shape["em"][name]] if "em" in shape else [more["macro_f1"]] if more else []
        rows.append([title_of(name), *map(_shown, [one, *beside])])
    named = (
        ["exact match"]
        if "em" in shape
        else ["macro F1"]
        if any(len(row) > 2 for row in rows)
        else []
    )
    yield Table(f"{shape['scored']:,} rows", [*heads, *named], rows)
    tested = [
        [
            f"{title_of(one['first'])} – {title_of(one['second'])}",
            *map(_count, (test.get("only_first_right", test.get("first_higher")),
                          test.get("only_second_right", test.get("second_higher")))),
            NONE if test["p"] is None else p_text(test["p"]).removeprefix("p = "),
            _shown(one["agreement"]),
        ]
        for one in shape["pairs_of_models"]
        for test in [one.get("mcnemar") or one["bootstrap"]]
    ]  # fmt: skip
    name = "paired bootstrap" if measure == "f1" else "McNemar's exact test"
    better = (
        ["first alone right", "second alone right"]
        if measure == "accuracy"
        else ["first higher", "second higher"]
    )
    yield Table(f"Two at a time, {name}", ["models", *better, "p", "agreement"], tested)


def _count(value: int | None) -> str:
    return NONE if value is None else f"{value:,}"


def _of_classes(name: str, shape: Json) -> Iterator[Table]:
    """Yield the confusion matrix of a model, and what its classes come to."""
    counts = {(one["gold"], one["answer"]): one["n"] for one in shape["confusion"]}
    golds, answers = (list(dict.fromkeys(each)) for each in zip(*counts, strict=True))
    rows = [[gold, *(f"{counts[gold, answer]:,}" for answer in answers)] for gold in golds]
    yield Table(f"{name}: right answer by answer given", ["right answer", *answers], rows)
    if shape["classes"]:
        rows = [
            [label, _shown(one["recall"]), _shown(one["precision"]), _share(one["f1"])]
            for label, one in shape["classes"].items()
        ]
        rows.append(["macro", NONE, NONE, _shown(shape["macro_f1"])])
        heads = ["class", "accuracy (recall)", "precision", "F1"]
        yield Table(f"{name}: by class", heads, rows)


def _slices(shape: Json) -> Table:
    measure = "f1" if "f1" in shape["slices"][0] else "accuracy"
    names = list(shape["slices"][0][measure])
    rows = [
        [
            f"{one['group']}: {one['slice']}",
            one["gold"],
            *(_shown(one[measure][name]) for name in names),
        ]
        for one in shape["slices"]
    ]
    return Table("Slices", ["slice", "right answer", *map(title_of, names)], rows)
