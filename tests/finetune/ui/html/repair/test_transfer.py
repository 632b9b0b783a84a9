"""What a transfer shows: the matrix, and what shuffled texts alone teach."""

import re
from dataclasses import replace

from finetune.ui.html.repair.transfer import pictures, sentence
from tests.support.runs.repairs import TRANSFER_PLAN, TRANSFERRED, transfer_run

RUN = transfer_run()


def test_the_sentence_says_what_is_found_of_the_kind_taught_and_of_the_others() -> None:
    assert sentence(RUN) == (
        "Taught one kind of broken text, MiniLM finds 96 % of that kind and 53 % of the others."
    )


def test_rows_were_taught_and_columns_tested() -> None:
    row = pictures(RUN).partition('<th scope="row"><span class="">Sort')[2].partition("</tr>")[0]
    assert re.findall(r">(\d+)</span>", row) == ["97", "55"]


def test_what_is_not_measured_yet_is_a_dash() -> None:
    page = pictures(transfer_run(TRANSFERRED[:1]))
    assert page.partition("table 18: ")[0].count(">–</span>") == 2


def test_what_each_training_costs_stands_below_what_it_finds() -> None:
    cost = pictures(RUN).partition("What is still right on whole texts")[2]
    cost = cost.partition("Trained on shuffled texts only")[0]
    for point in TRANSFERRED[:2]:
        assert f"{100 * point.clean.share:.1f} % right" in cost
    alone = [point for point in TRANSFERRED if point.cell.lesson != "one"]
    assert "still right" not in pictures(transfer_run(alone))


def test_training_on_shuffled_texts_alone_stands_beside_training_on_whole_ones() -> None:
    page = pictures(RUN)
    assert "70.0 % right" in page and "65.0 % right" in page
    assert "Trained on shuffled texts only" not in pictures(transfer_run(TRANSFERRED[:2]))


def test_a_run_that_has_nothing_yet_shows_nothing() -> None:
    assert pictures(transfer_run([])) == ""


def test_the_published_matrix_stands_behind_a_choice_with_the_same_kinds() -> None:
    theirs = pictures(RUN).partition("Gupta et al., table 18")[2]
    row = theirs.rpartition('<th scope="row"><span class="">Sort')[2].partition("</tr>")[0]
    assert re.findall(r">(\d+)</span>", row) == ["100", "29"]  # 0.9966 and 0.2933 in table 18
    assert "Gupta et al. 2021, table 18: RoBERTa-base on MNLI." in theirs


def test_a_task_without_a_published_matrix_has_no_choice() -> None:
    page = pictures(transfer_run(plan=replace(TRANSFER_PLAN, task="sentiment")))
    assert "table 18" not in page
    assert "87.3 % right" not in page and "94.0 % right" in page  # SST-2 in table 11
