"""The scored rows of a file: kept in a database beside its result, and shown a page at a time.

What is shown is a form: each of its buttons and fields asks for rows with all that it says, so that
nothing is remembered elsewhere.
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.analysis.batch import Row
from probe.analysis.summary import AT_MOST, EXPLAINED, NO_WORDS, of_words
from probe.analysis.transformed import MOSTLY
from probe.baselines import baseline, baselines_for
from probe.data.rows import InputRow, Source, is_missing, read_rows
from probe.errors import FileError, UserError
from probe.models.prediction import Prediction
from probe.scoring.files import ScoredPart, ScoringPlan, ScoringRequest, columns_of
from probe.statistics import Estimate, Share
from probe.tasks.nli import matches
from probe.tasks.task import Label, Task, task_named
from probe.transforms.registry import chain_title
from probe.ui.events import cell_of
from probe.ui.html.elements import NOTHING, alert, each, join, note, table, term
from probe.ui.html.importance import legend, shaded_words
from probe.ui.html.prediction import label_name, short_label, tone
from probe.ui.links import link_to
from probe.ui.measure import bundles
from probe.ui.measure.answer_files import is_file
from probe.ui.measure.result_files import files_of, kept_folder

Record = dict[str, Any]
"""A scored row as JSON values."""
Cells = Mapping[str, Any]  # Any: text, numbers and truth values
ROWS = "rows.sqlite"
PAGE_ROWS = 20
MAX_UNREAD = 500  # characters of a text that was not scored
KEPT_GOLDS = 1000
"""Gold labels that can be chosen by; a file with more holds something else in that column."""
FILTERS: Mapping[str, str] = {
    "All": "1",
    "Wrong": "right = 0",
    "Answer changed": "changed",
    "Least sure": "confidence IS NOT NULL",
    "Not scored": "NOT scored",
}
"""Which rows are shown, as a condition on the columns of the database."""
ALL, WRONG, _, LEAST_SURE, NOT_SCORED = FILTERS
COLUMNS = ("number", "gold", "label", "right", "confidence", "scored", "changed", "searched", "row")
ORDERS = {
    "number": "#", "gold": "Right answer", "confidence": "Answer", "right": "Right?",
}  # fmt: skip
"""What rows are sorted by beside the changes, and the heads of these columns."""
NONE = "No row is like this."
HINT = "A press on an answer to a changed text shows that text, and on a number opens it in Probe."


class ResultRows:
    """Writes the rows of the parts of a run, and sums up what the rule baselines reach on them."""

    def __init__(self, folder: Path, plan: ScoringPlan) -> None:
        self._plan, self._names = plan, list(dict.fromkeys(plan.request.names))
        self._shares = {name: Share() for name in baselines_for(plan.task)}
        more = [f"{kind}{at}" for at in range(len(self._names)) for kind in ("stays", "sure")]
        columns = [*COLUMNS, *more]
        self._insert = f"INSERT INTO rows VALUES ({', '.join('?' * len(columns))})"
        self._database = sqlite3.connect(folder / ROWS, isolation_level=None)
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute(f"CREATE TABLE rows ({', '.join(columns)})")
        self._database.execute("BEGIN")
        self._free = dict[str, None]()

    def add(self, part: Source, scored: ScoredPart) -> None:
        """Write the rows of a part behind the others. Raises FileError."""
        task, request = self._plan.task, self._plan.request
        rows = list(read_rows(part, request.columns, task))
        used = {*request.columns.texts.values(), request.columns.gold}
        self._free |= dict.fromkeys(name for name in part.columns if name not in used)
        shown = part_view(rows, scored, task, request)
        self._database.executemany(self._insert, map(self._columns, shown))
        golden = [row.example for row in rows if row.example and row.example.gold]
        for name, share in self._shares.items():
            for label, example in zip(baseline(name)(golden), golden, strict=True):
                share.add(matches(label, example.gold))

    def _columns(self, row: Record) -> list[Any]:
        made = [row["made"][name] for name in self._names]
        changed = any(one["changed"] and not one["agrees"] for several in made for one in several)
        by_change = [
            value
            for several in made
            for value in (
                any(one["changed"] and one["agrees"] for one in several),
                several[0]["confidence"] if several else None,
            )
        ]
        searched = " ".join([*row["texts"].values(), row["gold"], row["label"]]).casefold()
        return [
            row["row"], row["gold"], row["label"], row["right"], row["confidence"],
            not row["error"], changed, searched, json.dumps(row), *by_change,
        ]  # fmt: skip

    def finish(self, model: str) -> dict[str, Estimate]:
        """Say that there are no more rows; return what each rule reaches, by its name."""
        golds = self._database.execute(
            "SELECT gold FROM rows WHERE gold != '' GROUP BY gold ORDER BY min(number) LIMIT ?",
            [KEPT_GOLDS],
        )
        asked = "" if is_file(model) else model  # of a file's answers none can be asked again
        facts: Record = {"task": self._plan.task.name, "names": self._names, "model": asked}
        facts["columns"] = list(self._free)
        request = self._plan.request
        facts |= {"importance": request.importance, "sign": request.options.sign}
        facts |= {"golds": [] if self._plan.task.has_spans else [gold for (gold,) in golds]}
        sums = ", ".join(f"total({condition})" for condition in FILTERS.values())
        counts = self._database.execute(f"SELECT {sums} FROM rows").fetchone()
        facts["counts"] = dict(zip(FILTERS, map(int, counts), strict=True))
        self._database.execute("CREATE TABLE facts (facts)")
        self._database.execute("INSERT INTO facts VALUES (?)", [json.dumps(facts)])
        self._database.execute("COMMIT")
        self._database.close()
        return {name: share.estimate() for name, share in self._shares.items() if share.n}


def answered_rows(part: Source, scored: ScoredPart, plan: ScoringPlan) -> Iterator[Row]:
    """Yield what a file answers to the rows of a part."""
    columns = columns_of(scored, plan.task, plan.request)
    read = read_rows(part, plan.request.columns, plan.task)
    for row, values in zip(read, scored.scored, strict=True):
        cells = dict(zip(columns.scored, values, strict=False))
        if row.example and (label := cells["prediction"]) is not None:
            shares = [cells.get(f"p_{each}") for each in scored.labels]
            known = tuple(float(each) for each in shares if each is not None)
            known = known if len(known) == len(shares) else ()
            said = Prediction(str(label), known, scored.labels or (str(label),))
            yield Row(row.number, plan.task, row.example, said, record=row.record)


def part_view(
    rows: Iterable[InputRow], part: ScoredPart, task: Task, request: ScoringRequest
) -> list[Record]:
    """Return the rows of a part as they are kept and shown."""
    written = columns_of(part, task, request)
    made = defaultdict[int, list[Cells]](list)
    for values in part.made:
        cells = dict(zip(written.made, values, strict=True))
        made[cells["row"]].append(cells)
    shown = []
    for row, values in zip(rows, part.scored, strict=True):
        cells = dict(zip(written.scored, values, strict=True))
        scored = not cells["error"]
        if scored:
            texts, gold = task.texts(row.example), row.example.gold or ""
        else:
            given = request.columns.cells_of(row.record)
            texts, gold = {name: _readable(given.get(name)) for name in task.fields}, ""
        marks = {
            "end cut": cells["cut"],
            "words unknown": (cells["unknown"] or 0) >= MOSTLY,
            cells["language"] or "": cells["language"],
            f"window {cells.get('window')} decides": cells.get("window"),
            f"{cells.get(AT_MOST)} not listed": cells.get(AT_MOST),
            f"words not scored: {cells.get(NO_WORDS)}": (
                cells.get(NO_WORDS) and cells[EXPLAINED] is None
            ),
        }
        by_name = {name: list[Record]() for name in request.names}
        for one in made[row.number + 1]:
            by_name[one["transform"]].append(_made(task, texts, one))
        shown.append(
            {
                "row": row.number + 1,
                "texts": texts,
                "gold": gold,
                "label": cells["prediction"] if scored else "",
                "confidence": cells["confidence"],
                "error": cells["error"],
                # a part that an earlier version scored does not say it
                "right": task.matches(cells["prediction"], gold) if scored and gold else None,
                "marks": [words for words, applies in marks.items() if applies],
                "made": by_name,
            }
        )
        if request.importance and scored:
            words = {name: json.loads(cells[of_words(name)] or "[]") for name in task.fields}
            told = {"explained": cells[EXPLAINED], "words_note": cells[NO_WORDS]}
            shown[-1] |= {"words": words, **told}
    return shown


def _readable(cell: object) -> str:
    """Return the beginning of a cell that may be of any length, and hold halves of characters."""
    text = "" if is_missing(cell) else str(cell)
    return text[:MAX_UNREAD].encode("utf-8", "replace").decode()


def _made(task: Task, before: Mapping[str, str], cells: Cells) -> Record:
    """Return the answer to a changed text, and of its texts those that a change may have edited."""
    texts = {name: cells[name] for name in task.fields}
    edited = [text for name, text in texts.items() if name == task.target or text != before[name]]
    return {
        "label": cells["prediction"],
        "confidence": cells["confidence"],
        "agrees": cells["agrees"],
        "changed": cells["changed"],
        "note": cells["note"] or "",
        "text": " ▸ ".join(edited),
    }


@dataclass(frozen=True)
class Selection:
    """Which rows are shown of the result with a key, and in which order.

    `kept` is a filter, `gold` a right answer and `answer` a given one, "" for any, `change` one
    under which the answer stays, "" for any; `order` is a column, with - before it downwards.
    `bundle` is the column by which rows are joined to contrast sets, which then stand below the
    rows.
    """

    key: str
    kept: str = ALL
    gold: str = ""
    change: str = ""
    search: str = ""
    order: str = ""
    page: str = "1"
    answer: str = ""
    bundle: str = ""

    @classmethod
    def read(cls, text: str) -> "Selection":
        """Read what a button or field says; what is no text of ours is passed over."""
        try:
            said = json.loads(text)
        except ValueError:
            said = {}
        names = [each.name for each in fields(cls)]
        known = {name: str(said[name]) for name in names if isinstance(said, dict) and name in said}
        return cls(**{"key": "", **known})

    @property
    def asked(self) -> str:
        """What a button says that asks for these rows."""
        return json.dumps({name: value for name, value in vars(self).items() if value})


@dataclass(frozen=True)
class RowsPage:
    """A page of the selected rows, its number, that of the last, and how many there are."""

    rows: list[Record]
    number: int
    last: int
    count: int
    facts: Mapping[str, Any]  # Any: JSON


def rows_on(number: int, count: int) -> tuple[int, int, slice]:
    """Return the page nearest to a number, the last one, and which of `count` rows the page has."""
    last = max(1, -(-count // PAGE_ROWS))
    number = min(max(1, number), last)
    return number, last, slice((number - 1) * PAGE_ROWS, number * PAGE_ROWS)


def rows_page(selection: Selection) -> RowsPage:
    """Read a page of the selected rows. Raises FileError where the results are gone."""
    place = kept_folder(selection.key) / ROWS
    with closing(sqlite3.connect(f"{place.as_uri()}?mode=ro", uri=True)) as database:
        facts = json.loads(database.execute("SELECT facts FROM facts").fetchone()[0])
        where, given = [FILTERS.get(selection.kept, "1")], list[Any]()
        for column, label in (("gold", selection.gold), ("label", selection.answer)):
            if label:
                where, given = [*where, f"{column} = ?"], [*given, label]
        if selection.search:
            where += ["instr(searched, ?)"]
            given += [selection.search.casefold()]
        names = facts["names"]
        if selection.change:
            known = selection.change in names
            where.append(f"stays{names.index(selection.change)}" if known else "0")
        asked = " AND ".join(where)
        (count,) = database.execute(f"SELECT count(*) FROM rows WHERE {asked}", given).fetchone()
        by = {**{name: name for name in ORDERS}, **{n: f"sure{at}" for at, n in enumerate(names)}}
        usual = "confidence" if selection.kept == LEAST_SURE else "number"
        order = by.get(selection.order.lstrip("-"), usual)
        down = "DESC" if selection.order.startswith("-") else "ASC"
        number, last, part = rows_on(_page_of(selection.page), count)
        rows = database.execute(
            f"SELECT row FROM rows WHERE {asked} ORDER BY {order} {down} NULLS LAST, number "
            f"LIMIT {PAGE_ROWS} OFFSET {part.start}",
            given,
        )
        return RowsPage([json.loads(row) for (row,) in rows], number, last, count, facts)


def _page_of(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 1


def browse(event: gr.EventData) -> Markup:
    """Show the rows that a button, a field or a figure asks for."""
    selection = Selection.read(cell_of(event))
    try:
        return rows_view(selection)
    except UserError as trouble:
        return alert(trouble)


def rows_view(selection: Selection) -> Markup:
    """Show a page of rows, and all that asks for others. Raises FileError."""
    page = rows_page(selection)
    task, counts = task_named(page.facts["task"]), page.facts["counts"]
    kept = {name: getattr(selection, name) for name in ("key", "change", "order", "answer")}
    buttons = (
        Markup(
            '<button name="kept" value="{0}" aria-pressed="{1}">{0} <span>{2:,}</span></button>'
        ).format(name, str(name == selection.kept).lower(), counts[name])
        for name in FILTERS
        if name == ALL or counts[name]
    )
    tools = Markup(
        '<div class="strip filters"><h3>Rows</h3>{}<span class="grow"></span>'
        '<input type="search" name="search" value="{}" placeholder="search these rows" '
        'aria-label="search these rows">{}</div>'
    ).format(join(buttons), selection.search, _golds(selection, page.facts["golds"]))
    # a result of an earlier version does not say by which method
    method = page.facts.get("importance")
    said = legend(method, page.facts["sign"]) if method else NOTHING
    if selection.change:
        title = chain_title(selection.change)
        said += note(f"Only rows whose answer stays under “{title}”.")
    if selection.answer:
        said += note(f"Only rows whose answer is {selection.answer}.")
    return Markup('<form class="rows"><button hidden></button>{}{}{}{}{}{}</form>').format(
        each(
            Markup('<input type="hidden" name="{0[0]}" value="{0[1]}">'),
            [*kept.items(), ("kept", selection.kept)],
        ),
        tools,
        said,
        rows_table(page.rows, task, page.facts["names"], selection.order, page.facts["model"]),
        pager(page.number, page.last, page.count),
        _bundles(selection, page.facts, task),
    )


def _bundles(selection: Selection, facts: Mapping[str, Any], task: Task) -> Markup:
    """Offer what may join the rows, and show what the chosen column makes of them."""
    columns = facts.get("columns", [])  # a result of an earlier version does not say them
    attributes = Markup('name="bundle" value="{}" class="link"')
    offered = bundles.offer(columns, {name: attributes.format(name) for name in columns})
    if not offered or not facts["golds"] or selection.bundle not in columns:
        return offered if facts["golds"] else NOTHING
    place = kept_folder(selection.key) / ROWS
    with closing(sqlite3.connect(f"{place.as_uri()}?mode=ro", uri=True)) as database:
        every = [
            json.loads(row) for (row,) in database.execute("SELECT row FROM rows ORDER BY number")
        ]
    rows = [
        bundles.Judged(
            row["row"], row["texts"], row["gold"], [row["label"]],
            [None if row["right"] is None else bool(row["right"])],
        )
        for row in every
    ]  # fmt: skip
    scored = files_of(selection.key)["-scored"]
    try:
        return offered + bundles.bundles(scored, rows, task, [facts["model"]], selection.bundle)
    except FileError as trouble:
        return offered + alert(trouble)


def _golds(selection: Selection, golds: Sequence[Label]) -> Markup:
    if not golds:
        return NOTHING
    options = join(
        Markup('<option value="{}"{}>{}</option>').format(
            gold, Markup(" selected") if gold == selection.gold else NOTHING, gold or "any label"
        )
        for gold in ("", *golds)
    )
    return Markup('<select name="gold" aria-label="right answer">{}</select>').format(options)


SAID = Markup('<td class="said" data-title="{}">{}</td>')
"""A cell that says its column's title before it where a table is stacked, on a phone."""


