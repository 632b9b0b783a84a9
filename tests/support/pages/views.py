"""A view of Measure as it is built, without a server, and what its handlers show by name."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import gradio as gr

from probe.models.library import ModelCache
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.ui.measure import choice
from probe.ui.page import ANSWERED, Core, Page

View = TypeVar("View")


def view_of(kind: type[View], store: Store | None = None, engine: Engine | None = None) -> View:
    """Build a view alone; the store is in memory where none is given."""
    store = store or Store("sqlite://")
    core = Core(ModelCache(), store, engine or Engine(store, in_process=True), Path("no gallery"))
    with gr.Blocks() as blocks:
        states = gr.BrowserState(""), gr.BrowserState({})
        parts = gr.HTML(), *states, gr.Textbox("nli"), gr.HTML(), iter(ANSWERED)
        page = Page(core, blocks, *parts)
        return kind(replace(page, shared=choice.build(page)))  # type: ignore[call-arg]  # of any view


def named(view: Any, shown: dict[Any, Any]) -> dict[str, Any]:
    """Return what a handler shows by the names of the view's components."""
    parts, names = vars(view.parts), dict[Any, str]()
    for name, part in parts.items():
        names |= dict.fromkeys(part if isinstance(part, list) else [part], name)
    return {names[part]: value for part, value in shown.items()}


def each_named(view: Any, steps: Iterator[dict[Any, Any]]) -> Iterator[dict[str, Any]]:
    """Do so for everything that a handler yields."""
    return (named(view, shown) for shown in steps)


def asked_by(session: str = "me", **query: str) -> Any:
    """Return a request from a page with an address."""
    client = SimpleNamespace(host="10.0.0.1")
    return SimpleNamespace(
        session_hash=session, query_params=query, client=client, headers={}, request=None
    )


def pressed(cell: str) -> Any:
    """Return the event of a press that reports this."""
    return SimpleNamespace(cell=cell)
