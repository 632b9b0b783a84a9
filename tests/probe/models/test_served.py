import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from finetune.trials.inoculation import Cell, Plan, judge
from finetune.trials.trial import in_context
from probe.analysis.batch import score
from probe.analysis.importance import attribute, checked
from probe.analysis.summary import summarise
from probe.analysis.transformed import examine, require_usable
from probe.checkup.measuring import Asked as CheckupAsked
from probe.checkup.measuring import (
    Subject,
    estimate_seconds,
    left_out,
    new_plan,
    parts_of,
)
from probe.data.rows import guess
from probe.data.source import open_source
from probe.errors import (
    AttributionError,
    CheckupError,
    ExampleError,
    ModelError,
    SettingsError,
    Stopped,
    Unavailable,
    UserError,
)
from probe.models import served
from probe.models.asked import check_prompt
from probe.models.classifier import predict_each
from probe.models.library import load_any, open_model, require_on_disk, served_names, task_of_model
from probe.models.served import BoundedPrediction, Reply, Served
from probe.runs.models import load_any_unchanged, named_model_hash
from probe.settings import settings
from probe.stopping import hearing, stopping
from probe.tasks.nli import NLI, Pair
from probe.ui.measure.figures import figures

SECRET = "sk-very-secret"
PAIRS = [Pair("A man sleeps.", "He is awake."), Pair("It rains.", "The street is wet.")]
Answer = tuple[int, dict[str, str], Any]  # Any: JSON, or text that is none


@dataclass
class Asked:
    """A server of this machine, what it was asked, and how many questions it had at once."""

    address: str
    answer: Callable[[str, Any], Answer]
    bodies: list[tuple[str, Any]] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    at_once: int = 0
    most: int = 0


def probabilities(listed: dict[str, float]) -> Answer:
    top = [{"token": token, "logprob": value} for token, value in listed.items()]
    choice = {"message": {"content": "x"}, "logprobs": {"content": [{"top_logprobs": top}]}}
    return 200, {}, {"choices": [choice], "usage": {"prompt_tokens": 40, "completion_tokens": 1}}


def text(words: str) -> Answer:
    return 200, {}, {"choices": [{"message": {"content": words}}]}


def of_the_prompt(path: str, body: Any) -> Answer:
    """List what is said at the end of the prompt, and two labels by how long it is."""
    said = body["messages"][-1]["content"]
    if said.startswith("Write this word"):
        return probabilities({said.rpartition(" ")[2]: -0.1, "I": -4.0})
    return probabilities({" true": -len(said) / 100, "open": -1.5, "I": -4.0})


