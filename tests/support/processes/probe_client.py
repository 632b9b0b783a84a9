"""Asking the running app about a pair."""

from typing import Any

from gradio_client import Client


def ask(client: Client, hypothesis: str, **options: Any) -> dict[str, Any]:
    """Return what `/probe` answers for a hypothesis to one premise."""
    answer: dict[str, Any] = client.predict(
        "Nina sold her bicycle to a neighbour on Monday.", hypothesis, api_name="/probe", **options
    )
    return answer
