"""How premise and hypothesis become one sequence, where transformers 5 has it wrong.

Seven of its tokenizers leave out the segment ids that their models learnt from (transformers issue
48128), and DeBERTa's first version puts two [SEP] between the texts whatever its files say. Neither
is an error message: the model only answers worse.
"""

from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

SEGMENTED = frozenset({"albert", "funnel", "rembert", "roformer", "xlnet"})
"""Architectures whose tokenizers have to be asked for segment ids."""
REJOINED = frozenset({"deberta"})
"""Architectures whose tokenizers forget how their files join two texts."""


def rejoin(tokenizer: PreTrainedTokenizerBase, folder: Path) -> None:
    """Join texts as `tokenizer.json` says, or as DeBERTa was trained where there is none."""
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        return
    file = folder / "tokenizer.json"
    kept = Tokenizer.from_file(str(file)).post_processor if file.is_file() else None
    first, last = str(tokenizer.cls_token), str(tokenizer.sep_token)
    tokenizer.backend_tokenizer.post_processor = kept or TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {last} $B:1 {last}:1",
        special_tokens=[(name, tokenizer.convert_tokens_to_ids(name)) for name in (first, last)],
    )
