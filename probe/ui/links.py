"""Permalinks: addresses within the app that open a place with something in it.

They are relative, since the app does not know by which address it is reached; a place's path has
one segment, so that they hold on every page.
"""

import os
import socket
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import Any, cast
from urllib.parse import quote, urlencode

import gradio as gr
import psutil  # type: ignore[import-untyped]

from probe.tasks.nli import NLI
from probe.tasks.task import Example, Task

MOVED = {
    "probe": ("", {}),
    "learn": ("learn", {}),
    "catalogue": ("learn", {"view": "look-up"}),
    "batch": ("measure", {"view": "score"}),
    "compare": ("measure", {"view": "compare"}),
    "annotate": ("measure", {"view": "people"}),
    "inoculate": ("train", {"aim": "inoculate"}),
    "repair": ("train", {"aim": "repair"}),
    "generalise": ("train", {"aim": "generalise"}),
    "data": ("mine", {}),
}
"""Where what older links name as a tab stands now: a place's path, and what its address says."""
RUNS = {
    "inoculation": ("Inoculate", "train", "inoculate"),
    "mitigation": ("Repair", "train", "repair"),
    "calibration": ("Repair", "train", "repair"),
    "debiasing": ("Repair", "train", "repair"),
    "transfer": ("Repair", "train", "repair"),
    "generalisation": ("Generalise", "train", "generalise"),
    "checkup": ("Check-up", "measure", "checkup"),
    "scoring": ("Score", "measure", "score"),
}
"""Where the runs of a kind are opened: the words for it, the path of the place, the view."""
MAX_QUOTED = 80
"""Characters of a link's value that a notice quotes."""


def shortened(text: str) -> str:
    """Return a link's value as a notice quotes it."""
    return text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]} …"


def not_here(what: str, named: str, instead: str) -> str:
    """Return the sentence for something that a link names and the app has not."""
    return f"The link names the {what} {shortened(named)!r}, which is not here; {instead}."


def link_to_view(parameters: Mapping[str, str]) -> str:
    """Return a permalink that opens Probe with all that its fields hold."""
    return link_to("", **parameters)


def link_to_example(task: Task, example: Example, model: str) -> str:
    """Return a permalink that opens an example in Probe, with its gold label."""
    known = task.has_spans or example.gold in task.labels
    gold = (example.gold or "") if known else ""
    given = {"gold": gold} if gold else {}
    return link_to("", task=task.name, **task.texts(example), **given, model=model)


def link_to_model(model: str, task: Task = NLI) -> str:
    """Return a permalink that opens Probe with a model."""
    return link_to("", task=task.name, model=model)


def link_to_measure(
    view: str,
    task: Task,
    models: Sequence[str],
    grants: Sequence[str] = (),
    **said: str,
) -> str:
    """Return a permalink that opens a view of Measure with models; what is "" is not said.

    Where it says on which texts, Compare asks at once; with grants it lets others use the models.
    """
    chosen = {"task": task.name, "models": ",".join(models), **said, "grant": ",".join(grants)}
    known = {name: value for name, value in chosen.items() if value}
    return link_to("measure", view=view, **known)


def link_to_inoculation(challenge: str, model: str, task: Task = NLI) -> str:
    """Return a permalink that opens Inoculate with a model and a challenge chosen."""
    return link_to("train", aim="inoculate", task=task.name, model=model, challenge=challenge)


def link_to_own_challenge(upload: str, model: str, task: Task) -> str:
    """Return the address that opens Inoculate with a visitor's upload as what a model fails on."""
    return link_to("train", aim="inoculate", task=task.name, model=model, own=upload)


def link_to_repair(model: str, task: Task = NLI) -> str:
    """Return a permalink that opens Repair with a model chosen."""
    return link_to("train", aim="repair", task=task.name, model=model)


def link_to_run(
    ids: Sequence[str],
    grants: Sequence[str] = (),
    task: str = NLI.name,
    aim: str = "inoculate",
    path: str = "train",
) -> str:
    """Return a permalink that opens a task's runs, if they may be seen.

    With grants it lets whoever opens it see them.
    """
    given = {"grant": ",".join(grants)} if grants else {}
    key = "aim" if path == "train" else "view"
    return link_to(path, **{key: aim}, task=task, run=",".join(ids), **given)


def link_to_runs(
    kind: str, ids: Sequence[str], task: str, grants: Sequence[str] = ()
) -> tuple[str, str]:
    """Return what runs of a kind are called, and their permalink; "" where nothing opens them."""
    words, path, view = RUNS.get(kind, ("", "", ""))
    return words, link_to_run(ids, grants, task or NLI.name, view, path) if path else ""


def link_to_lesson(lesson: str, step: int = 1, task: str = "", model: str = "") -> str:
    """Return a permalink that opens a step of a lesson; the first is 1."""
    named = {"task": task, "model": model}
    chosen = {name: value for name, value in named.items() if value}
    return link_to("learn", lesson=lesson, step=str(step), **chosen)


def link_to(path: str, **parameters: str) -> str:
    """Return a permalink that opens the place with a path; "" is Probe's."""
    return f"{path or './'}?{urlencode(parameters)}"


def moved(query: Mapping[str, str]) -> str | None:
    """Return where an older link leads now, None where it is none."""
    if query.get("tab", "") not in MOVED:
        return None
    for guests in ("set", "class"):
        if guests in query:
            return link_to_guest(guests, query[guests], query.get("step", ""))
    path, view = MOVED[query["tab"]]
    kept = {name: each for name, each in query.items() if name != "tab"}
    return link_to(path, **{**kept, **view})


def link_to_guest(path: str, code: str, step: str = "") -> str:
    """Return the short link to a set or a class, at a step, for who is to answer it."""
    return f"{path}?{quote(code, safe='')}" + (f"&{urlencode({'step': step})}" if step else "")


def code_in(query: Mapping[str, str]) -> str:
    """Return the code of a short link, "" where it has none."""
    return next((name for name, value in query.items() if not value), "")


def address_for_others(request: gr.Request) -> tuple[str, str]:
    """Return the address by which other machines reach the app, and what is to be said of it.

    It is a Space's direct one, or that which this page was asked by; where that is this machine's
    own name, the machine's address in its network.
    """
    if host := os.environ.get("SPACE_HOST"):
        return f"https://{host}/", ""
    # Any: gradio's class says that it may have none, which is so in its own tests alone
    url = cast(Any, request.request).base_url
    asked, name, port = str(url), url.hostname or "", url.port
    if name != "localhost" and not (name[:1].isdigit() and ip_address(name).is_loopback):
        return asked, ""
    if os.environ.get("GRADIO_SERVER_NAME", "") in ("", "127.0.0.1", "localhost"):
        return asked, (
            "Only this machine reaches this address: start the app with GRADIO_SERVER_NAME=0.0.0.0 "
            "and open it by its address in the network."
        )
    found = [
        each.address
        for name, at in psutil.net_if_addrs().items()
        for each in at
        if each.family is socket.AF_INET and not ip_address(each.address).is_loopback
    ]
    if not found:
        return asked, "This machine is in no network, so that nobody else reaches this address."
    return f"http://{found[0]}{f':{port}' if port else ''}/", ""
