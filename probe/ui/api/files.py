"""The endpoints over HTTP for files: scored, compared on, fetched from the hub."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.context import LocalContext

from probe.analysis.artefacts import Chance, Request, artefacts_json, final, find_artefacts
from probe.analysis.cartography import (
    SHARE,
    DataMap,
    DynamicsOptions,
    joined,
    map_json,
    read_dynamics,
    rows_frame,
)
from probe.analysis.comparison import compare_rows, keyed, read, require_two
from probe.analysis.comparison_report import comparison_json, example_comparison_json
from probe.analysis.contrast_sets import check_key, contrast_json, key_of
from probe.analysis.importance import MethodOrNone
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions, read_form
from probe.data.hub_dataset import FetchedDataset, fetch, read_reference
from probe.data.names import PREFIX, stem_of
from probe.data.reading import reading_of
from probe.data.rows import Columns, InputRow, Source
from probe.data.source import read_table
from probe.data.writers import write_table
from probe.errors import FileError, FileQuestion, write_json
from probe.limits import visitor_bounds
from probe.models.classifier import Model, Precision
from probe.models.library import AnyModel, that_reads
from probe.models.windows import Long
from probe.runs.access import ModelAccess
from probe.runs.store import Store
from probe.scoring.files import FileScoring, Places, ScoringRequest
from probe.scoring.source_form import end_for
from probe.settings import settings
from probe.tasks.nli import NLI
from probe.tasks.task import Task, read_labels, task_named
from probe.transforms.options import Sign
from probe.transforms.registry import read_task_options
from probe.ui.answers.answering import answering, caller_left, check_transforms
from probe.ui.answers.file_line import FILES_AT_ONCE, FileLine
from probe.ui.answers.turns import visitor_of
from probe.ui.api.endpoint import (
    MAX_WHOLE,
    Choices,
    Name,
    Names,
    NamesByName,
    OptionalUpload,
    Seed,
    Share,
    Text,
    Texts,
    Token,
    Upload,
    Uploads,
    Whole,
    endpoint,
    first_model,
    over_http,
    read_example,
    task_of,
)
from probe.ui.measure.answer_files import answers_on, is_answers, uploads
from probe.ui.measure.result_files import write_comparison
from probe.ui.visitors.visitor_files import check_room, fresh_folder, open_upload, own_file

GOLD = "gold"
"""Names the column of the gold label beside those of the texts."""


@over_http()
def build_batch(models: ModelAccess, line: FileLine) -> None:
    """Add `/batch` with components of its own: a file needs one to travel in."""

    @endpoint
    def batch(
        file: Upload,
        transforms: Names,
        model: Name,
        seed: Seed,
        keep: Share,
        sign: Sign,
        precision: Precision,
        options: Choices,
        owner: Token,
        task: Name,
        columns: NamesByName,
        label_values: NamesByName,
        form: Name = "",
        long: Long = "cut",
        bundle: Name = "",
        importance: MethodOrNone = "",
    ) -> tuple[dict[str, Any], list[str]]:
        """Score a file; returns the summary and its files.

        These are the scored file, the summary's, with transforms that of the texts they make, and
        where some have a label those in the form of SNLI or SQuAD, to train on.

        Args:
            file: A table of examples; its columns are guessed by their names.
            transforms: Names or chains, with commas between.
            model: One that the page offers or /load_model has loaded; empty for the task's first;
                answers:FOLDER as for /compare.
            seed: Where the transforms' chance begins.
            keep: The share of tokens that drop, repeat and replace keep.
            sign: Which tokens count as important.
            precision: auto, fp32 or bf16.
            options: Further options of the transforms, as a JSON object.
            owner: The token of one's own runs, which /inoculate returns.
            task: nli, paraphrase, sentiment or reading; if empty, that of a model on disk, or nli.
            columns: Columns by text where they are not to be guessed, and gold, as a JSON object.
            label_values: Labels by the value of the file that means them, as a JSON object.
            form: How the file is read where it does not tell it, such as --no-header or --sheet 2.
            long: cut, or windows, in which a premise longer than the model reads is read.
            bundle: The column that joins rows to contrast sets, if any.
            importance: The method by which the words of each row are scored, if any; a further
                file has a row for each word.
        """
        check_transforms(transforms)
        check_room(models.store, owner)
        asked = task_named(task) if task else models.task(owner, model)
        settings = read_task_options(asked, {"keep": keep, "sign": sign, **options})
        reading = options_by_name(columns, label_values, form)
        source = open_upload(owner, file, reading)
        if bundle:
            check_key(source, bundle)
        chosen = settled(source, source.path, asked, reading)
        wanted = ScoringRequest(
            chosen, tuple(transforms), seed, settings, precision,
            reading=reading, long=long, bundle=bundle, importance=importance,
        )  # fmt: skip
        request = LocalContext.request.get(None)
        with line.place(visitor_of(request) if request else ("", owner), caller_left()) as ahead:
            for _ in ahead:  # until it is this file's turn
                pass
            classifier: Model
            if is_answers(model):
                sent = uploads(owner, [model])
                classifier = answers_on(owner, [model], source, chosen, asked, reading, sent)[model]
            else:
                named = models.get(owner, model or first_model(models, owner, asked), asked)
                classifier = that_reads(named, long)
            return answering("file_minutes")(score_file)(
                source, wanted, classifier, Path(file), fresh_folder(owner)
            )

    with gr.Row(visible=False):
        asked = [
            gr.File(type="filepath", label="file"),
            gr.Textbox("", label="transforms"),
            gr.Textbox("", label="model"),
            gr.Number(0, label="seed", precision=0, minimum=0, maximum=MAX_WHOLE),
            gr.Number(0.5, label="keep", minimum=0, maximum=1),
            gr.Textbox("support", label="sign"),
            gr.Textbox("auto", label="precision"),
            gr.Textbox("{}", label="options"),
            gr.Textbox("", label="owner"),
            gr.Textbox("", label="task"),
            *reading_parts(),
            gr.Textbox("cut", label="long"),
            gr.Textbox("", label="bundle"),
            gr.Textbox("", label="importance"),
        ]
        answered = [gr.JSON(label="summary"), gr.Files(label="files")]
        call = gr.Button()
    call.click(
        batch,
        asked,
        answered,
        api_name="batch",
        concurrency_id="batch",
        concurrency_limit=FILES_AT_ONCE,
    )


def reading_parts() -> list[gr.Textbox]:
    """Return what an endpoint's arguments of how a file is read travel in."""
    usual = {"columns": "{}", "label_values": "{}", "form": ""}
    return [gr.Textbox(value, label=name) for name, value in usual.items()]