@pytest.fixture
def server(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                asked.bodies.append((self.path, body))
                asked.keys.add(str(self.headers.get("Authorization")))
                asked.at_once += 1
                asked.most = max(asked.most, asked.at_once)
            status, headers, content = asked.answer(self.path, body)
            with lock:
                asked.at_once -= 1
            written = (content if isinstance(content, str) else json.dumps(content)).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(written)))
            self.end_headers()
            self.wfile.write(written)

        def log_message(self, *words: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    asked = Asked(f"http://127.0.0.1:{http.server_port}/v1", of_the_prompt)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    monkeypatch.setattr(served, "PAUSES", (0.01, 0.01))
    named(monkeypatch, asked)
    yield asked
    http.shutdown()
    http.server_close()


def named(monkeypatch: pytest.MonkeyPatch, asked: Asked, **more: Any) -> None:
    one = {"address": asked.address, "model": "m", "key": "LM_KEY", "seconds": 5, **more}
    monkeypatch.setenv("NLI_CLINIC_SERVED", json.dumps({"lm": one}))
    monkeypatch.setenv("LM_KEY", SECRET)
    served._connection.cache_clear()


def opened(name: str = "lm?orders=one") -> Served:
    model = load_any(name)
    assert isinstance(model, Served)
    return model


def test_a_score_is_that_of_the_first_token_and_what_is_not_listed_has_the_least(
    server: Asked,
) -> None:
    model = opened("lm")
    told = {body["messages"][-1]["content"] for _, body in server.bodies}
    assert "Write this word and nothing else: false" in told  # by which its first token is known
    scores = model.scores(PAIRS)
    for pair, row in zip(PAIRS, scores, strict=True):
        # the prompt lists the words in six orders, all equally long
        length = len(model.shown(pair).removeprefix("user: ").removesuffix("\n\nassistant:"))
        assert row == pytest.approx([-length / 100, -1.5, -4.0])
    (answer, _) = model.predict(PAIRS)
    assert isinstance(answer, BoundedPrediction) and answer.at_most == ("contradiction",)
    assert answer.probabilities == pytest.approx(np.exp(scores[0]) / np.exp(scores[0]).sum())
    listed = [body["messages"][-1]["content"].partition("\n")[0] for _, body in server.bodies]
    assert len({line for line in listed if "one word" in line}) == 6
    note = "does not list “contradiction”, of which the probability is at most what stands here"
    assert any(note in each for each in examine(model, PAIRS[0]).notes)
    server.answer = lambda path, body: probabilities({"I": -0.1, "The": -2.0})
    (refused,) = predict_each(model, [Pair("New.", "Newer.")], "fp32")
    assert isinstance(refused, ExampleError) and "“I”, “The”, …" in str(refused)
    server.answer = lambda path, body: probabilities({"true": -1.0, "open": float("-inf")})
    (answer,) = model.predict([Pair("New.", "Newest.")])  # what has no chance is not listed
    assert isinstance(answer, BoundedPrediction) and answer.label == "entailment"
    server.answer = lambda path, body: probabilities({"true": -1.0, "open": float("nan")})
    for _ in range(2):  # it is not kept either
        before = len(server.bodies)
        (refused,) = predict_each(model, [Pair("A", "B")], "fp32")
        assert "'lm' lists a probability that is no number" in str(refused)
        assert len(server.bodies) > before
    assert opened("lm?prompt=question").way == "chat"


def test_how_a_server_can_be_asked_is_tried_before_it_is_used(server: Asked) -> None:
    words = {"true": 0.5, "open": 0.2, "false": 0.3}

    def drops(path: str, body: Any) -> Answer:
        if path.endswith("systemone"):
            return 404, {}, {"error": {"message": "no such thing"}}
        return text("**True**, since it says so.")

    def choice(path: str, body: Any) -> Answer:
        if not path.endswith("systemone"):
            return text("true")
        criteria = body["questions"]["label"]["criteria"]
        shares = {word: words[word] for word in criteria}
        return 200, {}, {"answers": {"label": {"probabilities": shares}}}

    def few(path: str, body: Any) -> Answer:
        if body.get("top_logprobs", 0) > 5:
            return 400, {}, {"error": {"message": "top_logprobs is at most 5"}}
        return of_the_prompt(path, body)

    def completions(path: str, body: Any) -> Answer:
        if path != "/v1/completions":
            return 404, {}, "not found"
        first = body["prompt"].partition("\n")[0].removeprefix("Answer: ")
        listed = {f" {word}": -at - 1.0 for at, word in enumerate(words)}
        listed = {f" {first}": -0.1} if first in words else listed
        return 200, {}, {"choices": [{"text": "", "logprobs": {"top_logprobs": [listed]}}]}

    shares = np.log([0.5, 0.2, 0.3])
    for answer, way, wanted in (
        (of_the_prompt, "chat", None),
        (few, "chat", None),
        (completions, "completions", [-1.0, -2.0, -3.0]),
        (choice, "choice", shares),
        (lambda path, body: text("true"), "text", None),  # at whatever address it is asked
        (drops, "text", None),
    ):
        server.answer = answer
        served._connection.cache_clear()
        (settings().home / served.KEPT).unlink(missing_ok=True)
        model = opened()
        assert model.way == way and model.top == (5 if answer is few else model.top), answer
        assert served.WAYS[model.way][1] in model.told
        if wanted is not None:
            assert model.scores(PAIRS[:1])[0] == pytest.approx(wanted), way
    (only,) = model.predict(PAIRS[:1])
    assert only.label == "entailment" and not only.probabilities and only.sure == "no confidence"
    assert "there is no confidence" in " ".join(model.notes)
    for named_, words_ in (("Not true.", "begins with no label"), ("Truest", "begins with no")):
        server.answer = lambda path, body, said=named_: text(said)  # type: ignore[misc]  # a lambda
        with pytest.raises(ExampleError, match=words_):
            replace(model).predict([Pair(named_, "B")])
    for method in ("auto", "occlusion"):
        with pytest.raises(AttributionError, match="tells no probabilities"):
            attribute(model, PAIRS[:1], ["neutral"], method)
    with pytest.raises(ModelError, match="none to calibrate"):
        server.answer = drops
        opened("lm?calibration=batch")


def test_a_file_is_scored_without_confidence_and_a_row_without_an_answer_has_its_reason(
    server: Asked, tmp_path: Path
) -> None:
    def says(path: str, body: Any) -> Answer:
        if path.endswith("systemone"):
            return 404, {}, ""
        # the second pair's words in another order
        return text("Hm" if "is street the wet" in body["messages"][-1]["content"] else "open")

    server.answer = says
    file = tmp_path / "pairs.csv"
    rows = [f"{pair.premise},{pair.hypothesis},neutral" for pair in PAIRS]
    file.write_text("\n".join(["premise,hypothesis,gold", *rows]))
    table, model = open_source(file), opened()
    (chunk,) = score(table, guess(table.names, NLI), model, ["sort"])
    first, second = chunk.rows
    assert first.prediction and not first.prediction.probabilities and not first.error
    assert (
        second.error == "of a changed text: lm?orders=one answers “Hm”, which begins with no label"
    )
    columns = guess(table.names, NLI)
    for method, why in (("saliency", "has no gradients"), ("occlusion", "tells no probabilities")):
        with pytest.raises(AttributionError, match=why):
            next(score(table, columns, model, importance=method))
    summary = summarise(chunk.rows, ["sort"], NLI)
    assert summary.scored == 1 and "does not tell how sure it is" in figures(summary, NLI, "x")
    for refused in (
        lambda: Subject(model, PAIRS, CheckupAsked()),
        lambda: estimate_seconds(new_plan("lm?orders=one", NLI, CheckupAsked()), PAIRS, model),
    ):
        with pytest.raises(CheckupError, match="tells no probabilities"):
            refused()


def test_a_server_that_may_answer_later_is_asked_again(server: Asked) -> None:
    model, before = opened(), len(server.bodies)
    later = iter([(429, {"Retry-After": "0"}, "slow down"), (500, {}, "oops")])
    server.answer = lambda path, body: next(later, of_the_prompt(path, body))
    assert model.predict(PAIRS[:1])[0].probabilities
    assert len(server.bodies) == before + 3
    for answer, words in (
        ((503, {}, f"busy {SECRET}"), "answers with 503 busy …; try again later"),
        ((429, {"Retry-After": "999"}, ""), "answers with 429; try again"),
        ((200, {}, "<html>hello"), "in another form than"),
        ((200, {}, {"choices": []}), "in another form than"),
        ((401, {}, f"no {SECRET}"), r"refuses the key in LM_KEY \(401\)"),
    ):
        server.answer = lambda path, body, it=answer: it  # type: ignore[misc]  # a lambda
        with pytest.raises(ModelError, match=words) as refused:
            model.predict([Pair(words, "B")])
        assert SECRET not in str(refused.value)
    server.answer = lambda path, body: (400, {}, {"error": {"message": f"too long {SECRET}"}})
    with pytest.raises(ExampleError, match=r"400 too long …$"):  # of one row alone
        model.predict([Pair("A", "B")])


def test_a_slow_server_and_one_that_is_not_there(
    server: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    named(monkeypatch, server, seconds=0.2)
    model = opened()
    server.answer = lambda path, body: time.sleep(0.6) or text("")  # type: ignore[func-returns-value]  # None
    with pytest.raises(ModelError, match=r"does not answer within 0\.2 seconds"):
        model.predict(PAIRS)
    named(monkeypatch, replace(server, address="http://127.0.0.1:9/v1"))
    with pytest.raises(ModelError, match="cannot be reached"):
        opened("lm?prompt=question")


def test_what_is_asked_at_once_is_bounded_kept_counted_told_and_stopped(
    server: Asked, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    named(monkeypatch, server, at_once=3, prices=[2.0, 10.0])
    model, told = opened(), list[int]()
    many = [Pair(f"There are {n} dogs.", "It rains.") for n in range(12)]
    started = len(server.bodies)
    server.answer = lambda path, body: time.sleep(0.05) or of_the_prompt(path, body)  # type: ignore[func-returns-value]  # None
    with hearing(told.append):
        first = model.predict(many)
    assert server.most == 3 and sum(told) == 12
    count = started + 12
    assert len(server.bodies) == count
    cost = (count * 40 * 2.0 + count * 10.0) / 1e6
    assert f"{count} questions: {count * 40} tokens read" in model.connection.counted
    assert f"{cost:.2g} by the prices" in model.connection.counted
    named(monkeypatch, server, at_once=3)  # another start of the app
    assert opened().predict(many) == first and len(server.bodies) == count
    kept = (settings().home / served.KEPT).read_bytes()
    assert b"dogs" not in kept
    with stopping(lambda: "stopped"), pytest.raises(Stopped):
        model.predict([Pair("Other.", "Others.")])
    assert server.keys == {f"Bearer {SECRET}"}
    for shown in (caplog.text, model.told, model.connection.counted, repr(model), str(settings())):
        assert SECRET not in shown
    assert SECRET.encode() not in kept


def test_what_cannot_be_asked_at_an_address_is_refused(
    server: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, words in {
        "lm?prompt=cloze": "text behind the label",
        "lm?task=reading": "reads no passages",
        "lm?shots=many": "no whole number",
    }.items():
        with pytest.raises(ModelError, match=words):
            load_any(name)
    assert load_any("lm", NLI.labels).labels == NLI.labels
    with pytest.raises(ModelError, match="'maybe' and 'most' may begin with the same token"):
        load_any("lm", template="{premise} {hypothesis} {yes|maybe|most}")
    with pytest.raises(ModelError, match="are the words of its prompt"):
        load_any("lm", NLI.labels[::-1])
    monkeypatch.delenv("LM_KEY")
    with pytest.raises(ModelError, match="the variable LM_KEY, which holds the key"):
        load_any("lm?prompt=question")


def test_a_served_model_is_chosen_like_others(server: Asked) -> None:
    assert [*served_names()] == ["lm", "lm?task=paraphrase", "lm?task=sentiment"]
    require_on_disk("lm?prompt=question&shots=3")
    assert task_of_model("lm?task=sentiment").name == "sentiment"
    loaded = open_model("lm?orders=one")
    assert loaded.label_check and loaded.label_check.n == check_prompt(opened()).n == 24
    assert "24 bundled pairs are right; lm was asked" in loaded.summary
    found = named_model_hash("lm")
    assert isinstance(load_any_unchanged("lm", found), Served)
    with pytest.raises(ModelError, match="is not the app's"):
        load_any_unchanged("lm?shots=2", found)


def test_no_gradients_are_asked_for_and_leaving_words_out_where_a_person_says_so(
    server: Asked,
) -> None:
    model = opened()
    with pytest.raises(Unavailable, match="has no gradients"):
        require_usable("drop", model)
    assert "drop" not in parts_of(NLI, "lm") and "drop" in left_out(NLI, "lm")
    assert "sort" in parts_of(NLI, "lm") and "drop" in parts_of(NLI, "minilm")
    for method in ("auto", "gradient_x_input"):
        with pytest.raises(AttributionError, match=r"\(method occlusion\) asks it 9 questions"):
            attribute(model, PAIRS[:1], ["neutral"], method)  # 4 tokens in each text, and the whole
    before = len(server.bodies)
    (found,) = attribute(model, PAIRS[:1], ["neutral"], "occlusion")
    assert len(server.bodies) == before + 9 and not checked(model).sentences
    whole, without = model.predict([PAIRS[0], Pair("A man sleeps.", "He is.")])
    (scored,) = (each for each in found.fields["hypothesis"] if each.token == "awake")
    change = np.log(whole.by_label["neutral"] / without.by_label["neutral"])
    assert scored.score == pytest.approx(change)
    assert any("rest on bounds" in remark for remark in found.remarks)


def test_examples_in_a_prompt_are_the_dose(server: Asked, sets: Any) -> None:
    plan = Plan("lm", "negation", (2,), (0.0,), (0,), mode="context", precision="fp32")
    before = len(server.bodies)
    point = in_context(plan, sets, Cell(2, 0.0, 0), opened())
    assert point.dose == 2
    turns = [len(body["messages"]) for _, body in server.bodies[before + 10 :]]
    assert set(turns) == {5}  # two examples with their answers, and the question
    assert not point.unanswered
    first = sets.original_test[0]
    server.answer = lambda path, body: (
        probabilities({"I": -0.1})
        if first.premise in body["messages"][-1]["content"]
        else of_the_prompt(path, body)
    )
    point = in_context(plan, sets, Cell(0, 0.0, 0), opened())
    tested = [*sets.original_test, *sets.challenge_test, *sets.original_dev]
    lost = sum(first.premise in each.premise for each in tested)
    assert point.unanswered == lost > 0 and point.original_right[0] == 0
    (told,) = [each for each in judge(plan, point, [point]).warnings if "no answer" in each]
    assert f"count as wrong: with no examples in the prompt {lost}" in told
    worse = judge(plan, replace(point, dev=1.0), [replace(point, dev=0.0)]).warnings
    assert not any("learning rate" in each for each in worse)


def test_kept_answers_make_room_for_the_next_ones(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_ANSWERS_MB", "1")
    for key, length in {"first": 2_000_000, "second": 1, "third": 1}.items():
        served._keep(key, Reply("x" * length))
    assert [*served._kept(["first", "second", "third"])] == ["second", "third"]


def test_settings_that_cannot_be_used_are_refused_without_what_they_hold(
    server: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = {"address": server.address, "model": "m"}
    for one, words in (
        ({**usual, "key": SECRET}, "NLI_CLINIC_SERVED, lm, key: "),
        ({**usual, "address": f"http://me:{SECRET}@host/v1"}, "NLI_CLINIC_SERVED, lm, address: "),
        ({"address": server.address}, "lm, model: Field required"),
    ):
        monkeypatch.setenv("NLI_CLINIC_SERVED", json.dumps({"lm": one}))
        with pytest.raises(SettingsError, match=words) as refused:
            settings()
        assert SECRET not in str(refused.value)
    for wrong, words in (("lm", "is no JSON"), (json.dumps({"minilm": usual}), "bundled one")):
        monkeypatch.setenv("NLI_CLINIC_SERVED", wrong)
        with pytest.raises(UserError, match=words):
            settings()
