"""Data: what a set with gold labels gives away by itself, with the rows behind each word."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pandas as pd
from markupsafe import Markup

from probe.analysis.artefacts import (
    CHANCES,
    TELLS,
    Artefacts,
    GiveAway,
    Request,
    Step,
    artefacts_json,
    find_artefacts,
    in_words,
    label_list,
    rows_at,
)
from probe.analysis.cartography import (
    MEASURES,
    REGIONS,
    DataMap,
    holds_dynamics,
    joined,
    read_dynamics,
    rows_frame,
)
from probe.data.file_options import AS_THE_FILE_TELLS
from probe.data.names import stem_of
from probe.data.reading import reading_of
from probe.data.rows import Columns, Source
from probe.data.source import open_source
from probe.errors import FileError, FileQuestion, UserError, write_json
from probe.limits import visitor_bounds
from probe.pictures.data_map import map_frame, map_on_page, map_svg, thinned
from probe.pictures.forest import DotPlot, DotRow, Forest, ForestRow
from probe.runs.access import ModelAccess
from probe.statistics import p_text, percent
from probe.tasks.task import Task, task_named
from probe.terms import capitalised
from probe.ui.answers.answering import STOPPED, Answered, StopRequests, seen_in_steps
from probe.ui.api import files as data_api
from probe.ui.events import (
    EACH,
    FORM,
    PRESSED,
    QUIET,
    cell_of,
    in_turn,
    scroll_to,
)
from probe.ui.html.elements import (
    NOTHING,
    alert,
    card,
    heads,
    hint,
    join,
    meter,
    note,
    sheet,
    shown_texts,
    table,
    told,
    twin,
)
from probe.ui.html.picture import chart, picture
from probe.ui.html.prediction import label_name
from probe.ui.measure.choice import (
    UNCHANGED,
    Asked,
    Choice,
    asked_for,
    build_link,
    done,
    read_link,
)
from probe.ui.measure.compare import asked_by
from probe.ui.measure.compared import say
from probe.ui.measure.result_files import files_view, guard, kept_folder, result_key
from probe.ui.page import Page
from probe.ui.visitors.visitor_files import check_room, fresh_folder, own_file

HINT = (
    "What a set with right answers gives away without a model: how long and how alike its texts "
    "are by label, which words tell the label, what a rule that reads one text alone gets right, "
    "and which rows stand there twice."
)
ROWS = "texts.json"
"""The texts of the rows behind words, by number, beside the files of a result."""
REGION_ROWS = 20
"""Rows of a region that are shown; the file has all."""
ABOUT_MAP = (
    "Swayamdipta et al. 2020: confidence is the mean probability of the right label over {epochs} "
    "epochs of a training, variability its standard deviation, correctness the share of the epochs "
    "in which it is right. A dashed line is where a region begins, {share:.0f} % of the rows."
)
JUDGED, OTHER = "target", "source"
Shown = dict[Any, Any]  # Any: gradio's components and what they show


class Data:
    """The view: its components, and what they do."""

    def __init__(self, page: Page) -> None:
        """Lay the view out."""
        self.page, self.models, self.stops = page, page.core.models, StopRequests()
        self.parts = _build(page)

    def listen(self) -> None:
        """Let the buttons do what they say, and show the rows of a word that is pressed."""
        parts, page = self.parts, self.page
        choice: Choice = page.shared
        self.stops.heed(parts.halt, parts.progress)
        own = [parts.field, parts.other, parts.weigh, parts.dynamics]
        asked = [*choice.inputs, *own]
        shown = [parts.go, parts.halt, parts.progress, parts.found, parts.rows, parts.files]
        linked = gr.State([])
        begun = {"js": asked_for("data-results"), "concurrency_id": "compare", **QUIET}
        opened = linked.change(self.look_linked, [page.owner, linked, *own], shown, **begun)
        for looked in (parts.go.click(self.look, asked, shown, **begun), opened):
            ended = done("data-results")
            looked.then(None, parts.progress, [parts.go, parts.halt], js=ended, **QUIET)
        page.on_open(self.open, [page.owner, page.task], linked, **QUIET)
        pressed = parts.found.click(self.press, None, parts.rows, **EACH, **in_turn("data-rows"))
        pressed.then(None, js=scroll_to("data-rows", "nearest"), **QUIET)
        parts.files.click(guard, None, parts.files, **EACH, **in_turn("data-files"))
        data_api.build_data(self.models)
        data_api.build_map(self.models)

    def open(self, visitor: str, task_name: str, request: gr.Request) -> list[Any]:  # Any: as below
        """Return what the link asks to be looked at, nothing where it names another view."""
        task, query = task_named(task_name), request.query_params
        if query.get("view") != "data" or "texts" not in query:
            return []
        return asked_by(task, read_link(visitor, task, self.models.names(visitor, task), query), 1)

    def look_linked(
        self, request: gr.Request, visitor: str, asked: list[Any], *own: Any
    ) -> Iterator[Shown]:
        """Look at what a link names as soon as it is opened."""
        if asked:
            yield from self.look(request, visitor, *asked, *own)

    def look(
        self,
        request: gr.Request,
        *values: Any,  # Any: those of the choice, then this view's own
    ) -> Iterator[Shown]:
        """Look at the texts; what follows the end gives the button back and hides Stop."""
        parts, session = self.parts, request.session_hash
        *chosen, field, other, weighs, dynamics = values
        self.stops.withdraw(session)
        try:
            asked = Asked.read(*chosen)
            check_room(self.models.store, asked.visitor)
            path = own_file(asked.visitor, asked.file)
            beside = own_file(asked.visitor, other) if other else None
            epochs = [own_file(asked.visitor, each) for each in dynamics or ()]
            model = asked.model if weighs else ""
            if model:
                self.models.require(asked.visitor, model)
            steps = _found(self.models, asked, path, beside, epochs, field or JUDGED, model)
            busy = {parts.go: gr.Button(interactive=False), parts.halt: gr.Button(visible=True)}
            yield {**busy, parts.progress: told(f"Reading {path.name} …")}
            for step in seen_in_steps("file_minutes", steps, self.stops.reason(session)):
                if isinstance(step, Step):
                    far = meter(step.words, step.done / step.total) + note(
                        f"{step.words}: {step.done:,} of {step.total:,}"
                        if step.total > 1
                        else f"{step.words} …"
                    )
                    yield {parts.progress: far}
                elif not isinstance(step, Answered):
                    found, source, mapped = step
                    key = _keep(found, asked, source, beside, mapped)
                    yield {
                        parts.progress: NOTHING,
                        parts.found: drawn(found, asked.task, key, mapped),
                        parts.rows: NOTHING,
                        parts.files: files_view(key),
                    }
        except UserError as trouble:
            why = told("Stopped.") if str(trouble) == STOPPED else alert(trouble)
            yield {parts.progress: Markup("<div {}>{}</div>").format(UNCHANGED, why)}
        finally:
            self.stops.withdraw(session)

    def press(self, event: gr.EventData) -> Markup:
        """Show the rows of a word, of a region of a map, or two rows that are alike."""
        try:
            key, _, which = cell_of(event).partition("|")
            return behind(key, which)
        except UserError as trouble:
            return alert(trouble)


Found = tuple[Artefacts, Source, DataMap | None]


def _found(
    models: ModelAccess,
    asked: Asked,
    path: Path,
    beside: Path | None,
    epochs: Sequence[Path],
    field: str,
    model: str,
) -> Iterator[Step | Found]:
    """Look at a visitor's file, ask a model where one is named, and map what trainings say."""
    task, bounds = asked.task, visitor_bounds()
    judged = task.field_of(field)
    if judged is None:
        raise FileError(f"{task.title.lower()} has one text; choose the judged one")
    request = Request(field=judged, seed=asked.seed)
    load = partial(models.get, asked.visitor, model, task) if model else None
    source = open_source(path, bounds, asked.reading)
    mapped = None
    if epochs or holds_dynamics(source.names):
        yield Step("Reading the training dynamics", 0, 1)
        mapped = _mapped(asked, source, epochs)
    for step in find_artefacts(
        path, task, request, asked.reading, beside, bounds=bounds, load=load,
        precision=asked.precision,
    ):  # fmt: skip
        if isinstance(step, Step):
            yield step
        else:
            yield step, source, mapped


