"""The reports of the bundled models, beside which another model is set."""

from pathlib import Path

import pytest

from probe.checkup.measuring import IN_SLICES, Asked, figure_names
from probe.checkup.report import REFERENCES, figures_of, read_report, references
from probe.models.bundled import BUNDLED
from probe.models.weights import pairs_hash
from probe.runs.models import named_model_hash
from probe.tasks.examples import bundled_examples
from probe.tasks.task import task_named

FILES = sorted(REFERENCES.glob("*.json"))
KILOBYTES = 64


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_is_of_a_bundled_model_as_it_is_now_at_the_usual_sizes(path: Path) -> None:
    """Where this fails run `python -m probe checkup NAME --reference assets/checkups/NAME.json`."""
    report = read_report(path)
    asked, data = report["asked"], report["data"]
    assert report["model"]["name"] == path.stem in BUNDLED
    assert report["model"]["sha256"] == named_model_hash(path.stem)
    assert data["sha256"] == pairs_hash(bundled_examples(task_named(report["task"]), "test"))
    assert (asked["n"], asked["per_subcase"], asked["seed"]) == (
        Asked.n,
        Asked.per_subcase,
        Asked.seed,
    )
    assert report["missing"] == [] and report["left_out"] == {}
    assert all(figure.rows == () for figure in figures_of(report).values())
    assert path.stat().st_size < 1024 * KILOBYTES


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_names_of_all_figures_but_slices_are_known_beforehand(path: Path) -> None:
    report = read_report(path)
    measured = {figure.name for figure in figures_of(report).values() if figure.group != "slices"}
    assert measured <= set(figure_names(task_named(report["task"])))
    assert not any(IN_SLICES in name for name in measured)


def test_a_model_is_set_beside_the_others_of_its_task_on_the_same_examples_alone() -> None:
    report = read_report(REFERENCES / "minilm.json")
    task, data = task_named(report["task"]), report["data"]["sha256"]
    assert "minilm" in references(task, data, "another")
    assert "minilm" not in references(task, data, "minilm")
    assert references(task, "0" * 64, "another") == {}
