"""What the My data tab shows: a table for each kind of belongings, with a button for each."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from probe.ui.html.elements import NOTHING, card, each, heads, join, note, table, title
from probe.ui.visitors.belongings import KINDS, Belonging, Kind, moment

MEGABYTE = 1_000_000
HEADS = ("what", "", "size", "made", "expires")


def tables(all_kinds: Mapping[str, Sequence[Belonging]]) -> Markup:
    """Show all belongings, a card for each kind."""
    cards = join(_kind(KINDS[name], name, rows) for name, rows in all_kinds.items())
    return Markup('<div class="kinds">{}</div>').format(cards)


def _kind(kind: Kind, name: str, rows: Sequence[Belonging]) -> Markup:
    if not rows:
        return card(title(kind.title, 2) + note(kind.none))
    body = join(_row(kind, name, row) for row in rows)
    return card(title(kind.title, 2) + table(kind.title, heads(HEADS), body, kind="belongings"))


def _row(kind: Kind, name: str, row: Belonging) -> Markup:
    button = Markup(
        '<button type="button" data-cell="{}" aria-label="{}"><span class="number">{}</span>'
        "</button>"
    ).format(f"{name}:{row.id}", f"{kind.verb}: {row.name}", kind.verb)
    cells = [row.name, button, size(row.size), moment(row.created), row.expires]
    return Markup("<tr>{}</tr>").format(each(Markup("<td>{}</td>"), cells))


def size(count: int | None) -> str:
    """Return a number of bytes for people."""
    if count is None:
        return ""
    return f"{count / MEGABYTE:.1f} MB" if count >= MEGABYTE / 10 else f"{count / 1000:.1f} kB"


def question(kind: Kind, name: str) -> Markup:
    """Ask before something is deleted."""
    return Markup('<p role="alert"><b>{}: {}?</b> {}</p>').format(kind.verb, name, kind.warning)


def question_of_all(rows: Mapping[str, Sequence[Belonging]]) -> Markup:
    """Ask before everything is deleted."""
    counts = ", ".join(f"{KINDS[name].title.lower()}: {len(each)}" for name, each in rows.items())
    return Markup(
        '<p role="alert"><b>Delete everything of yours?</b> {}. It cannot be brought back.</p>'
    ).format(counts)


def answer(text: str) -> Markup:
    """Say what was done."""
    return Markup('<p class="fine" role="status">{}</p>').format(text) if text else NOTHING