def _mapped(asked: Asked, source: Source, epochs: Sequence[Path]) -> DataMap:
    """Return the map of a visitor's file by files of epochs, or by what it has itself.

    Raises FileError, also where something is to be said that the page has no place for.
    """
    reading = replace(AS_THE_FILE_TELLS, one_file=False) if epochs else asked.reading
    try:
        dynamics = read_dynamics(
            epochs or [source.path], asked.task, reading=reading, bounds=visitor_bounds()
        )
        dynamics, rows = joined(dynamics, source, asked.columns_in(source), asked.task)
    except FileQuestion as question:
        told = " or ".join(question.options)
        raise FileError(f"{question.sentence}; the command probe map takes {told}") from None
    return DataMap(dynamics, rows=rows)


def _keep(
    found: Artefacts, asked: Asked, source: Source, beside: Path | None, mapped: DataMap | None
) -> str:
    """Write the files of a result and the texts behind its words; return its key."""
    folder, stem = fresh_folder(asked.visitor), stem_of(asked.file)
    write_json(artefacts_json(found), folder / f"{stem}-data.json")
    words_frame(found).to_csv(folder / f"{stem}-words.csv", index=False)
    shown = {row for word in found.words for row in (*word.rows, *word.others)}
    shown |= {row for two in found.repeats.examples for row in two}
    pairs = found.shared.pairs if found.shared else ()
    task = asked.task

    def texts(source: Source, columns: Columns, rows: set[int]) -> dict[str, Any]:  # Any: JSON
        several = rows_at(source, columns, task, rows)
        return {
            str(number): [row.example.gold, task.texts(row.example)]
            for number, row in several.items()
            if row.example
        }

    kept = texts(source, asked.columns_in(source), shown | {first for first, *_ in pairs})
    other = {}
    if beside and pairs:
        table_beside = open_source(beside, visitor_bounds())
        columns = reading_of(table_beside, beside, task).settled
        other = texts(table_beside, columns, {second for _, second, _ in pairs})
    regions = dict[str, list[list[float]]]()
    if mapped:
        rows_frame(mapped, task).to_csv(folder / f"{stem}-map.csv", index=False)
        for name in REGIONS:
            first = [at for at in mapped.region(name) if at in mapped.rows][:REGION_ROWS]
            numbers = [mapped.rows[at].number + 1 for at in first]
            figures = [[float(getattr(mapped, each)[at]) for each in MEASURES] for at in first]
            regions[name] = [[at, *row] for at, row in zip(numbers, figures, strict=True)]
            kept |= texts(source, asked.columns_in(source), {*numbers})
    told = {"task": task.name, "rows": kept, "other": other, "regions": regions}
    write_json(told, folder / ROWS)
    return result_key(folder)


