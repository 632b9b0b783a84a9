"""`python -m probe data`: what a set with gold labels gives away by itself."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, get_args

import typer

from probe.analysis.artefacts import (
    CHANCES,
    TELLS,
    Artefacts,
    Chance,
    Request,
    artefacts_json,
    final,
    find_artefacts,
    in_words,
    label_list,
)
from probe.cli.file_options import OR_HUB, local_file, takes_file
from probe.cli.options import AsJson, LabelOrder, PrecisionName, choice, loaded
from probe.cli.output import (
    check_output_files,
    end_progress,
    print_answer,
    show_progress,
)
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.errors import FileQuestion, write_json
from probe.statistics import p_text, percent
from probe.tasks.nli import NLI
from probe.tasks.task import task_named

LISTED = 8
"""Give-away words of each label that are printed, and as many bigrams; the summary has all."""


@takes_file(texts=False)
def data_command(
    file: Annotated[
        Path, typer.Argument(help=f"CSV, TSV, JSONL or Parquet with gold labels, {OR_HUB}.")
    ],
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="OTHER_FILE",
            help="Another part of the set: near duplicates; with --model it is asked about this.",
        ),
    ] = None,
    model: Annotated[
        str, typer.Option(help="Asked about rows with and without give-away words.")
    ] = "",
    summary: Annotated[Path | None, typer.Option(help="Where all goes, as JSON.")] = None,
    task: Annotated[str, typer.Option(help="nli, paraphrase or sentiment.")] = NLI.name,
    field: Annotated[
        str, typer.Option(help="The text whose words are looked at; the judged one if empty.")
    ] = "",
    least: Annotated[int, typer.Option(min=1, help="Rows a word must be in.")] = 20,
    top: Annotated[int, typer.Option(min=1, help="Words of each label, and bigrams.")] = 20,
    chance: Annotated[
        Chance,
        choice("chance", get_args(Chance), f"p0: {'; '.join(map(', '.join, CHANCES.items()))}."),
    ] = "share",
    folds: Annotated[int, typer.Option(min=2, help="Of the cross-validation.")] = 5,
    similarity: Annotated[
        float, typer.Option(min=0.3, max=1, help="Jaccard index of near duplicates.")
    ] = 0.8,
    seed: Annotated[int, typer.Option(min=0, help="Of the folds and the hashes.")] = 0,
    labels: LabelOrder = "",
    precision: PrecisionName = "auto",
    as_json: AsJson = False,
    reading: FileOptions = AS_THE_FILE_TELLS,
) -> None:
    """Look at a set with gold labels: traits by label, give-away words, rules, duplicates."""
    check_output_files([file, against], [summary])
    asked = task_named(task)
    request = Request(field, least, top, chance, folds, similarity, seed)
    path, other = local_file(file), local_file(against) if against else None
    several = replace(reading, one_file=not other)
    steps = find_artefacts(
        path, asked, request, several, other, several, precision=precision,
        load=partial(loaded, model, labels, asked.name) if model else None,
    )  # fmt: skip
    try:
        found = final(steps, lambda step: show_progress("{}: {:,}/{:,}".format(*step)))
    except FileQuestion as question:
        tasks = [f"--task {name}" for name in question.tasks]
        raise FileQuestion(question.sentence, *question.options, *tasks) from None
    end_progress()
    shape = artefacts_json(found)
    if summary:
        write_json(shape, summary)
    print_answer(as_json, shape, _lines(found))


def _lines(found: Artefacts) -> Iterator[str]:
    """Yield what was found in lines for people."""
    yield f"{found.file}: {found.rows:,} rows, {label_list(found)}"
    yield from (f"note: {note}" for note in found.notes)
    yield in_words(found)
    for trait in found.traits:
        shares = "  ".join(f"{label} {trait.shown(one)}" for label, one in trait.by_label.items())
        yield f"{trait.title}: {shares}"
    chance = CHANCES[found.request.chance]
    yield (
        f"Words of the {found.field}: {found.telling:,} of {found.tested:,} words and bigrams with "
        f"labels tell (z, one-sided, p0 {chance}; Benjamini-Hochberg; {TELLS})"
    )
    for label in found.labels:
        for words in (1, 2):
            own = [each for each in found.words if (each.label, each.words) == (label, words)]
            for word in own[:LISTED]:
                yield (
                    f"  {label:14} {word.text:24} {word.count:6,} of {word.n:6,}  "
                    f"{100 * word.share.value:5.1f} %  z {word.z:6.1f}  PMI {word.pmi:5.2f}  "
                    f"{p_text(word.p)}"
                )
    yield f"Most frequent label: {percent(found.majority)}"
    yield f"By cross-validation in {found.request.folds} folds, equal sources together:"
    yield from (
        f"  {rule.title:20} {percent(rule.accuracy)}  ({rule.says})" for rule in found.rules
    )
    again = found.repeats
    yield (
        f"Rows that repeat an earlier one: {again.rows:,}; rows of which an equal one has another "
        f"label: {again.contradicted:,}"
    )
    yield from (f"  rows {first} and {second}" for first, second in again.examples)
    if shared := found.shared:
        yield (
            f"{shared.file}: {shared.near.value * shared.rows:,.0f} of {shared.rows:,} rows are "
            f"near duplicates ({percent(shared.near)}; Jaccard from {shared.similarity}), "
            f"{shared.equal:,} of them equal"
        )
        yield from (
            f"  row {first} of {found.file} and {second} of {shared.file}: {alike:.2f}"
            for first, second, alike in shared.pairs
        )
    if found.model:
        yield f"{found.model} on {found.weighed_on}, with a give-away word of the label or without:"
    for each in found.weighed:
        yield (
            f"  {each.label:14} with {percent(each.having)} of {each.having.n:,}  without "
            f"{percent(each.lacking)} of {each.lacking.n:,}  difference {each.apart}  "
            f"with another label's {percent(each.misled)} of {each.misled.n:,}"
        )
