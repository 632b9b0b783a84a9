from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from probe.analysis.importance import METHODS, attribute, check
from probe.errors import ExampleError, ModelError
from probe.models.asked import PromptCheck, check_prompt
from probe.models.library import load, load_any, open_model
from probe.models.prediction import softmax
from probe.models.prompted import Prompted, stepwise
from probe.models.prompted_reader import PromptedReader, as_span
from probe.models.prompts import CONTENT_FREE, Asking, prompts, read_prompt, split_name
from probe.models.reader import span_place
from probe.runs.models import named_model_hash
from probe.tasks.nli import NLI, Pair
from probe.tasks.reading import READING, Question
from probe.tasks.task import TASKS
from tests.support.models.tiny_models import tiny_prompted

PAIRS = [
    Pair("A man walks his dog.", "He moves."),
    Pair("The café was full.", "No one sat there, and the old hall was empty."),
]
TASKS_ASKED = [task for task in TASKS.values() if prompts(task) and task.labels]
QUESTIONS = [
    Question("Who walks?", "A man walks his dog.", "A man"),
    Question("Who sat there?", "The café was full, and the old hall was empty.", "(no answer)"),
]


def asked(model: Prompted, prompt: str, **asking: Any) -> Prompted:
    return replace(model, prompt=prompts(model.task)[prompt], asking=Asking(**asking))


def by_hand(model: Prompted, text: str, behind: str) -> float:
    """Sum log-probabilities token by token, each from a pass of its own over all before it."""
    whole = model.tokenizer(text + behind, add_special_tokens=False)["input_ids"]
    total = 0.0
    for at in range(len(model.tokenizer(text, add_special_tokens=False)["input_ids"]), len(whole)):
        with torch.no_grad():
            logits = model.model(torch.tensor([[0, *whole[:at]]])).logits[0, -1]
        total += float(logits.log_softmax(-1)[whole[at]])
    return total


def test_a_score_is_the_log_probability_of_the_labels_words_and_what_follows_them() -> None:
    (premise, hypothesis), cloze = ("A man walks his dog.", "He moves."), prompts(NLI)["cloze"]
    own = read_prompt("{premise} So: {hypothesis} Is it? {yes|not clear|no way at all}", NLI)
    for kind, prompt in product(("llama", "gpt2"), (cloze, own)):
        model = replace(tiny_prompted(kind), prompt=prompt)
        model.tokenizer.chat_template = None
        if prompt is own:
            texts = [(f"{premise} So: {hypothesis} Is it?", f" {word}") for word in own.words]
        else:
            texts = [(f"{premise}, right?", f" {word}, {hypothesis}") for word in cloze.words]
        wanted = [by_hand(model, *text) for text in texts]
        for each in (model, replace(model, stepwise=True)):
            found = each.scores([Pair(premise, hypothesis)])[0]
            # what the labels share behind the prompt counts for each alike
            assert found - found[0] == pytest.approx(np.array(wanted) - wanted[0], abs=1e-4), kind


def test_what_is_read_once_gives_the_scores_of_what_is_read_for_each_label() -> None:
    for task, chat, shots in product(TASKS_ASKED, (False, True), (0, 3)):
        for name in prompts(task):
            model = asked(replace(tiny_prompted(chat=chat), task=task), name, shots=shots)
            examples = (
                [task.example(*text) for text in (["A man."] * 2, ["It was", "No."])]
                if len(task.fields) == 2
                else [task.example("A man."), task.example("It was")]
            )
            whole = model.scores(examples)
            assert np.abs(replace(model, stepwise=True).scores(examples) - whole).max() < 1e-4
            alone = np.concatenate([model.scores([each]) for each in examples])
            assert alone == pytest.approx(whole, abs=1e-4), (task.name, name, "padding")
    assert stepwise(tiny_prompted()).stepwise and not tiny_prompted().predict([])


def test_scores_are_the_mean_over_all_orders_of_listed_labels() -> None:
    model = tiny_prompted()
    prompt = model.prompt
    assert len(prompt.orders) == 6
    each = []
    for order in prompt.orders:
        listed = f"{order[0]}, {order[1]} or {order[2]}"
        fixed = read_prompt(prompt.text.replace("{labels}", listed), NLI)
        each.append(replace(model, prompt=fixed).scores(PAIRS))
    assert model.scores(PAIRS) == pytest.approx(np.mean(each, axis=0), abs=1e-4)
    assert asked(model, "choose", orders="one").scores(PAIRS) == pytest.approx(each[0], abs=1e-4)
    assert np.abs(each[0] - each[1]).max() > 1e-3


