"""How premise and hypothesis become one sequence, where transformers 5 has it wrong.

Seven of its tokenizers leave out the segment ids that their models learnt from (transformers issue
48128), and so does its generic class, which under version 4 gave them to every model; DeBERTa's
first version puts two [SEP] between the texts whatever its files say. None raises an error: the
model only answers worse. `probe.models.architectures` says which models these are.
"""

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedModel, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from probe.models.architectures import architecture

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