def words_frame(found: Artefacts) -> pd.DataFrame:
    """Return the give-away words as a table, all that are kept of each label."""
    columns = ("text", "words", "label", "n", "count", "chance", "z", "p", "pmi")
    rows = [
        [getattr(word, name) for name in columns]
        + [getattr(word.share, name) for name in ("value", "low", "high")]
        for word in found.words
    ]
    return pd.DataFrame(rows, columns=[*columns, "share", "low", "high"])


def drawn(found: Artefacts, task: Task, key: str, mapped: DataMap | None = None) -> Markup:
    """Show what was found: a sentence, a map, pictures, words with a button each, and repeats."""
    parts = [
        say(in_words(found)),
        note(f"{found.file}: {found.rows:,} {task.unit}s, {label_list(found)}.")
        + join(note(f"{capitalised(each)}.") for each in found.notes),
        _map(mapped, task, key) if mapped else NOTHING,
        _rules(found),
        _traits(found),
        _words(found, key),
        _twice(found, key),
        _weighed(found),
    ]
    return Markup('<div class="stacked">{}</div>').format(join(parts))


def _map(mapped: DataMap, task: Task, key: str) -> Markup:
    """Draw a map, with a button for each of its regions."""
    rows, dynamics = rows_frame(mapped, task), mapped.dynamics
    about = ABOUT_MAP.format(epochs=dynamics.epochs, share=100 * mapped.share)
    sentence = " ".join(
        filter(None, [about, thinned(rows), mapped.too_few and f"{mapped.too_few}."])
    )
    title = f"Data map, {len(rows):,} rows"
    button = Markup(
        '<button type="button" class="link" data-cell="{}|region|{}" title="{}">{}, {:,}</button>'
    )
    buttons = (
        button.format(key, name, term.summary, term.title, mapped.size)
        for name, term in REGIONS.items()
    )
    opened = Markup("<p>Rows to look at: {}</p>").format(join(buttons, Markup(" · ")))
    notes = note(f"{capitalised('; '.join(dynamics.notes))}.")
    drawing = map_on_page(rows, f"{title}: variability across, confidence up")
    shown = picture(
        title, drawing, map_frame(rows), map_svg(rows, title), stem="data-map", sentence=sentence
    )
    return Markup('<div class="data-map">{}{}{}</div>').format(shown, opened, notes)


