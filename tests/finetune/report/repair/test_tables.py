"""Tables of repairs beside the published ones, from runs with known figures."""

from dataclasses import replace

from finetune.report.panel import MarkdownTable
from finetune.report.repairs import (
    agreement_table,
    calibration_table,
    mitigation_table,
    repair_tables,
    salad_only_table,
    settings,
    transfer_table,
)
from tests.support.runs.repairs import (
    CALIBRATION_PLAN,
    MITIGATED,
    MITIGATION_PLAN,
    TRANSFER_PLAN,
    TRANSFERRED,
    calibration_run,
    mitigated,
    mitigation_run,
    transfer_run,
)

DIGEST = {"model": "ab12"}
CALIBRATION = calibration_run(artefacts=DIGEST)
MITIGATION = mitigation_run(artefacts=DIGEST)
TRANSFER = transfer_run(artefacts=DIGEST)


def row_of(table: MarkdownTable, *begins: str) -> dict[str, str]:
    """Return the row that begins so, by its heads."""
    (row,) = [row for row in table.rows if tuple(row[: len(begins)]) == begins]
    return dict(zip(table.heads, row, strict=True))


def test_a_calibration_stands_beside_table_8() -> None:
    table = calibration_table([CALIBRATION])
    row = row_of(table, "`minilm`", "As it was")
    assert row["n"] == "600"
    assert row["accuracy"].startswith("75.0 (71.4–")  # Wilson's for 450 of 600: 71.39 to 78.30
    assert row["error"].startswith("11.0 (")
    assert (row["paper: accuracy"], row["paper: error"]) == ("87.3", "11.0")
    assert row_of(table, "`minilm`", "Temperature scaling")["paper: error"] == "9.0"
    assert table.models == {"minilm": "ab12"}


def test_agreement_stands_beside_table_9_by_family() -> None:
    row = row_of(agreement_table([CALIBRATION]), "`minilm`", "Label smoothing")
    assert row["n"] == "200"
    assert row["lexical"].startswith("85.0 (") and row["gradient"].startswith("85.0 (")
    assert row["PBSMT"] == "–"  # the run destroys by sort and drop alone
    assert (row["paper: lexical"], row["paper: PBSMT"]) == ("81.8", "56.3")


def test_trained_on_salad_only_stands_beside_table_11() -> None:
    row = row_of(salad_only_table([TRANSFER]), "`minilm`")
    assert (row["whole"][:4], row["shuffled"][:4]) == ("70.0", "65.0")
    assert (row["paper: whole"], row["paper: shuffled"]) == ("87.3", "84.6")


def test_a_transfer_without_these_trainings_has_no_row() -> None:
    assert not salad_only_table([transfer_run(TRANSFERRED[:2], artefacts=DIGEST)]).rows


def test_a_mitigation_is_the_mean_of_its_seeds_beside_table_12() -> None:
    first, second = (replace(MITIGATED[2].cell, seed=seed) for seed in (0, 1))
    trained = mitigated(first, 350, 190, 180), mitigated(second, 360, 190, 180)
    table = mitigation_table([mitigation_run((*MITIGATED[:2], *trained), artefacts=DIGEST)])
    row = row_of(table, "`minilm`", "A class “invalid”")
    assert (row["n"], row["broken"]) == ("500", "200")
    assert row["accuracy"].startswith("71.0 (")
    assert row["found"].startswith("92.5 (")
    assert (row["paper: accuracy"], row["paper: found"]) == ("85.4", "97.1")


def test_a_model_of_another_task_stands_beside_its_data_set() -> None:
    plan = replace(MITIGATION_PLAN, model="minilm_mrpc", task="paraphrase")
    table = mitigation_table([mitigation_run(plan=plan, artefacts=DIGEST)])
    row = row_of(table, "`minilm_mrpc`", "Threshold alone")
    assert (row["paper: accuracy"], row["paper: found"]) == ("89.5", "36.8")


def test_a_task_that_the_paper_did_not_calibrate_stands_alone() -> None:
    plan = replace(CALIBRATION_PLAN, model="minilm_qqp", task="paraphrase")
    table = calibration_table([calibration_run(plan=plan, artefacts=DIGEST)])
    assert row_of(table, "`minilm_qqp`", "As it was")["paper: error"] == "–"


def test_trainings_of_smaller_sizes_are_left_out() -> None:
    small = mitigated(replace(MITIGATED[2].cell, size=50), 100, 0, 0)
    plan = replace(MITIGATION_PLAN, sizes=(50, 1000))
    table = mitigation_table([mitigation_run((*MITIGATED, small), plan, artefacts=DIGEST)])
    assert row_of(table, "`minilm`", "A class “invalid”")["accuracy"].startswith("74.2 (")


def test_a_transfer_has_each_figure_beside_table_18() -> None:
    table = transfer_table(TRANSFER)
    row = row_of(table, "`sort`")
    assert row["`drop`"].startswith("55.0 (") and row["`drop`"].endswith(" / 29.3")
    assert row["`sort`"].endswith(" / 99.7")
    assert row["accuracy on whole texts"].startswith(f"{100 * TRANSFERRED[0].clean.share:.1f} (")
    assert "tested on 200 texts of the column's" in table.says
    other = replace(TRANSFER_PLAN, task="sentiment", model="minilm_sst2")
    assert "table 18 has MNLI alone" in transfer_table(transfer_run(plan=other)).says


def test_how_models_were_trained_is_said_once_for_those_alike() -> None:
    small = replace(MITIGATION_PLAN, model="esim", sizes=(50,), seeds=(0,))
    runs = [
        MITIGATION,
        mitigation_run(plan=replace(MITIGATION_PLAN, model="minilm_qqp")),
        mitigation_run(plan=small),
    ]
    assert settings(runs) == (
        "`minilm` and `minilm_qqp`: fast mode, 1,000 examples, 3 epochs, 2 repeats; "
        "`esim`: fast mode, 50 examples, 3 epochs, 1 repeat"
    )


def test_tables_come_in_the_papers_order_and_of_what_there_is() -> None:
    tables = repair_tables([TRANSFER, MITIGATION, CALIBRATION])
    said = [table.says.rpartition("; table ")[2].partition(". ")[0] for table in tables]
    assert said == ["8", "9", "11", "12", "18"]
    assert len(list(repair_tables([MITIGATION]))) == 1
    assert not list(repair_tables([]))
