"""What Probe shows of an answer, a label or a span, and of what its changes mean."""

import pytest
from markupsafe import Markup

from probe.analysis.batch import Row
from probe.analysis.importance import Importance
from probe.analysis.summary import Summary, summarise
from probe.analysis.transformed import Examination, Transformed
from probe.models.classifier import Prediction
from probe.models.reader import SpanPrediction
from probe.tasks.label_rules import KEEP, UNDEFINED, Rule
from probe.tasks.nli import FLIP, LABELS, NLI, Pair
from probe.tasks.reading import READING, Question
from probe.tasks.task import INVALID, Label
from probe.text.difference import edits
from probe.transforms.apply import Result
from probe.transforms.registry import Scored
from probe.ui.html.edits import diff, edited_line
from probe.ui.html.examination import answer, row
from probe.ui.html.importance import exponent, shaded, tokens
from probe.ui.html.meaning import badge, meaning, summary
from probe.ui.html.prediction import LONGEST, bar, label_name, next_best, tone
from probe.ui.measure.figures import sentence, spans_right, tiles
from tests.support.cases import each
from tests.support.models.tiny_models import shared

PAIR = Pair("The old door closed.", "A door closed.")
SHARES = {label: tuple(0.9 if other == label else 0.05 for other in LABELS) for label in LABELS}
BEFORE = Prediction("contradiction", SHARES["contradiction"], LABELS)
C, E, N = "contradiction", "entailment", "neutral"


def plain(markup: str) -> str:
    """Return what is read of markup."""
    return str(Markup(markup).striptags())


# labels


@each(
    ("label", "said"),
    [
        (E, "The model says: the hypothesis is true if the premise is."),
        (C, "The model says: the hypothesis is false if the premise is true."),
        (INVALID, "The model says: the text says nothing that could be judged."),
        (N, "0 ms · fp32: How long the answer took"),
    ],
)
def test_an_answer_says_what_it_claims_and_what_its_figures_are(label: Label, said: str) -> None:
    labels = (label, *(other for other in LABELS if other != label))
    shares = (0.7, *[0.3 / (len(labels) - 1)] * (len(labels) - 1))
    prediction = Prediction(label, shares, labels)
    assert said in answer(Examination(shared("bert"), PAIR, prediction, None, (), {}))


def test_a_bar_says_its_probabilities_in_words_and_a_label_has_the_colour_of_its_place() -> None:
    shown = bar(Prediction(E, (0.7, 0.2, 0.1), LABELS))
    assert "entailment 0.70, neutral 0.20, contradiction 0.10" in shown
    assert all(f'class="part tone-{place}"' in shown for place in ("first", "middle", "last"))
    tones = {
        "first": (E, "paraphrase", "positive"),
        "middle": (N, "no label at all"),
        "last": (C, "non-entailment", "non-paraphrase", "negative"),
        "invalid": (INVALID,),
    }
    for wanted, names in tones.items():
        assert {name: tone(name) for name in names} == dict.fromkeys(names, wanted)


def made(
    name: str, rule: Rule, now: Label, gold: Label | None = None, *, changed: bool = True
) -> Transformed:
    """Return a result of a pair whose answer was contradiction; `gold` is the new gold label."""
    before, after = Pair("It rains.", "It is dry."), Pair("It rains.", "dry is It.", gold)
    result = Result(name, NLI, before, after, rule, changed, True, "", 0, "safe", ())
    usual = E if name == "copysort" else BEFORE.label
    return Transformed(result, Prediction(now, SHARES[now], LABELS), now == usual)


@each(
    ("transformed", "words", "kind"),
    [
        (made("sort", UNDEFINED, C), "stays, though senseless", "keep"),
        (made("sort", UNDEFINED, N), "changes", "good"),
        (made("sort", UNDEFINED, C, changed=False), "unchanged", "plain"),
        (made("copysort", UNDEFINED, E), "taken for entailment", "keep"),
        (made("copysort", UNDEFINED, N), "not taken for entailment", "good"),
        (made("negation", KEEP, C), "stays, as it should", "good"),
        (made("negation", KEEP, N), "wrongly moves", "bad"),
        (made("negation", KEEP, C, C), "stays, as it should", "good"),
        (made("negation", KEEP, C, N), "wrongly stays", "bad"),
        (made("negation", KEEP, N, N), "rightly moves", "good"),
        (made("neghyp", FLIP, C, E), "wrongly stays", "bad"),
        (made("neghyp", FLIP, E, E), "rightly moves", "good"),
        (made("neghyp", FLIP, N), "changes", "plain"),
    ],
)
def test_a_badge_says_what_a_result_means(transformed: Transformed, words: str, kind: str) -> None:
    shown = badge(transformed, BEFORE)
    assert (shown.words, shown.kind) == (words, kind)


