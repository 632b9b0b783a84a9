"""What the Inoculate tab reads of a permalink."""

from collections.abc import Mapping


def plan_in(query: Mapping[str, str]) -> tuple[list[str], list[str]] | None:
    """Return the models and challenges that a permalink asks to plan with, None where it does not.

    Probe makes such links, with one of each.
    """
    model, challenge = query.get("model", ""), query.get("challenge", "")
    return ([model], [challenge]) if model and challenge else None
