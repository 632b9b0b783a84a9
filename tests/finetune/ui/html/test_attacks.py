"""No name or message of a run becomes markup, on the page or in the report."""

from dataclasses import replace

from finetune.report.files import report
from finetune.trials.inoculation import Cell, InoculationRun
from finetune.ui.html.inoculation import curves, gap_plot, grid, outcome, outcomes_table, results
from tests.support.pages.attacks import ATTACKS
from tests.support.pages.markup import DRAWING, REPORT, require_ours
from tests.support.runs.points import make_point, make_run

POINTS = [make_point(80, 60), make_point(79, 78, cell=Cell(50, 2e-5, 0))]


def attacked(attack: str) -> InoculationRun:
    """A finished run whose every text is an attack."""
    run = make_run(POINTS, attack, attack, run_id=attack)
    environment = {attack: attack, "nested": {attack: [attack]}}
    return replace(run, kept=attack, error=attack, environment=environment)


def test_a_run_is_shown_as_text() -> None:
    for attack in ATTACKS:
        run = attacked(attack)
        failed = replace(
            run, cells=tuple(replace(cell, error=attack, result=None) for cell in run.cells)
        )
        for shown in (
            outcome(run),
            grid(failed),
            outcomes_table([run, replace(run, id="other")], attack, "oracle_lr"),
            gap_plot([run], "oracle_lr"),
        ):
            require_ours(shown)
        assert attack in require_ours(outcome(run)).text


def test_a_name_is_text_in_a_drawing_and_in_the_report() -> None:
    for attack in ATTACKS:
        run = attacked(attack)
        drawn = require_ours(curves([run], "oracle_lr"), frozenset(DRAWING))
        assert any(attack in value for name, value in drawn.attributes if name == "aria-label")
        assert attack in drawn.text
        require_ours(results([run]), frozenset(DRAWING | {"input", "label"}))
        require_ours(report([run]), frozenset(DRAWING | REPORT))
