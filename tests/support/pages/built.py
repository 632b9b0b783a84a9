"""Pages of the app as they are built, without a server."""

from collections.abc import Callable
from pathlib import Path

import gradio as gr

from app import OVER_HTTP, places
from probe.models.library import ModelCache
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.ui.page import Core, Page, Place, View, build_pages


def built(*some: Place, store: Store | None = None) -> gr.Blocks:
    """Build these places, or all, without a gallery; the store is in memory where none is given."""
    store = store or Store("sqlite://")
    core = Core(ModelCache(), store, Engine(store), Path("no gallery"))
    return build_pages((*some, OVER_HTTP) if some else places(), core)


def alone(build: Callable[[Page], None], store: Store | None = None) -> gr.Blocks:
    """Build a page that holds one view alone."""
    return built(Place("", "Alone", (View("alone", "Alone", build),)), store=store)
