"""Uploads and gradio's own routes, as an app for strangers needs them.

gradio names an upload's folder after its content, so that two visitors with the same file share
one; and some of its routes fetch any address of the web.
"""

import re
import secrets
from typing import Any

from gradio import route_utils
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

CLOSED = re.compile(
    r"/gradio_api/(file[=/]\s*(https?|ftp):|proxy=|deep_link|stream/|process_recording|run-history)",
    re.IGNORECASE,
)
"""Routes of gradio's that nothing here uses: they fetch addresses for strangers, or write files."""


class Upload(route_utils.GradioUploadFile):
    """An upload whose folder has a random name, although another with the same content is there."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: as of gradio
        """Begin the hash that names the folder with bytes that nobody knows."""
        super().__init__(*args, **kwargs)
        self.sha.update(secrets.token_bytes(32))


def guard_uploads() -> None:
    """Give each upload an address of its own."""
    route_utils.GradioUploadFile = Upload  # type: ignore[misc]  # gradio has no setting for it


class ClosedRoutes:
    """Answers as if the routes of CLOSED were not there."""

    def __init__(self, app: ASGIApp) -> None:
        """`app` answers everything else."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http" and CLOSED.search(scope["path"]):
            await PlainTextResponse("Not Found", status_code=404)(scope, receive, send)
        else:
            await self._app(scope, receive, send)
