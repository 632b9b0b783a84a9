"""Tables of a generalisation beside the published ones, from a run with known figures."""

from dataclasses import replace

from finetune.report.generalisation import before_table, generalisation_tables, grid_table
from tests.support.runs.generalisation import PLAN, make_points, make_run, stored_run

MATRIX = [(294, 180, 132), (285, 285, 285), (285, 285, 285)]
RUN = make_run(make_points(MATRIX))


def test_the_model_as_it_was_stands_beside_table_3() -> None:
    table = before_table(RUN)
    rows = {row[0]: dict(zip(table.heads, row, strict=True)) for row in table.rows}
    assert list(rows) == ["simple", "medium", "complex", "all"]
    # two repeats of 300, a third of them right: 33, 33 and 34 of each 100
    assert rows["simple"]["n"] == "600"
    assert rows["simple"]["entailment"].startswith("33.0 (")
    assert rows["simple"]["neutral"].startswith("34.0 (")
    assert rows["all"]["all"].startswith("33.3 (")
    assert (rows["medium"]["paper: entailment"], rows["all"]["paper: all"]) == ("57.1", "39.8")


def test_other_conditions_have_no_published_figures() -> None:
    lexical = make_run(make_points(MATRIX), replace(PLAN, vary="lexical"))
    assert not [head for head in before_table(lexical).heads if head.startswith("paper")]


def test_the_grid_has_what_was_trained_on_and_the_original_set() -> None:
    table = grid_table(RUN)
    rows = {row[0]: dict(zip(table.heads, row, strict=True)) for row in table.rows}
    assert list(rows) == ["nothing", "simple", "medium", "complex"]
    assert rows["simple"]["simple"].startswith("98.0 (")
    assert rows["simple"]["complex"].startswith("44.0 (")
    assert rows["nothing"]["original"].startswith("80.0 (")
    assert (rows["simple"]["n"], rows["simple"]["n original"]) == ("600", "300")


def test_a_run_has_both_tables_and_no_other_kind_has_any() -> None:
    run = stored_run(make_points(MATRIX))
    assert len(list(generalisation_tables([run]))) == 2
    assert not list(generalisation_tables([replace(run, kind="transfer")]))
    assert not list(
        generalisation_tables([stored_run(make_points(MATRIX), replace(PLAN, task="paraphrase"))])
    )
