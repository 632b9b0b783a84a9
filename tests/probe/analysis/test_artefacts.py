"""What a set gives away: words against counts by hand, rules that must not leak, duplicates."""

import json
import random
from collections import Counter
from collections.abc import Sequence
from math import log, sqrt
from pathlib import Path

import numpy as np
import pytest

from probe.analysis.artefacts import Artefacts, GiveAway, Request, final, find_artefacts
from probe.analysis.near_duplicates import Ragged, near_duplicates
from probe.models.classifier import Classifier
from probe.tasks.nli import LABELS, NLI, Pair
from probe.tasks.task import Label, Task, offered_tasks
from tests.support.commands import answer, refusal, run
from tests.support.files.baseline_pairs import C, E, N, separable_pairs
from tests.support.files.pair_files import row, write
from tests.support.models.tiny_bert import tiny_pairs


def saved(path: Path, pairs: Sequence[Pair]) -> Path:
    return write(path, [row(pair) for pair in pairs])


def found_in(path: Path, task: Task = NLI, **asked: object) -> Artefacts:
    return final(find_artefacts(path, task, Request(**asked)))  # type: ignore[arg-type]


def telling(found: Artefacts, text: str, label: Label) -> GiveAway:
    return next(each for each in found.words if (each.text, each.label) == (text, label))


def negated_pairs() -> list[Pair]:
    """Return 160 pairs of which "no" is in eighty, sixty of them contradictions."""
    golds = ([C] * 15 + [E] * 3 + [N] * 2) * 4
    negated = [Pair(f"a {n}", "no dog ran", gold) for n, gold in enumerate(golds)]
    others = ([C] * 5 + [E] * 7 + [N] * 8) * 4
    return negated + [Pair(f"b {n}", "the dog ran", gold) for n, gold in enumerate(others)]


def test_z_and_pmi_are_those_of_the_papers_whatever_p0_is(tmp_path: Path) -> None:
    pairs = negated_pairs()
    path = saved(tmp_path / "a.jsonl", pairs)
    counts = Counter((word, pair.gold) for pair in pairs for word in set(pair.hypothesis.split()))
    smooth = {
        (word, gold): counts[word, gold] + 100
        for word in ("no", "the", "dog", "ran")
        for gold in LABELS
    }
    of_word = sum(n for (word, _), n in smooth.items() if word == "no")
    of_label = sum(n for (_, gold), n in smooth.items() if gold == C)
    for chance, p0 in (("share", 20 / 40), ("uniform", 1 / 3)):
        word = telling(found_in(path, least=10, chance=chance), "no", C)
        assert (word.n, word.count, word.chance) == (80, 60, p0)
        assert word.z == pytest.approx((60 / 80 - p0) / sqrt(p0 * (1 - p0) / 80))
        pmi = log(smooth["no", C] * sum(smooth.values()) / of_word / of_label)
        assert word.pmi == pytest.approx(pmi)
        assert word.rows == (*range(1, 11),) and word.others == (*range(16, 21), *range(36, 41))
    # "no dog" is in the same rows, "dog" in all of them
    found = found_in(path, least=80)
    told = {(each.text, each.label) for each in found.words}
    assert told == {("no", C), ("no dog", C), ("the", N), ("the dog", N)}
    assert (found.tested, found.telling) == (3 * (4 + 3), 4)
    assert found_in(path, least=81).tested == 3 * 3  # dog, ran, dog ran


def test_traits_are_means_and_shares_by_label(tmp_path: Path) -> None:
    pairs = [
        Pair("The man sat down.", "The man sat.", E), Pair("A dog barks.", "A dog never slept.", C),
        Pair("A cat.", "A cat, a dog.", E),
    ]  # fmt: skip
    found = found_in(saved(tmp_path / "a.jsonl", pairs), folds=2)
    values = {each.name: {g: e.value for g, e in each.by_label.items()} for each in found.traits}
    assert values == {
        "length.premise": {E: 3.0, C: 3.0},
        "length.hypothesis": {E: 3.5, C: 4.0},
        "overlap": {E: pytest.approx((1 + 2 / 4) / 2), C: 0.5},  # a, cat of a, cat, the comma, dog
        "all_shared": {E: 0.5, C: 0.0},
        "negation": {E: 0.0, C: 1.0},
    }
    assert "no row has the label neutral" in found.notes
    assert any(note.startswith("only 2 rows of entailment") for note in found.notes)


def test_rules_are_judged_on_folds_that_hold_equal_premises_together(tmp_path: Path) -> None:
    pairs = [Pair(f"p{at}", f"word{at} x", (E, N)[at % 2]) for at in range(20) for _ in range(40)]
    apart = found_in(saved(tmp_path / "premises.jsonl", pairs))
    alone = [Pair(f"q{at}", each.hypothesis, each.gold) for at, each in enumerate(pairs)]
    leaking = found_in(saved(tmp_path / "alone.jsonl", alone))
    accuracy = [
        {rule.name: rule.accuracy for rule in each.rules}["bag_of_words"]
        for each in (apart, leaking)
    ]
    assert accuracy[0].value < 0.75 and accuracy[1].value == 1.0
    # rows of a premise go right or wrong together: twenty of them, not 800, make the interval
    majority = apart.rules[0].accuracy
    assert majority.high - majority.low > 0.2
    easy = found_in(saved(tmp_path / "easy.jsonl", separable_pairs() * 3), least=1)
    rules = {rule.name: rule.accuracy.value for rule in easy.rules}
    assert rules["bag_of_words"] == 1.0 and rules["negation"] == pytest.approx(2 / 3)


