"""Reading HTML as a browser would: its elements, its attributes, its text."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

from app import PLACES

VOID = {"br", "input", "meta"}
OURS = set(
    """
    a article b br button code dd del details div dl dt fieldset figcaption figure form h2 h3 h4 i
    input ins label legend
    li nav ol option p pre section select span strong summary sup table tbody td th thead tr u ul
    """.split()  # noqa: SIM905  # read more easily than a list
)
"""The elements that our markup is made of, drawings aside."""
DRAWING = {"svg", "g", "path", "text", "line", "rect", "title", "polygon", "polyline"}
REPORT = {"html", "head", "body", "meta", "title", "style", "h1"}
HANDLERS = {
    ("onclick", "sortSheet(this)"),
    ("onclick", "unfoldTable(this)"),
    ("onclick", "takePng(this)"),
    ("onclick", "takePdf(this)"),
}
"""The event handlers that our markup has."""
FILE = re.compile(r"data:(image/svg\+xml|text/csv);charset=utf-8,[\w.~%/-]*", re.ASCII)
"""A link that holds the file of a picture, url-encoded."""


@dataclass
class Reading(HTMLParser):
    """What is in a piece of HTML: elements with their attributes, and all text."""

    markup: str
    elements: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.feed(self.markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)

    @property
    def text(self) -> str:
        """All text, as it is read."""
        return "".join(self.pieces)

    @property
    def attributes(self) -> list[tuple[str, str]]:
        """Every attribute of every element."""
        return [pair for _, attributes in self.elements for pair in attributes.items()]


def require_ours(markup: str, also: frozenset[str] = frozenset()) -> Reading:
    """Check that all elements, handlers and addresses are ours, and that each tag is closed."""
    reading = Reading(markup)
    assert reading.open == []
    assert {tag for tag, _ in reading.elements} <= OURS | also
    handlers = {pair for pair in reading.attributes if pair[0].startswith("on")}
    assert handlers <= HANDLERS
    addresses = [value for name, value in reading.attributes if name in ("href", "src", "action")]
    places = ("?", "#", *(f"{place.path or './'}?" for place in PLACES))
    assert all(address.startswith(places) or FILE.fullmatch(address) for address in addresses)
    return reading
