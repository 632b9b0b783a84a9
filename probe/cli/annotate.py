"""`python -m probe annotate`: texts for people to judge, drawn, brought in and taken out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from probe.cli.file_options import OR_HUB, labelled_and_told, local_file, takes_file
from probe.cli.group import group
from probe.cli.options import TaskName, loaded_any
from probe.cli.output import check_output_files, make_folder, print_json
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.source import form_of
from probe.data.writers import write_table
from probe.errors import ExampleError, ModelError, OptionError
from probe.models.library import entries, load_any, served_names
from probe.runs.access import COMMAND_LINE
from probe.runs.store import Store
from probe.surveys.annotation_results import items_frame, read_items, write_files
from probe.surveys.annotation_set import VOTES, AnnotationSet, create_set, draw_items, mode_for
from probe.surveys.rounds import Round, start_round, write_round
from probe.surveys.survey import address_of, own_surveys
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI
from probe.tasks.task import task_named
from probe.transforms.registry import presets

app = group()
ModeName = Annotated[str, typer.Option("--mode", help="valid, labels or distractor.")]


@app.callback()
def main() -> None:
    """Have people judge the texts that models are asked about."""


@app.command("draw")
@takes_file(texts=False)
def draw_command(
    out: Annotated[Path, typer.Option(help="CSV of the items.")],
    mode: ModeName = "valid",
    task: TaskName = "",
    model: Annotated[
        str,
        typer.Option(
            help="Bundled or inoculated name, folder, or hub id; the task's first if empty."
        ),
    ] = "",
    file: Annotated[
        Path | None, typer.Option(help=f"Draw from this file instead, {OR_HUB}.")
    ] = None,
    transforms: Annotated[
        str, typer.Option("--transforms", help="Names with commas between; else word salad.")
    ] = "",
    each: Annotated[int, typer.Option(min=1, help="Texts of each transform.")] = 4,
    seed: int = 0,
    reading: FileOptions = AS_THE_FILE_TELLS,
) -> None:
    """Draw the items of a set by seed, controls among them, as a file to look at and change."""
    check_output_files([file], [out])
    form_of(out, ("csv",))
    wanted = task_named(task or NLI.name)
    named = model or next((entry.name for entry in entries() if entry.task is wanted), "")
    if not named:
        raise ModelError(f"no model of the task {wanted.name} is here; name one with --model")
    loaded = loaded_any(named, task=task)
    chosen = task_named(task) if task else loaded.task
    asked = mode_for(chosen, mode)
    salad = presets(chosen)
    default = salad.get("Distractors") or salad["Word salad"]
    names = [name.strip() for name in transforms.split(",") if name.strip()] or default
    if file:
        examples = labelled_and_told(local_file(file), chosen, reading).examples
    else:
        examples = bundled_examples(chosen)
    *_, drawn = draw_items(chosen, asked, examples, names, each, loaded, seed)
    write_table(items_frame(chosen, [*drawn.items, *drawn.controls]), out)
    typer.echo(f"{len(drawn.items)} items and {len(drawn.controls)} controls in {out}")


@app.command("import")
def import_command(
    file: Annotated[Path, typer.Argument(help="Items as `annotate draw` writes them.")],
    mode: ModeName = "valid",
    task: Annotated[str, typer.Option(help="The task of the items.")] = NLI.name,
    title: Annotated[str, typer.Option(help="What respondents read above the texts.")] = "",
    votes: Annotated[int, typer.Option(min=1, max=25, help="People for each item.")] = VOTES,
    seed: Annotated[int, typer.Option(help="Of the controls' places.")] = 0,
) -> None:
    """Make a set of items and print the link behind which they are judged."""
    chosen = task_named(task)
    asked = mode_for(chosen, mode)
    rows = read_items(file, chosen, asked)
    count = sum(not item.control for item in rows)
    if not count:
        raise ExampleError(f"{file.name} holds no items beside controls")
    annotated = create_set(
        *(Store(), COMMAND_LINE, chosen, asked, rows),
        votes=votes,
        source=file.name,
        title=title,
        seed=seed,
    )
    typer.echo(f"set {annotated.survey.id}: {count} items in {len(annotated.batches)} batches")
    typer.echo(f"link: the page's address with {address_of(annotated.survey)}")


@app.command("fool")
@takes_file(texts=False)
def fool_command(
    model: Annotated[str, typer.Option(help="Bundled or inoculated name.")],
    given: Annotated[
        bool, typer.Option(help="Give each a bundled text to write to, such as a premise.")
    ] = False,
    file: Annotated[
        Path | None, typer.Option(help=f"Give texts of this file instead, {OR_HUB}.")
    ] = None,
    title: Annotated[str, typer.Option(help="What respondents read above the fields.")] = "",
    task: TaskName = "",
    seed: Annotated[int, typer.Option(help="Of which texts are given.")] = 0,
    reading: FileOptions = AS_THE_FILE_TELLS,
) -> None:
    """Begin a round in which people fool a model, and print the link behind which they do."""
    tasks = {entry.name: entry.task for entry in entries()} | served_names()
    if model not in tasks:
        raise ModelError(f"the page has no model {model!r}; it has: {', '.join(tasks)}")
    chosen = task_named(task) if task else tasks[model] or loaded_any(model).task
    examples: Sequence[Any] = ()  # Any: the task's own dataclass
    if file:
        examples = labelled_and_told(local_file(file), chosen, reading).examples
    elif given:
        examples = bundled_examples(chosen, "pool")
    begun = start_round(Store(), COMMAND_LINE, chosen, model, examples, title, seed)
    typer.echo(f"round {begun.survey.id} against {model}, {len(begun.given)} texts to write to")
    typer.echo(f"link: the page's address with {address_of(begun.survey)}")


@app.command("list")
def list_command() -> None:
    """List the sets and rounds of the command line."""
    store = Store()
    for survey in own_surveys(store, COMMAND_LINE):
        typer.echo(f"{survey.id}  {survey.title}")


@app.command("export")
def export_command(
    survey: Annotated[str, typer.Argument(help="The id of a set or round, as in its link.")],
    out: Annotated[
        Path, typer.Option(help="Folder for the votes and items, or the tries, and results.json.")
    ],
    model: Annotated[str, typer.Option(help="A model to set beside the people of a set.")] = "",
) -> None:
    """Write what people said or wrote and what it comes to; print the results as JSON."""
    store = Store()
    own = {each.id: each for each in own_surveys(store, COMMAND_LINE)}
    if survey not in own:
        known = ", ".join(own) or "none"
        raise OptionError(f"the command line has no set or round {survey!r}; it has: {known}")
    if own[survey].kind == "round":
        if model:
            raise OptionError("a round has its own model; leave --model out")
        make_folder(out)
        print_json(write_round(store, Round(own[survey]), out))
        return
    annotated = AnnotationSet(own[survey])
    make_folder(out)
    classifier = load_any(model, task=annotated.task) if model else None
    print_json(write_files(store, annotated, classifier, out))
