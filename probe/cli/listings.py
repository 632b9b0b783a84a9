"""`python -m probe glossary`, `templates`, `transforms` and `settings`: what there is."""

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from probe.cli.options import AsJson
from probe.cli.output import check_output_files, print_answer
from probe.glossary import SECTIONS, glossary
from probe.settings import ASSETS, settings, variable
from probe.tasks.nli import NLI
from probe.tasks.task import Task, task_named
from probe.templates.files import write_pairs
from probe.templates.generate import Request, generate, read_range
from probe.templates.grammar import grammar
from probe.transforms.options import DEFAULTS, OPTIONS
from probe.transforms.registry import (
    REGISTRY,
    group_of,
    missing,
    options_of,
    source_of,
    summary_of,
)


def glossary_command(
    task: Annotated[str, typer.Option(help="The task whose words are used.")] = NLI.name,
    as_json: AsJson = False,
) -> None:
    """Say in a sentence each what measures, labels, transforms and models are."""
    found = glossary(task_named(task))
    rows, lines = [], list[str]()
    for name, terms in found.items():
        lines.append(f"{SECTIONS[name].title}:")
        for id, term in terms.items():
            rows.append({"section": name, "id": id, "title": term.title, "summary": term.summary})
            lines.append(f"  {term.title}: {term.summary}")
    print_answer(as_json, rows, lines)


def templates_command(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help="dative, numerical, hans, word_order.")
    ],
    out: Annotated[Path, typer.Option(help="A .csv, .tsv or .jsonl file.")],
    n: Annotated[int, typer.Option(min=1, help="How many pairs.")] = 1000,
    seed: int = 0,
    complexity: Annotated[str, typer.Option(help="simple, medium, complex; all if empty.")] = "",
    lexical: Annotated[str, typer.Option(help="Words of group A, B or B2; A and B if empty.")] = "",
    template: Annotated[list[str], typer.Option(help="Id; may be repeated; all if none.")] = [],  # noqa: B006
    numbers: Annotated[str, typer.Option("--range", metavar="LO-HI")] = "2-999",
    integer_strict: Annotated[
        bool, typer.Option("--integer-strict", help="Label for whole numbers.")
    ] = False,
    heuristic: Annotated[
        str, typer.Option(help="lexical_overlap, subsequence or constituent.")
    ] = "",
    subcase: Annotated[str, typer.Option(help="A sub-case of HANS.")] = "",
    balance: Annotated[
        bool, typer.Option(help="Balance the labels, or make all there are.")
    ] = True,
) -> None:
    """Write pairs made from templates."""
    check_output_files([], [out])
    low, high = read_range(numbers)
    request = Request(
        *(kind, complexity, lexical, tuple(template), low, high, integer_strict),
        *(heuristic, subcase, balance),
    )
    write_pairs(generate(request, n, seed), grammar(kind).task, out)
    typer.echo(f"{n:,} pairs written to {out}")


def transforms_json(task: Task = NLI) -> list[dict[str, Any]]:
    """Return every transform for a task with its facts."""
    return [
        {
            "name": entry.name,
            "title": entry.title,
            "summary": summary_of(entry, task),
            "family": entry.family,
            "side": "both" if len(edited := entry.edited(task)) > 1 else edited[0],
            "label_rule": entry.rule.name,
            "level": entry.level,
            "needs": list(entry.needs),
            "language": entry.language,
            "compared_with": (entry.default and task.default_label) or "original prediction",
            "source": source_of(entry, task),
            "available": not (lacks := missing(entry, task)),
            "missing": lacks,
        }
        for entry in REGISTRY.values()
        if entry.suits(task)
    ]


def options_json(task: Task | None = None) -> list[dict[str, Any]]:
    """Return what each option that a task's transforms read means, its default and its values."""
    return [
        {
            "name": name,
            "family": group_of(name),
            "words": option.words,
            "default": "".join(default) if isinstance(default, tuple) else default,
            "values": {str(value).lower(): words for value, words in option.values.items()},
            "range": None if option.values else [option.low, option.high],
        }
        for name, option in OPTIONS.items()
        for default in [getattr(DEFAULTS, name)]
        if task is None or name in options_of(task)
    ]


def transforms_command(
    as_json: AsJson = False,
    task: Annotated[
        str, typer.Option(help="The task that they are for; if empty nli, or options of any.")
    ] = "",
    options: Annotated[bool, typer.Option("--options", help="List the options instead.")] = False,
) -> None:
    """List the transforms, or their options."""
    asked = task_named(task) if task else None
    rows = options_json(asked) if options else transforms_json(asked or NLI)
    lines = []
    for row in rows:
        head = f"{row['name']:18} {row['family']:12}"
        if options:
            lines.append(f"{head} {row['default']!s:12} {row['words']}")
            lines += [f"{'':32}{value}: {words}" for value, words in row["values"].items()]
        else:
            lacks = f" NOT AVAILABLE: {row['missing']}" if row["missing"] else ""
            lines.append(f"{head} {row['label_rule']:15} {row['title']}: {row['summary']}{lacks}")
    print_answer(as_json, rows, lines)


def settings_command(as_json: AsJson = False) -> None:
    """Print the settings in force, each under its variable, and where the assets lie.

    No password is printed.
    """
    values = settings().model_dump(mode="json")
    values["database"] = re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", values["database"])
    rows = {variable(name): value for name, value in values.items()} | {"assets": str(ASSETS)}
    lines = (f"{name:24} {'' if value is None else value}".rstrip() for name, value in rows.items())
    print_answer(as_json, rows, lines)
