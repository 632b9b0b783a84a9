"""`python -m probe map`: which rows a training finds easy, hard or ambiguous."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from markupsafe import Markup

from probe.analysis.cartography import (
    SHARE,
    DataMap,
    DynamicsOptions,
    dynamics_files,
    joined,
    map_json,
    map_lines,
    read_dynamics,
    rows_frame,
)
from probe.cli.file_options import OR_HUB, local_file, settled, takes_file
from probe.cli.options import AsJson, LabelOrder
from probe.cli.output import check_output_files, print_answer
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.rows import NO_COLUMN, InputRow, guess_some
from probe.data.source import form_of, read_table
from probe.data.writers import write_table
from probe.errors import FileError, write_json, writing
from probe.pictures import svg
from probe.pictures.data_map import map_svg, thinned
from probe.tasks.nli import NLI
from probe.tasks.task import read_labels, task_named

PICTURES: Mapping[str, Callable[[Markup], bytes]] = {
    ".svg": lambda drawn: svg.svg_file(drawn).encode(),
    ".pdf": svg.pdf_file,
    ".png": svg.png_file,
}


@takes_file(texts=False)
def map_command(
    dynamics: Annotated[
        Path,
        typer.Argument(
            help="Folder of a training's dynamics, as finetune train --dynamics and the paper's "
            "code write them, or a table of one's own: logits_epoch_0, …, or a row an epoch."
        ),
    ],
    file: Annotated[
        Path | None,
        typer.Argument(help=f"The training file, for texts and names of labels, {OR_HUB}."),
    ] = None,
    summary: Annotated[Path | None, typer.Option(help="Where all goes, as JSON.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where every row goes, as CSV, …")] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Where the map goes, as .svg, .pdf or .png.")
    ] = None,
    share: Annotated[
        float, typer.Option(min=0.01, max=1, help="The share of the rows that a region is.")
    ] = SHARE,
    task: Annotated[str, typer.Option(help="nli, paraphrase or sentiment.")] = NLI.name,
    labels: LabelOrder = "",
    first: Annotated[
        int | None, typer.Option(min=0, max=1, help="The number of the first label, 0 or 1.")
    ] = None,
    key: Annotated[str, typer.Option(help="Column of the ids of rows; else by its name.")] = "",
    epoch: Annotated[str, typer.Option(help="Column of the epoch in a table of one's own.")] = "",
    scores: Annotated[
        str, typer.Option(help="Columns of the scores in it, with commas between.")
    ] = "",
    as_json: AsJson = False,
    reading: FileOptions = AS_THE_FILE_TELLS,
) -> None:
    """Map the rows of a training set by its training dynamics (Swayamdipta et al. 2020)."""
    place = local_file(dynamics)
    check_output_files([place, file], [summary, out, picture])
    if picture and picture.suffix.lower() not in PICTURES:
        raise FileError(f"{picture.name}: name the picture {', '.join(PICTURES)}")
    if out:
        form_of(out)
    asked = task_named(task)
    named = tuple(name.strip() for name in scores.split(",") if name.strip())
    options = DynamicsOptions(key, epoch, named, read_labels(labels, asked) or (), first)
    files = dynamics_files(place)
    of_dynamics = replace(reading, one_file=False, columns={}) if file else reading
    read = read_dynamics(files, asked, options, of_dynamics)
    own = file is None and len(files) == 1
    source = local_file(file) if file else files[0]
    rows: Mapping[int, InputRow] = {}
    if file or own:
        of_file = replace(reading, gold=NO_COLUMN, values={}) if own else reading
        table = read_table(source, options=of_file)
        if file or len(guess_some(table.names, asked, of_file.columns).texts) == len(asked.fields):
            columns = settled(table, source, asked, of_file)
            read, rows = joined(read, table, columns, asked, key)
    drawn = DataMap(read, share, rows)
    frame, shape = rows_frame(drawn, asked), map_json(drawn)
    if summary:
        write_json(shape, summary)
    if out:
        write_table(frame, out)
    if picture:
        title = f"Data map of {source.name if rows else place.name}, {read.epochs} epochs"
        image = map_svg(frame, title)
        if words := thinned(frame):
            image = svg.captioned(image, title, words)
        with writing(picture):
            picture.write_bytes(PICTURES[picture.suffix.lower()](image))
    print_answer(as_json, shape, map_lines(drawn))