def options_by_name(named: Mapping[str, str], values: Mapping[str, str], form: str) -> FileOptions:
    """Return what an endpoint's arguments say of a file. Raises FileError."""
    texts = {field: name for field, name in named.items() if field != GOLD}
    return replace(read_form(form), columns=texts, gold=named.get(GOLD, ""), values=values)


def settled(table: Source, path: Path, task: Task, options: FileOptions) -> Columns:
    """Return how a file is read. Raises FileError, also where that is not clear, and LabelError."""
    try:
        return reading_of(table, path, task, options).settled
    except FileQuestion as question:
        raise FileError(f"{question.sentence}; say it in columns, label_values or task") from None


def score_file(
    source: Source, request: ScoringRequest, classifier: Model, path: Path, folder: Path
) -> tuple[dict[str, Any], list[str]]:
    """Score a file; return the summary and the places of the files."""
    stem = stem_of(path)
    pairs = folder / f"{stem}-pairs.{source.form}" if request.names else None
    words = folder / f"{stem}-importance.{source.form}" if request.importance else None
    end = end_for(classifier.task) if pairs else ""
    training = folder / f"{stem}-training{end}" if end else None
    places = Places(folder / f"{stem}-scored.{source.form}", pairs, training, words)
    scoring = FileScoring(source, classifier, request, places)
    for _ in scoring.chunks():  # what is done is on the disk
        pass
    summary = scoring.hand_over()
    note = write_json(summary, folder / f"{stem}-summary.json")
    written = (places.scored, note, pairs, training, words)
    return summary, [str(path) for path in written if path and path.exists()]


