"""What the outputs of a model mean: which task, which label, and whether plain examples agree."""

from collections import Counter
from dataclasses import replace

import pytest

from probe.errors import LabelError, ModelError
from probe.models.errors import UnclearTask
from probe.models.library import load
from probe.models.outputs import LabelCheck, check_labels, read_outputs
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import LABELS, NLI, NLI_TWO_WAY, SANITY_PAIRS, TWO_WAY
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION as PARAPHRASE
from probe.tasks.reading import READING
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import INVALID, Label, Task, read_labels
from tests.support.cases import each
from tests.support.models.tiny_models import tiny_classifier

TWO, THREE = ["LABEL_0", "LABEL_1"], ["LABEL_0", "LABEL_1", "LABEL_2"]
YES = ["no", "yes"]
OPINIONS = ["negative", "neutral", "positive"]
FIVE = [f"LABEL_{at}" for at in range(5)]
STARS = ["1 star", "2 stars", "3 stars", "4 stars", "5 stars"]
NAMED = ["entailment", "neutral", "contradiction"]
TEMPERED = ["contradiction", INVALID, "entailment", "neutral"]


@each(
    "names, given, read",
    [
        (TWO, {"asked": NLI}, (NLI_TWO_WAY, None)),
        (TWO, {"asked": NLI_TWO_WAY}, (NLI_TWO_WAY, None)),
        (TWO, {"asked": PARAPHRASE}, (PARAPHRASE, None)),
        (TWO, {"asked": SENTIMENT}, (SENTIMENT, None)),
        (YES, {"asked": PARAPHRASE}, (PARAPHRASE, ("non-paraphrase", "paraphrase"))),
        (YES, {"asked": NLI}, (NLI_TWO_WAY, ("non-entailment", "entailment"))),
        (OPINIONS, {"asked": NLI}, (NLI, None)),
        (OPINIONS, {"likely": NLI}, (NLI, None)),
        ([*YES, "unsure"], {"asked": NLI}, (NLI, None)),
        ([*YES, "unsure"], {}, (NLI, None)),
        (OPINIONS, {}, (SENTIMENT, ("negative", "", "positive"))),
        (OPINIONS, {"asked": SENTIMENT}, (SENTIMENT, ("negative", "", "positive"))),
        (STARS, {"likely": SENTIMENT}, (SENTIMENT, (*["negative"] * 2, "", *["positive"] * 2))),
        (TWO, {"order": ("negative", "positive")}, (SENTIMENT, ("negative", "positive"))),
        (TEMPERED, {"own": NLI}, (NLI, tuple(TEMPERED))),
    ],
)
def test_names_and_what_is_asked_for_say_the_task_and_its_labels(
    names: list[str], given: dict[str, Task], read: tuple[Task, object]
) -> None:
    assert read_outputs("x", names, **given) == read  # type: ignore[arg-type]  # rows of several


@each(
    "names, own, asked, sentence",
    [
        (TWO, None, None, "does not say what it answers; name its task: nli_two"),
        (YES, None, None, "does not say what it answers; name its task: nli_two"),
        (["False", "True"], None, None, "does not say what it answers; name its task: nli_two"),
        (NAMED, None, SENTIMENT, "answers natural language"),
        (NAMED, NLI, SENTIMENT, "answers natural language"),
        (["NEGATIVE", "POSITIVE"], None, PARAPHRASE, "answers sentiment classif"),
        (TWO, SENTIMENT, NLI, "answers sentiment classification (positive, negative), not natural"),
        (THREE, None, SENTIMENT, "answers natural language inference"),
        (FIVE, None, SENTIMENT, "has 5 outputs (LABEL_0, LABEL_1, LABEL_2, LABEL_3, LABEL_4), and"),
        (STARS, None, NLI, "has 3 (entailment, neutral, contradiction) or 2 (entailment, non-en"),
        (FIVE, None, None, "has 5 outputs, not 3, nor 2"),
        (TWO, None, READING, "(LABEL_0, LABEL_1), and reading comprehension is answered with"),
        (THREE, SENTIMENT, None, "has 3 outputs, Sentiment classification has: positive, neg"),
        ([INVALID, "entailment"], NLI, None, "has 1 outputs, Natural language inference has"),
    ],
)
def test_outputs_of_no_or_another_task_are_refused(
    names: list[str], own: Task | None, asked: Task | None, sentence: str
) -> None:
    with pytest.raises(ModelError) as told:
        read_outputs("x", names, own, asked)
    assert sentence in str(told.value)
    assert isinstance(told.value, UnclearTask) is ("name its task" in sentence)


