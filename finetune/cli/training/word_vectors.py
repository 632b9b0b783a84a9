"""`python -m finetune vectors`: word vectors distilled from an encoder.

`python -m finetune vectors --encoder FOLDER --train FILE --out assets/vectors/words` writes
words.txt, the most frequent words of the training file, and words.safetensors, a vector for each.
"""

from pathlib import Path
from typing import Annotated

import typer
from safetensors.torch import save_file

from finetune.training.words.vectors import embed_words, reduce_by_pca, vocabulary, with_special
from probe.cli.output import make_folder
from probe.data.reading import stream_examples
from probe.models.checkpoint import ENCODER, check_folder
from probe.models.library import locate
from probe.models.word_models.word_tokenizer import SPECIAL
from probe.tasks.nli import NLI


def vectors_command(
    encoder: Annotated[str, typer.Option(help="Folder of a sentence encoder, or hub id.")],
    train_file: Annotated[list[Path], typer.Option("--train", help="Labelled, of any form.")],
    out: Annotated[Path, typer.Option(help="Writes OUT.txt and OUT.safetensors.")],
    words: Annotated[
        int, typer.Option(min=len(SPECIAL) + 1, help="How many, special ones included.")
    ] = 25_000,
    size: Annotated[int, typer.Option(min=1, help="Components of a vector.")] = 300,
    cased: Annotated[bool, typer.Option(help="Keep capital letters apart.")] = False,
) -> None:
    """Count the words of training files and distil a vector for each from an encoder."""
    folder = locate(encoder)[0]
    check_folder(encoder, folder, ENCODER)
    make_folder(out.parent)
    pairs = (pair for file in train_file for pair in stream_examples(file, NLI))
    texts = (text for pair in pairs for text in (pair.premise, pair.hypothesis))
    known = vocabulary(texts, words, not cased)
    reduced = reduce_by_pca(embed_words(known[len(SPECIAL) :], str(folder)), size)
    Path(f"{out}.txt").write_text("\n".join(known) + "\n", encoding="utf-8")
    weights = Path(f"{out}.safetensors")
    save_file({"vectors": with_special(reduced.vectors).half()}, weights)
    weights.chmod(0o644)  # safetensors writes for its owner alone
    typer.echo(f"{len(known)} words, {size} components, {reduced.explained:.4f} of the variance")
