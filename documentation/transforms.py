"""The transforms of each task and their options."""

from documentation.markdown import code, page, table
from probe.cli.listings import options_json
from probe.tasks.task import Task, offered_tasks
from probe.transforms.registry import (
    FAMILIES,
    GROUPS,
    REGISTRY,
    applies_of,
    options_of,
    source_of,
    summary_of,
)

ABOUT = (
    "A transform changes a text by a fixed rule, and says what that does to the gold label. Names "
    "joined with `+` make a chain, applied from left to right. `python -m probe transforms --task "
    "TASK` prints the same with what is missing on a machine; *Look up* in Learn shows the code "
    "of each and an example."
)
OPTIONS = (
    "`--set NAME=VALUE` on the command line, the options of the page, `options` over HTTP. Where a "
    "paper and its released code disagree the default is the sound variant, and the published one "
    "is an option."
)

HEAD = (
    "name",
    "what it does",
    "applies where there is",
    "gold label",
    "language",
    "needs",
    "source",
)


def transforms_page() -> str:
    """Return the page of the transforms."""
    tasks = [_of_task(task) for task in offered_tasks()]
    return page("Transforms", ABOUT, *tasks, f"## Options\n\n{OPTIONS}", _options())


def _of_task(task: Task) -> str:
    parts = [f"## {task.title}"]
    for family, term in FAMILIES.items():
        rows = [
            (
                code(entry.name),
                f"**{entry.title}**: {summary_of(entry, task)}",
                applies_of(entry, task),
                entry.rule.title,
                entry.language,
                ", ".join(entry.needs),
                source_of(entry, task),
            )
            for entry in REGISTRY.values()
            if entry.family == family and entry.suits(task)
        ]
        if rows:
            parts += [f"### {term.title}\n\n{term.summary}", table(HEAD, rows)]
    return "\n\n".join(parts)


def _options() -> str:
    rows = [
        (
            code(option["name"]),
            option["words"],
            code(option["default"]),
            "; ".join(f"`{value}`: {words}" for value, words in option["values"].items())
            or "{} to {}".format(*option["range"]),
            GROUPS[option["family"]].title,
            ", ".join(
                code(task.name) for task in offered_tasks() if option["name"] in options_of(task)
            ),
        )
        for option in options_json()
    ]
    return table(("name", "what it sets", "default", "values", "transforms", "tasks"), rows)