@over_http()
def build_compare(access: ModelAccess) -> None:
    """Add the endpoints to the page."""

    @endpoint
    @answering("file_minutes")
    def compare(
        file: Upload,
        models: Names,
        precision: Precision,
        owner: Token,
        task: Name,
        columns: NamesByName = {},  # noqa: B006  # gradio reads the default for its schema
        label_values: NamesByName = {},  # noqa: B006  # as above
        form: Name = "",
        long: Long = "cut",
        bundle: Name = "",
    ) -> tuple[dict[str, Any], list[str]]:
        """Compare models on a file; returns the summary, the scored file and the summary's file.

        Args:
            file: A table of a task's examples; its columns are guessed by their names.
            models: Two or more, with commas between; answers:FOLDER for a file of answers, FOLDER
                that of the path which /upload returned.
            precision: auto, fp32 or bf16.
            owner: The token of one's own runs, which /inoculate returns.
            task: nli, paraphrase, sentiment or reading; if empty, the first model's, as for /probe.
            columns: Columns by text where they are not to be guessed, and gold, as a JSON object.
            label_values: Labels by the value of the file that means them, as a JSON object.
            form: How the file is read where it does not tell it, such as --no-header or --sheet 2.
            long: cut, or windows, in which a premise longer than a model reads is read.
            bundle: The column that joins rows to contrast sets, if any.
        """
        asked = task_of(access, owner, task, models[0] if models else "")
        reading = options_by_name(columns, label_values, form)
        return compare_on(
            access, owner, Path(file), models, precision, asked, reading, long, bundle
        )

    @endpoint
    def compare_pair(
        premise: Text = "",
        hypothesis: Text = "",
        models: Names = [],  # noqa: B006  # gradio reads the default for its schema
        gold: Name = "",
        precision: Precision = "fp32",
        owner: Token = "",
        texts: Texts = {},  # noqa: B006  # as above
        task: Name = "",
        long: Long = "cut",
    ) -> dict[str, Any]:
        """Compare models on one example: the JSON of `python -m probe compare --text`.

        Args:
            premise: The premise, in place of texts for inference.
            hypothesis: The hypothesis, likewise.
            models: Two or more, as a list or as a text with commas.
            gold: The gold label, or the right answers with | between them, if known.
            precision: auto, fp32 or bf16.
            owner: The token of one's own runs, which /inoculate returns.
            texts: The texts by field: premise, hypothesis; text1, text2; text; question, passage.
            task: nli, paraphrase, sentiment or reading; if empty, the first model's, as for /probe.
            long: cut, or windows, in which a premise longer than a model reads is read.
        """
        asked = task_of(access, owner, task, models[0] if models else "")
        example = read_example(asked, texts, premise, hypothesis, gold)
        require_two(models)
        several = [that_reads(each, long) for each in known(access, owner, models, asked)]
        return example_comparison_json(example, several, precision)

    with gr.Row(visible=False):  # a file needs components of its own to travel in
        asked = [
            gr.File(type="filepath", label="file"),
            gr.Textbox("", label="models"),
            gr.Textbox("auto", label="precision"),
            gr.Textbox("", label="owner"),
            gr.Textbox("", label="task"),
            *reading_parts(),
            gr.Textbox("cut", label="long"),
            gr.Textbox("", label="bundle"),
        ]
        answered = [gr.JSON(label="summary"), gr.Files(label="files")]
        call = gr.Button()
    call.click(compare, asked, answered, api_name="compare", concurrency_id="compare")
    gr.api(compare_pair, api_name="compare_pair", concurrency_id="compare")


def compare_on(
    models: ModelAccess,
    owner: str,
    path: Path,
    names: list[str],
    precision: Precision,
    task: Task,
    reading: FileOptions = AS_THE_FILE_TELLS,
    long: Long = "cut",
    bundle: str = "",
) -> tuple[dict[str, Any], list[str]]:
    """Compare models on a file; return the summary and the places of the file and the summary."""
    require_two(names)
    loaded = known(models, owner, [name for name in names if not is_answers(name)], task)
    check_room(models.store, owner)
    sent = uploads(owner, names)
    table = read_table(own_file(owner, path), visitor_bounds(), reading)
    if bundle:
        check_key(table, bundle)
    columns = settled(table, path, task, reading)
    given = answers_on(owner, names, table, columns, task, reading, sent)
    asked = iter(loaded)
    several = [given[name] if name in given else that_reads(next(asked), long) for name in names]
    unread = read(table, columns, task)
    rows = [row for chunk in compare_rows(several, unread, precision) for row in chunk.rows]
    names = [each.name for each in several]
    summary = comparison_json(rows, names, precision if loaded else None)
    if bundle:
        keys = [key_of(record.cells, bundle) for record in table.records()]
        summary["contrast_sets"] = contrast_json(keyed(rows, keys), names, bundle)
    stem = stem_of(path)
    return summary, write_comparison(fresh_folder(owner), table, rows, names, summary, stem)[0]


