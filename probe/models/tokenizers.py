"""The token that fills the shorter texts of a batch, where a folder does not say one that serves.

The head of a decoder reads the last token that is no padding. transformers finds that by the
config's padding token, whatever the tokenizer's is, and refuses batches without one.
"""

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedModel, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from probe.models.architectures import architecture
from probe.models.inputs import embedding_rows, is_decoder

FIRST = "decoder_start_token_id"
SAMPLE = ("A man walks.", "He moves.")


def set_padding(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> tuple[str, ...]:
    """Agree on one padding token and return what is to be said of it.

    A decoder is padded behind its texts, by its config's token, or else the tokenizer's. Where
    neither has one it is the end token, unless texts end with that themselves: then there is none,
    and examples are read one at a time.
    """
    decodes = is_decoder(model)
    config, rows = model.config.get_text_config(), embedding_rows(model)

    def usable(number: int | None) -> bool:
        return number is not None and number >= 0 and (rows is None or number < rows)

    own = [tokenizer.pad_token_id, getattr(config, "pad_token_id", None)]
    chosen = next(filter(usable, reversed(own) if decodes else own), None)
    note: tuple[str, ...] = ()
    if chosen is None:
        end = tokenizer.eos_token_id
        if usable(end) and end not in tokenizer(*SAMPLE)["input_ids"]:
            chosen = end
            note = (
                f"it has no padding token; its end token {tokenizer.eos_token} takes its place",
            )
        else:
            note = ("it has no padding token, so that examples are read one at a time",)
    if decodes:
        config.pad_token_id, tokenizer.padding_side = chosen, "right"
    if model.config.is_encoder_decoder and getattr(model.config, FIRST, None) is None:
        setattr(model.config, FIRST, chosen)
        note += (
            f"its config does not say with which token its decoder begins ({FIRST}); "
            "that of padding takes its place, as in T5",
        )
    if tokenizer.pad_token_id != chosen:
        tokenizer.pad_token = None if chosen is None else tokenizer.convert_ids_to_tokens(chosen)
    return note


SEGMENT_IDS = "token_type_ids"
GENERIC = "PreTrainedTokenizerFast"
"""What version 4 called the class of a tokenizer without one of its own; 5 calls it otherwise."""


def restore_pair_encoding(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    folder: Path,
    stored: Mapping[str, Any],  # Any: JSON values
) -> None:
    """Join two texts as the model learnt it; `stored` is its tokenizer_config.json."""
    facts = architecture(model.config.model_type)
    if facts.own_post_processor:
        restore_post_processor(tokenizer, folder)
    generic = stored.get("tokenizer_class") == GENERIC and "model_input_names" not in stored
    if facts.segment_ids or (generic and _reads_segments(model)):
        give_segment_ids(tokenizer)


def _reads_segments(model: PreTrainedModel) -> bool:
    takes = SEGMENT_IDS in inspect.signature(model.forward).parameters
    return takes and int(getattr(model.config, "type_vocab_size", 0) or 0) > 1


def give_segment_ids(tokenizer: PreTrainedTokenizerBase) -> None:
    """Let a tokenizer give segment ids unasked, and say so in the files that it is saved to."""
    if SEGMENT_IDS not in tokenizer.model_input_names:
        tokenizer.model_input_names = [*tokenizer.model_input_names, SEGMENT_IDS]
        tokenizer.init_kwargs["model_input_names"] = tokenizer.model_input_names


def restore_post_processor(tokenizer: PreTrainedTokenizerBase, folder: Path) -> None:
    """Join texts as `tokenizer.json` says, or as DeBERTa was trained where there is none."""
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        return
    file = folder / "tokenizer.json"
    stored = Tokenizer.from_file(str(file)).post_processor if file.is_file() else None
    first, last = str(tokenizer.cls_token), str(tokenizer.sep_token)
    tokenizer.backend_tokenizer.post_processor = stored or TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {last} $B:1 {last}:1",
        special_tokens=[(name, tokenizer.convert_tokens_to_ids(name)) for name in (first, last)],
    )
