"""The papers' tables, as far as they are known here."""

import pytest

from finetune.trials.calibration import CONTROL
from finetune.trials.calibration import METHODS as CALIBRATIONS
from finetune.trials.mitigation import METHODS as REPAIRS
from finetune.trials.word_salad import salad_names
from probe.published import PublishedTable, published, published_for, published_tables
from probe.tasks.nli import NLI
from probe.tasks.task import task_named


def known(name: str, task: str, data: str = "") -> PublishedTable:
    table = published(name, task, data)
    assert table is not None
    return table


def test_a_figure_is_as_printed() -> None:
    for name, task, data, row, column, value in [
        ("calibration", "nli", "", "baseline", "ece", 0.11),
        ("calibration", "nli", "", "focal", "accuracy", 0.8698),
        ("calibration", "sentiment", "", "temperature", "ece", 0.24),
        ("calibrated_agreement", "nli", "", "smoothing", "lexical", 0.8185),
        ("salad_only", "paraphrase", "", "salad", "accuracy", 0.9215),
        ("salad_only", "paraphrase", "mrpc", "clean", "accuracy", 0.8946),
        ("mitigation", "nli", "", "entropic", "invalid_found", 0.8922),
        ("mitigation", "nli", "SNLI", "invalid", "clean", 0.9088),
        ("mitigation", "sentiment", "", "threshold", "clean", 0.9037),
        ("transfer", "nli", "", "copysort", "pbsmt", 0.0005),
        ("transfer", "nli", "", "drop", "repeat", 0.9873),
        ("before_dative", "nli", "", "complex", "contradiction", 0.0036),
        ("before_numerical", "nli", "", "all", "all", 0.3977),
        ("original", "nli", "", "matched", "all", 0.8466),
    ]:
        assert known(name, task, data).value(row, column) == value, (name, task, row)


def test_what_no_paper_says_is_none_and_what_nobody_knows_is_a_mistake() -> None:
    assert published("transfer", "sentiment") is None
    assert published("calibration", "paraphrase") is None
    assert published("mitigation", "nli", "QQP") is None
    assert known("calibration", "sentiment").value("focal", "ece") is None
    assert known("calibration", "sentiment").value("baseline", "accuracy") is None
    with pytest.raises(KeyError, match="no published table is called 'mitigated'"):
        published("mitigated", "nli")


def test_every_table_is_whole_and_says_where_it_is_from() -> None:
    for table in published_tables():
        assert task_named(table.task).name == table.task
        assert {len(values) for values in table.rows.values()} == {len(table.columns)}, table
        assert all(0 <= value <= 1 for values in table.rows.values() for value in values)
        assert table.who and table.data and "et al. 20" in table.source


def test_rows_are_named_as_here_and_the_diagonal_of_table_18_is_the_best_but_in_three() -> None:
    assert set(known("calibration", "nli").rows) == set(CALIBRATIONS) - {CONTROL}
    assert set(known("mitigation", "nli").rows) == set(REPAIRS) - {"baseline"}
    table = known("transfer", "nli")
    assert set(table.rows) == set(table.columns) == set(salad_names(NLI))
    other = {row for row, values in table.rows.items() if table.value(row, row) != max(values)}
    assert other == {"sort", "shuffle", "drop"}


def test_a_model_is_compared_on_the_data_that_it_is_named_after() -> None:
    for task, model, data in [
        ("nli", "minilm", "MNLI"),
        ("paraphrase", "minilm_mrpc-invalid-12ab34cd", "MRPC"),
        ("paraphrase", "minilm_qqp", "QQP"),
        ("nli", "minilm_qqp", "MNLI"),
        ("sentiment", "minilm_sst2", "SST-2"),
    ]:
        table = published_for("mitigation", task, model)
        assert table and table.data == data, (task, model, data)
