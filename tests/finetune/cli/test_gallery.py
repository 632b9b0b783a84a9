"""Finished runs that come with the app: written whole, read back, without a sentence."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from finetune.cli.gallery import GalleryFiles, all_sets, read_rates, sample_source_data
from finetune.cli.main import app
from finetune.report.inoculation import CHALLENGES, READERS, shown_runs
from finetune.trials.inoculation import pack_scores, unpack_scores
from probe.errors import ExperimentError
from probe.models.weights import model_hash, pairs_hash
from probe.runs.gallery import read
from tests.support.files.pair_files import PAIRS, row, write

FILES = ("original", "pool")
WORDS = ["--max-epochs", "1", "--dev", "3", "--test", "6", "--train", "6", "--lrs", "1e-3"]


@pytest.fixture
def asked(home: Path, model: str) -> list[str]:
    """A call of two sizes on the tiny model; its pool has premises that the originals lack."""
    shutil.copytree(model, home / "models" / "tiny")
    original = write(home / "original.jsonl", [row(pair) for pair in PAIRS])
    fresh = [row(replace(pair, premise=f"So, {pair.premise}"), source="a") for pair in PAIRS]
    pool = write(home / "pool.jsonl", fresh)
    files = ["--original", str(original), "--pool", str(pool), "--numerical", str(original)]
    return [
        "gallery", *files, "--model", "tiny", "--challenge", "negation", "--sizes", "2,all",
        "--out", str(home / "out"), "--in-process", *WORDS,
    ]  # fmt: skip


def call(words: list[str], *more: str) -> Result:
    result = CliRunner().invoke(app, [*words, *more])
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture
def files(home: Path, asked: list[str]) -> GalleryFiles:
    """The files of that call."""
    original = home / "original.jsonl"
    return GalleryFiles(original, home / "pool.jsonl", "", original, 3, 6, 6, 0, 0)


def test_packed_truth_values_come_back() -> None:
    bits = (True, False, False, True, True, False, True, False, True)
    assert unpack_scores(pack_scores(bits), 9) == bits


def test_eight_truth_values_are_one_byte() -> None:
    assert pack_scores([False] * 7 + [True]) == "AQ=="  # base64 of 0x01


def test_a_finished_run_is_read_back(asked: list[str], home: Path) -> None:
    call(asked)
    (run,) = shown_runs(home / "out")
    assert (run.id, run.owner, run.state) == ("gallery-tiny-negation", "gallery", "done")
    assert [point.cell.size for point in run.results] == [0, 2, 6]
    assert all(sum(point.original_right) / 6 == point.original for point in run.results)
    assert all(sum(point.challenge_right) / 6 == point.challenge for point in run.results)
    assert run.results[0].control is not None
    assert run.verdict["oracle_lr"]["size"] == 6


def test_it_holds_hashes_and_names_but_no_sentence(asked: list[str], home: Path) -> None:
    call(asked)
    text = (home / "out" / "tiny-negation.json").read_text()
    facts = json.loads(text)["artefacts"]
    assert facts["model"] == model_hash(home / "models" / "tiny")
    assert facts["sets"]["challenge_train"]["n"] == 6
    assert facts["sources"]["pool"] == "pool.jsonl"
    assert "walks" not in text and "happy" not in text
    assert str(home) not in text


def test_the_sources_draw_the_same_sets_again(asked: list[str], home: Path) -> None:
    call(asked)
    sources = read(home / "out" / "tiny-negation.json").artefacts["sources"]
    options = [f"--{name}={value}" for name, value in sources.items() if name not in FILES]
    again = call([*asked[: asked.index("--max-epochs")], *WORDS[:2], *WORDS[-2:], *options])
    assert again.output.count("(from an earlier call)") == 3


def test_the_hashes_are_those_of_the_sets(
    asked: list[str], home: Path, files: GalleryFiles
) -> None:
    call(asked)
    facts = read(home / "out" / "tiny-negation.json").artefacts["sets"]
    sets = all_sets(files, ["negation"])["negation"]
    assert facts["challenge_test"]["sha256"] == pairs_hash(sets.challenge_test)


def test_finished_cells_are_not_run_again(asked: list[str]) -> None:
    call(asked)
    assert call(asked, "--sizes", "2,4,all").output.count("(from an earlier call)") == 3


def test_another_model_under_the_same_name_is_computed_anew(asked: list[str], home: Path) -> None:
    call(asked)
    config = home / "models" / "tiny" / "config.json"
    config.write_text(config.read_text() + "\n")
    assert "earlier call" not in call(asked).output


def test_an_empty_or_missing_folder_has_no_runs(tmp_path: Path) -> None:
    assert shown_runs(tmp_path) == shown_runs(tmp_path / "gone") == ()


def test_the_shipped_runs_can_be_read() -> None:
    assert all(run.results and run.verdict for run in shown_runs())


def test_rates_are_for_all_or_for_one_model() -> None:
    assert read_rates(["1e-5,2e-5", "esim=4e-4"]) == {"": (1e-5, 2e-5), "esim": (4e-4,)}


def test_dev_test_and_pool_share_no_premise(files: GalleryFiles) -> None:
    source_data = sample_source_data(files)
    assert (len(source_data.dev), len(source_data.test), len(source_data.pool)) == (3, 6, 9)
    parts = (source_data.dev, source_data.test, source_data.pool)
    premises = [{pair.premise for pair in part} for part in parts]
    assert sum(map(len, premises)) == len(set.union(*premises))


def test_the_numerical_challenge_is_the_file(files: GalleryFiles) -> None:
    sets = all_sets(files, ["numerical"])["numerical"]
    assert (len(sets.challenge_train), len(sets.challenge_test)) == (6, 24)
    fewer = all_sets(replace(files, tests=5), ["numerical"])["numerical"]
    assert (len(fewer.challenge_train), len(fewer.challenge_test)) == (6, 5)


def test_the_numerical_challenge_needs_its_file(files: GalleryFiles) -> None:
    with pytest.raises(ExperimentError, match="needs --numerical FILE"):
        all_sets(replace(files, numerical=None), CHALLENGES)


def test_pool_rows_of_one_source_can_be_asked_for(files: GalleryFiles) -> None:
    assert len(sample_source_data(replace(files, source="a")).pool) == 9
    assert sample_source_data(replace(files, source="b")).pool == ()


def test_a_file_too_short_for_dev_or_test_is_refused(files: GalleryFiles) -> None:
    with pytest.raises(ExperimentError, match=r"original.jsonl has too few pairs for --test 60"):
        sample_source_data(replace(files, test=60))


def test_the_shipped_runs_stand_in_the_order_of_the_papers_figure() -> None:
    names = list(dict.fromkeys(run.plan.challenge for run in shown_runs()))
    assert names == [*CHALLENGES, "addsent", "templates_word_order"]
    readers = [run.plan.model for run in shown_runs() if run.plan.task == "reading"]
    assert readers == READERS
