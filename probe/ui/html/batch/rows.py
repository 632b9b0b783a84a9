"""The rows of a scored file: a table whose first columns stay while it scrolls, and its pages."""

from collections.abc import Sequence

from markupsafe import Markup

from probe.tasks.task import Task
from probe.transforms.registry import chain_title
from probe.ui.html.elements import NOTHING, heads, join, note, table, term
from probe.ui.html.prediction import label_name, short_label
from probe.ui.html.tones import tone
from probe.ui.results.batch_tables import Record

ROWS = "scored rows"
NONE = "No row is like this."
HINT = "A press on an answer to a changed text shows that text."


def rows_table(rows: Sequence[Record], task: Task) -> Markup:
    """Show rows: their texts, their gold label, the answer, and the answer after each change.

    After a change the confidence alone says that the answer stays; a new answer is named.
    """
    if not rows:
        return note(NONE)
    names = list(rows[0]["made"])
    titles = [task.title_of(field) for field in task.fields]
    head = heads(["#", *titles, "Right", "Answer", *map(chain_title, names)])
    body = join(_line(row, names) for row in rows)
    hint = note(HINT) if names else NOTHING
    return table(ROWS, head, body, "scored", "sheet sticky") + hint


def _line(row: Record, names: Sequence[str]) -> Markup:
    texts = join(
        Markup('<td class="text"><span title="{0}">{0}</span></td>').format(text)
        for text in row["texts"].values()
    )
    first = Markup('<th scope="row" class="soft num">{}</th>{}').format(row["row"], texts)
    if row["error"]:
        return Markup('<tr>{}<td colspan="{}" class="soft">not scored: {}</td></tr>').format(
            first, 2 + len(names), row["error"]
        )
    made = join(_made(row["made"][name]) for name in names)
    return Markup('<tr>{}<td class="said">{}</td><td class="said">{}</td>{}</tr>').format(
        first,
        _label(row["gold"]),
        _answer(row["label"], row["confidence"]) + _marks(row.get("marks", ())),
        made,
    )


def _marks(marks: Sequence[str]) -> Markup:
    """Show what keeps the model from reading the row as it stands; rows kept earlier have none."""
    return join(Markup(' <span class="soft tiny unread">{}</span>').format(each) for each in marks)


def _label(label: str) -> Markup:
    if not label:
        return Markup('<span class="soft">–</span>')
    return label_name(label)


def _answer(label: str, confidence: float) -> Markup:
    return Markup('{} <span class="num">{:.2f}</span>').format(_label(label), confidence)


def _made(several: Sequence[Record]) -> Markup:
    shown = join(map(_one, several), Markup(" "))
    return Markup('<td class="said">{}</td>').format(shown or Markup('<span class="soft">–</span>'))


def _one(made: Record) -> Markup:
    """Show the answer to a changed text; the text itself opens on focus and on a tap."""
    if not made["changed"]:
        # rows kept earlier have no note
        return Markup('<span class="soft">{}</span>').format(
            term("unchanged", made["note"]) if made.get("note") else "unchanged"
        )
    confidence = f"{made['confidence']:.2f}"
    if made["agrees"]:
        words = term(confidence, f"The answer stays {made['label']}. {made['text']}")
        return Markup('<span class="made tone-{}">{}</span>').format(tone(made["label"]), words)
    words = term(f"{short_label(made['label'])} {confidence}", made["text"])
    return Markup('<span class="made new tone-{}">{}</span>').format(tone(made["label"]), words)
