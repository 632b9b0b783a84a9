"""Rules as tables, and the spellings of labels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.errors import LabelError
from probe.tasks.label_rules import COMPUTED, KEEP, UNDEFINED, Rule, compose
from probe.tasks.nli import FLIP, LABEL_RULES, LABELS, NLI, NOT_ENTAILED, matches
from probe.tasks.task import Label, read_outputs
from tests.support.cases import each
from tests.support.property_settings import STEADY

GOLDS: tuple[Label, ...] = (*LABELS, "non-entailment")
ANY_RULE = st.sampled_from(list(LABEL_RULES.values()))


@STEADY
@given(ANY_RULE, st.sampled_from([*GOLDS, None]))
def test_a_rule_answers_for_every_label(rule: Rule, gold: Label | None) -> None:
    assert rule(gold) in (*GOLDS, None)


@STEADY
@given(ANY_RULE)
def test_no_gold_label_stays_none_unless_every_new_pair_is_not_entailed(rule: Rule) -> None:
    assert rule(None) == ("non-entailment" if rule is NOT_ENTAILED else None)


def test_a_chain_that_ends_not_entailed_needs_no_gold_label() -> None:
    assert compose([FLIP, NOT_ENTAILED])(None) == "non-entailment"
    assert compose([NOT_ENTAILED, UNDEFINED])(None) is None


def test_a_rule_answers_as_its_table_says() -> None:
    other, n = "non-entailment", "neutral"
    expected = (
        (KEEP, GOLDS),
        (FLIP, (other, n, "entailment", None)),  # neutral and contradiction would part ways
        (NOT_ENTAILED, (other,) * 4),
        (UNDEFINED, (None,) * 4),
    )
    for rule, golds in expected:
        assert tuple(map(rule, GOLDS)) == golds, rule.name


@STEADY
@given(st.lists(ANY_RULE, min_size=1, max_size=4), st.sampled_from(GOLDS))
def test_a_chain_answers_as_its_rules_in_turn(rules: list[Rule], gold: Label) -> None:
    if COMPUTED in rules and UNDEFINED not in rules:
        assert compose(rules) is COMPUTED
        return
    if UNDEFINED in rules:
        assert compose(rules) is UNDEFINED
        return
    in_turn: Label | None = gold
    for rule in rules:
        in_turn = rule(in_turn)
    assert compose(rules)(gold) == in_turn


@STEADY
@given(st.lists(ANY_RULE, max_size=3), st.lists(ANY_RULE, max_size=3))
def test_undefined_wins_wherever_it_stands(before: list[Rule], after: list[Rule]) -> None:
    assert compose([*before, UNDEFINED, *after]) is UNDEFINED


def test_keep_and_keep_is_keep() -> None:
    assert compose([KEEP, KEEP]) is KEEP


def test_flip_twice_is_not_where_it_began() -> None:
    twice = compose([FLIP, FLIP])
    assert [twice(gold) for gold in LABELS] == [None, "neutral", "non-entailment"]


def test_a_composed_rule_says_both_in_words() -> None:
    both = compose([KEEP, FLIP])
    assert both.name == "keep+flip"
    assert both.words == f"{KEEP.words}; then {FLIP.words}"


@each(
    ("predicted", "gold", "right"),
    [
        ("neutral", "neutral", True),
        ("neutral", "contradiction", False),
        ("neutral", "non-entailment", True),
        ("contradiction", "non-entailment", True),
        ("entailment", "non-entailment", False),
        ("non-entailment", "neutral", True),
        ("non-entailment", "contradiction", True),
        ("non-entailment", "non-entailment", True),
        ("non-entailment", "entailment", False),
        ("entailment", "contradiction", False),
    ],
)
def test_non_entailment_is_compared_in_two_classes(
    predicted: str, gold: Label, right: bool
) -> None:
    assert matches(predicted, gold) is right  # type: ignore[arg-type]  # one of LABELS


@each(
    ("text", "gold"),
    [
        ("entailment", "entailment"),
        (" Entailment ", "entailment"),
        ("ENTAILED", "entailment"),
        ("e", "entailment"),
        ("yes", "entailment"),
        ("Neutral", "neutral"),
        ("N", "neutral"),
        ("maybe", "neutral"),
        ("contradiction", "contradiction"),
        ("contradictory", "contradiction"),
        ("no", "contradiction"),
        ("not_entailment", "non-entailment"),
        ("Non Entailment", "non-entailment"),
        ("non-entailment", "non-entailment"),
        ("", None),
        (None, None),
        (" ", None),
        ("hidden", None),
        (float("nan"), None),
    ],
)
def test_a_gold_label_is_read_as_people_spell_it(text: object, gold: Label | None) -> None:
    assert NLI.read_gold(text) == gold


@each("text", ["-", "-1", -1, " - "])
def test_a_disputed_pair_has_no_gold_label_and_says_so(text: object) -> None:
    with pytest.raises(LabelError, match=r"^no gold label: the annotators did not agree"):
        NLI.read_gold(text)


@each("text", ["perhaps", "0", 1, 2.0, "entailment!", "0.5"])
def test_an_unknown_label_is_quoted(text: object) -> None:
    with pytest.raises(LabelError, match=r"^unknown gold label .*; use entailment, neutral or"):
        NLI.read_gold(text)


@each(
    "names",
    [
        ["entailment", "neutral", "contradiction"],
        ["CONTRADICTION", "NEUTRAL", "ENTAILMENT"],
        ["contradiction", "entailment", "neutral"],
        ["Contradiction", "Neutral", "Entailment"],
    ],
)
def test_the_order_of_the_hubs_models_is_read(names: list[str]) -> None:
    assert read_outputs(names)[1] == tuple(name.lower() for name in names)


@each(
    ("names", "order"),
    [
        (["entailment", "not_entailment"], ("entailment", "non-entailment")),
        (["not_entailment", "entailment"], ("non-entailment", "entailment")),
        (["Non-Entailment", "Entailment"], ("non-entailment", "entailment")),
        (["NOT ENTAILED", "ENTAILED"], ("non-entailment", "entailment")),
        (["nonentailment", "entail"], ("non-entailment", "entailment")),
        (["no", "yes"], ("non-entailment", "entailment")),
        (["True", "False"], ("entailment", "non-entailment")),
    ],
)
def test_the_order_of_a_two_way_model_is_read(names: list[str], order: tuple[str, ...]) -> None:
    assert read_outputs(names)[1] == order


def test_with_three_labels_no_is_a_contradiction() -> None:
    assert read_outputs(["yes", "maybe", "no"]) == (NLI, LABELS)


@each("names", [["e", "n"], ["e", "e", "c"], ["0", "1", "2"], ["e", "n", "x"]])
def test_a_given_order_has_each_label_once(names: list[str]) -> None:
    with pytest.raises(LabelError, match=r"is no order of labels: each of entailment, neutral, "):
        read_outputs(names)


@each(
    "names",
    [
        ["LABEL_0", "LABEL_1", "LABEL_2"],
        ["0", "1", "2"],
        ["entailment", "neutral"],
        ["entailment", "entailment", "neutral"],
        ["entailment", "contradiction"],
        ["LABEL_0", "LABEL_1"],
        ["entailment", "neutral", "contradiction", "invalid"],
    ],
)
def test_names_that_do_not_say_which_label_are_refused(names: list[str]) -> None:
    with pytest.raises(LabelError, match=rf"^'{', '.join(names)}' is no order of labels: "):
        read_outputs(names)
