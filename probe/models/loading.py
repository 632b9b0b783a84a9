"""One thread at a time reads or builds a network or a tokenizer.

Meanwhile transformers replaces parts of itself and of torch for the whole process, such as
`PreTrainedModel.tie_weights`: of two threads the second would take a replacement for the original,
and put it back for good.

    with loading:
        model = AutoModel.from_pretrained(folder)
"""

from threading import RLock

loading = RLock()