def test_calibration_divides_by_the_answer_where_nothing_is_asked() -> None:
    model = asked(tiny_prompted(), "cloze")
    for how in ("content_free", "batch"):
        calibrated = asked(tiny_prompted(), "cloze", calibration=how)
        texts = (
            [Pair(text, text) for text in CONTENT_FREE]
            if how == "content_free"
            else (calibrated.neutral_examples)
        )
        usual = softmax(model.scores(texts)).mean(axis=0)
        raw = softmax(model.scores(PAIRS)) / usual
        wanted = raw / raw.sum(axis=1, keepdims=True)
        found = [each.probabilities for each in calibrated.predict(PAIRS)]
        assert np.array(found) == pytest.approx(wanted, abs=1e-5), how


def test_a_chat_has_a_turn_for_each_example_and_the_label_begins_the_answer() -> None:
    model = asked(tiny_prompted(chat=True), "question", shots=2, seed=1)
    shown = model.shown(PAIRS[0])
    assert shown.count("<s>user: ") == 3 and shown.count("<s>assistant: ") == 3
    assert shown.endswith("Is it true that: He moves.\nAnswer:</s><s>assistant: ")
    asked_itself = model.shots[0][0]
    assert asked_itself.premise in shown
    assert model.shown(asked_itself).count(asked_itself.premise) == 1  # another stands there
    assert "user" not in asked(model, "cloze").shown(PAIRS[0])  # never in a chat


def test_examples_in_context_are_of_all_labels_alike_and_the_same_for_a_seed() -> None:
    first, again, other = (
        asked(tiny_prompted(), "cloze", shots=6, seed=seed).shots for seed in (0, 0, 1)
    )
    assert first == again != other
    assert sorted(shot.gold for shot, _ in first) == sorted(NLI.labels * 2)


def test_importance_is_of_the_texts_words_whatever_the_prompt_and_adds_up() -> None:
    for chat, prompt in ((False, "cloze"), (True, "choose")):
        model = asked(tiny_prompted(chat=chat), prompt)
        for method in METHODS:
            (found,) = attribute(model, PAIRS[:1], ["neutral"], method, most_steps=640)
            words = [token for side in found.fields.values() for token in side]
            spelt = "".join(PAIRS[0].premise[t.start : t.end] for t in found.fields["premise"])
            assert spelt.replace(" ", "") == PAIRS[0].premise.replace(" ", "")
            assert any(token.score for token in words), (prompt, method)
            if "gradient_x" in method or "saliency" in method:
                assert "prompt's own words have" in " ".join(found.remarks)
            if "integrated" in method:
                assert not found.remarks, prompt  # which would say that the sum misses
        tried = check(model)
        assert tried.gradient < 0.05 and tried.occlusion < 0.01, prompt


def test_a_name_says_how_a_model_is_asked_and_what_it_says_wrongly_is_refused() -> None:
    assert split_name("a/b@c") == ("a/b@c", Asking())
    name = "a/b?prompt=cloze&shots=4&seed=2&calibration=batch"
    address, asking = split_name(name)
    assert f"{address}{asking.suffix}" == name
    for wrong, words in {
        "a?shots=many": "no whole number",
        "a?shots=65": "more than 64 examples",
        "a?calibration=some": "not one of none, content_free, batch",
        "a?temperature=1": "there is: task, prompt",
        "a?prompt=cloze&prompt=choose": "names 'prompt' twice",
    }.items():
        with pytest.raises(ModelError, match=words):
            split_name(wrong)


def test_a_prompt_that_cannot_be_asked_is_refused_with_what_it_lacks() -> None:
    for text, words in {
        "{premise} {hypothesis}": "of the labels no times",
        "{premise} {hypothesis} {yes|no}": "has 2 words for 3 labels",
        "{premise} {hypothesis} {no|not|yes}": "one begins with another",
        "{premise} {yes|maybe|no}": "lacks {hypothesis};",
        "{premise} {hypothesis} {premise} {text} {a|b|c}": "names {premise} and {text} too often;",
        "{yes|maybe|no} {premise} {hypothesis}": "begins with the label",
        "{premise} {a|b|c} {hypothesis} {a|b|c}": "2 times",
    }.items():
        with pytest.raises(ModelError, match=words):
            read_prompt(text, NLI)


def test_a_prompt_of_reading_ends_where_the_answer_begins() -> None:
    for text, words in {
        "{passage} {question} {yes|no}": "does not end with {answer}",
        "{passage} {answer}": "lacks {question}; a prompt .* and {answer} at its end",
    }.items():
        with pytest.raises(ModelError, match=words):
            read_prompt(text, READING)
    own = "{passage} Q: {question} A: {answer}"
    assert read_prompt(own, READING).text == own


