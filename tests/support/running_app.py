"""The running app's home."""

from tests.conftest import App
from tests.support.tiny_bert import tiny_bert


def add_model(app: App, name: str) -> str:
    """Put a tiny model of this name beside the bundled ones."""
    folder = app.home / "models" / name
    folder.parent.mkdir(exist_ok=True)
    if not folder.exists():
        tiny_bert(app.home / "unready").rename(folder)
    return name
