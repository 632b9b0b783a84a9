"""Files that nobody should send, by every entrance: one sentence or a proper result each."""

import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from benchmarks.faults.bad_file_kinds import BadFile, one_of_each
from finetune.cli.main import app as finetune
from finetune.ui.inoculate.plan_form import forecast
from probe.cli.main import app as probe
from probe.data.reading import labelled
from probe.data.source import read_table
from probe.errors import UserError
from probe.runs.access import ModelAccess
from probe.runs.engine import Engine
from probe.tasks.nli import NLI
from probe.transforms.options import DEFAULTS, OPTIONS
from probe.ui.answers.file_line import FileLine
from probe.ui.answers.pacing import StopRequests
from probe.ui.panels.labelled_file import show_file
from probe.ui.panels.sources import FILE
from probe.ui.tabs import batch_run, compare_run
from probe.ui.tabs.batch_background import Background
from tests.support.cases import check_each
from tests.support.pages.visitors import ME, page_models, uploaded
from tests.support.runs.forms import inoculate_values

BAD_FILES = list(one_of_each(seed=0))
FIFTY = random.Random(0).sample(BAD_FILES, 50)
MODELS = ["first", "second"]
LONGEST = 600
"""Characters of a sentence."""


@pytest.fixture(scope="module")
def home(model: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two tiny models."""
    home = tmp_path_factory.mktemp("home")
    for name in MODELS:
        shutil.copytree(model, home / "models" / name)
    return home


@pytest.fixture(autouse=True)
def entrances(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands and page with these models; what they write lies below the test's own folder."""
    monkeypatch.setenv("NLI_CLINIC_HOME", str(home))
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))


@pytest.fixture(scope="module")
def models() -> ModelAccess:
    """The models of the page."""
    return page_models()


def written(bad: BadFile, folder: Path) -> Path:
    """Write a bad file into a folder."""
    path = folder / bad.name
    path.write_bytes(bad.data)
    return path


def is_sentence(text: str) -> bool:
    """Whether a text is a sentence for a person rather than a failure of the program."""
    return 0 < len(text) <= LONGEST and "\n" not in text and "Traceback" not in text


def each_of(files: Sequence[BadFile], folder: Path, check: Callable[[Path], object]) -> None:
    """Check bad files, each written into a folder of its own."""
    paths = {}
    for number, bad in enumerate(files):
        (place := folder / str(number)).mkdir()
        paths[f"{number} {bad.kind} {bad.name[:12]}"] = written(bad, place)
    check_each(paths, check)


def test_reading_in_python_ends_with_rows_or_a_sentence(tmp_path: Path) -> None:
    def check(bad: Path) -> None:
        for read in (read_table, lambda path: labelled(path, NLI)):
            try:
                assert read(bad) is not None
            except UserError as problem:
                assert is_sentence(str(problem)), problem

    each_of(BAD_FILES, tmp_path, check)


def test_the_page_shows_the_rows_or_a_sentence(models: ModelAccess, tmp_path: Path) -> None:
    def check(bad: Path) -> None:
        path = str(uploaded(bad))
        options = [getattr(DEFAULTS, name) for name in OPTIONS]
        columns = ["", "", "", ""]
        line, turn = FileLine(), ("", "me")
        assert str(show_file(ME, "nli", path)[2])
        me = (StopRequests(), line, turn)
        background = Background(models.store, Engine(models.store))
        asked = (path, "first", [], 0, "fp32", "cut", "", *columns, *options)
        *_, scored = batch_run.run(models, background, *me, False, ME, "nli", *asked)
        *_, compared = compare_run.run(
            models, *me, ME, "nli", MODELS, FILE, "fp32", "", "", path, *columns, ""
        )
        for shown, outputs in ((scored, batch_run.Outputs), (compared, compare_run.Outputs)):
            told = dict(zip(vars(outputs()), shown, strict=True))
            assert "problem" in str(told.values()) or told["files"].value

    each_of(FIFTY, tmp_path, check)


def test_the_form_of_an_inoculation_says_how_long_or_a_sentence(tmp_path: Path) -> None:
    def check(bad: Path) -> None:
        given = {"challenge_file": str(uploaded(bad)), "train": 2, "sizes": ["5"]}
        assert str(forecast(*inoculate_values(models=["first"], **given)))

    each_of(FIFTY, tmp_path, check)


def command(app: object, *words: str) -> str:
    """Run a command that is to end well or with a sentence; return what it says."""
    result: Result = CliRunner().invoke(app, list(words))  # type: ignore[arg-type]  # typer's own
    assert result.exit_code in (0, 2), result.exception
    assert isinstance(result.exception, (SystemExit, type(None)))
    lines = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == (result.exit_code == 2)
    assert all(map(is_sentence, lines))
    return result.output


def test_the_command_line_scores_and_compares_or_says_a_sentence(tmp_path: Path) -> None:
    def check(bad: Path) -> None:
        out = ["--out", str(tmp_path / "out.jsonl")]
        assert command(probe, "batch", str(bad), "--model", "first", *out)
        models = [word for name in MODELS for word in ("--model", name)]
        assert command(probe, "compare", str(bad), *models, *out)

    each_of(FIFTY, tmp_path, check)


def test_the_command_line_says_why_it_does_not_inoculate(tmp_path: Path) -> None:
    def check(bad: Path) -> None:
        words = ["--model", "first", "--challenge", "mine", "--challenge-file", str(bad)]
        more = ["--sizes", "99999", "--out", str(tmp_path / "out"), "--in-process"]
        assert "error: " in command(finetune, "inoculate", *words, *more)

    each_of(FIFTY, tmp_path, check)