def test_near_duplicates_are_those_that_a_look_at_all_pairs_finds() -> None:
    rng = random.Random(0)
    texts = [[rng.randrange(50) for _ in range(rng.randint(1, 25))] for _ in range(150)]
    changed = [
        [rng.randrange(50) if rng.random() < 0.1 else word for word in text] for text in texts
    ]

    def ragged(rows: list[list[int]]) -> Ragged:
        starts = np.cumsum([0, *map(len, rows)])
        return Ragged(np.array([word for each in rows for word in each], np.int32), starts)

    def shingles(text: list[int]) -> set[tuple[int, int]]:
        return {*zip([-1, *text], [*text, -1], strict=True)}

    def jaccard(one: list[int], other: list[int]) -> float:
        first, second = shingles(one), shingles(other)
        return len(first & second) / len(first | second)

    for similarity in (0.5, 0.8, 1.0):
        found = near_duplicates([ragged(texts)], [ragged(changed)], similarity)
        best = {at: max(jaccard(text, other) for other in texts) for at, text in enumerate(changed)}
        assert {each.second: pytest.approx(each.similarity) for each in found} == {
            at: value for at, value in best.items() if value >= similarity
        }


def test_the_command_shows_repeats_near_duplicates_and_a_model_on_rows_with_and_without_the_words(
    tmp_path: Path, model: str, classifier: Classifier
) -> None:
    pairs = [*tiny_pairs(60), Pair("A  MAN walks to the park.", "The man is happy in the park.", N)]
    train, dev = saved(tmp_path / "train.jsonl", pairs), saved(tmp_path / "dev.jsonl", pairs[:9])
    words = ["data", str(train), "--least", "10", "--top", "1"]
    shape = answer(*words, "--against", str(dev), "--model", model)
    assert (shape["shared"]["near"]["value"], shape["shared"]["equal"]) == (1.0, 9)
    # tiny pairs come round after fifteen; the last has another label than its equals
    assert shape["repeats"]["rows"] == 46 and shape["repeats"]["contradicted"] == 5
    assert shape["repeats"]["examples"][0] == [46, 61]
    tell = {label: {w["text"] for w in shape["words"] if w["label"] == label} for label in LABELS}
    assert "not" in tell[C] and "very" in tell[N]
    for one in shape["weighed"]:
        own = [pair for pair in pairs[:9] if one["label"] in ("all", pair.gold)]
        has = [
            any(f" {word} " in f" {pair.hypothesis.lower()} " for word in tell[pair.gold or ""])
            for pair in own
        ]
        said = [
            each.label == pair.gold
            for each, pair in zip(classifier.predict(own, "auto"), own, strict=True)
        ]
        right = [ok for ok, having in zip(said, has, strict=True) if having]
        found = one["having"] or {"n": 0, "value": 0}  # a label that no word tells
        assert (found["n"], found["n"] * found["value"]) == (len(right), sum(right))
    assert "not" in run(*words).stdout


def test_every_task_with_labels_is_looked_at_and_says_where_figures_rest_on_little(
    tmp_path: Path,
) -> None:
    for task in offered_tasks():
        path = tmp_path / f"{task.name}.jsonl"
        asked = ["data", str(path), "--task", task.name]
        examples = [{**task.texts(each), "label": each.gold} for each in task.sanity_examples]
        path.write_text("".join(json.dumps(each) + "\n" for each in examples * 5))
        if not task.labels:
            assert "answered with spans" in refusal(*asked)
            continue
        shape = answer(*asked, "--least", "2")
        assert shape["labels"] == dict.fromkeys(task.labels, len(examples) * 5 // len(task.labels))
        assert any("too little" in note for note in shape["notes"]), task.name
        assert shape["repeats"]["rows"] == 4 * len(examples)


def test_what_cannot_be_looked_at_is_refused_in_a_sentence(tmp_path: Path) -> None:
    one = saved(tmp_path / "one.jsonl", [Pair("a", "b", E), Pair("c", "d", E)])
    assert refusal("data", str(one)).startswith("every row of one.jsonl that can be read has the")
    plain = saved(tmp_path / "plain.jsonl", [Pair("a", "b"), Pair("c", "d")])
    assert "no pair with a premise, a hypothesis and a label" in refusal("data", str(plain))
    bare = write(tmp_path / "bare.jsonl", [{"premise": "a", "hypothesis": "b"}])
    assert "gold labels are needed" in refusal("data", str(bare))
    two = saved(tmp_path / "two.jsonl", separable_pairs())
    assert "no text 'text'" in refusal("data", str(two), "--field", "text")
    other = write(tmp_path / "other.jsonl", [{"text": "good", "label": "positive"}])
    assert "--task sentiment" in refusal("data", str(other))
