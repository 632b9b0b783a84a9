"""Trainings of every kind: what is learnt and kept, and what one that was broken off goes on to."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import finetune.training.encoder as encoder
import finetune.training.word_models as word_models
from benchmarks.architectures import KINDS, save
from finetune.training.checkpoints import Checkpoint, load_checkpoint, save_checkpoint, save_model
from finetune.training.encoder import (
    EncodedQuestions,
    TrainingOptions,
    dev_score,
    kept_probabilities,
    mean_probabilities,
    schedule,
    soft_targets,
    start_reader,
    train,
)
from finetune.training.loop import Trainer, make_optimiser, take_step, trainable
from finetune.training.losses import admissible
from finetune.training.recipes import WORD_MODELS, WORD_READERS, Preset
from finetune.training.word_models import (
    COMPONENT_RMS,
    embed_words,
    held_out,
    rate,
    reduce_by_pca,
    untrained,
    with_special,
)
from finetune.training.word_models import train as train_words
from probe.errors import TrainingError
from probe.models.architectures import Recipe
from probe.models.classifier import Classifier
from probe.models.library import AnyModel, load, load_any
from probe.models.reader import tokens_of
from probe.models.text_model import TokenPlace, TokenRows
from probe.models.word_models.layers import shared_table
from probe.tasks.nli import LABELS, Pair
from probe.tasks.reading import Span
from tests.support.cases import each
from tests.support.files.questions import asked
from tests.support.global_state import leaves_global_chance_alone
from tests.support.models.tiny_bert import tiny_bert, tiny_pairs, tiny_reader
from tests.support.models.tiny_word_models import QUESTIONS as FEW_QUESTIONS
from tests.support.models.tiny_word_models import word_classifier, word_reader
from tests.support.runs.broken_off import broken_off

LEARNING = TrainingOptions(lr=2e-3, epochs=40, batch=8, max_tokens=64, precision="fp32")
OPTIONS = replace(LEARNING, lr=1e-3, epochs=2, batch=4)
READING = TrainingOptions(lr=3e-3, epochs=6, batch=8, warmup=0.1, precision="fp32")
PAIRS, TAUGHT = tiny_pairs(22), tiny_pairs(24)  # 6 batches an epoch, the last one short
BARE = tuple(replace(pair, gold=None) for pair in TAUGHT)
QUESTIONS = [
    asked(f"The {name} sat in the {place}.", "Who sat?", (Span(name, 4),), f"{name}-{place}")
    for name in ("man", "woman", "boy", "girl", "teacher", "baker", "driver", "farmer")
    for place in ("park", "shop", "school", "church")
]


def preset(lr: float = 0.1, **changes: Any) -> Preset:
    recipe = Recipe("adagrad", lr, batch=8, clip_norm=None)
    return Preset({}, recipe, **{"epochs": 3, "patience": 9, **changes})


def reader_preset(kind: str, lr: float = 1e-2, **changes: Any) -> Preset:
    known = WORD_READERS[kind].presets["small"]
    recipe = replace(known.recipe, lr=lr, batch=4)
    return replace(known, **{"settings": {}, "recipe": recipe, "epochs": 3, **changes})


@pytest.fixture(autouse=True)
def often_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold out so much that few examples do."""
    monkeypatch.setattr(word_models, "HELD_OUT", 3)


