"""Elements that every view uses. Text is escaped where it enters, because all of it is Markup."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

import pandas as pd
from markupsafe import Markup

from probe.errors import FileQuestion, public_words
from probe.tasks.task import Task

WIDE_CELL = 30
"""Characters from which a table's cell is given a width of its own."""
NOTHING = Markup("")
OPENING_WORDS = ("a", "choose", "give", "it", "its", "no", "say", "the", "there", "these", "this")
"""What sentences of errors begin with, unless it is a name, such as that of a file."""

ANSWERED = (
    "say it where the page asks below the file, or save the file so that it tells: columns named "
    "in its first row, labels as words"
)
"""How a question about a file is answered on a page, which has no options."""


def join(parts: Iterable[Markup], between: Markup = NOTHING) -> Markup:
    """Return markup one after another."""
    return between.join(parts)


def each(template: Markup, values: Iterable[object]) -> Markup:
    """Return the template once for each value, which is escaped unless it is markup itself."""
    return join(template.format(value) for value in values)


def note(text: str) -> Markup:
    """Show a sentence in small print."""
    return Markup('<p class="fine">{}</p>').format(text)


def told(text: str) -> Markup:
    """Show a sentence in small print that a screen reader reads once it is there."""
    return Markup('<p class="fine" role="status">{}</p>').format(text)


def hint(text: str) -> Markup:
    """Show a line that leads into a view or stands in for a part of it."""
    return Markup('<p class="hint">{}</p>').format(text)


def alert(trouble: object) -> Markup:
    """Show one sentence in place of a result; it begins with a capital where no name is its first.

    Capital and full stop are the page's alone: on the command line the words follow others. So is
    that no folder of the machine is named, and by what an open question is answered.
    """
    if isinstance(trouble, FileQuestion):
        trouble = f"{trouble.sentence}; {ANSWERED}"
    words = public_words(trouble)
    kind = "problem sentence" if words.partition(" ")[0] in OPENING_WORDS else "problem"
    stop = "." if words[-1:].isalnum() and "/" not in words.rpartition(" ")[2] else ""
    return Markup('<div class="{}" role="alert">{}{}</div>').format(kind, words, stop)


def unbroken(text: str) -> str:
    """Keep a number and its percent sign, and n and its number, on one line."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%").replace(
        "n = ", "n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"
    )


def uncapitalised(sentence: str) -> str:
    """Return a sentence as it stands within another one."""
    return sentence[:1].lower() + sentence[1:]


def title(text: str, level: int = 3) -> Markup:
    """Head a part of a view; level 2 where nothing in the view heads it in turn."""
    return Markup('<h{0} class="title small">{1}</h{0}>').format(level, text)


def card(content: Markup) -> Markup:
    """Put a part of a view into a card of its own."""
    return Markup('<section class="card">{}</section>').format(content)


def link(address: str, text: str) -> Markup:
    """Link to an address that is url-encoded already."""
    return Markup('<a href="{}">{}</a>').format(address, text)


def term(word: str, meaning: str) -> Markup:
    """Show a word whose definition appears on focus, on hovering and on a tap.

    It is a button, so that it must not stand inside another button or a link.
    """
    return Markup(
        '<button type="button" class="term" data-meaning="{meaning}" '
        'aria-label="{word}: {meaning}">{word}</button>'
    ).format(word=word, meaning=meaning)


def meter(label: str, share: float) -> Markup:
    """Draw how far work is, as a share from 0 to 1."""
    return Markup(
        '<div class="progress" role="progressbar" aria-label="{label}" '
        'aria-valuenow="{percent:.0f}" aria-valuemin="0" aria-valuemax="100">'
        '<span style="width:{percent:.1f}%"></span></div>'
    ).format(label=label, percent=100 * share)


def moving(words: str) -> Markup:
    """Show that something is done whose length nobody knows."""
    return Markup(
        '<div class="card"><div class="progress moving" role="progressbar" aria-label="under way">'
        "<span></span></div>{}</div>"
    ).format(told(words))


def saved(paths: Iterable[Path]) -> Markup:
    """Show where files that lie in gradio's cache are fetched; the first is fetched at once."""
    one = Markup('<a download href="gradio_api/file={}">{}</a>')
    files = (one.format(quote(str(path)), path.name) for path in paths)
    return Markup('<p class="card" role="status">Saved as {}.</p>').format(
        join(files, Markup(", "))
    )


def shown_texts(named: Mapping[str, str], note: str | Markup = NOTHING) -> Markup:
    """Show the texts of an example, each under its title, and a note behind them."""
    one = Markup('<div class="shown-text"><span class="tiny soft">{}</span><p>{}</p></div>')
    behind = Markup('<p class="tiny soft">{}</p>').format(note) if note else NOTHING
    texts = join(one.format(*each) for each in named.items())
    return Markup('<div class="shown-example">{}{}</div>').format(texts, behind)


def twin(summary: str, content: Markup) -> Markup:
    """Fold away what says the same as a picture, or more than most people ask for."""
    return Markup('<details class="twin"><summary>{}</summary>{}</details>').format(
        summary, content
    )


def heads(names: Iterable[str]) -> Markup:
    """Return the heads of a table's columns."""
    return each(Markup('<th scope="col">{}</th>'), names)


def sorting_heads(names: Iterable[str]) -> Markup:
    """Return the heads of a table's columns as buttons that sort by them."""
    button = Markup('<button type="button" onclick="sortSheet(this)">{}</button>')
    return heads(button.format(name) for name in names)


def table(label: str, head: Markup, body: Markup, kind: str = "", frame: str = "sheet") -> Markup:
    """Show a table in a region of its own that scrolls sideways where it must.

    `kind` and `frame` are the classes of the table and of the region.
    """
    named = Markup(' class="{}"').format(kind) if kind else NOTHING
    return Markup(
        '<div class="{}" tabindex="0" role="region" aria-label="{}"><table{}>'
        "<thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>"
    ).format(frame, label, named, head, body)


def sheet(frame: pd.DataFrame, label: str) -> Markup:
    """Show a frame as a plain table; a head sorts by its column."""
    rows = frame.itertuples(index=False, name=None)
    return table(label, sorting_heads(map(str, frame.columns)), join(map(_line, rows)))


def _line(values: Sequence[object]) -> Markup:
    return Markup("<tr>{}</tr>").format(join(map(_cell, values)))


def _cell(value: object) -> Markup:
    text = "" if value is None or value != value else str(value)  # NaN is not itself
    wide = len(text) > WIDE_CELL
    return (Markup('<td class="long">{}</td>') if wide else Markup("<td>{}</td>")).format(text)


def not_for_task(view: str, task: Task, others: Sequence[str]) -> Markup:
    """Say that a view does not know a task, and which ones it knows."""
    return Markup('<p class="empty card soft">{} is not for {}. Choose {} at the top.</p>').format(
        view, task.choice.lower(), " or ".join(filter(None, (", ".join(others[:-1]), others[-1])))
    )
