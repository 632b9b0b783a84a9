"""What a model can be inoculated against, how its sets are cut, and from whose files."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from finetune.training.data import Asked, read_pairs
from finetune.trials.challenges import (
    COUNTER_TESTS,
    UserFiles,
    catalogue,
    challenge_name,
    challenged,
    challenges,
    make_sets,
    read_sets,
    read_source_data,
    sets_of,
    sources_of,
    template_challenges,
    title_of,
)
from finetune.trials.datasets import SET_NAMES, Sets, SourceData, bundled, split_by_premise, unseen
from finetune.trials.inoculation import sets_from, sets_json
from finetune.trials.planning import Choices, draft
from probe.errors import ExperimentError, FileError, FileQuestion, LimitError
from probe.limits import Bounds
from probe.tasks.examples import bundled_examples
from probe.tasks.label_rules import UNDEFINED
from probe.tasks.nli import NLI, NLI_TWO_WAY, Pair
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.reading import READING, Question
from probe.tasks.sentiment import SENTIMENT, Review
from probe.tasks.task import Task, offered_tasks
from probe.transforms import REGISTRY
from probe.transforms.registry import ready
from tests.support.cases import each
from tests.support.commands import call
from tests.support.files.pair_files import PAIRS, row, write
from tests.support.models.tiny_bert import tiny_reader
from tests.support.models.tiny_word_models import QUESTIONS

TINY = SourceData(PAIRS[:6], PAIRS[6:12], PAIRS[12:])
NUMERICAL = Path(__file__).parents[4] / "shared/data/challenge/numerical_reasoning.jsonl.gz"
REVIEWS = tuple(
    Review(f"The {thing} was {word}.", label, f"{thing}-{word}")
    for thing in ("film", "book", "soup", "room")
    for word, label in (("good", "positive"), ("bad", "negative"))
)
ALTERABLE = [replace(each, question="Who sat in the largest park?") for each in QUESTIONS]
OF_QUESTIONS = SourceData(QUESTIONS[:6], tuple(ALTERABLE[6:]), tuple(ALTERABLE[:6]), READING)
OF_REVIEWS = SourceData(REVIEWS[:2], REVIEWS[2:4], REVIEWS[4:], SENTIMENT)


def asked(question: Question, **more: object) -> dict[str, object]:
    """Return a question as a row of a file."""
    answers = [{"text": each.text, "start": each.start} for each in question.answers]
    texts = {"context": question.passage, "question": question.question}
    return {"id": question.id, **texts, "answers": answers, **more}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Thirty labelled pairs with fifteen premises."""
    return write(tmp_path / "mine.jsonl", [row(pair) for pair in PAIRS])


def divided(path: Path, source: SourceData = TINY, **drawn: int) -> Sets:
    return sets_of("mine", source, UserFiles(challenge=path, **drawn))  # type: ignore[arg-type]


def sizes(sets: Sets) -> tuple[int, int]:
    return len(sets.challenge_train), len(sets.challenge_test)


@each("task", offered_tasks())
def test_each_challenge_says_what_it_is_and_leaves_a_label(task: Task) -> None:
    for challenge in catalogue(task):
        assert challenge.title and challenge.summary.endswith(".") and challenge.labels
    there = {each.name for each in catalogue(task) if each.kind == "transform"}
    assert not any(REGISTRY[name].rule is UNDEFINED for name in there)
    own = {"neghyp", "negprem", "numerical"} & set(ready(task)) if task is NLI else set()
    assert {"word_overlap", "negation"} & set(ready(task)) | own <= there and "drop" not in there
    assert set(template_challenges(task)) <= set(challenges(task))
    titles = {
        "negation": "Add a negation",
        "negation+spelling": "Add a negation, then misspell a word",
        "my file": "my file",
        **({"templates_hans": "Shared words"} if task is NLI else {}),
    }
    short = {"word_order": PARAPHRASE_IDENTIFICATION, "hans": NLI}  # and a transform is numerical
    named = {name: f"templates_{name}" if own is task else name for name, own in short.items()}
    assert {name: challenge_name(name, task) for name in (*named, "numerical")} == {
        **named, "numerical": "numerical",
    }  # fmt: skip
    if "spelling" in there:
        assert {challenge: title_of(challenge, task) for challenge in titles} == titles


