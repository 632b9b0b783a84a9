"""Repairs as tables beside the published ones, and as files, from runs with known figures."""

import csv
import json
from dataclasses import replace
from functools import partial
from pathlib import Path

from finetune.report.files import FILES, write_files
from finetune.report.tables import (
    METHODS,
    MarkdownTable,
    in_percent,
    repair_tables,
    settings,
    transfer_table,
    with_interval,
    written,
)
from finetune.trials.params import PARAMS
from finetune.ui.repair import KINDS
from probe.runs.run import StoredRun
from probe.statistics import NOTHING, Estimate
from tests.support.cases import each
from tests.support.runs.repairs import (
    CALIBRATION_PLAN,
    MITIGATED,
    MITIGATION_PLAN,
    TRANSFER_PLAN,
    TRANSFERRED,
    calibration_run,
    debiasing_run,
    mitigated,
    mitigation_run,
    transfer_run,
)

DIGEST = {"model": "ab12"}
CALIBRATION = calibration_run(artefacts=DIGEST)
MITIGATION = mitigation_run(artefacts=DIGEST)
TRANSFER = transfer_run(artefacts=DIGEST)
SEEDS = [replace(MITIGATED[2].cell, seed=seed) for seed in (0, 1)]
TRAINED = (mitigated(SEEDS[0], 350, 190, 180), mitigated(SEEDS[1], 360, 190, 180))
SMALL = mitigated(replace(MITIGATED[2].cell, size=50), 100, 0, 0)


PARAPHRASE = partial(replace, task="paraphrase")
RUNS = {
    "calibration": CALIBRATION,
    "transfer": TRANSFER,
    "not calibrated": calibration_run(
        plan=PARAPHRASE(CALIBRATION_PLAN, model="minilm_qqp"), artefacts=DIGEST
    ),
    "two seeds": mitigation_run((*MITIGATED[:2], *TRAINED), artefacts=DIGEST),
    "two sizes": mitigation_run(
        (*MITIGATED, SMALL), replace(MITIGATION_PLAN, sizes=(50, 1000)), artefacts=DIGEST
    ),
    "another task": mitigation_run(
        plan=PARAPHRASE(MITIGATION_PLAN, model="minilm_mrpc"), artefacts=DIGEST
    ),
}


def numbered(number: int, run: StoredRun) -> MarkdownTable:
    """Return the table that has a number in the paper."""
    (table,) = [each for each in repair_tables([run]) if f"; table {number}." in each.says]
    return table


@each(
    "run, number, begins, expected",
    [
        # Wilson's for 450 of 600: 71.39 to 78.30
        ("calibration", 8, "As it was 600", "accuracy 75.0 (71.4–; error 11.0 ("),
        ("calibration", 8, "As it was 600", "paper: accuracy 87.3; paper: error 11.0"),
        ("calibration", 8, "Temperature scaling", "paper: error 9.0"),
        ("not calibrated", 8, "As it was", "paper: error –"),
        # the run destroys by sort and drop alone
        ("calibration", 9, "Further training, label", "lexical 85.0 (; gradient 85.0 (; PBSMT –"),
        ("calibration", 9, "Further training, label", "paper: lexical 81.8; paper: PBSMT 56.3"),
        ("transfer", 11, "", "whole 70.0; shuffled 65.0"),
        # the mean of its seeds
        ("two seeds", 12, "A class “invalid” 500", "broken 200; accuracy 71.0 (; found 92.5 ("),
        ("two seeds", 12, "A class “invalid” 500", "paper: accuracy 85.4; paper: found 97.1"),
        # trainings of smaller sizes are left out
        ("two sizes", 12, "A class “invalid”", "accuracy 74.2 ("),
        ("another task", 12, "Threshold alone", "paper: accuracy 89.5; paper: found 36.8"),
    ],
)
def test_figures_stand_beside_the_published_ones(
    run: str, number: int, begins: str, expected: str
) -> None:
    table, model = numbered(number, RUNS[run]), Path(RUNS[run].plan["model"]).name
    (row,) = [row for row in table.rows if " ".join(row).startswith(f"`{model}` {begins}")]
    found = [f"{head} {value}" for head, value in zip(table.heads, row, strict=True)]
    for words in expected.split("; "):
        assert [one for one in found if one.startswith(words)], words
    assert list(table.models.values()) == ["ab12"]


