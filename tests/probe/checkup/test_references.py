"""The reports of the bundled models, beside which another model is set."""

from probe.checkup.measuring import IN_SLICES, Asked, figure_names
from probe.checkup.report import REFERENCES, figures_of, read_report, references
from probe.models.bundled import BUNDLED
from probe.models.weights import pairs_hash
from probe.runs.models import named_model_hash
from probe.tasks.examples import bundled_examples
from probe.tasks.task import task_named

KILOBYTES = 64


def test_each_is_of_a_bundled_model_as_it_is_now_at_the_usual_sizes() -> None:
    """Where this fails run `python -m probe checkup NAME --reference assets/checkups/NAME.json`."""
    files = sorted(REFERENCES.glob("*.json"))
    assert {path.stem for path in files} == {*BUNDLED}
    for path in files:
        report, name = read_report(path), path.stem
        asked, task = report["asked"], task_named(report["task"])
        figures = figures_of(report)
        assert report["model"]["name"] == name
        assert report["model"]["sha256"] == named_model_hash(name), name
        assert report["data"]["sha256"] == pairs_hash(bundled_examples(task, "test")), name
        usual = (Asked.n, Asked.per_subcase, Asked.seed)
        assert tuple(asked[key] for key in ("n", "per_subcase", "seed")) == usual, name
        assert report["missing"] == [] and report["left_out"] == {}, name
        assert all(figure.rows == () for figure in figures.values()), name
        assert path.stat().st_size < 1024 * KILOBYTES, name
        known = {figure.name for figure in figures.values() if figure.group != "slices"}
        assert known <= {*figure_names(task)}, name
        assert not any(IN_SLICES in each for each in known), name
    report = read_report(REFERENCES / "minilm.json")  # beside others on the same examples alone
    task, data = task_named(report["task"]), report["data"]["sha256"]
    assert "minilm" in references(task, data, "another")
    assert "minilm" not in references(task, data, "minilm")
    assert references(task, "0" * 64, "another") == {}