def test_a_language_model_opens_like_any_other_and_says_how_well_its_prompt_does(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "model"
    tiny_prompted().model.save_pretrained(folder)
    tiny_prompted().tokenizer.save_pretrained(folder)
    loaded = open_model(f"{folder}?shots=2")
    model = loaded.model
    assert isinstance(model, Prompted) and model.prompt.name == "cloze"  # it does not chat
    assert "{Yes|Maybe|No}" in model.told and "2 examples before it, seed 0" in model.told
    assert loaded.label_check and loaded.label_check.n == 24
    assert "it is not clear that it reads them at all" in " ".join(loaded.warnings)
    (tmp_path / "own.txt").write_text("{text} It was {fine|poor}.")
    name = f"{folder}?task=sentiment&prompt={tmp_path / 'own.txt'}"
    labels, hashes = TASKS["sentiment"].labels, set(map(named_model_hash, (name, str(folder))))
    own = load_any(name, labels)  # as a run says them that names the task
    with pytest.raises(ModelError, match="are the words of its prompt, in their order"):
        load_any(name, labels[::-1])
    (tmp_path / "own.txt").write_text("{text} {good|bad}")  # what was scored before is not gone on
    assert len(hashes | {named_model_hash(name)}) == 3
    assert isinstance(own, Prompted) and own.prompt.words == ("fine", "poor")
    with pytest.raises(ModelError, match="there is no prompt"):
        load_any(f"{folder}?task=sentiment&prompt={tmp_path / 'own.txt'}", relative=False)
    reader = open_model(f"{folder}?task=reading")
    assert isinstance(reader.model, PromptedReader) and reader.model.prompt.name == "extract"
    assert "its words are right on 0 of 24 bundled questions" in " ".join(reader.warnings)
    with pytest.raises(ModelError, match="which no calibration is for"):
        load_any(f"{folder}?task=reading&calibration=batch")
    with pytest.raises(ModelError, match="asked in words; it is not trained"):
        load(str(folder))
    with pytest.raises(ModelError, match="is no language model"):
        load_any("minilm?prompt=cloze")


def test_what_a_text_must_not_hold_and_what_is_too_long() -> None:
    model = asked(tiny_prompted(), "cloze")
    with pytest.raises(ExampleError, match="a mark of its own"):
        model.predict([Pair("It ended</s>", "It began.")])
    long = Pair("a dog walks " * 300, "He moves.")
    assert model.too_long(long) and not model.too_long(PAIRS[0])
    assert model.predict([long])[0].probabilities != model.predict([PAIRS[0]])[0].probabilities
    with pytest.raises(ModelError, match="with its 24 examples leaves no room for a text"):
        asked(model, "cloze", shots=24).predict(PAIRS)


def test_a_question_is_answered_by_the_likeliest_words_to_the_end_of_the_line() -> None:
    tiny = tiny_prompted()
    model = PromptedReader(
        "tiny", tiny.model, tiny.tokenizer, READING, prompts(READING)["plain"], Asking(shots=1)
    )
    answers = model.predict(QUESTIONS)
    for question, found in zip(QUESTIONS, answers, strict=True):
        asked_words = model.shown(question)
        assert asked_words.endswith(f"{question.passage}\nQ: {question.question}\nA:")
        ids, score = model.tokenizer(asked_words, add_special_tokens=False)["input_ids"], 0.0
        new = list[int]()
        while len(new) < 30:
            with torch.no_grad():
                logits = model.model(torch.tensor([[*ids, *new]])).logits[0, -1].log_softmax(-1)
            new.append(int(logits.argmax()))
            score += float(logits.max())
            text = model.tokenizer.decode(new, skip_special_tokens=True).lstrip()
            if "\n" in text or new[-1] == model.tokenizer.eos_token_id:
                break
        assert found.label == as_span(text.partition("\n")[0].strip(), 1, question.passage).label
        assert found.confidence == pytest.approx(np.exp(score), rel=1e-3)
    alone = [model.predict([each])[0].label for each in QUESTIONS]
    assert alone == [each.label for each in answers]  # whatever is padded


def test_an_answer_is_a_span_where_its_words_stand_in_the_passage() -> None:
    passage = "A man walks his dog."
    assert span_place(as_span("a man.", 0.5, passage)) == {"start": 0, "end": 5}
    assert as_span("MAN WALKS", 0.5, passage).label == "man walks"
    assert as_span("No answer.", 0.5, passage).label == ""
    nowhere = as_span("a woman", 0.5, passage)
    assert nowhere.label == "a woman" and span_place(nowhere) == {}


def test_the_check_names_labels_that_are_never_given() -> None:
    found = check_prompt(asked(tiny_prompted(), "cloze"))
    assert 0 <= found.correct <= found.n == 24
    if found.never:
        assert f"it answers {found.never[0]}" in found.doubt
    assert "10 of 24 get no answer" in PromptCheck(12, 24, (), NLI, 10).doubt
    assert PromptCheck(0, 24, NLI.labels, NLI, 24).doubt.endswith("none of 24 bundled pairs")
