"""What reaches gradio's own addresses: a body that can be read, for a function that there is.

Nobody has more requests open than may wait for their answer, streams without an end among them.

Without this a request that is none ends as an error of the server with a traceback in its log.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

from gradio.route_utils import FnIndexInferError
from gradio.server_messages import UnexpectedErrorMessage
from starlette.datastructures import Headers, QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from probe.errors import ArgumentError, LimitError
from probe.ui.answers.turns import address
from probe.ui.links import moved
from probe.ui.server.fair_queue import too_many

MAX_BODY = 2_000_000
"""Bytes of a request that is no upload; a page with its longest texts has a tenth."""
MAX_DEPTH = 32
"""Lists and objects in one another."""
ANSWERED = re.compile(r"/(queue/join|call/.+|run/.+|api/.+|cancel|reset)/?$")
"""Addresses where gradio reads a request and puts it into its queue."""
CLOSED = re.compile(
    r"/gradio_api/(file[=/]\s*(https?|ftp):|proxy=|deep_link|stream/|process_recording|dev/"
    r"|run-history|component_server|queue/status|profiling|(undo-)?vibe-)",
    re.IGNORECASE,
)
"""Addresses of gradio's that no page of ours uses: they fetch from the web for strangers, write
files, convert videos, or stream without an end."""
ANSWER = re.compile(r"/call/(?:v2/)?[^/]+/([^/]+)/?$")
"""Addresses at which the answer of an event is fetched."""
READING = (KeyError, TypeError, ValueError, FnIndexInferError)
"""What gradio raises where a request names no function or lacks an argument: what a function itself
raises never comes here, since it is answered from the queue."""


class RequestCheck:
    """Middleware that answers a request that is none by a sentence, as JSON with `detail`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open = Counter[str]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on where it can be read."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        place = address(Request(scope))
        answer: Response | None
        if sentence := too_many(self._open[place]):
            answer = refusal(sentence, 429)
        else:
            with self._one_more(place):
                answer = await self._answer(scope, receive, send)
        if answer:
            await answer(scope, receive, send)

    @contextmanager
    def _one_more(self, place: str) -> Iterator[None]:
        """Count a request of an address for as long as it is answered, a stream until its end."""
        self._open[place] += 1
        try:
            yield
        finally:
            self._open -= Counter([place])  # which forgets who has none

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> Response | None:
        """Pass the request on, or return what is answered in its place."""
        path, method = scope["path"], scope["method"]
        if CLOSED.search(path):
            return refusal("there is nothing here", 404)
        older = moved(QueryParams(scope["query_string"])) if path == "/" else None
        if method in ("GET", "HEAD") and older:
            return RedirectResponse(older)
        if method == "GET" and (asked := ANSWER.search(path)) and not has_event(scope, asked[1]):
            return refusal("there is no such answer; it is handed out once", 404)
        if method == "GET" and path.endswith("/queue/data") and not has_session(scope):
            return session_not_found()
        if method != "POST" or is_form(scope):
            await self._app(scope, receive, send)
            return None
        try:
            body = await read(receive)
            if ANSWERED.search(path):
                require_json(body)
        except LimitError as large:
            return refusal(str(large), 413)
        except ArgumentError as wrong:
            return refusal(str(wrong), 400)
        try:
            await self._app(scope, replayed(body, receive), send)
        except READING:
            if not ANSWERED.search(path):
                raise
            return refusal("there is no such function, or it lacks an argument", 400)
        return None


def refusal(sentence: str, status: int) -> Response:
    """Return a sentence as FastAPI sends its own."""
    return JSONResponse({"detail": sentence}, status)


def session_not_found() -> Response:
    """Return what gradio tells a page whose session is gone, without its traceback."""
    message = UnexpectedErrorMessage(message="this session is not known", session_not_found=True)
    text = f"data: {message.model_dump_json()}\n\n"
    return Response(text, media_type="text/event-stream")


def has_session(scope: Scope) -> bool:
    """Whether the queue holds messages for the session that is asked for."""
    session = QueryParams(scope["query_string"]).get("session_hash", "")
    return session in scope["app"].get_blocks()._queue.pending_messages_per_session


def has_event(scope: Scope, event_id: str) -> bool:
    """Whether the queue has an event that is asked for, or what was answered to it."""
    queue = scope["app"].get_blocks()._queue
    answered = chain([queue.pending_messages_per_session], queue.pending_event_ids_session.values())
    return event_id in queue.event_ids_to_events or any(event_id in ids for ids in answered)


def is_form(scope: Scope) -> bool:
    """Whether a request is an upload, whose size gradio bounds, or a login."""
    kind = Headers(scope=scope).get("content-type", "")
    return kind.startswith(("multipart/form-data", "application/x-www-form-urlencoded"))


async def read(receive: Receive) -> bytes:
    """Return the body of a request. Raises LimitError above MAX_BODY bytes."""
    body, more = bytearray(), True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > MAX_BODY:
            raise LimitError(f"a request has at most {MAX_BODY:,} bytes; send a file as a file")
    return bytes(body)


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return a source of a body that was read, then of what follows, a disconnection."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message


def require_json(body: bytes) -> None:
    """Refuse a body that is no JSON, or nested without end. Raises ArgumentError."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as wrong:
        raise ArgumentError("the request is not JSON that can be read") from wrong
    if not isinstance(value, dict):
        raise ArgumentError("the request is not a JSON object")
    if deeper(value, MAX_DEPTH):
        raise ArgumentError(f"the request nests its values more than {MAX_DEPTH} deep")


def deeper(value: Any, depth: int) -> bool:  # Any: JSON
    """Whether lists and objects lie deeper in one another."""
    if not isinstance(value, dict | list):
        return False
    parts = value.values() if isinstance(value, dict) else value
    return depth == 0 or any(deeper(part, depth - 1) for part in parts)
