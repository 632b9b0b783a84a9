"""Permalinks of the tabs of runs."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from probe.tasks.nli import NLI


def link_to_run(
    ids: Sequence[str], grants: Sequence[str] = (), task: str = NLI.name, tab: str = "inoculate"
) -> str:
    """Return a permalink that opens a tab with a task's runs, if they may be seen.

    With grants it lets whoever opens it see them.
    """
    query = {"tab": tab, "task": task, "run": ",".join(ids)}
    return "?" + urlencode(query | ({"grant": ",".join(grants)} if grants else {}))


def plan_in(query: Mapping[str, str]) -> tuple[list[str], list[str]] | None:
    """Return the models and challenges that a permalink asks to plan with, None where it does not.

    Probe makes such links, with one of each.
    """
    model, challenge = query.get("model", ""), query.get("challenge", "")
    return ([model], [challenge]) if model and challenge else None