def test_what_a_challenge_makes_of_a_pair() -> None:
    pair = Pair("A man walks.", "A man moves.", "entailment", "7")
    made = {name: challenged(name, [pair]) for name in ("negation", "negation+word_overlap")}
    negated = replace(pair, hypothesis="A man moves and false is not true.")
    both = replace(pair, hypothesis="A man moves and false is not true and true is true.")
    assert made == {"negation": (negated,), "negation+word_overlap": (both,)}
    assert [one.gold for one in challenged("neghyp", [pair])] == ["non-entailment"]
    several = challenged(
        "numerical", [Pair("Tim has 350 nails.", "Tim has nails.", "entailment", "7")]
    )
    assert [one.id for one in several] == ["7", "7-2", "7-3"]
    assert {one.gold for one in several} == {"entailment", "neutral", "contradiction"}
    rows = [Pair("The big dog ran.", "A dog ran.", "entailment", str(i)) for i in range(2)]
    computed = challenged("antonym", rows)  # the same pair, made by both rows, comes once
    assert len({(one.premise, one.hypothesis) for one in computed}) == len(computed) > 0


@each("task, name, sentence", [
    *((NLI, name, rf"no challenge '{name.replace('+', '.')}'; there are: .*word_overlap")
      for name in ("sort", "drop", "negation+sort", "nothing")),
    *((task, name, f"{name} is a challenge of {owner}, not of {task.title.lower()}; there are: ")
      for task, name, owner in (
          (SENTIMENT, "templates_word_order", "paraphrase identification"),
          (SENTIMENT, "neghyp", "natural language inference"),
          (PARAPHRASE_IDENTIFICATION, "templates_hans", "natural language inference"),
          (NLI, "templates_word_order", "paraphrase identification"),
      )),
])  # fmt: skip
def test_what_leaves_no_label_or_is_another_tasks_is_no_challenge(
    task: Task, name: str, sentence: str
) -> None:
    with pytest.raises(ExperimentError, match=sentence):
        challenged(name, (), task=task)


def test_the_sets_of_a_challenge_and_of_its_control() -> None:
    sets = make_sets("word_overlap", TINY)
    assert [pair.id for pair in sets.challenge_train] == [pair.id for pair in TINY.pool]
    assert sets.paired and (sets.original_dev, sets.original_test) == (TINY.dev, TINY.test)
    for challenge in ("word_overlap", "negation"):
        control = make_sets(challenge, TINY).control
        assert len(control) == len(TINY.test)
        assert all(pair.hypothesis.endswith("and green is not red.") for pair in control)
    assert make_sets("spelling", TINY).control == ()
    with pytest.raises(ExperimentError, match="needs a number and a name in the premise"):
        make_sets("numerical", TINY)
    reviews = make_sets("negation", OF_REVIEWS)
    assert reviews.challenge_test[0].text == "The book was good and false is not true."
    assert reviews.control[0].text == "The book was good and green is not red."
    whole = read_sets("word_overlap", UserFiles())
    assert whole.original_dev == bundled_examples(NLI, "dev")
    assert whole.paired and whole.control and len(whole.challenge_train) >= 400
    tested = {pair.premise for pair in (*whole.original_dev, *whole.original_test)}
    assert not tested & {pair.premise for pair in whole.challenge_train}


