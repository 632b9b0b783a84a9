"""What a paper reports of what a figure measures."""

from probe.checkup.figure import Figure
from probe.published import PublishedShare, published_share
from probe.tasks.task import Task


def published_beside(figure: Figure, task: Task, model: str) -> PublishedShare | None:
    """Return the published share beside which a figure of word salad stands, None without one.

    `model` may be named after the data set that it learnt.
    """
    names = {
        "salad": f"agreement.{figure.name}",
        "confidence": "confidence.original" if figure.name == "confidence" else figure.name,
    }
    return published_share(f"{names.get(figure.group)}.{task.name}", model)
