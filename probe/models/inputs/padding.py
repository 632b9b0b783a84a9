"""The token that fills the shorter texts of a batch, where a folder does not say one that serves.

The head of a decoder reads the last token that is no padding. transformers finds that by the
config's padding token, whatever the tokenizer's is, and refuses batches without one.
"""

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from probe.models.inputs.template import is_decoder
from probe.models.inputs.token_rows import embedding_rows

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
