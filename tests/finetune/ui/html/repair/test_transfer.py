"""What a transfer shows: the matrix, and what shuffled texts alone teach."""

import re

from finetune.ui.html.repair.transfer import pictures, sentence
from tests.support.repairs import TRANSFERRED, transfer_run

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
    assert page.count(">–</span>") == 2


def test_training_on_shuffled_texts_alone_stands_beside_training_on_whole_ones() -> None:
    page = pictures(RUN)
    assert "70.0 % right" in page and "65.0 % right" in page
    assert "Trained on shuffled texts only" not in pictures(transfer_run(TRANSFERRED[:2]))


def test_a_run_that_has_nothing_yet_shows_nothing() -> None:
    assert pictures(transfer_run([])) == ""