@pytest.fixture(scope="module")
def teacher(model: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model that knows the pairs."""
    out = tmp_path_factory.mktemp("teacher") / "teacher"
    list(train(load(model), TAUGHT, LEARNING, out))
    return str(out)


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A reader of random weights."""
    return str(tiny_reader(tmp_path_factory.mktemp("reader")))


Training = Callable[..., tuple[AnyModel, Iterator[Any]]]  # Any: rows of a training's own kind


@pytest.fixture
def trainings(model: str, teacher: str, start: str) -> dict[str, Training]:
    """By name what begins a training in a folder; further arguments change its options."""
    distilled, dev = replace(LEARNING, epochs=2, teachers=(teacher,)), {"dev": PAIRS}

    def of(begin: Callable[[], Any], data: Any, options: Any, dev: Any, every: int) -> Training:
        def training(out: Path, **changes: Any) -> Any:
            begun = begin()
            return begun, train(begun, data, replace(options, **changes), out, dev, every)

        return training

    def word(kind: str) -> Training:
        def training(out: Path, **changes: Any) -> Any:
            if kind in WORD_READERS:
                begun, how, data = word_reader(kind), reader_preset(kind, **changes), FEW_QUESTIONS
                return begun, train_words(begun, how, data, out, every=2)
            taught = preset(**{"teachers": (teacher,), **changes})
            student = word_classifier(kind)
            return student, train_words(student, taught, [*tiny_pairs(60), *BARE], out, every=2)

        return training

    return {
        "classifier": of(lambda: load(model), PAIRS, OPTIONS, dev, 3),
        "distilled": of(lambda: load(model), TAUGHT, distilled, None, 2),
        "reader": of(lambda: start_reader(start), QUESTIONS, READING, None, 8),
        **{kind: word(kind) for kind in (*WORD_MODELS, *WORD_READERS)},
    }


def facts(rows: list[Any]) -> list[dict[str, Any]]:
    """Return rows without what differs from call to call: a mean since it was taken up is such."""
    apart = {"pairs_per_second", "loss"}
    return [{name: value for name, value in vars(row).items() if name not in apart} for row in rows]


@each(
    "kind, saved, other, sentence",
    [
        ("classifier", 1, {"lr": 2e-3}, r"another --lr \(0.001, now 0.002\)"),
        ("classifier", 3, {"transform": "sort"}, r"begun with another --transform; name another"),
        ("distilled", 2, {"teachers": ("minilm",)}, "another --teacher"),
        ("reader", 1, {"epochs": 7}, r"another --epochs \(6, now 7\)"),
        ("da", 2, {"teachers": ("minilm",)}, "begun with another --teacher; name"),
        ("esim", 6, {"teacher_weight": 0.2}, r"another --teacher-weight \(0.5, now 0.2\)"),
        ("bidaf", 2, {"loss": "focal"}, "begun with another --loss"),
        ("qanet", 3, {"fall": True}, "another --fall"),
    ],
)
def test_a_training_that_was_broken_off_ends_as_if_it_had_not_been(
    kind: str, saved: int, other: Any, sentence: str, trainings: dict[str, Training],
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    whole, broken, begin = tmp_path / "whole", tmp_path / "broken", trainings[kind]
    rows, first = list(begin(whole)[1]), list[Any]()

    with broken_off(monkeypatch, saved):
        first.extend(begin(broken)[1])
    with pytest.raises(TrainingError, match=sentence):
        next(begin(broken, **other)[1])
    assert facts([*first, *begin(broken)[1]]) == facts(rows)
    for name in ("model.safetensors", "checkpoint/weights.safetensors"):
        assert (whole / name).read_bytes() == (broken / name).read_bytes()
    model, rest = begin(whole)
    assert list(rest) == []  # of a finished training there is nothing left
    stored = load_any(str(whole)).model.state_dict()
    for name, value in model.model.state_dict().items():
        torch.testing.assert_close(value, stored[name], atol=1e-3, rtol=1e-3)  # fp16


def trainer(classifier: Classifier) -> Trainer:
    recipe = classifier.architecture.recipe
    return Trainer(classifier, recipe, make_optimiser(recipe, trainable(classifier), 1e-3))


def keep(one: Trainer, step: int, out: Path) -> None:
    save_checkpoint(one.classifier, one.optimiser, {"seed": 0}, Checkpoint(step), out)


def kept(one: Trainer, out: Path) -> Checkpoint:
    return load_checkpoint(one.classifier, one.optimiser, {"seed": 0}, out)


def test_a_checkpoint_of_tied_weights_takes_the_same_next_step(tmp_path: Path) -> None:
    save(KINDS["t5"], "t5", tmp_path / "model")  # reads one table of words in two places
    one, other = (trainer(load(str(tmp_path / "model"), LABELS)) for _ in range(2))

    def step(of: Trainer, seed: int) -> float:
        pairs, task = tiny_pairs(4), of.classifier.task
        return take_step(of, of.classifier.encode(pairs), admissible(pairs, task), seed)

    step(one, 1)
    keep(one, 1, tmp_path)
    assert kept(other, tmp_path).step == 1
    assert step(one, 2) == step(other, 2)
    for here, there in zip(trainable(one.classifier), trainable(other.classifier), strict=True):
        assert torch.equal(here, there)


def test_a_crash_leaves_the_checkpoint_before(
    classifier: Classifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, rename = trainer(classifier), Path.rename
    (tmp_path / "checkpoint").mkdir()
    assert kept(one, tmp_path) == Checkpoint()  # a folder without its state is none
    keep(one, 3, tmp_path)
    (tmp_path / "checkpoint.new").mkdir()
    (tmp_path / "checkpoint.new" / "weights.safetensors").write_bytes(b"half")
    assert kept(one, tmp_path).step == 3

    def crash(path: Path, target: Path) -> Path:
        if path.name == "checkpoint.new":
            raise KeyboardInterrupt
        return rename(path, target)

    with monkeypatch.context() as crashing, pytest.raises(KeyboardInterrupt):
        crashing.setattr(Path, "rename", crash)
        keep(one, 4, tmp_path)
    assert kept(one, tmp_path) == Checkpoint(3, {}, [])
    keep(one, 5, tmp_path)
    assert kept(one, tmp_path).step == 5
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]


def test_a_saved_model_names_its_labels_and_its_task(
    classifier: Classifier, tmp_path: Path
) -> None:
    classifier.model.config.architectures = ["BertModel"]  # of the encoder that it began as
    save_model(classifier, tmp_path)
    stored = load(str(tmp_path))
    assert stored.model.config.architectures == [type(classifier.model).__name__]
    assert (stored.order, stored.task) == (LABELS, classifier.task)
    # half precision keeps three decimals
    assert stored.probabilities(PAIRS) == pytest.approx(classifier.probabilities(PAIRS), abs=1e-3)


def test_rates_rise_then_fall_and_targets_mix_what_is_taught_and_the_label() -> None:
    # ten steps, two of them rising: 1/2, 1, then down by eighths to 1/8
    for step, factor in ((0, 0.5), (1, 1.0), (2, 1.0), (3, 7 / 8), (6, 0.5), (9, 1 / 8)):
        assert schedule(step, 10, 0.2) == pytest.approx(factor), step
    for taught, admitted, weight, mixed in (
        ((0.6, 0.3, 0.1), (False, True, False), 0.5, (0.3, 0.65, 0.05)),  # half of each
        ((0.6, 0.3, 0.1), (False, True, True), 0.5, (0.3, 0.525, 0.175)),  # 3/4 and 1/4 of a half
        ((0.6, 0.3, 0.1), (False, False, False), 0.5, (0.6, 0.3, 0.1)),  # no label
        ((1.0, 0.0, 0.0), (False, True, False), 0.25, (0.25, 0.75, 0.0)),  # ruled out
    ):
        (target,) = soft_targets(torch.tensor([taught]), torch.tensor([admitted]), weight)
        assert target.tolist() == pytest.approx(mixed), admitted


def test_teachers_that_read_texts_alike_have_them_tokenised_once(
    model: str, teacher: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [load(model), load(teacher), word_classifier("da")]
    expected = sum(each.probabilities(TAUGHT) for each in models) / 3
    tokenised, token_rows = [], Classifier.token_rows

    def counted(self: Classifier, *given: Any) -> TokenRows:
        tokenised.append(self.name)
        return token_rows(self, *given)

    monkeypatch.setattr(Classifier, "token_rows", counted)
    assert mean_probabilities(models, TAUGHT, "fp32").numpy() == pytest.approx(expected, abs=1e-6)
    assert tokenised == [models[0].name, models[2].name]


def test_teachers_broken_off_answer_no_part_again(
    model: str, teacher: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder, "ANSWERED_TOGETHER", 10)
    known, other, asked = [load(teacher)], [load(model)], list[int]()

    def answers(of: list[Classifier], examples: Sequence[Pair], most: int) -> torch.Tensor:
        def counted(teachers: Any, part: Sequence[Pair], precision: Any) -> torch.Tensor:
            if sum(asked) >= most:
                raise KeyboardInterrupt
            asked.append(len(part))
            return mean_probabilities(teachers, part, precision)

        asked.clear()
        monkeypatch.setattr(encoder, "mean_probabilities", counted)
        return kept_probabilities(of, examples, "fp32", tmp_path)

    with pytest.raises(KeyboardInterrupt):
        answers(known, TAUGHT, most=10)
    expected = torch.tensor(known[0].probabilities(TAUGHT)).float()
    torch.testing.assert_close(answers(known, TAUGHT, most=24), expected)
    assert asked == [10, 4]
    answers(known, [*TAUGHT[10:20], *TAUGHT[:13]], most=24)  # in another order
    assert asked == [3]
    answers(other, TAUGHT, most=99)
    assert asked == [10, 10, 4]


def test_a_student_learns_from_its_teacher_without_a_label(
    model: str, teacher: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    student, options = load(model), replace(LEARNING, teachers=(teacher,))
    list(train(student, BARE, options, tmp_path / "out"))
    known = load(teacher).probabilities(TAUGHT)
    after, before = (abs(it.probabilities(TAUGHT) - known).mean() for it in (student, load(model)))
    assert after < 0.05 < 0.2 < before
    monkeypatch.setattr(word_models, "held_out", lambda premise: premise.endswith("again"))
    labelled = (replace(pair, premise=f"{pair.premise} again") for pair in TAUGHT)
    recipe = Recipe("adam", 5e-3, batch=8)
    taught = replace(preset(epochs=12, patience=99, teachers=(teacher,)), recipe=recipe)
    words = untrained("da", "allennlp")
    rows = list(train_words(words, taught, [*BARE, *labelled], tmp_path / "words"))
    assert max(row.dev for row in rows) > 0.6  # of three labels


def test_a_reader_learns_the_tokens_that_spell_the_answer(start: str, tmp_path: Path) -> None:
    words = [TokenPlace(1, "", 0, *at) for at in ((0, 3), (4, 7), (8, 12))]
    places = [None, None, *words, None]
    spans = {(4, 12): (3, 4), (5, 11): (3, 4), (8, 18): None, (40, 48): None}
    assert {span: tokens_of(places, *span) for span in spans} == spans
    reader = start_reader(start)
    unanswered = asked("The man sat.", "Who sat?", (), "1")
    examples = EncodedQuestions(reader, (unanswered, *QUESTIONS)).examples
    for question, (window, first, last) in zip(QUESTIONS, examples, strict=True):
        begin, end = window.places[first], window.places[last]
        assert begin and end
        assert question.passage[begin.start : end.end] == question.answers[0].text
    before, dev = dev_score(reader, QUESTIONS, "fp32"), {"same": QUESTIONS}
    *_, last_row = train(reader, QUESTIONS, READING, tmp_path, dev, every=8)
    assert last_row.accuracy["same"] > 0.9 > before
    answers = load_any(str(tmp_path)).predict(QUESTIONS[:4])
    assert [answer.label for answer in answers] == ["man"] * 4


def test_a_vector_is_the_mean_of_a_words_sub_words_along_the_widest_directions(
    tmp_path: Path,
) -> None:
    place = str(tiny_bert(tmp_path))
    alone, with_padding = (embed_words(["dogs", *more], place) for more in ([], ["unexpectedly"]))
    assert alone.shape == (1, 32)
    assert alone[0].tolist() == pytest.approx(with_padding[0].tolist(), abs=1e-5)
    points = torch.tensor([[3.0, 4.0], [-3.0, -4.0], [0.4, -0.3], [-0.4, 0.3]])
    reduced, explained = reduce_by_pca(points + 7, 1)  # 5, 5 along (3, 4); 0.5, 0.5 across it
    assert explained == pytest.approx(50 / 50.5)
    scale = COMPONENT_RMS / math.sqrt(50 / 4)
    expected = [5 * scale, -5 * scale, 0, 0]
    assert reduced.flatten().tolist() == pytest.approx(expected, abs=1e-6)
    table = with_special(torch.ones(2, 50))
    assert table.shape == (5, 50) and table[0].abs().sum() == 0
    assert not torch.equal(table[1], table[2])
    assert torch.equal(table, with_special(torch.ones(2, 50)))


@each(
    "kind, name, facts, weights",  # rate, batch, epochs, patience, patience of the rate
    [
        ("da", "allennlp", (0.01, 64, 140, 20, None), None),
        ("da", "paper", (0.05, 4, 140, 20, None), None),
        ("esim", "allennlp", (4e-4, 32, 75, 5, 0), None),
        ("esim", "paper", (4e-4, 32, 75, 7, None), None),
        ("esim_char", "paper", (4e-4, 32, 75, 7, None), None),
        ("bidaf", "allennlp", (1e-3, 40, 20, 10, 2), None),
        ("bidaf", "small", (1e-3, 40, 20, 10, 2), 1_204_145),
        ("qanet", "allennlp", (1e-3, 25, 50, 10, None), None),
        ("qanet", "small", (1e-3, 25, 50, 10, None), 224_565),
        ("qanet", "medium", (1e-3, 25, 50, 10, 1), 537_141),
    ],
)
def test_presets_are_those_of_the_configurations_and_begin_the_same_again(
    kind: str, name: str, facts: tuple[object, ...], weights: int | None
) -> None:
    """Liu et al. 2019's AllenNLP files, and Parikh et al. 2016, Chen et al. 2017."""
    known = {**WORD_MODELS, **WORD_READERS}[kind].presets[name]
    recipe = known.recipe
    assert facts == (recipe.lr, recipe.batch, known.epochs, known.patience, known.halve_patience)
    if kind in WORD_READERS:
        assert recipe.clip_norm == 5.0
        assert (recipe.average, recipe.settings) == {
            "bidaf": (None, {"betas": (0.9, 0.9)}),
            "qanet": (0.9999, {"betas": (0.8, 0.999), "eps": 1e-7, "weight_decay": 2e-7}),
        }[kind]
        if weights is None:  # large
            return
    begun = list[Any]()
    assert leaves_global_chance_alone(lambda: begun.append(untrained(kind, name).model))
    one, other = begun[0], untrained(kind, name).model
    for first, second in zip(one.parameters(), other.parameters(), strict=True):
        assert torch.equal(first, second)
    assert "table" not in " ".join(dict(one.named_parameters()))
    if weights:
        assert sum(weight.numel() for weight in one.parameters()) == weights
    else:
        assert list(one.config.id2label.values()) == list(LABELS)


def test_vectors_of_its_own_begin_as_the_shared_ones() -> None:
    table = untrained("da", "allennlp", own=True).model.get_parameter("words.table")
    assert table.requires_grad and torch.equal(table, shared_table("words").float())


def test_a_premise_is_held_out_with_all_its_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    pairs = [Pair(f"premise {n}", f"hypothesis {m}") for n in range(2000) for m in range(2)]
    kept = [pair for pair in pairs if held_out(pair.premise)]
    assert len({pair.premise for pair in kept}) * 2 == len(kept)
    assert 100 < len(kept) < 190  # one in 28 of 4,000


def trained(out: Path, how: Preset, model: AnyModel | None = None, **more: Any) -> list[Any]:
    return list(train_words(model or word_classifier("esim"), how, tiny_pairs(60), out, **more))


def test_the_best_epoch_is_what_stays_and_chance_is_left_alone(tmp_path: Path) -> None:
    classifier, rows = word_classifier("esim"), list[Any]()
    assert leaves_global_chance_alone(
        lambda: rows.extend(trained(tmp_path / "a", preset(epochs=4), classifier))
    )
    again = trained(tmp_path / "b", preset(epochs=4))
    assert [(row.loss, row.dev) for row in rows] == [(row.loss, row.dev) for row in again]
    assert rows[-1].loss < rows[0].loss
    kept = [pair for pair in tiny_pairs(60) if held_out(pair.premise)]
    best = max(row.dev for row in rows)
    assert dev_score(classifier, kept, "fp32") == best
    assert load(str(tmp_path / "a")).predict(kept[:1])[0].label in LABELS
    for kind in WORD_READERS:
        reader, out = word_reader(kind), tmp_path / kind
        asked = [question for question in FEW_QUESTIONS if held_out(question.passage)]
        rows = list(train_words(reader, reader_preset(kind), FEW_QUESTIONS, out))
        best = max(row.dev for row in rows)
        assert dev_score(reader, asked, "fp32") == pytest.approx(best)
        assert dev_score(load_any(str(out)), asked, "fp32") == pytest.approx(best)


@each(
    "kind, scores, halved",
    [
        ("bidaf", [0.5, 0.4, 0.5], 1),  # the third epoch in a row without a gain halves the rate
        ("bidaf", [0.5, 0.4, 0.5, 0.3], 0.5),
        ("bidaf", [0.5, 0.4, 0.5, 0.3, 0.4, 0.4], 0.5),
        ("bidaf", [0.5, 0.4, 0.5, 0.3, 0.4, 0.4, 0.4], 0.25),
        ("bidaf", [0.5, 0.4, 0.6, 0.3, 0.4], 1),
        ("qanet", [0.5, 0.4, 0.5, 0.3], 1),
    ],
)
def test_the_rate_follows_the_preset(
    kind: str, scores: list[float], halved: float, tmp_path: Path
) -> None:
    assert rate(WORD_READERS[kind].presets["allennlp"], scores) == halved * 1e-3
    falls = preset(lr=1.0, epochs=4, fall=True)
    assert [rate(falls, scores, passed) for passed in range(4)] == [1.0, 0.75, 0.5, 0.25]
    rising = preset(lr=1.0, epochs=4, warmup=10)  # five steps an epoch
    rates = [rate(rising, scores, passed, 5) for passed in (0, 0.2, 1, 1.8, 3)]
    assert rates == pytest.approx([0.1, 0.2, 0.6, 1.0, 1.0])
    if len(scores) == 3:  # patience ends it, of a reader too
        still = preset(lr=1e-9, epochs=20, patience=3, halve_patience=0)
        rates = [row.lr for row in trained(tmp_path, still)]
        assert rates == pytest.approx([1e-9, 1e-9, 5e-10, 2.5e-10])
        still = reader_preset("bidaf", lr=1e-12, epochs=9, patience=2)
        rows = train_words(word_reader("bidaf"), still, FEW_QUESTIONS, tmp_path / "reader")
        assert len(list(rows)) == 3


def test_going_on_meets_no_epochs_chance_twice(tmp_path: Path) -> None:
    once = preset(lr=1e-9, epochs=1)  # weights stay, so that a loss tells the chance of its epoch
    (first,) = trained(tmp_path / "first", once, minutes=0.0)  # one epoch whatever the time
    kept, repeated = load(str(tmp_path / "first")), load(str(tmp_path / "first"))
    repeated.model.config.epochs_done = 0
    (same,) = trained(tmp_path / "same", once, repeated)
    (again,) = trained(tmp_path / "again", once, kept)
    assert (first.epoch, same.epoch, again.epoch) == (1, 1, 2)
    assert 5 * abs(first.loss - same.loss) < abs(first.loss - again.loss)  # fp16 moves it a little
    assert len(trained(tmp_path / "time", preset(), minutes=0.0)) == 1


@each("kind", WORD_READERS)
def test_four_questions_are_learnt_by_heart(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_models, "held_out", lambda passage: passage.endswith(" "))
    four = [question for question in FEW_QUESTIONS if question.id.endswith("-park")]
    questions = [*four, *(replace(each, passage=f"{each.passage} ") for each in four)]
    by_heart = reader_preset(kind, lr=2e-2, epochs=30, patience=30, halve_patience=None)
    rows = train_words(word_reader(kind), by_heart, questions, tmp_path)
    assert any(row.dev == 1.0 and row.loss < 1.0 for row in rows)
