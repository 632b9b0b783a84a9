"""What Train shows of repairs, one and several, and the figures that page and files share."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from finetune.report.repair import (
    before_and_after,
    by_set,
    by_transform,
    calibrated,
    debiased,
    figure_svg,
    figures_frame,
    found,
    matrices,
    mended,
    mitigated,
    on_broken_texts,
    on_whole_texts,
    outcomes_frame,
    transferred,
)
from finetune.trials.mitigation import Cell
from finetune.ui.html.repair import onward, results
from probe.runs.gallery import OWNER
from probe.statistics import Bin, first_bin, mean_share, share
from probe.ui.html.elements import unbroken
from tests.support.pages.attacks import ATTACKS
from tests.support.pages.markup import DRAWING, require_ours
from tests.support.runs import repairs as of
from tests.support.runs.repairs import (
    calibration_run,
    debiasing_run,
    mitigation_run,
    transfer_run,
)

CALIBRATION, MITIGATION, TRANSFER = calibration_run(), mitigation_run(), transfer_run()
ALL = [TRANSFER, CALIBRATION, MITIGATION]
SAID = "Taught a class “invalid”, MiniLM finds 94 % of the broken texts and loses 0.6 points on "


def test_a_debiasing_is_shown_by_method_and_set_and_so_is_one_under_way() -> None:
    run = debiasing_run()
    page = results([run])
    require_ours(page)
    assert debiased(run) in page
    title = "Further training, as usual"
    assert row(page, title) == ["80", "96", "12"] and row(page, "As it was") == ["80", "96", "8"]
    (usual,) = [each for each in mended(run).drawn.rows if each.title == title]
    assert usual.words == "12.0 % right · 96.0 % of entailment · 80.0 % of the original set"
    told = by_set(run).frame.set_index(["method", "set"])
    poe = told.loc["Product of experts", "Shared words: non-entailment"]
    assert (poe["n"], poe["value"], poe["change value"]) == (100, 0.6, 0.48)
    for some in (of.DEBIASED[:1], of.DEBIASED[1:2], ()):
        assert results([debiasing_run(some)])


def row(page: str, title: str) -> list[str]:
    """Return the figures of a line of a heat map."""
    line = page.partition(f'<th scope="row"><span class="">{title}')[2].partition("</tr>")[0]
    return re.findall(r">([\d.]+|–)</span>", line)


def test_each_kind_says_in_a_sentence_what_it_came_to() -> None:
    assert calibrated(CALIBRATION) == (
        "After temperature 1.7, the confidence of MiniLM is off by 2.0 points (0.0 to 5.4; 0.6 by "
        "chance alone); it was off by 11 (7.7 to 14.4; 0.6 by chance alone). "
        "That is no cure for broken texts, on which its answers stay: 90 %, 90 % before."
    )
    point = of.calibrated(of.CALIBRATED[1].cell, 0.02, stay=100, temperature=2.0)
    cured = calibrated(calibration_run((of.CALIBRATED[0], point, of.CALIBRATED[2])))
    assert cured.endswith("On broken texts fewer answers stay: 50 %, 90 % before.")
    assert mitigated(MITIGATION) == f"{SAID}whole ones."
    plan = replace(of.MITIGATION_PLAN, methods=("threshold",))
    points = (of.MITIGATED[0], of.mitigated(Cell("threshold", 0, 0), 380, 50, 30))
    assert mitigated(mitigation_run(points, plan)) == (
        "With a threshold, MiniLM finds 20 % of the broken texts and loses nothing on whole ones."
    )
    assert debiased(debiasing_run()) == (
        "Product of experts: MiniLM is right on 60.0 % of “Shared words: non-entailment”, 8.0 % "
        "before, 12.0 % after the same training as usual; on 88.0 % of “Shared words: entailment”, "
        "96.0 % before; on 76.0 % of “Original”, 80.0 % before."
    )
    alike = (*of.DEBIASED[:1], of.debiased("poe", 100, 0, (96, 12), 80))
    assert debiased(debiasing_run(alike)).endswith(" The first may be chance.")
    assert transferred(TRANSFER) == (
        "Taught one kind of broken text, MiniLM finds 96 % of that kind and 53 % of the others."
    )


def test_of_several_runs_the_mitigation_stands_and_speaks_first() -> None:
    page = results(ALL)
    said = page.partition('<p class="say">')[2].partition("</p>")[0]
    assert said == f"{SAID}whole ones. Rescaling its confidence finds none."
    assert page.count('class="say"') == 1 and page.count('class="lead"') == 2
    titles = ("What each method finds", 'aria-label="As it was', "does it know the others?")
    places = [page.index(title) for title in titles]
    assert places == sorted(places)
    plan = replace(of.CALIBRATION_PLAN, methods=("smoothing",))
    without = calibration_run((of.CALIBRATED[0], of.CALIBRATED[2]), plan)
    for runs in ([MITIGATION, without], [MITIGATION]):
        assert "Rescaling" not in results(runs)
    alone = results([TRANSFER])
    assert alone.count(transferred(TRANSFER)) == 1 and 'class="lead"' not in alone


def test_a_run_under_way_shows_what_is_there_and_a_failed_one_says_why_first() -> None:
    for run in (
        calibration_run(of.CALIBRATED[:1]), mitigation_run(of.MITIGATED[:1]),
        transfer_run(of.TRANSFERRED[:1]),
    ):  # fmt: skip
        page = results([run])
        assert 'class="say"' not in page and 'class="card picture"' in page, run.kind
        require_ours(page, frozenset(DRAWING))
    assert "picture" not in results([transfer_run([])])
    failed = mitigation_run(of.MITIGATED[:1], state="failed", error="the model is <gone>")
    assert results([failed]).startswith(
        '<div class="repaired"><div class="problem sentence" role="alert">the model is &lt;gone&gt;'
    )


def test_a_repaired_model_leads_on_and_runs_of_the_gallery_have_one_link() -> None:
    links = onward(mitigation_run(kept="minilm-invalid-12ab"))
    assert 'href="./?task=nli&amp;model=minilm-invalid-12ab"' in links
    assert "view=compare&amp;task=nli&amp;models=minilm%2Cminilm-invalid-12ab" in links
    page = results([replace(run, owner=OWNER, id=f"gallery-{run.kind}") for run in ALL])
    together = "gallery-mitigation%2Cgallery-calibration%2Cgallery-transfer"
    assert f"aim=repair&amp;task=nli&amp;run={together}" in page
    assert page.count("models are not kept") == 1 and "are not kept" not in results(ALL)


def test_no_name_or_message_becomes_markup() -> None:
    for attack in ATTACKS:
        runs = [
            replace(run, id=attack, kept=attack, error=attack, plan={**run.plan, "model": attack})
            for run in ALL
        ]
        runs.append(replace(runs[2], verdict={**runs[2].verdict, "warnings": [attack]}))
        assert attack in require_ours(results(runs), frozenset(DRAWING)).text


def test_the_first_method_s_diagram_stands_beside_that_of_before_and_others_are_folded() -> None:
    shown = results([CALIBRATION])
    for tone, words in (("keep", "off by 11 points (7.7 to 14.4;"), ("good", "off by 2.0 points")):
        assert f'<span class="badge {tone}">{words}' in shown
    in_sight, _, folded = shown.partition("the diagrams of the other methods")
    further = "After further training, label smoothing"
    assert "After temperature 1.7" in in_sight and further not in in_sight
    assert further in folded
    plan = replace(of.CALIBRATION_PLAN, methods=("temperature",))
    assert "the other methods" not in results([calibration_run(of.CALIBRATED[:2], plan)])
    low = tuple(
        Bin(each.low, each.high, int(at == 3), 0.22, 1.0)
        for at, each in enumerate(of.bins(10, 0.97, 0.8))
    )
    scales = [first_bin(of.bins(10, 0.97, 0.8), labels) for labels in (2, 3)]
    assert [*scales, first_bin(low, 3)] == [7, 5, 3]  # lower where answers are


def test_before_and_after_has_all_figures_and_the_published_ones_behind_a_choice() -> None:
    shown = results([CALIBRATION])
    ours, _, theirs = shown.partition('<div class="pane">')[2].partition('<div class="pane">')
    smoothed = row(ours, "Further training, label smoothing, 1,000 examples")
    assert smoothed == ["0.050", "0.300", "0.600", "75.0", "85.0"]
    assert 'data-meaning="' in ours and "15 bins; an answer that is exactly 1.0 sure" in ours
    assert 'download="calibration-minilm.svg"' in ours and ">PNG<" in ours
    assert row(theirs, "Focal loss") == ["87.0", "0.05", "80.4", "60.3", "56.5"]
    assert "Gupta et al. 2021, table 9" in theirs and "the first two rows should be equal" in theirs
    frame = figures_frame(CALIBRATION).set_index("method")
    assert frame.loc["temperature", "ece"] == pytest.approx(0.02)
    assert frame.loc["smoothing", "agreement"] == pytest.approx(0.85)
    plan = replace(of.CALIBRATION_PLAN, model="minilm_sst2", task="sentiment")
    printed = results([calibration_run(plan=plan)]).rpartition('<div class="pane">')[2]
    assert row(printed, "Temperature scaling") == ["0.24"]  # of sentiment the error alone


def test_what_each_method_finds_stands_beside_its_cost_and_a_collapse_is_warned_of() -> None:
    picture = results([MITIGATION])
    for words in ("20 % found · 74.0 % right", "88 % found · 72.0 % right",
                  "94 % found · 74.2 % right"):  # fmt: skip
        assert f'<span class="soft">{words}</span>' in picture
    assert unbroken("74.8 % before. Mean of 2 repeats.") in picture
    # the interval is that of examples, not of their broken versions
    assert mean_share([0.94], 200).low == pytest.approx(share([True] * 188 + [False] * 12).low)
    assert row(picture, "Threshold alone") == ["2", "25", "15"]  # whole texts first
    frame = outcomes_frame(MITIGATION).set_index("method")
    assert frame.loc["A class “invalid”", "found Sort"] == pytest.approx(0.95)
    assert not frame["collapsed"].any() and '<p class="beware">' not in picture
    point = of.mitigated(Cell("invalid", 1000, 0), 180, 200, 200, commonest=0.97)
    page = results([mitigation_run((*of.MITIGATED[:3], point, *of.MITIGATED[4:]))])
    assert '<p class="beware">' in page and "the model collapsed" in page


def test_answers_to_broken_texts_stand_before_and_after_where_a_run_counted_them() -> None:
    stay, sure = on_broken_texts(MITIGATION)
    assert [(stay.title, stay.name), (sure.title, sure.name)] == [
        ("Answers that stay on broken texts", "stay-minilm"),
        ("How sure answers to broken texts are", "sure-minilm"),
    ]
    page = results([MITIGATION]).partition(stay.title)[2]
    assert row(page, "As it was") == ["100", "100"]  # none was called invalid
    assert row(page, "A class “invalid”") == ["5", "7"]
    assert row(page.partition(sure.title)[2], "Threshold alone") == ["60", "60"]
    older = [replace(point, salad={}) for point in of.MITIGATED]
    assert list(on_broken_texts(mitigation_run(older))) == []


def test_the_published_figures_are_those_of_the_model_s_data() -> None:
    for model, task, words in (
        ("minilm", "nli", "97 % found · 85.4 % right"),
        ("minilm_qqp", "paraphrase", "95 % found · 90.1 % right"),
        ("minilm_mrpc", "paraphrase", "100 % found · 88.7 % right"),
        ("minilm_sst2", "sentiment", "96 % found · 92.8 % right"),
    ):
        plan = replace(of.MITIGATION_PLAN, model=model, task=task)
        theirs = found(mitigation_run(plan=plan)).theirs
        assert theirs and words in figure_svg(theirs), model


def test_rows_of_the_matrix_were_taught_and_columns_tested() -> None:
    theirs = results([TRANSFER]).partition("Gupta et al., table 18")[2]
    assert row(theirs.partition('<div class="pane">')[2], "Sort") == ["97", "55"]
    assert row(theirs.rpartition("table 18: ")[0].rpartition('<div class="pane">')[2], "Sort") == [
        "100", "29"
    ]  # fmt: skip  # 0.9966 and 0.2933 in table 18
    assert "Gupta et al. 2021, table 18: RoBERTa-base on MNLI." in theirs
    first = matrices(transfer_run(of.TRANSFERRED[:1])).ours
    assert figure_svg(first).count(">–</text>") == 2  # not measured yet
    cost, only = (figure_svg(each.ours) for each in on_whole_texts(TRANSFER))
    for point in of.TRANSFERRED[:2]:
        assert f"{100 * point.clean.share:.1f} % right" in cost
    assert "70.0 % right" in only and "65.0 % right" in only
    alone = [point for point in of.TRANSFERRED if point.cell.lesson != "one"]
    for points in (of.TRANSFERRED[:2], alone):
        assert len(list(on_whole_texts(transfer_run(points)))) == 1
    page = results([transfer_run(plan=replace(of.TRANSFER_PLAN, task="sentiment"))])
    assert "table 18" not in page
    assert "table 11" not in page  # of whole models


def test_a_file_of_a_figure_holds_every_title_and_figure_of_the_page() -> None:
    for figure, words in (
        (before_and_after(CALIBRATION).ours, {"As it was", "Brier score", "0.300", "75.0"}),
        (by_transform(MITIGATION), {"Threshold alone", "Whole texts", "Sort", "25"}),
        (matrices(TRANSFER).ours, {"taught ↓ tested →", "Sort", "97"}),
        (found(MITIGATION).ours, {"A class “invalid”", "none found", "all found"}),
    ):
        root = ElementTree.fromstring(figure_svg(figure))
        assert words <= {each.text for each in root.iter() if each.tag.endswith("text")}