def three(*answers: Label) -> list[Transformed]:
    """Return results of two senseless texts and of one that should keep its label."""
    how = (("sort", UNDEFINED), ("shuffle", UNDEFINED), ("negation", KEEP))
    return [made(*each, now) for each, now in zip(how, answers, strict=True)]


SAID: dict[str, list[Transformed]] = {
    "3 of 4 answers stay, two of them though the text means nothing any more. The model is as sure "
    "as before: 0.90, was 0.90.": [*three(C, C, C), made("drop", UNDEFINED, E)],
    "All 3 answers stay, though two of the texts mean nothing any more. ": three(C, C, C),
    "1 of 3 answers stays, and none where the text means nothing any more. ": three(E, E, C),
    "2 of 3 answers stay, one of them though the text means nothing any more. ": three(C, E, C),
    "0 of 3 answers stay. ": three(E, E, E),
    "The senseless copy is called entailment.": [made("copysort", UNDEFINED, E)],
    "0 of 2 answers stay. 2 of the 2 that get a new right answer are right.": [
        made("neghyp", FLIP, E, E)
    ]
    * 2,
    "None of these changes anything in this pair.": [made("sort", UNDEFINED, C, changed=False)],
}
"""What is said of several results."""


def test_the_sentence_counts_what_stays_what_is_right_and_what_means_nothing_any_more() -> None:
    assert {said for said, made in SAID.items() if not summary(made, BEFORE).startswith(said)} == (
        set()
    )
    destroyed = "The text is destroyed, and the model still says contradiction, as sure as before."
    assert meaning(made("sort", UNDEFINED, C), BEFORE) == destroyed


# spans

PASSAGE = "Ann sat there. Bo ran."
ASKED = Question("Who sat there?", PASSAGE, "Ann | Ann herself")
ANN = SpanPrediction("Ann", (0.8, 0.1), ("Ann", "Bo"), 0, 3, 1)
BO = SpanPrediction("Bo", (0.7, 0.2), ("Bo", "Ann"), 15, 17, 1)


def read(
    name: str, rule: Rule, now: SpanPrediction, gold: str | None, passage: str = PASSAGE
) -> Transformed:
    """Return a result of the question whose answer was Ann."""
    after = Question(ASKED.question, passage, gold)
    result = Result(name, READING, ASKED, after, rule, True, True, "", 0, "safe", ())
    return Transformed(result, now, READING.agrees(ANN.label, now.label))


DISTRACTED = read("addsent", KEEP, BO, ASKED.gold, f"{PASSAGE} Bo sat here.")
KEPT = read("addsent", KEEP, ANN, ASKED.gold, f"{PASSAGE} Bo sat here.")
SALAD = read("sort", UNDEFINED, ANN, None)


def test_a_span_is_named_as_it_stands_a_long_one_in_short_and_the_next_best_follow() -> None:
    assert plain(label_name("Ann")) == "Ann" and "tone-" not in label_name("Ann")
    named = label_name("word " * 40)
    assert len(plain(named)) <= LONGEST + 2 and plain(named).endswith("…")
    assert "Bo .100" in plain(next_best(ANN)) and "Ann" not in plain(next_best(ANN))
    assert next_best(SpanPrediction("Ann", (1.0,), ("Ann",), 0, 3, 1)) == ""


def test_a_bar_is_as_long_as_a_span_is_sure_and_shows_whether_it_stays() -> None:
    assert 'tone-first" style="width:80.00%"' in bar(ANN)
    assert 'tone-last" style="width:70.00%"' in bar(BO, stays=False)
    assert "tone-last" in row(DISTRACTED, ANN) and "tone-last" not in row(KEPT, ANN)
    assert 'data-change="0.6000"' in row(DISTRACTED, ANN)


