"""One look at an example: what it costs, and that a model answers the same however it is asked."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd

from probe.analysis.batch import score
from probe.analysis.importance import Method
from probe.analysis.transformed import examine
from probe.data.rows import of_frame
from probe.models.classifier import Classifier
from probe.tasks.nli import Pair
from tests.support.files.pair_files import PAIRS, pair_columns
from tests.support.models.tiny_models import tiny_classifier

COLUMNS = pair_columns("premise", "hypothesis")
TABLE = of_frame(pd.DataFrame([vars(pair) for pair in PAIRS[:6]], dtype=object), "csv")
PAIR = Pair("A man walks to the park.", "The man is not happy in the park.", None, "r1")
SUB_WORD = ["drop", "repeat", "replace", "copyone", "drop+sort"]


@contextmanager
def passes(classifier: Classifier) -> Iterator[Callable[[Pair], int]]:
    """Count through a hook of torch how often the model reads a pair."""
    seen: list[list[int]] = []

    def count(model: Any, args: Any, inputs: dict[str, Any]) -> None:
        lengths = inputs["attention_mask"].sum(1).tolist()
        seen.extend(
            row[:length] for row, length in zip(inputs["input_ids"].tolist(), lengths, strict=True)
        )

    def of(pair: Pair) -> int:
        return seen.count(classifier.encode([pair])["input_ids"][0].tolist())

    handle = classifier.model.register_forward_pre_hook(count, with_kwargs=True)
    yield of
    handle.remove()


def reads(names: list[str], method: Method = "gradient_x_input") -> int:
    """Return how often an examination reads the pair itself."""
    classifier = tiny_classifier()
    with passes(classifier) as of:
        examine(classifier, PAIR, names, method=method)
        return of(PAIR)


def test_what_is_read_and_made_does_not_depend_on_how_an_example_is_asked() -> None:
    assert reads(SUB_WORD) == reads([]) > 0  # transforms read the pair no further time
    assert reads(["drop"], "saliency") > reads([], "saliency")  # theirs is another method
    classifier, methods = tiny_classifier(), ("gradient_x_input", "saliency")
    made = [examine(classifier, PAIR, SUB_WORD, method=method).transformed for method in methods]  # type: ignore[arg-type]  # methods
    first, second = ([one.result.example.hypothesis for one in several] for several in made)
    assert first == second
    (chunk,) = score(TABLE, COLUMNS, classifier, ["drop"], precision="fp32")
    for row in chunk.rows:
        alone = examine(classifier, row.example, ["drop"])
        assert row.transformed["drop"][0].result.example == alone.transformed[0].result.example
    for names in (["drop"], SUB_WORD):
        classifier = tiny_classifier()
        with passes(classifier) as of:
            list(score(TABLE, COLUMNS, classifier, names, precision="fp32"))
            assert of(PAIRS[0]) == 2  # once to predict, once for the gradient