def _rules(found: Artefacts) -> Markup:
    if not found.rules:
        return NOTHING
    rows = [ForestRow(rule.title, rule.accuracy, rule.name, rule.says) for rule in found.rules]
    forest = Forest(
        rows, 0, 1, "0 %", "100 %", found.majority.value, "most frequent label", beside=False
    )
    return chart(
        "What rules get right that understand nothing",
        forest,
        stem="rules",
        sentence=f"Learnt on {found.request.folds - 1} of {found.request.folds} parts of the file "
        "and judged on the other one, each in turn; rows with the same source are in one part, and "
        "the intervals are over sources.",
    )


def _traits(found: Artefacts) -> Markup:
    labels = list(found.labels)
    shares = [
        DotRow(trait.title, list(trait.by_label.values()))
        for trait in found.traits
        if trait.is_share
    ]
    plot = DotPlot(labels, shares, unit="row", measure="share", figures="%")
    lengths = pd.DataFrame(
        [
            {
                "mean": trait.title,
                **{label: trait.shown(one) for label, one in trait.by_label.items()},
            }
            for trait in found.traits
            if not trait.is_share
        ]
    )
    return chart("Overlap and negation, by label", plot, stem="traits") + card(
        Markup("<h3>Length, by label</h3>{}").format(sheet(lengths, "words by label"))
    )


HEADS = ("word", "with the label", "of rows", "share", "z", "p, corrected", "PMI")
IN_SIGHT = 8
"""Words of each label, and bigrams, that are not folded away."""


def _words(found: Artefacts, key: str) -> Markup:
    about = note(
        f"{found.telling:,} of {found.tested:,} words and bigrams with labels tell one: z of "
        f"Gardner et al. 2021 against p0, {CHANCES[found.request.chance]}; one-sided, corrected by "
        f"Benjamini and Hochberg; {TELLS}. PMI with 100 added, as Gururangan et al. 2018. A press "
        "on a word shows its rows."
    )
    columns = []
    for label in found.labels:
        own = [each for each in enumerate(found.words) if each[1].label == label]
        first = [each for kind in (1, 2) for each in _of(own, kind)[:IN_SIGHT]]
        rest = [each for each in own if each not in first]
        tables = _word_table(first, label, key) if own else note("No word tells it.")
        if rest:
            tables += twin(f"{len(rest)} more", _word_table(rest, label, key))
        columns.append(Markup("<div><h4>{}</h4>{}</div>").format(label_name(label), tables))
    title = f"Words of the {found.field} that give the label away"
    return card(Markup("<h3>{}</h3>{}{}").format(title, about, join(columns)))


