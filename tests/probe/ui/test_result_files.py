"""What a page may read again of its results, and what a key that it did not get opens: nothing."""

from pathlib import Path

import pytest

from probe.analysis.batch import score
from probe.data.rows import guess
from probe.data.tables import read_table
from probe.errors import FileError
from probe.models.classifier import Classifier
from probe.settings import ASSETS
from probe.tasks.nli import NLI
from probe.ui.batch_tables import ALL
from probe.ui.result_files import cache_folder, fresh_folder, kept_folder, write_results
from probe.ui.tabs.batch_run import turn
from probe.ui.tabs.compare import choose_two

GONE = "these results are no longer kept here"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "cache"))
    return cache_folder()


def test_results_are_found_again_by_their_key_alone(classifier: Classifier) -> None:
    place = ASSETS / "examples" / "mnli_form.tsv"
    table = read_table(place)
    columns = guess([str(name) for name in table.frame.columns], NLI)
    rows = [row for chunk in score(table, columns, classifier, []) for row in chunk.rows]
    _, key = write_results(table, rows, [], {}, place, classifier)
    assert "/" not in key
    shown, words, number = turn(key, ALL, 2)
    assert ("page 2 of 2" in words, number) == (True, 2)
    assert str(rows[-1].number + 1) in shown


def test_no_two_folders_are_alike_and_others_cannot_list_them() -> None:
    first, second = fresh_folder(), fresh_folder()
    assert first != second
    assert first.stat().st_mode & 0o077 == 0
    assert len(first.name) == len("nli-clinic-") + 32


@pytest.mark.parametrize("key", ["", ".", "..", "secret", "nli-clinic-", "../secret", "{full}"])
def test_no_other_key_opens_a_file(key: str, cache: Path) -> None:
    (cache / "secret").mkdir()
    for folder in (cache, cache.parent, cache / "secret"):
        (folder / "rows.jsonl").write_text("{}")
    asked = key.format(full=cache / "secret")
    with pytest.raises(FileError, match=GONE):
        kept_folder(asked)
    assert GONE in turn(asked, ALL, 1)[1]


def test_compare_says_that_its_results_are_gone() -> None:
    assert GONE in choose_two("nli-clinic-" + "0" * 32, "a", "b")[0]