def known(models: ModelAccess, owner: str, names: Sequence[str], task: Task) -> list[AnyModel]:
    """Return the classifiers of models. Raises ModelError."""
    for name in names:
        models.require(owner, name)
    return [models.get(owner, name, task) for name in names]


@over_http()
def build_data(access: ModelAccess) -> None:
    """Add `/data` to the page, with components of its own: a file needs one to travel in."""
    usual = Request()

    @endpoint
    @answering("file_minutes")
    def data(
        file: Upload,
        against: OptionalUpload = None,
        model: Name = "",
        task: Name = "",
        field: Name = usual.field,
        least: Whole = usual.least,
        top: Whole = usual.top,
        chance: Chance = usual.chance,
        similarity: Share = usual.similarity,
        seed: Seed = usual.seed,
        owner: Token = "",
        columns: NamesByName = {},  # noqa: B006  # gradio reads the default for its schema
        label_values: NamesByName = {},  # noqa: B006  # as above
        form: Name = "",
    ) -> dict[str, Any]:
        """Look at a set with gold labels: the summary of `python -m probe data`.

        Args:
            file: A table of examples with gold labels; its columns are guessed by their names.
            against: Another part of the set, for near duplicates; a model is asked about it.
            model: Asked about rows with and without give-away words, if named.
            task: nli, paraphrase or sentiment; if empty, that of the model, or nli.
            field: The text whose words are looked at; the judged one if empty.
            least: Rows that a word must be in.
            top: Words of each label that are returned, and as many bigrams.
            chance: share, the label's share of the file, or uniform, as in the paper.
            similarity: The Jaccard index from which texts are near duplicates.
            seed: Of the folds of the cross-validation, and of the hashes.
            owner: The token of one's own runs, which /inoculate returns.
            columns: Columns by text where they are not to be guessed, and gold, as a JSON object.
            label_values: Labels by the value of the file that means them, as a JSON object.
            form: How the file is read where it does not tell it, such as --no-header or --sheet 2.
        """
        asked = task_of(access, owner, task, model)
        reading = options_by_name(columns, label_values, form)
        path = own_file(owner, file)
        other = own_file(owner, against) if against else None
        if model:
            access.require(owner, model)
        several = replace(reading, one_file=not other)
        request = Request(
            field, max(1, least), max(1, top), chance, similarity=similarity, seed=seed
        )
        bounds = visitor_bounds()
        load = partial(access.get, owner, model, asked) if model else None
        found = find_artefacts(path, asked, request, several, other, several, bounds, load)
        return artefacts_json(final(found))

    with gr.Row(visible=False):
        asked = [
            gr.File(type="filepath", label="file"),
            gr.File(type="filepath", label="against"),
            gr.Textbox("", label="model"),
            gr.Textbox("", label="task"),
            gr.Textbox(usual.field, label="field"),
            gr.Number(usual.least, label="least", precision=0),
            gr.Number(usual.top, label="top", precision=0),
            gr.Textbox(usual.chance, label="chance"),
            gr.Number(usual.similarity, label="similarity", minimum=0, maximum=1),
            gr.Number(usual.seed, label="seed", precision=0),
            gr.Textbox("", label="owner"),
            *reading_parts(),
        ]
        answered = gr.JSON(label="summary")
        call = gr.Button()
    call.click(data, asked, answered, api_name="data", concurrency_id="compare")


