"""The endpoints over HTTP, as the page that is served describes them."""

from collections.abc import Mapping
from inspect import getdoc
from typing import Any

from app import places
from documentation.markdown import code, page, table
from probe.models.library import ModelCache
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.ui.page import Core, build_pages

ABOUT = (
    "By gradio's clients, or as plain requests; *Use via API* at the foot of the page shows calls. "
    "Every argument is checked before anything runs; what is refused comes back as one sentence. "
    "[Command line, Python and HTTP](../interfaces.md) says more."
)


def endpoints_page() -> str:
    """Return the page of the endpoints."""
    store = Store("sqlite://")
    served = build_pages(places(), Core(ModelCache(), store, Engine(store)))
    described = served.get_api_info()["named_endpoints"]
    summaries = {f"/{f.api_name}": _summary(f.fn) for f in served.fns.values() if f.api_name}
    parts = [_endpoint(name, described[name], summaries[name]) for name in described]
    return page("Endpoints over HTTP", ABOUT, *parts)


def _summary(function: Any) -> str:  # Any: gradio's handlers
    return (getdoc(function) or "").partition("Args:")[0].strip() if function else ""


def _endpoint(name: str, described: Mapping[str, Any], summary: str) -> str:  # Any: JSON
    rows = [
        (
            code(each["parameter_name"]),
            code(each["python_type"]["type"]),
            code(repr(each["parameter_default"])) if each["parameter_has_default"] else "needed",
            each["python_type"]["description"],
        )
        for each in described["parameters"]
    ]
    returned = ", ".join(code(each["python_type"]["type"]) for each in described["returns"])
    head = ("argument", "type", "default", "what it is")
    return f"## `{name}`\n\n{summary}\n\n{table(head, rows)}\n\nReturns {returned}."