@each("name", template_challenges())
def test_no_template_is_trained_on_and_tested_and_labels_are_balanced(name: str) -> None:
    sets = make_sets(name, TINY)
    assert sizes(sets) == (1000, 1000)
    learnt, tested = (
        {pair.id.rpartition("-")[0] for pair in part}
        for part in (sets.challenge_train, sets.challenge_test)
    )
    assert learnt and tested and not learnt & tested
    golds = Counter(pair.gold for pair in sets.challenge_train)
    assert max(golds.values()) < 1.2 * min(golds.values())


def test_one_file_is_drawn_from_or_divided_by_its_column(file: Path, tmp_path: Path) -> None:
    sets, other = (divided(file, train=10, seed=seed) for seed in (0, 1))
    assert sizes(sets) == (10, 20)
    ids = [pair.id for pair in (*sets.challenge_train, *sets.challenge_test)]
    assert sorted(ids, key=int) == [str(number) for number in range(30)]
    assert sets.challenge_train != other.challenge_train
    read = read_sets("mine", UserFiles(challenge=file, train=10))
    assert read.challenge_train == sets.challenge_train
    assert read.original_test == bundled_examples(NLI, "test")
    short = write(tmp_path / "short.jsonl", list(map(row, PAIRS[:7])))
    assert sizes(divided(short)) == (3, 4)
    asked_twice = [{"question1": "A?", "question2": f"B{n}?", "label": n % 2} for n in range(6)]
    of_paws = SourceData((), (), (), PARAPHRASE_IDENTIFICATION)
    paws = divided(write(tmp_path / "paws.jsonl", asked_twice), of_paws, train=2)
    assert (paws.task, *sizes(paws)) == (PARAPHRASE_IDENTIFICATION, 2, 4)
    assert {pair.gold for pair in paws.challenge_test} == {"paraphrase", "non-paraphrase"}
    two = UserFiles(challenge_train=short, challenge_test=file)
    assert sizes(sets_of("mine", TINY, two)) == (7, 30)
    with pytest.raises(ExperimentError, match="mine: too few pairs"):
        divided(write(tmp_path / "one.jsonl", [row(PAIRS[0])]))
    if NUMERICAL.is_file():  # as published
        assert sizes(divided(NUMERICAL, bundled())) == (1000, 6596)

    def split(*names: str) -> Sets:
        rows = [row(pair, Split=names[i % len(names)]) for i, pair in enumerate(PAIRS)]
        return divided(write(tmp_path / "mine.jsonl", rows))

    sets = split("Train", "test", "dev")
    assert [pair.id for pair in sets.challenge_train] == [str(n) for n in range(0, 30, 3)]
    assert [pair.id for pair in sets.challenge_test] == [str(n) for n in range(1, 30, 3)]
    assert sizes(split("train", "validation")) == (15, 15)
    with pytest.raises(FileError, match="needs train and test; has: test"):
        split("test")


def test_questions_are_divided_by_passage_or_column_and_tested_apart(tmp_path: Path) -> None:
    source = SourceData(QUESTIONS[:6], QUESTIONS[6:], (), READING)
    twice = [asked(replace(each, id=f"{each.id}-{at}")) for each in QUESTIONS for at in range(2)]
    drawn = divided(write(tmp_path / "one.jsonl", twice), source, train=12)
    learnt, tested = (
        {each.passage for each in part} for part in (drawn.challenge_train, drawn.challenge_test)
    )
    assert not learnt & tested
    parts = [asked(each, split="train" if at < 5 else "test") for at, each in enumerate(QUESTIONS)]
    assert sizes(divided(write(tmp_path / "split.jsonl", parts), source)) == (5, 7)
    made = make_sets("addsent", OF_QUESTIONS)
    assert tuple(made.counter_tests) == COUNTER_TESTS["addsent"]
    in_front, added = made.counter_tests["addsent_first"][0], made.challenge_test[0]
    assert in_front.passage.endswith(QUESTIONS[6].passage)
    assert added.passage.startswith(QUESTIONS[6].passage)
    tests = UserFiles(challenge_test=write(tmp_path / "test.jsonl", [asked(QUESTIONS[0])]))
    sets = sets_of("addsent", OF_QUESTIONS, tests)
    assert [each.id for each in sets.challenge_test] == [QUESTIONS[0].id]
    # what the file to test on is about is not trained on
    left_out = {e.id for e in made.challenge_train} - {e.id for e in sets.challenge_train}
    assert left_out == {QUESTIONS[0].id}