@over_http()
def build_map(access: ModelAccess) -> None:
    """Add `/map` to the page, with components of its own: files need them to travel in."""

    @endpoint
    @answering("file_minutes")
    def map(
        dynamics: Uploads,
        file: OptionalUpload = None,
        share: Share = SHARE,
        task: Name = NLI.name,
        labels: Name = "",
        first: Name = "",
        owner: Token = "",
        columns: NamesByName = {},  # noqa: B006  # gradio reads the default for its schema
        label_values: NamesByName = {},  # noqa: B006  # as above
        form: Name = "",
    ) -> tuple[dict[str, Any], str]:
        """Map a training set: the summary of `python -m probe map`, and a file of its rows.

        Args:
            dynamics: The files dynamics_epoch_0.jsonl, ..., or one table of one's own.
            file: The training file, for texts and names of labels, if any.
            share: The share of the rows that a region is.
            task: nli, paraphrase or sentiment.
            labels: The labels of the scores in their order, with commas, where nothing tells it.
            first: 0 or 1, the number of the first label, where nothing tells it.
            owner: The token of one's own runs, which /inoculate returns.
            columns: Columns by text where they are not to be guessed, and gold, as a JSON object.
            label_values: Labels by the value of the file that means them, as a JSON object.
            form: How the file is read where it does not tell it, such as --no-header or --sheet 2.
        """
        check_room(access.store, owner)
        asked, bounds = task_named(task), visitor_bounds()
        reading = options_by_name(columns, label_values, form)
        if first not in ("", "0", "1"):
            raise FileError("first is 0 or 1, or empty where the files tell it")
        told = DynamicsOptions(
            labels=read_labels(labels, asked) or (), first=int(first) if first else None
        )
        files = [own_file(owner, place) for place in dynamics]
        own = replace(reading, one_file=False, columns={}) if file else reading
        rows: Mapping[int, InputRow] = {}
        try:
            read_of = read_dynamics(files, asked, told, own, bounds)
            if file:
                table = read_table(own_file(owner, file), bounds, reading)
                columns_in = settled(table, table.path, asked, reading)
                read_of, rows = joined(read_of, table, columns_in, asked)
        except FileQuestion as question:
            raise FileError(f"{question.sentence}; say it in columns, labels or first") from None
        drawn = DataMap(read_of, share, rows)
        place = fresh_folder(owner) / f"{stem_of(Path(file or files[0]))}-map.csv"
        write_table(rows_frame(drawn, asked), place)
        return map_json(drawn), str(place)

    with gr.Row(visible=False):
        asked = [
            gr.File(type="filepath", file_count="multiple", label="dynamics"),
            gr.File(type="filepath", label="file"),
            gr.Number(SHARE, label="share", minimum=0, maximum=1),
            gr.Textbox(NLI.name, label="task"),
            gr.Textbox("", label="labels"),
            gr.Textbox("", label="first"),
            gr.Textbox("", label="owner"),
            *reading_parts(),
        ]
        answered = [gr.JSON(label="summary"), gr.File(label="rows")]
        call = gr.Button()
    call.click(map, asked, answered, api_name="map", concurrency_id="compare")


@over_http()
def build_hub_dataset(store: Store) -> None:
    """Add `/hub_dataset`, with components of its own: a file needs one to travel in."""

    @endpoint
    def hub_dataset(name: Name, owner: Token) -> tuple[dict[str, Any], str]:
        """Fetch a split of a hub's data set, as a file that /batch and /compare take.

        Args:
            name: owner/name, owner/name:split or owner/name@revision:configuration/split.
            owner: The token of one's own runs, which /inoculate returns.
        """
        dataset = fetch_for(store, owner, name)
        source = dataset.source
        known = {"name": source.name, "revision": source.revision}
        return {**known, "config": source.config, "split": source.split}, str(dataset.path)

    with gr.Row(visible=False):
        asked = [gr.Textbox("", label="name"), gr.Textbox("", label="owner")]
        answered = [gr.JSON(label="source"), gr.File(label="file")]
        call = gr.Button()
    call.click(hub_dataset, asked, answered, api_name="hub_dataset", concurrency_id="load")


def is_open() -> bool:
    """Whether visitors may fetch from the hub, as NLI_CLINIC_OWN_MODELS says."""
    return "hub" in settings().user_models


def fetch_for(store: Store, visitor: str, name: str | None) -> FetchedDataset:
    """Fetch what a visitor named into their files. Raises FileError, LimitError."""
    if not is_open():
        raise FileError("data sets of the hub cannot be opened here")
    named = (name or "").strip().removeprefix(PREFIX)
    if not named:
        raise FileError("say which data set: owner/name:split")
    asked = read_reference(f"{PREFIX}{named}")
    check_room(store, visitor)
    return fetch(asked, fresh_folder(visitor), visitor_bounds())
