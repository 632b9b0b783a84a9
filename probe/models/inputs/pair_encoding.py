"""How premise and hypothesis become one sequence, where transformers 5 has it wrong.

Seven of its tokenizers leave out the segment ids that their models learnt from (transformers issue
48128), and DeBERTa's first version puts two [SEP] between the texts whatever its files say. Neither
raises an error: the model only answers worse. `probe.models.architectures` says which models these
are.
"""

from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast


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
