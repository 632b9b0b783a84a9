"""What a page may read again of its results, and what a key that it did not get opens: nothing."""

from pathlib import Path

import pytest

from probe.data.rows import guess
from probe.data.source import open_source
from probe.errors import FileError
from probe.models.classifier import Classifier
from probe.scoring.files import ScoringRequest
from probe.settings import ASSETS
from probe.tasks.nli import NLI
from probe.ui.results.batch_result import BatchResult
from probe.ui.results.batch_tables import ALL, ANY
from probe.ui.results.result_files import kept_folder
from probe.ui.tabs.batch_rows import turn
from probe.ui.tabs.compare_view import turn as turn_compared
from probe.ui.visitors.visitor_files import cache_folder, fresh_folder
from tests.support.pages.visitors import ME

GONE = "these results are no longer kept here"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "cache"))
    return cache_folder()


def test_results_are_found_again_by_their_key_alone(classifier: Classifier) -> None:
    place = ASSETS / "examples" / "mnli_form.tsv"
    source = open_source(place)
    request = ScoringRequest(guess(source.names, NLI))
    result = BatchResult(fresh_folder(ME), place, source, classifier, request)
    rows = [row for chunk in result.chunks() for row in chunk.rows]
    _, _, key = result.hand_over()
    shown, words = turn(key, ALL, ANY, "", 2)
    assert "page 2 of 2" in words
    assert str(rows[-1].number + 1) in shown


@pytest.mark.parametrize("key", ["", ".", "..", "secret", "../secret", "visitors", "{full}"])
def test_no_other_key_opens_a_file(key: str, cache: Path) -> None:
    (cache / "secret").mkdir()
    for folder in (cache, cache.parent, cache / "secret"):
        (folder / "rows.jsonl").write_text("{}")
    asked = key.format(full=cache / "secret")
    with pytest.raises(FileError, match=GONE):
        kept_folder(asked)
    assert GONE in turn(asked, ALL, ANY, "", 1)[1] or not asked


def test_compare_says_that_its_results_are_gone() -> None:
    assert GONE in turn_compared(f"{'0' * 32}/{'0' * 22}", "0|1", "a cell", 1)[0]
