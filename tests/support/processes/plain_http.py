"""Endpoints asked without gradio's client, as curl asks them."""

import json
from typing import Any

import httpx

SECONDS = 300


def answer_over_http(url: str, name: str, values: list[Any]) -> Any:  # Any: JSON values
    """Post the values of an endpoint, in their order; return its first answer."""
    address = f"{url.rstrip('/')}/gradio_api/call/{name}"
    posted = httpx.post(address, json={"data": values}, timeout=SECONDS).raise_for_status()
    events = httpx.get(f"{address}/{posted.json()['event_id']}", timeout=SECONDS).text.splitlines()
    lines = dict(zip(events[::3], events[1::3], strict=False))
    return json.loads(lines["event: complete"].removeprefix("data: "))[0]
