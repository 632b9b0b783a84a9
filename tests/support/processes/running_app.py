"""The running app: a model in its home, and its endpoints with and without gradio's client."""

import json
from typing import Any

import httpx
from gradio_client import Client

from probe.tasks.nli import NLI
from probe.tasks.task import Task
from tests.conftest import MAX_SESSIONS, App
from tests.support.models.tiny_bert import tiny_bert, tiny_reader


def add_model(app: App, name: str, task: Task = NLI) -> str:
    """Put a tiny model of this name and task beside the bundled ones."""
    folder = app.home / "models" / name
    folder.parent.mkdir(exist_ok=True)
    if not folder.exists():
        unready = app.home / "unready"
        made = tiny_reader(unready) if task.has_spans else tiny_bert(unready, task)
        made.rename(folder)
    return name


SECONDS = 300


def answer_over_http(url: str, name: str, values: list[Any]) -> Any:  # Any: JSON values
    """Post the values of an endpoint, in their order; return its first answer."""
    address = f"{url.rstrip('/')}/gradio_api/call/{name}"
    posted = httpx.post(address, json={"data": values}, timeout=SECONDS).raise_for_status()
    events = httpx.get(f"{address}/{posted.json()['event_id']}", timeout=SECONDS).text.splitlines()
    lines = dict(zip(events[::3], events[1::3], strict=False))
    return json.loads(lines["event: complete"].removeprefix("data: "))[0]


def ask(client: Client, hypothesis: str, **options: Any) -> dict[str, Any]:
    """Return what `/probe` answers for a hypothesis to one premise."""
    answer: dict[str, Any] = client.predict(
        "Nina sold her bicycle to a neighbour on Monday.", hypothesis, api_name="/probe", **options
    )
    return answer


def drop_sessions(app: App) -> None:
    """Make so many calls, each a session of its own, that none of before is remembered."""
    with httpx.Client(base_url=f"{app.url}gradio_api/call", timeout=60) as calls:
        for _ in range(MAX_SESSIONS):
            asked = calls.post("/run", json={"data": ["0" * 12, ""]}).raise_for_status().json()
            calls.get(f"/run/{asked['event_id']}").raise_for_status()