Placed = tuple[int, GiveAway]
"""A word with its place in what was found."""


def _of(words: Iterable[Placed], kind: int) -> list[Placed]:
    return [each for each in words if each[1].words == kind]


def _word_table(words: Iterable[Placed], label: str, key: str) -> Markup:
    line = Markup(
        '<tr><td><button type="button" class="link" data-cell="{}|word|{}">{}</button></td>{}</tr>'
    )
    cell = Markup('<td class="num">{}</td>')

    def cells(word: GiveAway) -> Iterator[str]:
        yield f"{word.count:,}"
        yield f"{word.n:,}"
        yield percent(word.share)
        yield f"{word.z:.1f}"
        yield p_text(word.p)
        yield f"{word.pmi:.2f}"

    rows = (
        line.format(key, at, word.text, join(cell.format(each) for each in cells(word)))
        for at, word in words
    )
    return table(f"words of {label}", heads(HEADS), join(rows))


def _twice(found: Artefacts, key: str) -> Markup:
    button = Markup('<button type="button" class="link" data-cell="{}|{}|{}">{}</button>')
    again, shared = found.repeats, found.shared
    said = note(
        f"Rows that have the texts of an earlier one, case and blanks aside: {again.rows:,}; rows "
        f"of which an equal one has another label: {again.contradicted:,}."
    ) + join(
        (
            button.format(key, "repeat", at, f"rows {first:,} and {second:,}")
            for at, (first, second) in enumerate(again.examples)
        ),
        Markup(" · "),
    )
    if shared:
        near = round(shared.near.value * shared.rows)
        said += note(
            f"{near:,} of {shared.rows:,} rows of {shared.file} are near duplicates "
            f"({percent(shared.near)}), {shared.equal:,} of them equal: the pairs of neighbouring "
            f"words have a Jaccard index from {shared.similarity}."
        ) + join(
            (
                button.format(key, "shared", at, f"rows {first:,} and {second:,}: {alike:.2f}")
                for at, (first, second, alike) in enumerate(shared.pairs)
            ),
            Markup(" · "),
        )
    return card(Markup("<h3>Rows that stand there twice</h3>{}").format(said))


def _weighed(found: Artefacts) -> Markup:
    if not found.model:
        return NOTHING
    frame = pd.DataFrame(
        {
            "gold label": each.label,
            "with a word of the label": f"{percent(each.having)}, n = {each.having.n:,}",
            "without": f"{percent(each.lacking)}, n = {each.lacking.n:,}",
            "difference in points": each.apart,
            "with a word of another label alone": (
                f"{percent(each.misled)}, n = {each.misled.n:,}"
            ),
        }
        for each in found.weighed
    )
    title = f"{found.model} on {found.weighed_on}, with give-away words and without"
    return card(Markup("<h3>{}</h3>{}").format(title, sheet(frame, title)))