def rows_table(
    rows: Sequence[Record], task: Task, names: Sequence[str], order: str = "", model: str = ""
) -> Markup:
    """Show rows: their texts, the right answer, the model's, and its answer after each change.

    After a change the confidence alone says that the answer stays; a new answer is named.
    """
    if not rows:
        return note(NONE)
    titles = [Markup('<th scope="col">{}</th>').format(task.title_of(name)) for name in task.fields]
    number, *ours = (_head(name, words, order) for name, words in ORDERS.items())
    changes = (_head(name, chain_title(name), order) for name in names)
    head = join([number, *titles, *ours, *changes])
    body = join(_line(row, task, names, model) for row in rows)
    return table("scored rows", head, body, "scored stacks", "sheet sticky") + note(HINT)


def _head(name: str, words: str, order: str) -> Markup:
    """Return the head of a column that sorts by it: once up, once more down."""
    now = {name: "ascending", f"-{name}": "descending"}.get(order)
    said = Markup(' aria-sort="{}"').format(now) if now else NOTHING
    asks = f"-{name}" if order == name else name
    return Markup('<th scope="col"{}><button name="order" value="{}">{}</button></th>').format(
        said, asks, words
    )


def _line(row: Record, task: Task, names: Sequence[str], model: str) -> Markup:
    words = row.get("words", {})
    texts = join(
        Markup('<td class="text">{}</td>').format(
            _shaded(row, name, text)
            if words.get(name)
            else Markup('<span title="{0}">{0}</span>').format(text)
        )
        for name, text in row["texts"].items()
    )
    number = Markup("{}").format(row["row"])
    if row["error"]:
        return Markup(
            '<tr><th scope="row" class="soft num">{}</th>{}<td colspan="{}" class="soft">'
            "not scored: {}</td></tr>"
        ).format(number, texts, 3 + len(names), row["error"])
    if model:
        gold = {"gold": row["gold"]} if row["gold"] else {}
        there = link_to("", task=task.name, **row["texts"], **gold, model=model)
        number = Markup('<a href="{}" aria-label="row {}, in Probe">{}</a>').format(
            there, row["row"], row["row"]
        )
    marks = (Markup(' <span class="soft tiny unread">{}</span>').format(m) for m in row["marks"])
    answer = Markup('{} <span class="num">{}</span>{}').format(
        _label(row["label"]), _sure(row["confidence"]), join(marks)
    )
    right = {
        True: Markup('<span class="is-right">✓ <span>right</span></span>'),
        False: Markup('<span class="is-wrong">✗ <span>wrong</span></span>'),
        None: _label(""),
    }[row["right"]]
    said = {"Right answer": _label(row["gold"]), "Answer": answer, "Right?": right}
    said |= {chain_title(name): _answers(row["made"].get(name, ())) for name in names}
    return Markup('<tr><th scope="row" class="soft num">{}</th>{}{}</tr>').format(
        number,
        texts,
        join(SAID.format(title, cell) for title, cell in said.items()),
    )