def test_an_original_counts_only_where_nothing_was_added(tmp_path: Path) -> None:
    first, second = QUESTIONS[:2]
    rows = [
        asked(first, base_id=first.id, adversarial=False),
        asked(replace(first, id="1a"), base_id=first.id, adversarial=True),
        asked(replace(first, id="1b"), base_id=first.id, adversarial=True),
        asked(second, base_id=second.id, adversarial=False),
        asked(replace(second, id="none", answers=()), adversarial=False),
    ]
    file = write(tmp_path / "adversarial.jsonl", rows)
    read = read_pairs(file, READING)
    assert [(each.id, each.base) for each in read] == [
        ("1a", first.id), ("1b", first.id), (second.id, second.id),
    ]  # fmt: skip
    assert read[0].answers == first.answers
    with pytest.raises(LimitError, match=r"row 1 of adversarial\.jsonl: the question has"):
        read_pairs(file, READING, Asked(bounds=Bounds(max_text=5)))
    with pytest.raises(FileError, match="no question with an answer"):
        read_pairs(write(tmp_path / "empty.jsonl", [asked(replace(first, answers=()))]), READING)


def test_drawn_premises_are_whole_and_on_one_side() -> None:
    pairs = bundled_examples(NLI, "dev")  # three hypotheses to a premise
    first, rest = split_by_premise(pairs, 100)
    assert (len(first), len(rest)) == (102, 198)
    assert not {pair.premise for pair in first} & {pair.premise for pair in rest}
    assert unseen(PAIRS, PAIRS[:15]) == ()  # the tiny pairs have fifteen premises
    assert unseen(PAIRS[:3], PAIRS[3:6]) == PAIRS[:3]


def test_originals_pool_and_control_of_ones_own(file: Path, tmp_path: Path) -> None:
    fresh = [row(replace(pair, premise=f"So, {pair.premise}")) for pair in PAIRS[:3]]
    pool = write(tmp_path / "pool.jsonl", [*map(row, PAIRS), *fresh])
    sets = read_sets("word_overlap", UserFiles(original=file, pool=pool, control=file))
    assert abs(len(sets.original_dev) - len(sets.original_test)) <= 2
    halves = [{pair.premise for pair in part} for part in (sets.original_dev, sets.original_test)]
    assert not set.intersection(*halves)
    assert len(sets.challenge_test) == len(sets.original_test)
    # the pool loses the premises of dev and test
    assert [pair.premise[:4] for pair in sets.challenge_train] == ["So, "] * 3
    assert [pair.hypothesis for pair in sets.control] == [pair.hypothesis for pair in PAIRS]
    with pytest.raises(ExperimentError, match="every premise of mine"):
        read_sets("word_overlap", UserFiles(original=file, pool=file))
    texts = [{"sentence": review.text, "label": review.gold} for review in REVIEWS]
    own = UserFiles(original=write(tmp_path / "texts.jsonl", texts))
    source = read_source_data(own, SENTIMENT)
    assert sorted(review.text for review in (*source.dev, *source.test)) == sorted(
        review.text for review in REVIEWS
    )
    assert len(source.dev) == 4


@each("names, train, sentence", [
    (["challenge_train"], 9, "--challenge-train needs a --challenge-test"),
    (["challenge_train", "challenge_test"], 9, "are one file; a test needs examples of its own"),
    (["challenge", "challenge_train", "challenge_test"], 9, "--challenge-file or"),
    (["original", "original_dev"], 9, "--original is split into dev and test"),
    (["challenge"], 0, "--train must be 1 or more"),
])  # fmt: skip
def test_files_that_exclude_each_other_are_refused(
    names: Sequence[str], train: int, sentence: str, file: Path
) -> None:
    with pytest.raises(ExperimentError, match=sentence):
        read_sets("mine", replace(UserFiles(train=train), **dict.fromkeys(names, file)))


