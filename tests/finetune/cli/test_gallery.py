"""Finished runs that come with the app: written whole, read back, without a sentence."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from finetune.cli import gallery
from finetune.cli.gallery import (
    GalleryFiles,
    Piece,
    all_sets,
    read_rates,
    sample_source_data,
    two_best,
)
from finetune.report.inoculation import CHALLENGES, READERS, shown_runs
from finetune.trials.inoculation import Cell, Point, pack_scores, unpack_scores
from probe.errors import ExperimentError, FileError
from probe.models.weights import model_hash, pairs_hash
from probe.runs.gallery import read
from probe.runs.gallery import write as keep
from probe.runs.store import Store
from tests.support.commands import call
from tests.support.files.pair_files import PAIRS, row, write

FILES = ("original", "pool")
COUNTS = ("--dev", "3", "--test", "6", "--train", "6")


@pytest.fixture
def files(home: Path) -> GalleryFiles:
    """Pairs, and a pool with premises that they lack."""
    original = write(home / "original.jsonl", [row(pair) for pair in PAIRS])
    fresh = [row(replace(pair, premise=f"So, {pair.premise}"), source="a") for pair in PAIRS]
    pool = write(home / "pool.jsonl", fresh)
    return GalleryFiles(original, pool, original, dev=3, test=6, train=6)


@pytest.fixture
def done(home: Path, model: str, files: GalleryFiles) -> Callable[..., str]:
    """Run two sizes on the tiny model and return what is printed."""
    shutil.copytree(model, home / "models" / "tiny")
    named = ("original", files.original), ("pool", files.pool), ("numerical", files.numerical)
    words = [word for name, path in named for word in (f"--{name}", path)]
    words += ["--model", "tiny", "--challenge", "negation", "--out", home / "out", "--in-process"]
    words += ["--max-epochs", "1", "--lrs", "1e-3"]

    def run(*more: str, counts: tuple[str, ...] = COUNTS, code: int = 0) -> str:
        result = call("gallery", *words, "--sizes", "2,all", *counts, *more)
        assert result.exit_code == code, result.output
        return result.output

    return run


def test_a_finished_run_is_read_back_and_holds_no_sentence(
    done: Callable[..., str], home: Path, files: GalleryFiles
) -> None:
    done()
    (run,) = shown_runs(home / "out")
    assert (run.id, run.owner, run.state) == ("gallery-tiny-negation", "gallery", "done")
    assert [point.cell.size for point in run.results] == [0, 2, 6]
    for point in run.results:
        assert sum(point.original_right) / 6 == point.original
        assert sum(point.challenge_right) / 6 == point.challenge
    assert run.results[0].control is not None
    assert run.verdict["oracle_lr"]["size"] == 6
    bits = (True, False, False, True, True, False, True, False, True)
    assert unpack_scores(pack_scores(bits), 9) == bits
    assert pack_scores([False] * 7 + [True]) == "AQ=="  # base64 of 0x01
    text = (home / "out" / "tiny-negation.json").read_text()
    facts = json.loads(text)["artefacts"]
    assert facts["model"] == model_hash(home / "models" / "tiny")
    assert facts["sets"]["challenge_train"]["n"] == 6
    sets = all_sets(files, ["negation"])["negation"]
    assert facts["sets"]["challenge_test"]["sha256"] == pairs_hash(sets.challenge_test)
    assert facts["sources"]["pool"] == "pool.jsonl"
    assert not [words for words in ("walks", "happy", str(home)) if words in text]
    with pytest.raises(FileError, match=r"mine.json cannot be written"):
        keep(files.pool, "mine", read(home / "out" / "tiny-negation.json"))


def test_trials_are_run_again_only_on_other_weights_or_sets(
    done: Callable[..., str], home: Path, files: GalleryFiles
) -> None:
    said = done("--out", str(files.pool), code=2)
    assert said == f"error: {files.pool} cannot be written: File exists\n"
    assert Store().runs() == ()
    done()
    assert done("--sizes", "2,4,all").count("(from an earlier call)") == 3
    sources = read(home / "out" / "tiny-negation.json").artefacts["sources"]
    drawn = [f"--{name}={value}" for name, value in sources.items() if name not in FILES]
    assert done(*drawn, counts=()).count("(from an earlier call)") == 3
    config = home / "models" / "tiny" / "config.json"
    config.write_text(config.read_text() + "\n")
    assert "earlier call" not in done()


def test_what_is_left_over_is_listed_with_its_hours_and_computed_piece_by_piece(
    done: Callable[..., str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "the grid is of esim, da, minilm" in done("--left-over", code=2)
    monkeypatch.setattr(gallery, "ORDER", {"tiny": Piece("a", (0, 1))})
    monkeypatch.setattr(gallery, "liu_rates", lambda task: (1e-3, 1e-2, 1e-9))
    grid, last, total = done("--left-over").splitlines()
    assert grid.startswith(
        "(a) tiny          negation         to 6     rates 0.001, 0.01, 1e-09: 4"
    )
    assert "to 5     rates" in last and last.endswith(" h") and ": 5 of 5 cells" in last
    assert total.startswith("left over: ") and total.endswith(" h on one core of this machine")
    done("--next")
    assert not (home / "out" / "tiny-negation.json").exists()
    last, _ = done("--left-over").splitlines()
    assert ": 4 of 5 cells" in last  # the model as it was is known
    assert "written: tiny-negation.json" in done("--next")
    plan = read(home / "out" / "tiny-negation.json").plan
    assert (plan["sizes"], plan["seeds"], len(plan["lrs"])) == ([5], [0, 1], 2)
    assert done("--left-over") == "left over: 0.0 h on one core of this machine\n"
    assert done("--next") == "nothing is left over\n"
    assert "add --next" in done("--background", code=2)


def test_two_rates_are_the_best_of_each_choice_or_the_second_best() -> None:
    def point(lr: float, challenge: float, dev: float) -> Point:
        return Point(Cell(6, lr, 0), 0.5, challenge, dev, 1, 1, 1.0, "fp32", (), ())

    points = [point(1e-4, 0.5, 0.9), point(1e-3, 0.8, 0.6), point(1e-2, 0.7, 0.5)]
    assert two_best(points) == (1e-4, 1e-3) and two_best(points[:1]) == ()
    assert two_best([*points[1:], point(1e-5, 0.6, 0.1)]) == (1e-3, 1e-2)


def test_the_shipped_runs_stand_in_the_order_of_the_papers_figure(tmp_path: Path) -> None:
    assert shown_runs(tmp_path) == shown_runs(tmp_path / "gone") == ()
    assert all(run.results and run.verdict for run in shown_runs())
    names = list(dict.fromkeys(run.plan.challenge for run in shown_runs()))
    assert names == [*CHALLENGES, "addsent", "templates_word_order"]
    readers = [run.plan.model for run in shown_runs() if run.plan.task == "reading"]
    assert readers == READERS


def test_rates_are_for_all_or_one_model_and_dev_test_and_pool_share_no_premise(
    files: GalleryFiles,
) -> None:
    assert read_rates(["1e-5,2e-5", "esim=4e-4"]) == {"": (1e-5, 2e-5), "esim": (4e-4,)}
    drawn = sample_source_data(files)
    assert (len(drawn.dev), len(drawn.test), len(drawn.pool)) == (3, 6, 9)
    premises = [{pair.premise for pair in part} for part in (drawn.dev, drawn.test, drawn.pool)]
    assert sum(map(len, premises)) == len(set.union(*premises))
    assert len(sample_source_data(replace(files, pool_source="a")).pool) == 9
    assert sample_source_data(replace(files, pool_source="b")).pool == ()
    with pytest.raises(ExperimentError, match=r"original.jsonl has too few pairs for --test 60"):
        sample_source_data(replace(files, test=60))
    for tests, tested in ((0, 24), (5, 5)):  # the numerical challenge is the file
        sets = all_sets(replace(files, numerical_test=tests), ["numerical"])["numerical"]
        assert (len(sets.challenge_train), len(sets.challenge_test)) == (6, tested)
    with pytest.raises(ExperimentError, match="needs --numerical FILE"):
        all_sets(replace(files, numerical=None), CHALLENGES)
