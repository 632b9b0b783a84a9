"""A verdict in words."""

from finetune.report.inoculation import details, interval, summary
from finetune.trials.inoculation_plan import Cell
from tests.support.runs.points import make_point, make_run

RUN = make_run([make_point(80, 60), make_point(79, 75, cell=Cell(50, 2e-5, 0))])


def test_gap_share_and_drop_are_said_with_their_intervals() -> None:
    said = summary(RUN.verdict["oracle_lr"])
    assert said.startswith("The gap was 20.0 (")
    assert ") points. 75.0 (" in said and ") % of it closed with 50 examples" in said
    assert "the original test lost 1.0 (" in said


def test_where_there_is_no_gap_no_share_is_said() -> None:
    for challenge in (60, 59):
        level = make_run([make_point(60, challenge), make_point(60, 60, cell=Cell(50, 2e-5, 0))])
        said = summary(level.verdict["oracle_lr"])
        assert "points, too small for a share of it to close; with 50 examples the original" in said
        assert "closed" not in said


def test_a_loss_below_zero_has_a_true_minus() -> None:
    assert interval({"value": -0.01, "low": -0.02, "high": 0.0}) == "−1.0 (−2.0 to 0.0)"


def test_each_choice_of_a_rate_names_the_other() -> None:
    for by in ("oracle_lr", "dev_lr"):
        first = details(RUN.verdict, by)[0]
        assert "(as published)" in first and "(peeks at no test)" in first


def test_rules_and_the_control_are_said_where_they_were_measured() -> None:
    control = {"before": 0.6, "after": 0.7}
    verdict = {**RUN.verdict, "baselines": {"lexical_overlap": 0.5}, "control": control}
    said = " ".join(details(verdict, "oracle_lr"))
    assert "lexical overlap 50.0 %" in said and "from 60.0 to 70.0 %" in said
    assert "control set" not in " ".join(details({**verdict, "control": None}, "oracle_lr"))
