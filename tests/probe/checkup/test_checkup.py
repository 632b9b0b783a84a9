"""The check-up: what is measured, said and advised, reports compared, limits, the page."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest

from probe.analysis.transformed import transform_all
from probe.checkup.conclusions import (
    HOW,
    advice,
    difference,
    families_of,
    findings,
    published_beside,
)
from probe.checkup.measuring import (
    Asked,
    Figure,
    Part,
    Plan,
    Subject,
    figure_json,
    measure_part,
    parts_of,
    plan_from,
)
from probe.checkup.page import Glance, checkup_page, glances, verdict
from probe.checkup.report import (
    REFERENCES,
    against,
    changes_words,
    figures_of,
    json_of_tests,
    read_report,
    too_low,
    without_rows,
)
from probe.errors import FileError
from probe.models.classifier import Classifier
from probe.models.library import AnyModel, load, load_any
from probe.runs.run import Json
from probe.statistics import mean, share
from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.reading import READING
from probe.transforms.registry import presets, ready
from tests.support.models.tiny_bert import tiny_pairs, tiny_reader
from tests.support.models.tiny_word_models import QUESTIONS
from tests.support.runs.checkup import N, scored


def measured(model: AnyModel, examples: Sequence[Any], asked: Asked) -> dict[str, Part]:
    """Return each part by its name."""
    subject = Subject(model, examples, asked)
    return {part: measure_part(subject, part) for part in parts_of(model.task)}


def said(
    figures: Sequence[Figure], others: dict[str, dict[str, Figure]] | None = None
) -> dict[str, str]:
    """Return what is said of figures of NLI: the tone of each sentence."""
    own = named(*figures)
    found = findings(NLI, "mine", own, families_of(NLI, own, others or {}))
    return {each.sentence: each.tone for each in found}


def named(*figures: Figure) -> dict[str, Figure]:
    """Return figures by their names."""
    return {figure.name: figure for figure in figures}


PLAIN = scored("accuracy", "plain", 80)
COSTLY = (scored("negation", "stress", 50), scored("negation.before", "stress", 80))
CHEAP = (scored("spelling", "stress", 79), scored("spelling.before", "stress", 80))
SALAD = scored("sort", "salad", 80, more=False)
TRICKED = scored("hans.subsequence.non-entailment", "hans", 2, title="Tricked")
FIGURES = (PLAIN, *COSTLY, *CHEAP, SALAD, TRICKED)


def report(*figures: Figure, sha256: str = "one") -> Json:
    """Return a report of these figures."""
    return {
        **read_report(REFERENCES / "da.json"),
        "model": {"name": "<b>mine</b>", "revision": None, "sha256": "ab"},
        "data": {"name": "mine.csv", "n": N, "sha256": sha256},
        "asked": {"n": N, "per_subcase": 20, "seed": 0, "precision": "fp32"},
        "missing": ["hans"],
        "left_out": {"hverbsyn": "WordNet is <missing>"},
        "figures": [figure_json(figure) for figure in figures],
        "findings": ["the score", "a finding", "a strength", "a weakness"],
        "tones": ["", "", "good", "bad"],
        "how_tested": HOW,
        "advice": [{"why": "a reason", "command": "a command", "tab": "repair", "challenge": ""}],
    }


def test_a_tiny_model_is_measured_in_every_part(model: str) -> None:
    classifier, pairs = load(model), tiny_pairs(24)
    found = measured(classifier, pairs, Asked(n=6, per_subcase=2, precision="fp32"))
    assert list(found) == parts_of(NLI) == ["plain", *ready(NLI), "hans"]
    plain = named(*found["plain"].figures)
    answers = classifier.predict(pairs)
    right = [said.label == pair.gold for said, pair in zip(answers, pairs, strict=True)]
    assert plain["accuracy"].estimate == share(right)
    assert 0 <= plain["ece"].value <= 1
    assert sum(each.n for each in found["plain"].bins) == 24
    assert plain["confidence"].value == pytest.approx(fmean(each.confidence for each in answers))
    labels = [plain[f"label.{label}"] for label in NLI.labels]
    assert [each.n for each in labels] == [8, 8, 8]
    assert fmean(each.value for each in labels) == pytest.approx(plain["accuracy"].value)
    assert (plain["majority"].value, plain["majority"].more_is_better) == (8 / 24, None)
    names = [(f.name, f.group, f.more_is_better) for f in found["sort"].figures]
    assert names[:2] == [("sort", "salad", False), ("confidence.sort", "confidence", False)]
    assert names[2:] == [
        ("confidence.sort.before", "confidence", None),
        ("entropy.sort", "entropy", True),
        ("entropy.sort.before", "entropy", None),
    ]
    assert plain["entropy"].value == pytest.approx(fmean(each.entropy for each in answers))
    negation, before = found["negation"].figures
    assert (negation.n, before.name, before.n) == (6, "negation.before", 6)
    hans = found["hans"].figures
    assert [each.n for each in hans if each.group == "hans"] == [10] * 6  # five sub-cases of two
    assert [each.n for each in hans if each.group == "subcases"] == [2] * 30
    again = measure_part(Subject(classifier, pairs, Asked(6, 2, precision="fp32")), "drop")
    assert repr(again) == repr(found["drop"])  # NaN is not equal to itself
    # examples show first where the model fails
    part = measure_part(Subject(classifier, pairs, Asked(n=24, precision="fp32")), "sort")
    stays = round(part.figures[0].value * part.figures[0].n)
    kept = [each["answer"] == each["answer_before"] for each in part.examples]
    assert kept == [at < stays for at in range(3)]
    for each in part.examples:
        assert each["gold"] is None and list(each["before"]) == ["hypothesis"]
    for each in found["negation"].examples:
        assert each["gold"] in NLI.labels
        assert "false is not true" in each["texts"]["hypothesis"]


def test_word_salad_is_drawn_by_five_seeds_and_told_by_label_and_kind(
    classifier: Classifier,
) -> None:
    pairs, asked = tiny_pairs(24), Asked(n=24, precision="fp32")
    subject, answers = Subject(classifier, pairs, asked), classifier.predict(pairs)
    stays = measure_part(subject, "shuffle").figures[0]
    by_seed = [
        transform_all(classifier, pairs, answers, ["shuffle"], seed)["shuffle"] for seed in range(5)
    ]
    agree = [[float(one.agrees) for (one,) in rows] for rows in by_seed]
    assert stays.rows == pytest.approx(list(map(fmean, zip(*agree, strict=True))), abs=1e-3)
    assert stays.n == 24 and stays.value == pytest.approx(fmean(map(fmean, agree)))
    assert stays.spread == pytest.approx(stdev(map(fmean, agree)))
    once = Subject(classifier, pairs, replace(asked, draws=1))
    alone = measure_part(once, "shuffle").figures[0]
    assert alone.spread is None and alone.value == pytest.approx(fmean(agree[0]))
    sort, negation = (
        measure_part(subject, "sort").figures,
        measure_part(subject, "negation").figures,
    )
    assert [each.spread for each in (*sort, *negation)] == [None] * (len(sort) + len(negation))
    labels = {each.name: each for each in measure_part(subject, "pbsmt").figures}
    whole = labels["pbsmt"]
    assert sum(labels[f"pbsmt.{gold}"].n for gold in NLI.labels) == whole.n
    known = published_beside(labels["pbsmt.neutral"], NLI, "esim")
    assert known and known.share == 0.08
    salad = [scored(name, "salad", at) for at, name in enumerate(presets(NLI)["Word salad"])]
    own = figures_of(report(PLAIN, *salad))
    assert own["salad.average"].value == pytest.approx(0.04)  # 0 to 8 of 100
    for name, who in {"esim": "ESIM with GloVe on MNLI", "minilm": "RoBERTa on MNLI"}.items():
        known = published_beside(own["salad.lexical"], NLI, name)
        assert known and known.who == who
    assert published_beside(own["sort"], NLI, "esim") is None
    assert "salad.gradient" not in figures_of(report(PLAIN, *salad[:5]))


def test_a_reader_is_measured_by_f1_with_distractors_and_without_hans(tmp_path: Path) -> None:
    reader = load_any(str(tiny_reader(tmp_path)))
    asked = [replace(each, question="Who sat in the largest park?") for each in QUESTIONS]
    found = measured(reader, asked, Asked(n=4, precision="fp32"))
    assert list(found) == ["plain", *ready(READING)]
    plain = found["plain"]
    assert (plain.figures[0].name, plain.bins) == ("f1", ())
    assert not {"ece", "majority"} & set(named(*plain.figures))
    assert [figure.name for figure in found["addsent"].figures] == ["addsent", "addsent.before"]
    assert {figure.group for figure in found["sort"].figures} == {"salad", "confidence"}


def test_differences_of_the_same_texts_are_paired_and_others_tested_by_their_intervals() -> None:
    found, _ = difference(COSTLY[1], COSTLY[0])
    by_hand = mean([1.0 * (at >= 30) for at in range(N)])  # 30 of 100 are lost
    assert found.value == pytest.approx(-0.3)
    assert found.high == pytest.approx(by_hand.high - 1, abs=1e-9)
    apart, _ = difference(replace(COSTLY[1], rows=()), replace(COSTLY[0], rows=()))
    assert apart.high - apart.low > found.high - found.low
    assert found.high < 0
    cheap, _ = difference(*CHEAP[::-1])
    assert cheap.low < 0 < cheap.high
    lost = [scored("one", "stress", 5, n=10), scored("two", "stress", 0, n=10)]
    assert difference(*lost)[1] == pytest.approx(2 / 2**5)  # 5 of 5 differ one way
    bare = replace(PLAIN, rows=(), value=0.5, low=0.5, high=0.5)
    assert difference(bare, replace(bare, value=0.6, low=0.5))[1] == pytest.approx(0.05)
    assert math.isnan(difference(bare, replace(bare, value=0.6, low=math.nan))[1])


def test_what_differs_by_itself_alone_or_of_a_few_texts_is_perhaps_chance() -> None:
    chance = (scored("length", "stress", 74), scored("length.before", "stress", 80))
    assert any(line.startswith("“Length” costs") for line in said((PLAIN, *chance)))
    many = [replace(each, name=f"{at}{each.name}") for at in range(3) for each in CHEAP]  # p 1 each
    found = said((PLAIN, *chance, *many))
    (sentence,) = [line for line in found if line.startswith("“Length” costs")]
    assert "does not remain after the correction for 4 tests" in sentence
    assert found[sentence] == ""
    few = (scored("spelling", "stress", 2, n=3), scored("spelling.before", "stress", 3, n=3))
    assert said((PLAIN, *few))["Too few texts to tell what is lost by “Spelling”."] == ""


def test_the_first_screen_counts_what_is_lost_and_what_stays() -> None:
    values = report(*FIGURES)
    row = {"name": "negation", "remains": True, "value": -0.3, "low": -0.4}
    unmoved = {"name": "spelling", "remains": False, "value": -0.01, "low": -0.03}

    def seen(*tests: Json) -> list[Glance]:
        return list(glances({**values, "tests": list(tests)}))

    told = [(each.number, each.tone) for each in seen(row, unmoved)]
    assert told == [("80 %", ""), ("1 of 2", "bad"), ("1 of 1", "bad"), ("2 %", "bad")]
    assert seen(unmoved)[1].tone == "good"
    assert seen({**unmoved, "low": -0.4})[1].tone == ""  # too few texts to tell
    assert seen(row)[1].words == "harmless change, such as a spelling mistake, costs it answers"
    assert seen(row)[2].words.startswith("way of making")
    said = verdict({**values, "tests": [row, unmoved]})
    assert "1 of 2 harmless changes" in said
    assert "in 1 of 1 way of making a text unreadable" in said
    one = verdict({**values, "tests": [row]})
    assert "1 of 1 harmless change of the texts costs it answers" in one
    assert list(glances(report(*COSTLY))) == [] and verdict(report(*COSTLY)) == ""


def test_findings_name_what_is_lost_beside_other_models_and_papers() -> None:
    worse = {"minilm": named(scored("accuracy", "plain", 40))}
    found = said(FIGURES, worse)
    assert next(iter(found)).startswith("It is right on 80.0 % (")

    def tone(*words: str) -> str:
        (sentence,) = [line for line in found if all(word in line for word in words)]
        return found[sentence]

    assert tone("accuracy is 40.0 points", "above MiniLM, 40.0 %") == "good"
    assert tone("“Negation” costs 30.0 points", "80.0 to 50.0 %") == "bad"
    assert tone("Nothing that can be measured is lost by “Spelling”.") == "good"
    assert tone("mostly answers texts that nobody can read", "80 % stay, published 79 %") == "bad"
    assert tone("it does not follow: right on 2 % (tricked)") == "bad"
    alike = said(FIGURES, {"da": named(scored("accuracy", "plain", 79))})
    assert any("not measurably different from Decomposable" in sentence for sentence in alike)
    weak = scored("label.neutral", "labels", 20, n=40)  # 60 of the other 60 are right
    (sentence,) = [line for line in said((PLAIN, weak)) if "weaker" in line]
    assert "50.0 %" in sentence and "elsewhere 100.0 %" in sentence
    entailed = scored("hans.subsequence.entailment", "hans", 99)  # speaks for no model
    assert list(said((PLAIN, entailed, TRICKED)).values())[-2:] == ["", "bad"]


def test_advice_names_the_command_for_each_weakness_and_none_for_a_model_without() -> None:
    miscalibrated = (
        Figure("ece", "Calibration error", "plain", 0.2, 0.1, 0.3, N, False),
        Figure("ece_by_chance", "By chance", "plain", 0.05, 0.01, 0.1, N, None),
    )
    own = named(*FIGURES, *miscalibrated)
    found = advice(NLI, "mine", own, families_of(NLI, own, {}))
    inoculated = "inoculate --model mine --challenge {} --out inoculated/{}"
    assert [(each.tab, each.challenge, each.command[19:]) for each in found] == [
        ("inoculate", "negation", inoculated.format("negation", "negation")),
        ("inoculate", "templates_hans", inoculated.format("templates_hans", "hans")),
        ("repair", "", "mitigate --model mine --out repaired/mitigation"),
        ("repair", "", "calibrate --model mine --out repaired/calibration"),
    ]
    own = named(PLAIN, *CHEAP, replace(SALAD, low=0.2))
    assert advice(NLI, "mine", own, families_of(NLI, own, {})) == []


def test_an_older_report_shows_what_got_better_and_what_worse() -> None:
    older = report(PLAIN, *COSTLY, SALAD)
    newer = report(PLAIN, scored("negation", "stress", 70), scored("sort", "salad", 95, more=False))
    changes = against(older, newer)
    assert [(row["name"], row["better"]) for row in changes] == [("sort", 0), ("negation", 1)]
    assert [words.split(":")[0] for words in changes_words(changes)] == ["Worse", "Better"]
    assert against(older, older) == []
    in_two_classes = replace(scored("negation", "stress", 70), merged=True)
    assert against(older, report(PLAIN, in_two_classes)) == []
    assert changes_words([]) == ["Nothing changed that can be measured."]
    other_texts = {**newer, "data": {**newer["data"], "sha256": "two"}}
    apart = against(older, other_texts)  # no longer compared text by text
    assert [row["name"] for row in apart] == ["sort", "negation"]
    assert all(one["p"] > same["p"] for one, same in zip(apart, changes, strict=True))
    with pytest.raises(FileError, match="is about"):
        against({**older, "task": "sentiment"}, newer)


def test_a_limit_holds_from_below_or_from_above() -> None:
    shown = report(*FIGURES)
    assert too_low(shown, {"accuracy": 0.8, "sort": 0.8}) == []
    assert too_low(shown, {"accuracy": 0.81}) == ["Accuracy is 80.0 %, under 81 %"]
    assert too_low(shown, {"sort": 0.5}) == ["Sort is 80.0 %, above 50 %"]
    assert too_low(report(scored("kind: A", "slices", 0)), {"kind: a": 0.1})
    with pytest.raises(FileError, match="no figure 'nothing'"):
        too_low(shown, {"nothing": 0.5})


def test_the_page_escapes_names_and_says_all(tmp_path: Path) -> None:
    values = report(*FIGURES)
    tested = families_of(NLI, named(*FIGURES), {})
    page = checkup_page({**values, "tests": json_of_tests(tested)}, [])
    assert "<b>mine</b>" not in page and "&lt;b&gt;mine&lt;/b&gt;" in page
    parts = (
        *("a finding", "at it is good at</h2><ul><li>a strength", "intervals", "remains at 5 %"),
        *("at it is bad at</h2><ul><li>a weakness", "is right on 80 % of 100 pairs", "a reason"),
        *("a command", "Nothing changed", "python -m probe checkup", "Not measured yet: hans"),
        "hverbsyn WordNet is &lt;missing&gt;",
    )
    assert not [part for part in parts if part not in page]
    whole = {**report(PLAIN), "examples": {"sort": [{"texts": {"premise": "a text"}}]}}
    assert without_rows(whole)["figures"][0]["rows"] == []
    assert "a text" not in json.dumps(without_rows(whole))


def test_what_is_no_report_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path, form = tmp_path / "a.json", "form 9, which this version does not read"
    for text, words in (
        *(
            ("", "there is no file"),
            ("{}", "cannot be read"),
            ("no", "cannot be"),
            ('{"format": 9}', form),
        ),
    ):
        path.write_text(text) if text else None
        with pytest.raises(FileError, match=words):
            read_report(path)
    nan = math.nan  # no interval is known
    unknown = Figure("ece", "Calibration error", "plain", 0.1, nan, nan, N, False)
    older = {**report(PLAIN, unknown), "format": 1}
    del older["reliability"], older["examples"], older["tests"]
    path.write_text(json.dumps(older, allow_nan=False))
    read = read_report(path)
    assert against(read, report(PLAIN)) == []
    assert repr([*figures_of(read).values()]) == repr([PLAIN, unknown])


def test_figures_by_another_sign_say_so_and_are_compared_with_none_by_the_papers(
    model: str, tmp_path: Path
) -> None:
    subject = Subject(load(model), tiny_pairs(24), Asked(n=6, precision="fp32"))
    theirs, older = (
        measure_part(
            Subject(subject.model, subject.examples, replace(subject.asked, sign=sign)), "drop"
        )
        for sign in ("gupta", "support")
    )
    told = {each["texts"]["hypothesis"] for each in theirs.examples}
    assert told.isdisjoint(each["texts"]["hypothesis"] for each in older.examples)
    known = [each for each in older.figures if each.group != "entropy"]  # which is newer
    stays, before = theirs.figures[0], list(map(figure_json, known))
    assert (
        stays.title.endswith(" (sign gupta)")
        and measure_part(subject, "drop").figures == theirs.figures
    )
    for each in before:  # an earlier version did not say it
        each["title"] = each["title"].removesuffix(" (sign support)")
        each.pop("sign", None)
    (tmp_path / "report.json").write_text(json.dumps({**report(PLAIN), "figures": before}))
    read = read_report(tmp_path / "report.json")
    assert list(map(repr, figures_of(read).values())) == list(map(repr, known))
    assert (
        read["asked"]["sign"]
        == plan_from(asdict(Plan(model, "nli", (), Asked())) | {"asked": {}}).asked.sign
        == "support"
    )
    beside = [published_beside(each, NLI, "mine") for each in (stays, older.figures[0])]
    assert [each.note for each in beside if each] == ["", " (sign gupta)"]
    worse = replace(stays, value=1.0, low=1.0, high=1.0, rows=())
    better = replace(worse, value=0.0, low=0.0, high=0.0)
    assert against(report(worse), report(better))
    assert against(report(replace(worse, sign="support")), report(better)) == []


def test_a_model_stands_beside_the_figures_of_the_data_set_that_it_is_named_after() -> None:
    figure = scored("sort", "salad", 80)
    for name, model, who in (
        ("sort", "minilm_qqp", "RoBERTa on QQP"),
        ("sort", "minilm_mrpc", "RoBERTa on MRPC"),
        ("pbsmt", "minilm_qqp", "RoBERTa on QQP"),
        ("pbsmt", "minilm_mrpc", ""),  # the paper has none
    ):
        known = published_beside(replace(figure, name=name), PARAPHRASE_IDENTIFICATION, model)
        assert (known.who if known else "") == who
