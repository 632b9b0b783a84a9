"""The running app's home."""

from probe.tasks.nli import NLI
from probe.tasks.task import Task
from tests.conftest import App
from tests.support.models.tiny_bert import tiny_bert


def add_model(app: App, name: str, task: Task = NLI) -> str:
    """Put a tiny model of this name and task beside the bundled ones."""
    folder = app.home / "models" / name
    folder.parent.mkdir(exist_ok=True)
    if not folder.exists():
        tiny_bert(app.home / "unready", task).rename(folder)
    return name
