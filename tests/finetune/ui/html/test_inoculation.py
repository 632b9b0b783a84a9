"""What Train shows of inoculations, one and several."""

import re
from dataclasses import replace

from markupsafe import Markup

from finetune.report.files import report
from finetune.trials.inoculation import Cell, InoculationRun
from finetune.ui.html.inoculation import curves, gap_plot, outcome, outcomes_table, results
from probe.runs.gallery import OWNER
from tests.support.pages.attacks import ATTACKS
from tests.support.pages.markup import DRAWING, REPORT, require_ours
from tests.support.runs.points import make_point, make_run

POINTS = [make_point(80, 60), make_point(79, 78, cell=Cell(50, 2e-5, 0))]
DONE, NEW = make_run(POINTS), make_run([], run_id="new", state="queued")
RUNS = [
    make_run(POINTS, model, challenge, f"{model}-{challenge}")
    for challenge in ("negation", "spelling")
    for model in ("da", "esim")
]
IDS = [run.id for run in RUNS]


def test_each_challenge_is_a_panel_whose_badges_open_its_runs_in_words() -> None:
    shown = curves([*RUNS, make_run(POINTS[:1], "da", "numerical", "new")], "oracle_lr", IDS[-1])
    assert re.findall("<h3>([^<]*)<", shown)[:2] == ["Add a negation", "Misspell a word"]
    assert shown.count('<svg role="img" aria-label="accuracy by number of examples') == 3
    assert re.findall('data-cell="([^"]*)"', shown) == IDS
    assert shown.count('class="badge good"') == 4 and "ESIM: 1 · gap closes<" in shown
    assert re.findall('class="card panel( opened)?"', shown) == ["", " opened", ""]
    assert shown.count('<div class="sheet"') == 1
    names = re.findall('download="([^"]*)"', shown)
    assert names == ["inoculation-curves.svg", "inoculation-curves.csv"]
    legend = shown.partition('<div class="legend">')[2].partition("<a ")[0]
    assert legend.count("Decomposable Attention<") == legend.count(" ESIM<") == 1
    assert "glyph" not in curves(RUNS[:1], "oracle_lr") and curves([NEW], "oracle_lr") == ""


def test_the_share_closed_of_each_run_is_a_row_with_its_meaning() -> None:
    plot = gap_plot(RUNS, "oracle_lr")
    assert plot.count('<span class="name">') == 4
    assert '<span class="soft">only lacked examples</span>' in plot
    assert gap_plot([NEW], "oracle_lr") == ""
    level = make_run([make_point(60, 60), make_point(60, 60, cell=Cell(50, 2e-5, 0))])
    plot = gap_plot([level], "oracle_lr")
    assert "no gap to close" in plot and "<u " not in plot


def test_the_results_say_what_came_out_and_tell_one_run_in_words() -> None:
    shown = results(RUNS)
    assert 'class="say">Gaps closed by examples. Decomposable Attention: 2 closed' in shown
    assert shown.count('class="card outcome"') == 1 and "negation on da" in shown
    opened = results(
        RUNS, "dev_lr", "esim-spelling", lambda run: Markup("<i>{}</i>").format(run.id)
    )
    assert "ESIM · Misspell a word <code>spelling on esim</code>" in opened
    assert "<i>esim-spelling</i>" in opened and 'data-by="dev_lr" checked' in opened
    begun = results([make_run(POINTS[:1], state="running")])
    assert "The first training is under way" in begun and "card outcome" not in begun


def test_the_table_has_a_row_for_each_judged_run_at_the_rate_that_is_drawn() -> None:
    shown = outcomes_table([*RUNS, NEW], "esim-spelling", "oracle_lr")
    assert re.findall('data-cell="([^"]*)"', shown) == IDS
    assert shown.count('<tr class="opened">') == 1
    assert "20.0" in shown and "1 · gap closes" in shown
    assert outcomes_table(RUNS[:1], "", "oracle_lr") == ""
    bold = make_point(70, 79, cell=Cell(50, 1e-2, 0), dev=0.70)
    mild = make_point(80, 62, cell=Cell(50, 1e-5, 0), dev=0.80)
    runs = [make_run([POINTS[0], bold, mild], lrs=(1e-5, 1e-2), run_id=name) for name in "ab"]
    assert "<td>95.0<span" in outcomes_table(runs, "", "oracle_lr")  # 19 of the gap's 20 points
    assert "<td>10.0<span" in outcomes_table(runs, "", "dev_lr")


def test_the_card_names_the_outcome_of_the_rate_that_is_drawn_and_leads_on() -> None:
    bold = make_point(700, 790, 1000, Cell(100, 1e-2, 0), dev=0.70)
    mild = make_point(800, 620, 1000, Cell(100, 1e-5, 0), dev=0.80)
    run = make_run([make_point(800, 600, 1000), bold, mild], lrs=(1e-5, 1e-2))
    assert "<h2>Outcome 3" in outcome(run, "oracle_lr")
    assert "<h2>Outcome 2" in outcome(run, "dev_lr")
    assert outcome(make_run(POINTS[:1], state="running")) == ""
    own, ready = outcome(DONE), outcome(replace(DONE, owner=OWNER))
    assert "python -m finetune inoculate --model minilm" in own
    link = "train?aim=inoculate&amp;task=nli&amp;run=run1"
    assert link in ready and link not in own  # Copy link makes one with a grant
    assert "ts model is not kept" in ready and "not kept" not in own
    kept = outcome(replace(DONE, kept="minilm-negation-50-run1"))
    assert "?task=nli&amp;model=minilm-negation-50-run1" in kept
    assert "measure?view=compare&amp;task=nli&amp;models=minilm%2Cminilm-negation-50-run1" in kept


def attacked(attack: str) -> InoculationRun:
    """A finished run whose every text is an attack."""
    run = make_run(POINTS, attack, attack, run_id=attack)
    environment = {attack: attack, "nested": {attack: [attack]}}
    return replace(run, kept=attack, error=attack, environment=environment)


def test_no_name_or_message_becomes_markup_on_the_page_or_in_the_report() -> None:
    for attack in ATTACKS:
        run = attacked(attack)
        both = [run, replace(run, id="other")]
        for shown in (outcomes_table(both, attack, "oracle_lr"), gap_plot([run], "oracle_lr")):
            require_ours(shown)
        assert attack in require_ours(outcome(run)).text
        drawn = require_ours(curves([run], "oracle_lr"), frozenset(DRAWING))
        assert any(attack in value for name, value in drawn.attributes if name == "aria-label")
        assert attack in drawn.text
        require_ours(results([run]), frozenset(DRAWING | {"input", "label"}))
        require_ours(report([run]), frozenset(DRAWING | REPORT))