def test_orders_that_people_give_are_those_of_the_task() -> None:
    with pytest.raises(ModelError, match="has 2 outputs; order these labels: paraphrase, non-par"):
        read_outputs("x", TWO, asked=PARAPHRASE, order=("negative", "positive"))
    with pytest.raises(ModelError, match=r"and sentiment classification has 2 \(positive, neg"):
        read_outputs("x", FIVE, likely=SENTIMENT)
    assert read_labels("no,yes", PARAPHRASE) == ("non-paraphrase", "paraphrase")
    assert read_labels("no,yes", NLI) == ("non-entailment", "entailment")
    for task, sentence in (
        (None, r"'no, yes' may be labels of nli_two_way and of paraphr"),
        (SENTIMENT, r"^'no, yes' is no order of labels: each of positive, negative once$"),
        (READING, r"^reading comprehension is answered with spans, so it has no labels$"),
    ):
        with pytest.raises(LabelError, match=sentence):
            read_labels("no,yes", task)


# the order of the outputs' names; the outputs are E, N, C
SWAPPED: tuple[Label, ...] = ("neutral", "entailment", "contradiction")
ROTATED: tuple[Label, ...] = ("neutral", "contradiction", "entailment")


def test_wrongly_named_labels_are_warned_of_and_never_changed() -> None:
    assert Counter(pair.gold for pair in SANITY_PAIRS) == dict.fromkeys(LABELS, 2)
    bundled = [pair for name in ("dev", "test", "pool") for pair in bundled_examples(NLI, name)]
    assert not {p.hypothesis for p in bundled} & {p.hypothesis for p in SANITY_PAIRS}
    minilm = load("minilm")
    for named, correct in ((LABELS, 6), (SWAPPED, 2), (ROTATED, 0)):
        wrong = replace(minilm, order=named)
        check = check_labels(wrong)
        assert check is not None and wrong.order == named
        assert (check.correct, check.n, check.best_order) == (correct, 6, LABELS)
        warning = (
            f"with this order the model gets {correct} of 6 plain pairs right; with entailment, "
            "neutral, contradiction 6 of 6 - are the labels named wrongly?"
        )
        assert check.doubt == ("" if named == LABELS else warning)


def test_another_order_has_to_be_clearly_better_and_nearly_always_right() -> None:
    for correct, best, clear in ((6, 6, False), (4, 6, False), (3, 6, True), (2, 5, True)):
        check = LabelCheck(correct, 6, LABELS, SWAPPED, best)
        assert (check.better_order == SWAPPED) is clear, (correct, best)
    for best, suggestion in ((6, SWAPPED), (5, SWAPPED), (4, None)):
        assert LabelCheck(0, 6, LABELS, SWAPPED, best).suggestion == suggestion
    doubt = LabelCheck(3, 6, LABELS, SWAPPED, 4).doubt
    assert doubt.startswith("the model gets only 3 of 6 plain pairs right, and no other order")
    # models that say one label: two are right of equals; neutral and contradiction may be one
    cases = ((ROTATED, 2, 2), (TWO_WAY, 0, 2), (TWO_WAY[::-1], 0, 4))
    for order, output, correct in cases:
        model = tiny_classifier(order=order)
        head = [p for p in model.model.parameters() if p.shape == (len(order),)][-1]
        head.data[output] = 1e3
        found = check_labels(model)
        assert found is not None and found.correct == correct, order
        if order is ROTATED:
            assert found == LabelCheck(2, 6, ROTATED, ROTATED, 2, alone=False)
