"""Tasks: rules as tables, spellings of labels, outputs of models, fields, examples as JSON."""

import json
import pickle
from dataclasses import replace
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.errors import LabelError
from probe.tasks.label_rules import COMPUTED, KEEP, UNDEFINED, Rule, compose
from probe.tasks.nli import FLIP, LABEL_RULES, LABELS, NLI, NLI_TWO_WAY, NOT_ENTAILED, Pair, matches
from probe.tasks.paraphrase import NON_PARAPHRASE, PARAPHRASE, PARAPHRASE_IDENTIFICATION
from probe.tasks.sentiment import NEGATIVE, SENTIMENT
from probe.tasks.task import (
    SOURCE,
    TARGET,
    TASKS,
    Label,
    Task,
    common_task,
    example_json,
    offered_tasks,
    read_example,
    read_labels,
    read_outputs,
    task_named,
    task_of_example,
)
from tests.support.cases import each
from tests.support.property_settings import STEADY

SPAN = Task("span", "Spans", Pair, ("premise", "hypothesis"), "hypothesis")
NOT = "non-entailment"
GOLDS: tuple[Label, ...] = (*LABELS, NOT)
ANY_RULE = st.sampled_from(list(LABEL_RULES.values()))


# rules


def test_a_rule_answers_as_its_table_says() -> None:
    expected: tuple[tuple[Rule, tuple[Label | None, ...]], ...] = (
        (KEEP, (*GOLDS, None)),
        (FLIP, (NOT, "neutral", "entailment", None, None)),  # two labels of NOT would part ways
        (NOT_ENTAILED, (NOT,) * 5),
        (UNDEFINED, (None,) * 5),
        (COMPUTED, (None,) * 5),
    )
    for rule, golds in expected:
        assert tuple(map(rule, (*GOLDS, None))) == golds, rule.name
    both = compose([KEEP, FLIP])
    assert (both.name, both.words) == ("keep+flip", f"{KEEP.words}; then {FLIP.words}")
    assert compose([KEEP, KEEP]) is KEEP
    other = replace(NLI, labels=("positive", "negative"), golds=())
    assert all(rule.speaks_of(NLI_TWO_WAY) for rule in (KEEP, FLIP, NOT_ENTAILED))
    assert [rule.speaks_of(other) for rule in (KEEP, FLIP, NOT_ENTAILED)] == [True, False, False]


@STEADY
@given(st.lists(ANY_RULE, min_size=1, max_size=4), st.sampled_from([*GOLDS, None]))
def test_a_chain_answers_as_its_rules_in_turn(rules: list[Rule], gold: Label | None) -> None:
    strongest = next((rule for rule in (UNDEFINED, COMPUTED) if rule in rules), None)
    expected = None if strongest else reduce(lambda label, rule: rule(label), rules, gold)
    assert compose(rules)(gold) == expected and strongest in (None, compose(rules))


@each("right", [True, False])
def test_non_entailment_is_compared_in_two_classes(right: bool) -> None:
    same = {("entailment", "entailment"), ("neutral", "neutral"), ("invalid", "invalid")}
    same |= {("contradiction", "contradiction"), (NOT, NOT)}
    same |= {pair for low in ("neutral", "contradiction") for pair in ((low, NOT), (NOT, low))}
    cases = {(a, b) for a in (*GOLDS, "invalid") for b in (*GOLDS, "invalid")}
    assert {case for case in cases if matches(*case) is right} == (same if right else cases - same)


# labels as they are spelt


@each(
    ("task", "label", "spellings"),
    [
        (NLI, "entailment", ["entailment", " Entailment ", "ENTAILED", "e", "yes", "\ufeffe"]),
        (NLI, "neutral", ["Neutral", "N", "maybe", "NOT ENOUGH INFO"]),
        (NLI, "contradiction", ["contradiction", "contradictory", "no", "REFUTES"]),
        (NLI, NOT, ["not_entailment", "Non Entailment", "non-entailment", "notentailed"]),
        (NLI, None, ["", None, " ", "hidden", float("nan")]),
        (PARAPHRASE_IDENTIFICATION, NON_PARAPHRASE, ["Not_Duplicate", "not paraphrase"]),
        (SENTIMENT, NEGATIVE, ["Neg", "bad"]),
        (SENTIMENT, None, [""]),
        (SPAN, "in Oulu", [" in Oulu "]),
        (SPAN, "none", ["none"]),
        (SPAN, None, ["", None]),
    ],
)
def test_a_gold_label_is_read_as_people_spell_it(
    task: Task, label: Label | None, spellings: list[object]
) -> None:
    assert {spelling: task.read_gold(spelling) for spelling in spellings} == dict.fromkeys(
        spellings, label
    )


