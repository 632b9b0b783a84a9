"""The head of every page: the name, the places, the task, and what is kept."""

from collections.abc import Sequence

from markupsafe import Markup

from probe.tasks.task import offered_tasks
from probe.ui.html.elements import join

HEAD = Markup(
    '<a class="skip" href="#content">Skip to the content</a><header class="masthead" data-key="{}">'
    '<h1><a href="./"><abbr title="natural language inference: does one text follow from another?">'
    'NLI</abbr> Clinic</a></h1>{}</header><div id="content" tabindex="-1">'
    "</div>"
)
PLACES = Markup(
    '<nav id="places" aria-label="Places">{places}</nav><span class="grow"></span>'
    '<nav id="task" class="seg-links" aria-label="Task">{tasks}</nav>'
    '<details id="task-menu"><summary aria-label="Task"></summary>'
    '<nav aria-label="Task">{tasks}</nav></details>{mine}'
)

TASK = Markup('<a data-task="{task.name}" href="{here}?task={task.name}">{task.choice}</a>')
"""Beginning with the path, for gradio has links of one part begin at the first page."""


def header(bar: Sequence[tuple[str, str]], here: str, key: str) -> Markup:
    """Return the head of the page with a path; `bar` holds the path and the title of each place.

    The last one is what is kept; `key` names a view in addresses.
    assets/page.js marks the task and lets the links keep it.
    """
    if not bar:
        return HEAD.format(key, "")
    *places, (mine, title) = bar
    tasks = [TASK.format(here=here or "./", task=task) for task in offered_tasks()]
    return HEAD.format(
        key,
        PLACES.format(
            places=join(_link(path, name, path == here) for path, name in places),
            tasks=join(tasks),
            mine=_link(mine, title, mine == here, "btn mine"),
        ),
    )


def _link(path: str, title: str, here: bool, kind: str = "") -> Markup:
    current = Markup(' aria-current="page"') if here else ""
    return Markup('<a class="{}" href="{}"{}>{}</a>').format(kind, path or "./", current, title)


COUNTED = 'document.querySelector("#header .mine")?.append(element);'
"""Puts the count, which comes with the visitor, beside the words that it counts."""


def count(number: int) -> Markup:
    """Return how many things are kept of a visitor, as the head shows it."""
    return Markup('<b class="count">{}</b>').format(number) if number else Markup("")
