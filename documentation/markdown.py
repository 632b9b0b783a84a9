"""The few parts of Markdown that the reference is made of."""

from collections.abc import Iterable, Sequence

from probe.analysis.tables import markdown


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; cells keep on one line."""
    return markdown(head, rows).rstrip("\n")


def code(text: object) -> str:
    """Return a text as code, "" where it is empty."""
    words = str(text)
    return f"`{words}`" if words else ""


def page(title: str, about: str, *parts: str) -> str:
    """Return a page that says that it is written from the code."""
    made = "Written from the code by `make docs`: change the code, not this page."
    return "\n\n".join([f"# {title}", made, about, *filter(None, parts)]) + "\n"
