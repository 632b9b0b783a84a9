"""A round counts what two others confirm, blind, and lets Train read nothing else."""

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from finetune.training.data import read_pairs
from probe.errors import UserError
from probe.models.library import load
from probe.runs.store import Store
from probe.surveys import rounds
from probe.surveys.rounds import (
    UNCLEAR,
    Board,
    Round,
    Try,
    confirm,
    next_to_confirm,
    round_of,
    start_round,
    submit_try,
    tries,
    write_round,
)
from probe.surveys.survey import delete_answers, delete_survey, end_survey, join, responses
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI, Pair
from probe.tasks.reading import READING
from probe.tasks.sentiment import SENTIMENT
from tests.support.pages.visitors import ME, YOU
from tests.support.runs.annotation import person, say, write_text

FORMULA = "=SUM(A1) is what I felt, and it was fine."


@pytest.fixture
def store(home: Path) -> Store:
    return Store()


@pytest.fixture
def wanted(store: Store) -> Round:
    """A round of ME about sentiment."""
    return start_round(store, ME, SENTIMENT, "minilm_sst2")


def waiting_for(store: Store, wanted: Round, visitor: str) -> Try | None:
    """What a respondent is asked to judge."""
    return next_to_confirm(store, wanted, visitor, tries(store, wanted.survey.id))


def test_two_who_agree_confirm_and_two_who_do_not_dismiss() -> None:
    yes, no, other = "positive", "negative", UNCLEAR
    statuses = {
        (): "open", (yes,): "open", (yes, no): "open", (yes, yes): "confirmed",
        (no, other): "dismissed", (no, no): "dismissed", (yes, no, yes): "confirmed",
        (other, yes, no): "dismissed", (yes, yes, no, no): "confirmed",
        (no, other, yes, yes): "dismissed",
    }  # fmt: skip
    for votes, status in statuses.items():
        made = Try("k", 1, "", {}, yes, no, {}, "", True, 0.0, votes)
        assert made.status == status, votes
    assert Try("k", 1, "", {}, yes, yes, {}, "", False, 0.0).status == "not fooled"


def test_others_judge_what_fooled_the_model_once_and_nobody_their_own(
    store: Store, wanted: Round
) -> None:
    key = write_text(store, wanted, YOU, "A fine film.")
    quiet = write_text(store, wanted, YOU, "A dull film.", fooling=False)
    assert waiting_for(store, wanted, YOU) is None
    join(store, wanted.survey, person(9))
    found = waiting_for(store, wanted, person(9))
    assert found and found.key == key
    for which, answer, visitor in [
        (key, "negative", YOU), (quiet, "negative", person(9)), ("gone", "negative", person(9)),
        (key, "perhaps", person(9)), (key, "negative", person(8)),
    ]:  # fmt: skip
        with pytest.raises(UserError):
            confirm(store, wanted, visitor, which, answer)
    confirm(store, wanted, person(9), key, "negative")
    confirm(store, wanted, person(9), key, "positive")  # the first answer stays
    assert tries(store, wanted.survey.id)[0].votes == ("negative",)
    assert waiting_for(store, wanted, person(9)) is None
    say(store, wanted, key, True, True)
    join(store, wanted.survey, person(7))
    assert waiting_for(store, wanted, person(7)) is None  # nothing is open any more


