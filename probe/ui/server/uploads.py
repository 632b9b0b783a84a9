"""Uploads as an app for strangers needs them.

gradio names an upload's folder after its content, so that two visitors with the same file share
one.
"""

import secrets
from typing import Any

from gradio import route_utils


class Upload(route_utils.GradioUploadFile):
    """An upload whose folder has a random name, although another with the same content is there."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: as of gradio
        """Begin the hash that names the folder with bytes that nobody knows."""
        super().__init__(*args, **kwargs)
        self.sha.update(secrets.token_bytes(32))


def guard_uploads() -> None:
    """Give each upload an address of its own."""
    route_utils.GradioUploadFile = Upload  # type: ignore[misc]  # gradio has no setting for it