@each(
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
    assert (badge(transformed, ANN).words, meaning(transformed, ANN)) == (words, told)


def test_an_answer_that_differs_in_its_article_stays_and_added_sentences_are_counted_apart() -> (
    None
):
    before = SpanPrediction("the Ann", (0.8,), ("the Ann",), 0, 3, 1)
    assert badge(KEPT, before).words == "stays, as it should"
    told = summary([KEPT, SALAD], before)
    assert told.startswith("The added sentence does not move the answer. The answer stays, though")
    told = summary([DISTRACTED, KEPT, SALAD], ANN)
    assert told.startswith("1 of 2 added sentences moves the answer. The answer stays, though")


def test_a_files_figures_speak_of_f1_of_exact_match_and_of_distractors() -> None:
    def scored(*answers: SpanPrediction) -> Summary:
        rows = [
            Row(number, READING, ASKED, now, {"addsent": (DISTRACTED,), "sort": (SALAD,)})
            for number, now in enumerate(answers)
        ]
        return summarise(rows, ("addsent", "sort"), READING)

    told = scored(ANN, SpanPrediction("Ann sat", (0.5,), ("Ann sat",), 0, 7, 1))
    assert told.original["f1"].value == pytest.approx((1 + 2 / 3) / 2)
    shown = plain(tiles(told, READING))
    assert shown.startswith("F183.3 %") and "exact match 50.0 %" in shown
    assert (told.transforms["addsent"]["f1"].value, told.transforms["sort"]["f1"].n) == (0.0, 0)
    told = scored(ANN)
    assert sentence(told, READING).startswith(
        "No answer stays when a misleading sentence is added. Every answer stays"
    )
    picture = spans_right(told, "file")
    assert "Add a false look-alike" in picture and "Sort the words" not in picture


# tokens and edits


def test_scores_are_shown_with_their_sign_in_the_power_of_ten_of_the_largest() -> None:
    powers = {0.0021: -3, 0.9: -1, 1.0: 0, 37.0: 1, 0.0: 0}
    assert {largest: exponent(largest) for largest in powers} == powers
    tiny = [Scored("it", 0, 0, 2, 0.0004), Scored("rains", 0, 3, 8, -0.0021)]
    shown = tokens("it rains", tiny, 0.0021)
    assert 'title="+0.4 × 10^-3">it<' in shown
    assert 'title="−2.1 × 10^-3">rains<' in shown


def test_tokens_and_edits_spell_the_whole_text_again_and_escape_it() -> None:
    shown = tokens("a<b> c", [Scored("a", 0, 0, 1, 1.0), Scored("c", 0, 5, 6, 1.0)], 1.0)
    assert "&lt;b&gt;" in shown and "<b>" not in shown
    assert "<i>" not in diff(edits("<i> one", "<i> two"))
    long = " ".join(f"w{n}" for n in range(100))
    before, after = Question("Who?", long, "w1"), Question("Who?", f"{long} new here", "w1")
    result = Result("addsent", READING, before, after, KEEP, True, True, "", 0, "safe", ())
    assert plain(edited_line(result)) == "Passage: … w92 w93 w94 w95 w96 w97 w98 w99 new here"


def test_the_answer_is_marked_between_the_tokens_around_it_in_the_last_text_alone() -> None:
    scored = [Scored("ann", 1, 0, 3, 1.0), Scored("sat", 2, 4, 7, -1.0), Scored("bo", 3, 15, 17, 0)]
    shown = tokens(PASSAGE, scored, 1.0, (4, 7))
    marked = shown.split('<mark class="answer-span">')[1].split("</mark>")[0]
    assert plain(marked) == "sat" and plain(shown) == PASSAGE
    assert plain(tokens(PASSAGE, scored, 1.0)) == PASSAGE

    class Named:
        task = READING

    fields = {"question": (Scored("who", 1, 0, 3, 1.0),), "passage": (Scored("ann", 2, 0, 3, 0.5),)}
    scores = Importance(fields, "Ann", "gradient_x_input", "support", None, Named())  # type: ignore[arg-type]
    question, passage = shaded(ASKED, scores, (0, 3)).split('<div class="tokens"')[1:]
    assert "answer-span" not in question and "answer-span" in passage