def test_a_run_keeps_the_names_of_its_files_by_their_options(file: Path) -> None:
    assert sources_of(UserFiles(original=file, challenge=file, train=10, seed=3)) == {
        "original": "mine.jsonl", "challenge-file": "mine.jsonl", "train": "10", "sample-seed": "3",
    }  # fmt: skip
    assert sources_of(UserFiles()) == {}
    for files, name in ((UserFiles(), "templates_hans"), (UserFiles(challenge=file), "hans")):
        values = {"model": "minilm", "challenge": "hans"}  # of one's own files it is only a label
        assert draft(Choices("inoculation", NLI, values, files)).challenge == name


def test_sets_keep_their_task_and_those_of_before_the_tasks_are_of_inference() -> None:
    for sets in (
        Sets(PAIRS, PAIRS, PAIRS, PAIRS, task=NLI_TWO_WAY),
        make_sets("negation", OF_REVIEWS),
    ):
        assert sets_from(sets_json(sets)) == sets
    golds = tuple(Pair("A.", "B.", gold) for gold in ("neutral", "contradiction", "entailment"))
    majorities = [Sets((), (), golds, (), task=task).majority for task in (NLI_TWO_WAY, NLI)]
    assert majorities == pytest.approx([2 / 3, 1 / 3])
    assert sets_from({name: [vars(PAIRS[0])] for name in SET_NAMES}).task is NLI


@each("task, cells, kind, sentence", [
    (SENTIMENT, {"premise": "A.", "hypothesis": "B.", "label": "neutral"}, FileError,
     "no column 'text' in your file; it has: premise, hyp"),
    (PARAPHRASE_IDENTIFICATION, {"premise": "A.", "hypothesis": "B.", "label": "neutral"},
     FileError, "no columns 'text1' and 'text2' in"),
    (PARAPHRASE_IDENTIFICATION, {"sentence1": "A.", "sentence2": "B.", "label": "neutral"},
     FileQuestion, "holds 'neutral'"),
    (SENTIMENT, {"text": "A.", "label": "5"}, FileQuestion, "holds '5'"),
    (NLI, {"text": "A.", "label": "neutral"}, FileError, "no columns 'premise' and 'hypothesis'"),
    (NLI, {"premise": "A.", "hypothesis": "B."}, FileError, "gold labels are needed here, and of"),
    (NLI, {"premise": "A.", "hypothesis": "B.", "label": ""}, FileError, "holds no pair"),
])  # fmt: skip
def test_a_file_of_another_task_or_without_labels_is_refused(
    task: Task, cells: dict[str, object], kind: type[Exception], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(kind, match=sentence):
        read_sets("mine", UserFiles(challenge=write(tmp_path / "wrong.jsonl", [cells] * 4)), task)


def test_the_command_inoculates_a_reader(tmp_path: Path, home: Path) -> None:
    parts = [asked(each, split="train" if at < 5 else "test") for at, each in enumerate(QUESTIONS)]
    file, out = write(tmp_path / "mine.jsonl", parts), home / "out"
    original = write(tmp_path / "original.jsonl", list(map(asked, QUESTIONS)))
    result = call(
        "inoculate", "--model", tiny_reader(tmp_path / "tiny"), "--challenge", "mine",
        "--challenge-file", file, "--original", original, "--sizes", "2,all", "--max-epochs", "1",
        "--out", out, "--in-process",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    summary = json.loads((out / "summary.json").read_text())
    assert (summary["measure"], summary["plan"]["task"]) == ("F1", "reading")
    assert summary["plan"]["sizes"] == [2, 5]
    assert "F1 on the challenge" in (out / "curve.svg").read_text()