def test_what_one_transform_teaches_stands_beside_table_18() -> None:
    taught = transfer_table(TRANSFER)
    name, _, dropped, whole = taught.rows[0]
    assert (name, dropped[:6]) == ("`sort`", "55.0 (")
    assert whole.startswith(f"{100 * TRANSFERRED[0].clean.share:.1f} (")
    assert [cell.rpartition(" / ")[2] for cell in taught.rows[0][1:3]] == ["99.7", "29.3"]
    assert "tested on 200 texts of the column's" in taught.says
    other = transfer_run(
        plan=replace(TRANSFER_PLAN, task="sentiment", model="minilm_sst2"), artefacts=DIGEST
    )
    assert "table 18 has MNLI alone" in transfer_table(other).says
    (only,) = repair_tables([transfer_run(TRANSFERRED[:2], artefacts=DIGEST)])
    assert "table 18" in only.says


def test_tables_come_in_the_papers_order_and_say_how_models_were_trained() -> None:
    small = replace(MITIGATION_PLAN, model="esim", sizes=(50,), seeds=(0,))
    plans = (MITIGATION_PLAN, replace(MITIGATION_PLAN, model="minilm_qqp"), small)
    assert settings([mitigation_run(plan=plan) for plan in plans]) == (
        "`minilm` and `minilm_qqp`: fast mode, 1,000 examples, 3 epochs, 2 repeats; "
        "`esim`: fast mode, 50 examples, 3 epochs, 1 repeat"
    )
    tables = repair_tables([TRANSFER, MITIGATION, CALIBRATION])
    said = [table.says.rpartition("; table ")[2].partition(". ")[0] for table in tables]
    assert said == ["8", "9", "11", "12", "18"]
    assert len(list(repair_tables([MITIGATION]))) == 1 and not list(repair_tables([]))


def test_a_table_is_markdown_with_shares_in_percent_and_intervals() -> None:
    table = MarkdownTable("Figures.", ("a", "b"), [("1", "2"), ("3", "4")], {})
    assert written(table) == "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n"
    assert with_interval(Estimate(0.8149, 0.804, 0.826, 100)) == "81.5 (80.4–82.6)"
    assert with_interval(NOTHING) == in_percent(None) == "–"


def test_each_kind_of_run_has_its_files(tmp_path: Path) -> None:
    assert {*FILES} == {*PARAMS} >= {*KINDS}
    for run, first, figure in (
        (calibration_run(), "method", "reliability.svg"),
        (mitigation_run(), "method", "invalid.svg"),
        (debiasing_run(), "method", "by-set.svg"),
        (transfer_run(), "trained_on", "transfer.svg"),
    ):
        points, drawn, printed, *on_broken, summed = write_files([run], tmp_path)
        assert printed.name == drawn.with_suffix(".pdf").name
        assert printed.read_bytes().startswith(b"%PDF")
        with points.open() as file:
            head, *rows = csv.reader(file)
        assert head[0] == first and len(rows) == len(run.cells), run.kind
        assert drawn.name == figure and drawn.read_text().startswith("<svg "), run.kind
        drawings = ("stay", "sure") if run.kind in METHODS else ()
        broken = [f"{name}-minilm.{end}" for name in drawings for end in ("svg", "pdf")]
        assert [path.name for path in on_broken] == broken
        summary = json.loads(summed.read_text())
        assert {*summary["artefacts"]} == {"model", "sets"}, run.kind
