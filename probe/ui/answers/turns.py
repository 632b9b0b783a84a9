"""Whose turn it is: visitors take turns, by their address and by their page."""

import os
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import count

import gradio as gr
from cachetools import LRUCache
from starlette.requests import Request

MAX_REMEMBERED = 10_000
"""Addresses and pages of which it is known when they were served."""
Visitor = tuple[str, str]
"""An address, and a page's session."""


class Turns:
    """Remembers which address and which page was served when."""

    def __init__(self) -> None:
        self._served: LRUCache[Hashable, int] = LRUCache(MAX_REMEMBERED)
        self._numbers = count(1)

    def take(self, visitor: Visitor) -> None:
        """Note that a visitor is served now."""
        self._served[visitor[0]] = self._served[visitor] = next(self._numbers)

    def order(self, waiting: Sequence[Visitor]) -> list[int]:
        """Return the places of waiting events in the order in which they are served.

        The address that was served longest ago comes first, of its pages the one that was served
        longest ago, of its events the first one. Who is served goes to the end.
        """
        of_pages = self._rounds(waiting, [(at,) for at in range(len(waiting))])
        of_addresses = self._rounds([place for place, _ in waiting], of_pages)
        return sorted(range(len(waiting)), key=of_addresses.__getitem__)

    def _rounds(
        self, groups: Sequence[Hashable], within: Sequence[tuple[int, ...]]
    ) -> list[tuple[int, ...]]:
        """Return keys that sort events so that groups take turns; `within` sorts those of one."""
        keys: list[tuple[int, ...]] = [()] * len(groups)
        taken = Counter[Hashable]()
        for at in sorted(range(len(groups)), key=within.__getitem__):
            group = groups[at]
            keys[at] = (taken[group], self._served.get(group, 0), *within[at])
            taken[group] += 1
        return keys


def visitor_of(request: gr.Request | None) -> Visitor:
    """Return whose request the page answers, nobody's without one."""
    if request is None:
        return "", ""
    place = address(request.request) if request.request else ""
    return place, request.session_hash or ""


def address(request: Request) -> str:
    """Return the address that a request came from.

    On a Space each request comes through its proxy, which adds the address that it saw at the end
    of X-Forwarded-For; what stands before that the visitor may have written. Anywhere else the
    header is not read here: uvicorn believes it where a proxy on this machine, or one that
    FORWARDED_ALLOW_IPS names, has sent it.
    """
    forwarded = request.headers.get("x-forwarded-for", "") if "SPACE_ID" in os.environ else ""
    seen = forwarded.rpartition(",")[2].strip()
    return seen or (request.client.host if request.client else "")