def _shaded(row: Record, name: str, text: str) -> Markup:
    """Shade a text's words; opened it is shown whole, with what its scores speak of."""
    every = (abs(score) for words in row["words"].values() for _, score in words if score)
    words = shaded_words(text, row["words"][name], max(every, default=0.0))
    return Markup(
        '<details class="words"><summary class="tokens"><span>{}</span></summary>'
        '<p class="fine">Scored for “{}”. {}</p></details>'
    ).format(words, row["explained"], row["words_note"])


def _label(label: str) -> Markup:
    return label_name(label) if label else Markup('<span class="soft">–</span>')


def _sure(confidence: float | None) -> str:
    return "no confidence" if confidence is None else f"{confidence:.2f}"


def _answers(several: Sequence[Record]) -> Markup:
    """Show the answers to changed texts; a text itself opens on focus and on a tap."""
    shown = []
    for made in several:
        if not made["changed"]:
            words = term("unchanged", made["note"]) if made["note"] else "unchanged"
            shown.append(Markup('<span class="soft">{}</span>').format(words))
            continue
        stays, sure = made["agrees"], made["confidence"]
        told = "" if sure is None else f"{sure:.2f}"
        words = term(
            (told or "stays") if stays else f"{short_label(made['label'])} {told}".strip(),
            f"The answer stays {made['label']}. {made['text']}" if stays else made["text"],
        )
        kind = (
            f"made tone-{tone(made['label'])}" if stays else f"made new tone-{tone(made['label'])}"
        )
        shown.append(Markup('<span class="{}">{}</span>').format(kind, words))
    return join(shown, Markup(" ")) or _label("")


def pager(
    number: int, last: int, count: int, unit: str = "row", says: Callable[[int], str] = str
) -> Markup:
    """Say which page of how many this is, with the ways to the others.

    `unit` is one row's name, `says` what the button to a page reports.
    """
    words = Markup('<span class="soft num">{:,} {}{}, page {} of {}</span>').format(
        count, unit, "" if count == 1 else "s", number, last
    )
    if last == 1:
        return words
    before, after = (
        Markup('<button name="page" class="btn" value="{}" data-cell="{}"{}>{}</button>').format(
            at, says(at), NOTHING if 1 <= at <= last else Markup(" disabled"), title
        )
        for at, title in ((number - 1, "Previous"), (number + 1, "Next"))
    )
    return Markup('<div class="strip">{}{}{}</div>').format(before, words, after)
