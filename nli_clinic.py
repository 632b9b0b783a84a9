"""`nli-clinic`: the page, and every command of `python -m probe` and `python -m finetune`."""

import os

from probe.native_environment import NATIVE_ENVIRONMENT

os.environ.update(NATIVE_ENVIRONMENT | os.environ)  # before torch is imported

import finetune.cli.main
import probe.cli.main
from probe.cli.group import group
from probe.cli.pair import pair_command

app = group()


@app.callback()
def main() -> None:
    """Probe models of natural language inference, and inoculate them."""


@app.command("serve")
def serve_command() -> None:
    """Serve the page; GRADIO_SERVER_NAME and GRADIO_SERVER_PORT say where."""
    from app import main as serve  # gradio, which no other command needs

    serve()


app.command("probe")(pair_command)
for commands in (probe.cli.main.app, finetune.cli.main.app):
    app.registered_commands += commands.registered_commands
    app.registered_groups += commands.registered_groups
