"""Answers that are spans: in their place, with the next best, in rows and in a file's figures."""

import pytest
from markupsafe import Markup

from probe.analysis.batch import Row
from probe.analysis.importance import Importance
from probe.analysis.summary import Summary, summarise
from probe.analysis.transformed import Transformed
from probe.models.reader import SpanPrediction
from probe.tasks.label_rules import KEEP, UNDEFINED, Rule
from probe.tasks.reading import READING, Question
from probe.transforms.apply import Result
from probe.transforms.registry import Scored
from probe.ui.html.edits import edited_line
from probe.ui.html.examination import row
from probe.ui.html.importance import shaded, tokens
from probe.ui.html.meaning import badge, meaning, summary
from probe.ui.html.prediction import LONGEST, bar, label_name, next_best
from probe.ui.measure.figures import sentence, spans_right, tiles


def plain(markup: str) -> str:
    """Return what is read of markup."""
    return str(Markup(markup).striptags())


PASSAGE = "Ann sat there. Bo ran."
ASKED = Question("Who sat there?", PASSAGE, "Ann | Ann herself")
BEFORE = SpanPrediction("Ann", (0.8, 0.1), ("Ann", "Bo"), 0, 3, 1)
MOVED = SpanPrediction("Bo", (0.7, 0.2), ("Bo", "Ann"), 15, 17, 1)


def made(name: str, rule: Rule, now: SpanPrediction, gold: str | None, passage: str) -> Transformed:
    """Return a result of the question whose answer was Ann."""
    after = Question(ASKED.question, passage, gold)
    result = Result(name, READING, ASKED, after, rule, True, True, "", 0, "safe", ())
    return Transformed(result, now, READING.agrees(BEFORE.label, now.label))


DISTRACTED = made("addsent", KEEP, MOVED, ASKED.gold, f"{PASSAGE} Bo sat here.")
KEPT = made("addsent", KEEP, BEFORE, ASKED.gold, f"{PASSAGE} Bo sat here.")
SALAD = made("sort", UNDEFINED, BEFORE, None, PASSAGE)


def test_a_span_is_named_as_it_stands_and_a_long_one_in_short() -> None:
    assert plain(label_name("Ann")) == "Ann" and "tone-" not in label_name("Ann")
    named = label_name("word " * 40)
    assert len(plain(named)) <= LONGEST + 2 and plain(named).endswith("…")


def test_the_next_best_answers_follow_with_their_probabilities() -> None:
    assert "Bo .100" in plain(next_best(BEFORE)) and "Ann" not in plain(next_best(BEFORE))
    assert next_best(SpanPrediction("Ann", (1.0,), ("Ann",), 0, 3, 1)) == ""


def test_a_bar_is_as_long_as_the_answer_is_sure_and_shows_whether_it_stays() -> None:
    assert 'tone-first" style="width:80.00%"' in bar(BEFORE)
    assert 'tone-last" style="width:70.00%"' in bar(MOVED, stays=False)


def test_a_row_of_a_moved_answer_is_in_the_other_colour() -> None:
    assert "tone-last" in row(DISTRACTED, BEFORE) and "tone-last" not in row(KEPT, BEFORE)
    assert 'data-change="0.6000"' in row(DISTRACTED, BEFORE)


@pytest.mark.parametrize(
    ("transformed", "words", "told"),
    [
        (
            DISTRACTED,
            "wrongly moves",
            "The model says Bo, no longer Ann, but the right answer is Ann or Ann herself.",
        ),
        (KEPT, "stays, as it should", "The model says Ann, rightly."),
        (
            SALAD,
            "stays, though senseless",
            "The text is destroyed, and the model still says Ann, as sure as before.",
        ),
    ],
)
def test_a_result_is_told_with_the_right_answers(
    transformed: Transformed, words: str, told: str
) -> None:
    assert badge(transformed, BEFORE).words == words
    assert meaning(transformed, BEFORE) == told


def test_an_answer_that_differs_in_its_article_stays() -> None:
    before = SpanPrediction("the Ann", (0.8,), ("the Ann",), 0, 3, 1)
    assert badge(KEPT, before).words == "stays, as it should"
    told = summary([KEPT, SALAD], before)
    assert told.startswith("The added sentence does not move the answer. The answer stays, though")


def test_added_sentences_are_counted_apart() -> None:
    told = summary([DISTRACTED, KEPT, SALAD], BEFORE)
    assert told.startswith("1 of 2 added sentences moves the answer. The answer stays, though")


def test_what_is_kept_far_from_a_change_is_left_out_of_a_line() -> None:
    long = " ".join(f"w{n}" for n in range(100))
    before, after = Question("Who?", long, "w1"), Question("Who?", f"{long} new here", "w1")
    result = Result("addsent", READING, before, after, KEEP, True, True, "", 0, "safe", ())
    assert plain(edited_line(result)) == "Passage: … w92 w93 w94 w95 w96 w97 w98 w99 new here"


def test_the_answer_is_marked_between_the_tokens_around_it() -> None:
    scored = [Scored("ann", 1, 0, 3, 1.0), Scored("sat", 2, 4, 7, -1.0), Scored("bo", 3, 15, 17, 0)]
    shown = tokens(PASSAGE, scored, 1.0, (4, 7))
    marked = shown.split('<mark class="answer-span">')[1].split("</mark>")[0]
    assert plain(marked) == "sat" and plain(shown) == PASSAGE
    assert plain(tokens(PASSAGE, scored, 1.0)) == PASSAGE


def test_only_the_last_text_holds_the_answer() -> None:
    class Named:
        task = READING

    fields = {"question": (Scored("who", 1, 0, 3, 1.0),), "passage": (Scored("ann", 2, 0, 3, 0.5),)}
    scores = Importance(fields, "Ann", "gradient_x_input", "support", None, Named())  # type: ignore[arg-type]
    question, passage = shaded(ASKED, scores, (0, 3)).split('<div class="tokens"')[1:]
    assert "answer-span" not in question and "answer-span" in passage


def scored(*answers: SpanPrediction) -> Summary:
    """Return the summary of rows whose answers were these, changed by a distractor and by salad."""
    rows = [
        Row(number, READING, ASKED, answer, {"addsent": (DISTRACTED,), "sort": (SALAD,)})
        for number, answer in enumerate(answers)
    ]
    return summarise(rows, ("addsent", "sort"), READING)


def test_a_files_figures_speak_of_f1_and_exact_match() -> None:
    partly = SpanPrediction("Ann sat", (0.5,), ("Ann sat",), 0, 7, 1)
    told = scored(BEFORE, partly)
    assert told.original["f1"].value == pytest.approx((1 + 2 / 3) / 2)
    shown = plain(tiles(told, READING))
    assert shown.startswith("F183.3 %") and "exact match 50.0 %" in shown
    assert told.transforms["addsent"]["f1"].value == 0.0
    assert told.transforms["sort"]["f1"].n == 0


def test_a_files_sentence_names_distractors_and_its_picture_only_what_can_be_right() -> None:
    told = scored(BEFORE)
    assert sentence(told, READING).startswith(
        "No answer stays when a misleading sentence is added. Every answer stays"
    )
    picture = spans_right(told, "file")
    assert "Add a false look-alike" in picture and "Sort the words" not in picture