def behind(key: str, which: str) -> Markup:
    """Show the rows behind a word, or two that are alike. Raises FileError where they are gone."""
    folder = kept_folder(key)
    kind, _, place = which.partition("|")
    kept = json.loads((folder / ROWS).read_text(encoding="utf-8"))
    if kind == "region" and place in kept["regions"]:
        return _region(place, kept)
    found = json.loads(next(folder.glob("*-data.json")).read_text(encoding="utf-8"))
    several = {
        "word": found["words"],
        "repeat": found["repeats"]["examples"],
        "shared": (found["shared"] or {}).get("pairs", []),
    }.get(kind, [])
    if not place.isdecimal() or int(place) >= len(several):
        raise FileError("choose one of the words or rows that are shown")
    one, task = several[int(place)], task_named(kept["task"])

    def rows(numbers: Iterable[int], where: str = "rows") -> Markup:
        return join(
            shown_texts(
                {task.title_of(name): text for name, text in texts.items()},
                f"row {number:,}: {gold}",
            )
            for number in numbers
            if (told := kept[where].get(str(number)))
            for gold, texts in [told]
        )

    if kind != "word":
        first, second = one[:2]
        other = rows([second], "other" if kind == "shared" else "rows")
        return card(Markup("<h3>Alike</h3>{}{}").format(rows([first]), other))
    return card(
        Markup("<h3>“{}” with {}, the first of {:,} rows</h3>{}").format(
            one["text"], one["label"], one["count"], rows(one["rows"])
        )
        + twin(
            f"The first of {one['n'] - one['count']:,} rows with another label", rows(one["others"])
        )
    )


def _region(name: str, kept: Any) -> Markup:  # Any: JSON
    """Show the rows of a region that are most so."""
    task, told = task_named(kept["task"]), REGIONS[name]  # type: ignore[index]  # one of them
    rows = (
        shown_texts(
            {task.title_of(field): text for field, text in texts.items()},
            f"row {number:,}: {gold} · confidence {confidence:.2f} · variability "
            f"{variability:.2f} · right in {100 * correctness:.0f} % of the epochs",
        )
        for number, confidence, variability, correctness in kept["regions"][name]
        for gold, texts in [kept["rows"][str(number)]]
    )
    return card(
        Markup("<h3>{}, the first {:,}</h3>{}{}").format(
            told.title, len(kept["regions"][name]), note(told.summary), join(rows)
        )
    )


def _build(page: Page) -> SimpleNamespace:
    """Lay out what is asked, the button, and the results."""
    shown = SimpleNamespace()
    choice: Choice = page.shared
    gr.HTML(hint(HINT), padding=False)
    with gr.Row(elem_classes="tools"):
        shown.go = gr.Button(
            "Look at the data", variant="primary", elem_id="data-look", min_width=0,
            interactive=False,
        )  # fmt: skip
        choice.allow(shown.go, "data-halt")
        shown.halt = gr.Button("Stop", visible=False, elem_id="data-halt", min_width=0)
        build_link(choice, "data")
    title = "Which words, another part of the set, a model, and what a training says"
    with gr.Accordion(title, open=False, elem_classes="fold", elem_id="data-more"):
        with gr.Row():
            shown.field = gr.Radio(
                [("the judged text", JUDGED), ("the other text", OTHER)], value=JUDGED,
                label="Words of", elem_id="data-field", elem_classes="seg", min_width=240,
            )  # fmt: skip
            shown.weigh = gr.Checkbox(
                label="Ask the first model above too", elem_id="data-weigh", min_width=240,
                info="Is it right more often where a word gives the label away?",
            )  # fmt: skip
        shown.other = gr.File(
            label="Another part of the set, such as its test part: near duplicates are looked for, "
            "and the model is asked about it", type="filepath", height=132, elem_id="data-other",
        )  # fmt: skip
        shown.dynamics = gr.File(
            label="What a training said of these rows, for a map of them: dynamics_epoch_0.jsonl "
            "and so on, or one table with logits_epoch_0 and so on", type="filepath", height=132,
            file_count="multiple", elem_id="data-dynamics",
        )  # fmt: skip
    shown.progress = gr.HTML(padding=False, elem_id="data-progress")
    with gr.Column(elem_id="data-results", elem_classes="measured"):
        shown.found = gr.HTML(padding=False, elem_id="data-found", js_on_load=PRESSED)
        shown.rows = gr.HTML(padding=False, elem_id="data-rows")
        shown.files = gr.HTML(padding=False, elem_id="data-files", js_on_load=FORM)
    return shown


def build(page: Page) -> None:
    """Put the view together."""
    Data(page).listen()
