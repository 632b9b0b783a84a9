"""`nli-clinic`: the page, and every command of `python -m probe` and `python -m finetune`."""

import os

from probe.native_environment import NATIVE_ENVIRONMENT

os.environ.update(NATIVE_ENVIRONMENT | os.environ)  # before torch is imported

from finetune.cli.main import COMMANDS as FINETUNE
from finetune.cli.main import main as register_all
from probe.cli.group import group
from probe.cli.main import COMMANDS as PROBE

app = group({"probe": "probe.cli.pair:pair_command", **PROBE, **FINETUNE})


@app.callback()
def main() -> None:
    """Probe models of natural language inference, and inoculate them."""
    register_all()


@app.command("serve")
def serve_command() -> None:
    """Serve the page; GRADIO_SERVER_NAME and GRADIO_SERVER_PORT say where."""
    from app import main as serve  # gradio, which no other command needs

    serve()
