"""A visitor of the page without a browser: it sends what the page sends, through gradio's queue."""

import asyncio
import json
import random
import re
import time
from collections.abc import Container, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from secrets import token_hex
from string import ascii_lowercase, digits
from typing import Any

import httpx

Json = dict[str, Any]  # Any: JSON values
API = "/gradio_api"
ROOT = 0
"""The component that gradio lets load."""
TOLD = re.compile(r"getElementById\('(shown-[^']*)'\)\.tell\('(\w+)'\)")
"""In the script by which a view tells that an answer has come."""
TAG = re.compile(r"<[^>]*>")


class EventError(Exception):
    """An event that the app did not answer, or answered with an error."""


@dataclass
class Visitor:
    """An open page: its session and the values of its components as its browser knows them."""

    http: httpx.AsyncClient
    config: Json = field(default_factory=dict)
    values: dict[int, Any] = field(default_factory=dict)  # Any: values of components
    session: str = field(
        default_factory=lambda: "".join(random.choices(ascii_lowercase + digits, k=11))  # no secret
    )
    token: str = field(default_factory=lambda: token_hex(16))
    alive: "asyncio.Task[None] | None" = None
    places: set[str] = field(default_factory=set)
    cell: str = ""

    async def open(self) -> None:
        """Load the first page, and fill its view."""
        self.config = (await self.http.get("/config")).raise_for_status().json()
        self.values = {
            part["id"]: self.token
            if part["props"].get("storage_key") == "nli-clinic-owner"
            else part["props"].get("value")
            for part in self.config["components"]
        }
        self.alive = asyncio.create_task(self._keep_alive())
        await self.look("probe")

    async def look(self, view: str) -> float:
        """Show a view, the first of its place after the place; return the seconds it took."""
        shown, began = self.part(f"shown-{view}"), time.perf_counter()
        place, parts = next(
            (path, page)
            for path, page in self.config["page"].items()
            if shown in page["components"]
        )
        if place not in self.places:
            self.places.add(place)
            loads = [
                each
                for each in self._listening(ROOT, "load")
                if each["id"] in parts["dependencies"]
            ]
            await self.run(self._answered(loads))
            with suppress(KeyError):  # few places have parts above their views
                await self.trigger(f"shown-{place}-above", "expand")
        await self.trigger(f"shown-{view}", "expand")
        return time.perf_counter() - began

    async def close(self) -> None:
        """Leave the page."""
        if self.alive:
            self.alive.cancel()
            with suppress(asyncio.CancelledError):
                await self.alive

    async def _keep_alive(self) -> None:
        """Hold the connection by which the app knows that the page is open."""
        async with self.http.stream("GET", f"{API}/heartbeat/{self.session}") as beats:
            async for _ in beats.aiter_lines():
                pass

    def part(self, name: str) -> int:
        """Return the component with this element id."""
        for part in self.config["components"]:
            if part["props"].get("elem_id") == name:
                return int(part["id"])
        raise KeyError(name)

    def set(self, name: str, value: object) -> None:
        """Put a value into a component, as typing or choosing does, before its event."""
        self.values[self.part(name)] = value

    def text(self, name: str) -> str:
        """Return the text that a component of HTML shows."""
        return " ".join(TAG.sub("", str(self.values[self.part(name)])).split())

    async def trigger(self, name: str, event: str, cell: str = "") -> float:
        """Let an event of a component happen; return the seconds until all is answered.

        `cell` is what one of its buttons reports.
        """
        began, self.cell = time.perf_counter(), cell
        await self.run(self._listening(self.part(name), event))
        return time.perf_counter() - began

    def _listening(self, part: int, event: str) -> list[Json]:
        told = [each for each in self.config["dependencies"] if [part, event] in each["targets"]]
        return self._answered(told)

    def _answered(self, told: Sequence[Json]) -> list[Json]:
        """Return what the app answers of what is told: itself, and what follows a script."""
        answered, todo = dict[int, Json](), list(told)
        while todo:
            each = todo.pop()
            if each["backend_fn"]:
                answered[each["id"]] = each
                continue
            todo += self._after({each["id"]})
            if told := TOLD.search(each["js"] or ""):  # a script has told more
                todo += self._listening(self.part(told[1]), told[2])
        return list(answered.values())

    def _after(self, ended: Container[int]) -> list[Json]:
        return [each for each in self.config["dependencies"] if each["trigger_after"] in ended]

    async def run(self, dependencies: Sequence[Json]) -> None:
        """Send events at once, apply their answers, then do the same with what follows them."""
        waiting = {await self._join(each): each for each in dependencies}
        await self._receive(dict(waiting))
        following = self._answered(self._after({each["id"] for each in dependencies}))
        if following:
            await self.run(following)

    async def _join(self, dependency: Json) -> str:
        body = {
            "data": [self.values[part] for part in dependency["inputs"]],
            "event_data": {"cell": self.cell} if self.cell else None,
            "fn_index": dependency["id"],
            "session_hash": self.session,
            "trigger_id": next((part for part, _ in dependency["targets"]), None),
        }
        answer = await self.http.post(f"{API}/queue/join", json=body)
        if answer.status_code != httpx.codes.OK:
            raise EventError(answer.text)
        return str(answer.json()["event_id"])

    async def _receive(self, waiting: dict[str, Json]) -> None:
        """Read the session's stream until each of these events is answered."""
        if not waiting:
            return
        where = {"session_hash": self.session}
        async with self.http.stream("GET", f"{API}/queue/data", params=where) as stream:
            async for line in stream.aiter_lines():
                message = json.loads(line.removeprefix("data: ")) if line else {}
                if message.get("msg") == "process_completed":
                    self._apply(waiting.pop(message["event_id"]), message)
                if message.get("msg") in ("close_stream", "unexpected_error"):
                    break
        if waiting:
            raise EventError(f"{len(waiting)} events were not answered")

    def _apply(self, dependency: Json, message: Json) -> None:
        if not message["success"]:
            raise EventError(str(message["output"]))
        for part, value in zip(dependency["outputs"], message["output"]["data"], strict=True):
            if isinstance(value, dict) and value.get("__type__") == "update":
                if "value" in value:
                    self.values[part] = value["value"]
            else:
                self.values[part] = value