def test_what_a_round_does_not_take_is_said(
    store: Store, wanted: Round, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = start_round(store, ME, NLI, "minilm", [Pair(" A dog\r\nbarks. ", "It is.")])
    premise, sst2, minilm = "A dog barks.", load("minilm_sst2"), load("minilm")
    write_text(store, wanted, YOU, "A  fine film.")
    join(store, pairs.survey, YOU)

    def submit(text: str, label: str = "positive", visitor: str = YOU) -> Callable[[], object]:
        return lambda: submit_try(store, wanted, visitor, {"text": text}, label, sst2)

    def pair(given: str, text: str) -> Callable[[], object]:
        texts = {"premise": given, "hypothesis": text}
        return lambda: submit_try(store, pairs, YOU, texts, "neutral", minilm)

    monkeypatch.setattr(rounds, "MAX_OWN", 1)
    refused = {
        "text is empty": submit(" \n"), "written already": submit(" a fine  FILM. "),
        "say first which": submit("Good.", "fine"), "open the link": submit("Good.", visitor=ME),
        "none of those that are given": pair("Made up.", "It is."),
        "hypothesis is empty": pair(premise, ""), "at most": submit("x " * 30_000),
        "the most that one can write": submit("Good."),
        "no labels": lambda: start_round(store, ME, READING, "bidaf"),
        "no text that could be given": lambda: start_round(
            store, ME, SENTIMENT, "minilm_sst2", bundled_examples(SENTIMENT)
        ),
    }  # fmt: skip
    for words, ask in refused.items():
        with pytest.raises(UserError, match=words):
            ask()
    pair(premise, "It is.")()
    assert [len(tries(store, each.survey.id)) for each in (wanted, pairs)] == [1, 1]
    monkeypatch.setattr(rounds, "MAX_TRIES", 1)
    with pytest.raises(UserError, match="holds 1 texts"):
        submit("Good.")()
    end_survey(store, ME, wanted.survey.id)
    wanted = round_of(store, wanted.survey.id)
    with pytest.raises(UserError, match="has ended"):
        submit("Good.")()


def test_a_board_counts_by_author_and_its_interval_is_over_authors(
    store: Store, wanted: Round
) -> None:
    first = write_text(store, wanted, YOU, "A fine film.", nickname="fox")
    second = write_text(store, wanted, YOU, "A dull film.", nickname="fox")
    write_text(store, wanted, ME, "A film.", fooling=False)
    write_text(store, wanted, ME, "Films.")
    say(store, wanted, first, True, True)
    say(store, wanted, second, False, True, False)
    board = Board(tries(store, wanted.survey.id))
    told = [(row.nickname, row.tried, row.fooled, row.confirmed) for row in board.authors]
    assert told == [("fox", 2, 2, 1), ("", 2, 1, 0)]
    assert (board.fooled.value, board.fooled.n) == (0.75, 4)
    assert (board.fooled.low, board.fooled.high) == (0, 1)  # two authors say little
    assert (board.confirmed.value, board.confirmed.n) == (0.5, 2)
    kappa, n = board.agreement
    # both agree on the first text, on the second neither: 1/2 observed; the answers are told below
    votes = [each.votes[:2] for each in board.tries[:2]]
    shares = [sum(pair.count(answer) for pair in votes) / 4 for answer in {*votes[0], *votes[1]}]
    chance = math.fsum(each**2 for each in shares)
    assert n == 2 and kappa == pytest.approx((0.5 - chance) / (1 - chance))


def test_the_files_hold_all_and_a_label_where_it_is_confirmed(
    store: Store, wanted: Round, tmp_path: Path
) -> None:
    confirmed = write_text(store, wanted, YOU, FORMULA)
    dismissed = write_text(store, wanted, YOU, "A dull film.")
    write_text(store, wanted, YOU, "A film.", fooling=False)
    say(store, wanted, confirmed, True, True)
    say(store, wanted, dismissed, False, False)
    found = write_round(store, wanted, tmp_path)
    assert json.loads((tmp_path / "results.json").read_text()) == found
    assert found["tries"] == {"all": 3, "confirmed": 1, "dismissed": 1, "not fooled": 1}
    lines = (tmp_path / "tries.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert [bool(row["label"]) for row in rows] == [True, False, False]
    assert rows[0]["text"] == FORMULA and rows[0]["label"] == rows[0]["author_says"]
    assert rows[1]["others_say"] == f"{UNCLEAR}; {UNCLEAR}" and rows[1]["model_weights"]
    shares = [rows[0][f"probability_{label}"] for label in SENTIMENT.labels]
    assert math.fsum(shares) == pytest.approx(1)
    assert rows[0]["model_says"] == SENTIMENT.labels[shares.index(max(shares))]
    with (tmp_path / "tries.csv").open(encoding="utf-8", newline="") as file:
        assert next(csv.DictReader(file))["text"] == f"'{FORMULA}"  # no spreadsheet computes it
    for name in ("tries.csv", "tries.jsonl"):
        (read,) = read_pairs(tmp_path / name, SENTIMENT)
        assert read.gold == rows[0]["label"] and FORMULA in read.text


def test_what_somebody_wrote_goes_with_them_and_what_was_said_of_it(
    store: Store, wanted: Round
) -> None:
    gone = write_text(store, wanted, YOU, "A fine film.")
    kept = write_text(store, wanted, ME, "A dull film.")
    for key in (gone, kept):
        say(store, wanted, key, True)
    delete_answers(store, YOU, wanted.survey.id)
    assert [each.key for each in tries(store, wanted.survey.id)] == [kept]
    assert {each.item for each in responses(store, wanted.survey.id)} == {kept}
    delete_survey(store, ME, wanted.survey.id)
    assert tries(store, wanted.survey.id) == ()
    with pytest.raises(UserError, match="no such set, class or round"):
        round_of(store, wanted.survey.id)
