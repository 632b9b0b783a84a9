"""`python -m finetune share`: models that keep their word embeddings in one file."""

from pathlib import Path
from typing import Annotated

import typer

from probe.errors import ModelError
from probe.models.library import find
from probe.models.weights.shared import share_weights


def share_command(
    models: Annotated[list[str], typer.Argument(help="Trained models: folders or names on disk.")],
    embeddings: Annotated[
        str, typer.Option(help="A file of the folder word_embeddings beside each model.")
    ] = "all-minilm-l6-v2.safetensors",
) -> None:
    """Let models take their word embeddings from one file, so that these lie on disk once.

    For models trained with --freeze-word-embeddings; `probe models export` writes a whole one.
    """
    for model in models:
        folder = Path(find(model))
        if not folder.is_dir():
            raise ModelError(f"there is no model or folder called {model!r}")
        saved = share_weights(folder, embeddings)
        typer.echo(f"{folder.name} shares {embeddings}: {saved / 1e6:.1f} MB less on disk")