@each(
    ("task", "text", "words"),
    [
        *((NLI, text, "^no gold label: the annotators did not agree") for text in ("-", -1, " - ")),
        *(
            (NLI, text, "^unknown gold label .*; use entailment, neutral or contradiction$")
            for text in ("perhaps", "0", 1, 2.0, "entailment!", "0.5", "x" * 99)
        ),
        (SENTIMENT, "entailment", "use positive or negative"),
    ],
)
def test_what_is_no_label_is_quoted(task: Task, text: object, words: str) -> None:
    with pytest.raises(LabelError, match=words) as problem:
        task.read_gold(text)
    assert len(str(problem.value)) < 140


@each(
    ("names", "task", "order"),
    [
        ("Contradiction ENTAILMENT neutral", NLI, "contradiction entailment neutral"),
        ("yes maybe no", NLI, "entailment neutral contradiction"),
        ("Non-Entailment Entailment", NLI_TWO_WAY, f"{NOT} entailment"),
        ("nonentailment entail", NLI_TWO_WAY, f"{NOT} entailment"),
        ("no yes", NLI_TWO_WAY, f"{NOT} entailment"),
        ("True False", NLI_TWO_WAY, f"entailment {NOT}"),
        ("NEGATIVE POSITIVE", SENTIMENT, "negative positive"),
        ("1_star 2_stars 3_stars 4_stars", SENTIMENT, "negative negative  positive"),
        ("not_equivalent equivalent", PARAPHRASE_IDENTIFICATION, f"{NON_PARAPHRASE} {PARAPHRASE}"),
    ],
)
def test_the_names_of_a_models_outputs_tell_its_task_and_their_order(
    names: str, task: Task, order: str
) -> None:
    assert read_outputs(names.split(" ")) == (task, tuple(order.split(" ")))
    assert (read_labels(" e, n ,c"), read_labels(" ")) == (LABELS, None)


@each(
    "names",
    [
        *("e,n", "e,e,c", "0,1,2", "e,n,x", "LABEL_0,LABEL_1,LABEL_2", "LABEL_0,LABEL_1"),
        *("entailment,contradiction", "entailment,neutral,contradiction,invalid"),
    ],
)
def test_names_that_do_not_say_which_label_are_refused(names: str) -> None:
    words = f"{names.replace(',', ', ')!r} is no order of labels: each of entailment, neutral, "
    with pytest.raises(LabelError, match=f"^{words}"):
        read_outputs(names.split(","))


# fields, and other tasks


def test_roles_stand_for_fields() -> None:
    fields = [NLI.field_of(role) for role in (TARGET, SOURCE, "premise", "question")]
    assert fields == ["hypothesis", "premise", "premise", None]
    assert SPAN.field_of(SOURCE) is None
    assert SENTIMENT.title_of("text") == replace(SENTIMENT, titles={}).title_of("text") == "Text"
    choices = ["Inference", "Paraphrase", "Sentiment", "Reading"]
    assert [task.choice for task in offered_tasks()] == choices
    for task in offered_tasks():
        assert task.question.endswith("?") and set(task.titles) == set(task.fields)


@each(
    ("task", "label", "own"),
    [
        (NLI, "neutral", "neutral"),
        (NLI, NOT, None),  # neutral or contradiction
        (NLI_TWO_WAY, "neutral", NOT),
        (NLI_TWO_WAY, "contradiction", NOT),
        (NLI_TWO_WAY, "entailment", "entailment"),
        (SPAN, "in Oulu", None),
    ],
)
def test_a_label_counts_as_one_of_a_tasks_own(task: Task, label: str, own: str | None) -> None:
    assert task.nearest(label) == own
    tasks = [NLI, NLI_TWO_WAY, SPAN]
    held = {(a.name, b.name): common_task([a, b]) for a in tasks for b in tasks}
    assert {names for names, common in held.items() if common is None} == {
        *(("nli", "span"), ("nli_two_way", "span"), ("span", "nli"), ("span", "nli_two_way"))
    }
    assert held["nli", "nli_two_way"] is held["nli_two_way", "nli"] is NLI_TWO_WAY


def test_a_registered_task_is_pickled_as_its_name_and_its_examples_are_json() -> None:
    assert list(TASKS)[:2] == ["nli", "nli_two_way"]
    assert pickle.loads(pickle.dumps(NLI_TWO_WAY)) is NLI_TWO_WAY
    with pytest.raises(LabelError, match=r"^there is no task 'nly'; there are: nli, nli_two_way"):
        task_named("nly")
    pair = Pair("A.", "B.", "neutral", "7")
    row = json.loads(json.dumps(example_json(pair)))
    assert row == {"premise": "A.", "hypothesis": "B.", "gold": "neutral", "id": "7"}
    assert read_example(NLI, row | {"genre": "letters"}) == pair
    assert task_of_example(pair) is NLI
    with pytest.raises(LabelError, match=r"^no task has examples of the kind Group$"):
        task_of_example(NLI.groups["entailed"])  # type: ignore[arg-type]  # no example
