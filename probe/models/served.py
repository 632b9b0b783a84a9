"""A language model that is asked at an address, by the interface of OpenAI.

A label's score is the logarithm of the probability of its word's first token, which the server
lists among the most probable ones; a word that it does not list has at most that of the last.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from itertools import combinations, islice, permutations
from math import isfinite, log
from threading import Event, Lock
from typing import Any, Literal

import httpx
import numpy as np
from numpy.typing import NDArray

from probe.errors import ExampleError, ModelError, StoreError
from probe.models.asked import Asked, messages
from probe.models.classifier import Precision
from probe.models.prediction import Prediction, as_predictions
from probe.models.prompts import BETWEEN, Asking, Prompt, chosen_prompt, chosen_task
from probe.settings import Server, kept_private, make_home, settings
from probe.stopping import check_stop, tell_answered
from probe.tasks.task import Example, Label, Task

Way = Literal["chat", "completions", "choice", "text"]
WAYS: Mapping[Way, tuple[str, str]] = {
    "chat": ("chat/completions", "by the probability of the first token of its answer"),
    "completions": ("completions", "by the probability of the next token"),
    "choice": (
        "systemone",
        "by the probability that its server gives each of the words, which the server lists itself",
    ),
    "text": (
        "chat/completions",
        "by what it writes: its server tells no probabilities, so that there is no confidence",
    ),
}
"""How an answer is got: the end of the address, and what is said of it."""
FEW = 5
"""Probabilities that a server lists which refuses to list as many as the settings say."""
LONGEST_ANSWER = 16
"""Tokens that are written where the text of an answer is read."""
LEAST = 1e-12
"""The least probability of a choice, of which the logarithm is taken."""
TICK = 0.2
"""Seconds between two looks whether to stop."""
PAUSES = (1.0, 2.0, 4.0, 8.0)
"""Seconds before each further try."""
LONGEST_PAUSE = 120.0
"""The longest that a server may ask for."""
AGAIN = (408, 409, 425, 429, 500, 502, 503, 504, 529)
"""What a server says that may answer later."""
REFUSED = (400, 404, 405, 413, 415, 422, 501)
"""What it says of a question that it does not take."""
KEPT = "served.sqlite"
"""The file of the home that keeps answers."""
TABLE = "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, reply TEXT)"
OLDEST = """DELETE FROM answers WHERE rowid IN (
  SELECT rowid FROM answers ORDER BY rowid LIMIT 1 + (SELECT count(*) FROM answers) / 10
)"""
"""Forgets a tenth of the answers, so that this is seldom done; their room is used again."""
SHOWN = 200
"""Characters of a server's words that are shown."""


@dataclass(frozen=True)
class Question:
    """What is asked: the way, and what stands in the body besides the model."""

    way: Way
    body: Mapping[str, Any]  # Any: JSON


@dataclass(frozen=True)
class Reply:
    """What a server answers: its text, log-probabilities, and the tokens read and written."""

    text: str = ""
    listed: Mapping[str, float] = field(default_factory=dict)
    read: int = 0
    written: int = 0
    seconds: float = 0.0

    @property
    def finite(self) -> bool:
        """Whether all that is listed are numbers."""
        return all(map(isfinite, self.listed.values()))


@dataclass(frozen=True)
class Refusal:
    """Why a server does not take one question."""

    words: str


@dataclass
class Count:
    """What a server was asked since the app was started."""

    asked: int = 0
    kept: int = 0
    read: int = 0
    written: int = 0


class Connection:
    """Asks a server, a bounded number of questions at a time, and keeps what it answers."""

    def __init__(self, name: str, server: Server) -> None:
        self.name, self.server, self.count = name, server, Count()
        self._lock = Lock()

    @cached_property
    def _client(self) -> httpx.Client:
        return httpx.Client(timeout=self.server.seconds)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.server.at_once, "asking")

    @property
    def counted(self) -> str:
        """What was asked, in words, with the cost where the settings tell prices."""
        count, prices = self.count, self.server.prices
        cost = ""
        if prices:
            price = (count.read * prices[0] + count.written * prices[1]) / 1e6
            cost = f", {price:.2g} by the prices of the settings"
        kept = f" and took {count.kept:,} from what is kept" if count.kept else ""
        return (
            f"{self.name} was asked {count.asked:,} question"
            f"{'' if count.asked == 1 else 's'}{kept}: {count.read:,} tokens read, "
            f"{count.written:,} written{cost}"
        )

    def ask(self, questions: Sequence[Question], each: int = 0) -> list[Reply | Refusal]:
        """Answer questions; what is kept is not asked again.

        Where `each` of them belong to one text, it is told how many of these are answered.

        Raises ModelError where the server cannot be asked, and Stopped.
        """
        keys = [self._key(question) for question in questions]
        new = dict(zip(keys, questions, strict=True))
        found: dict[str, Reply | Refusal] = {**_kept(list(new))}
        waiting = iter([(key, question) for key, question in new.items() if key not in found])
        left, flying = Event(), dict[Future[Reply | Refusal], str]()
        with self._lock:
            self.count.kept += len(found)
        told = 0
        try:
            while True:
                if each:
                    tell_answered(len(found) // each - told)
                    told = len(found) // each
                check_stop()
                for key, question in islice(waiting, self.server.at_once - len(flying)):
                    flying[self._pool.submit(self._send, key, question, left)] = key
                if not flying:
                    return [found[key] for key in keys]
                for done in wait(flying, TICK, FIRST_COMPLETED).done:
                    found[flying.pop(done)] = done.result()
        finally:
            left.set()
            for future in flying:
                future.cancel()

    def _body(self, question: Question) -> dict[str, Any]:  # Any: JSON
        body = {"model": self.server.model, **question.body, **self.server.extra}
        return {name: value for name, value in body.items() if value is not None}

    def _key(self, question: Question) -> str:
        asked = [self.server.address, question.way, self._body(question)]
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()

    def _send(self, key: str, question: Question, left: Event) -> Reply | Refusal:
        """Ask one question, again where the server may answer later, and keep the answer."""
        address = f"{self.server.address.rstrip('/')}/{WAYS[question.way][0]}"
        body, said, pauses = self._body(question), "", [*PAUSES]
        while not left.is_set():
            pause = pauses.pop(0) if pauses else None
            try:
                response = self._client.post(address, json=body, headers=self._headers())
            except httpx.TimeoutException:
                said = f"does not answer within {self.server.seconds:g} seconds"
            except httpx.ConnectError:
                raise ModelError(f"the server of {self.name!r} cannot be reached") from None
            except httpx.HTTPError:
                said = "breaks off its answer"
            else:
                if response.is_success:
                    taken = response.elapsed.total_seconds()
                    reply = replace(self._reply(question.way, response), seconds=taken)
                    with self._lock:
                        self.count.asked += 1
                        self.count.read += reply.read
                        self.count.written += reply.written
                    if reply.finite and (reply.listed or question.way == "text"):
                        _keep(key, reply)
                    return reply
                if response.status_code not in AGAIN:
                    return self._refusal(response)
                said = f"answers with {self._words(response)}"
                asked = response.headers.get("Retry-After", "")
                if pause is not None and asked.isdecimal():
                    pause = float(asked)
            if pause is None or pause > LONGEST_PAUSE:
                raise ModelError(f"the server of {self.name!r} {said}; try again later")
            left.wait(pause)
        return Refusal("nobody waits for the answer any more")

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._secret}"} if self.server.key else {}

    @property
    def _secret(self) -> str:
        key = os.environ.get(self.server.key, "").strip()
        if self.server.key and not (key.isascii() and key.isprintable() and key):
            raise ModelError(
                f"the variable {self.server.key}, which holds the key of {self.name!r}, is not set "
                "or holds none"
            )
        return key

    def _refusal(self, response: httpx.Response) -> Refusal:
        """Return why a question is not taken. Raises ModelError where none is."""
        if response.status_code in REFUSED:
            return Refusal(f"the server of {self.name!r} answers with {self._words(response)}")
        if response.status_code in (401, 403):  # some quote the key, masked
            key = f"the key in {self.server.key}" if self.server.key else "questions without a key"
            raise ModelError(f"the server of {self.name!r} refuses {key} ({response.status_code})")
        raise ModelError(f"the server of {self.name!r} answers with {self._words(response)}")

    def _words(self, response: httpx.Response) -> str:
        """Return a server's refusal in its own words, without the key that some of them quote."""
        words = response.text
        with suppress(ValueError, KeyError, TypeError):
            words = str(response.json()["error"]["message"])
        if secret := self._secret:
            words = words.replace(secret, "…")
        words = " ".join(words.split())
        return f"{response.status_code} {words[:SHOWN]}".strip()

    def _reply(self, way: Way, response: httpx.Response) -> Reply:
        try:
            return _read_reply(way, response.json())
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            raise ModelError(
                f"the server of {self.name!r} answers in another form than that of OpenAI's "
                "interface"
            ) from None


def _read_reply(way: Way, values: Any) -> Reply:  # Any: JSON
    """Read an answer; what is of another form raises whatever it does."""
    usage = values.get("usage") or {}
    read = int(usage.get("prompt_tokens", usage.get("input_tokens")) or 0)
    written = int(usage.get("completion_tokens", usage.get("output_tokens")) or 0)
    if way == "choice":
        shares = values["answers"]["label"]["probabilities"]
        listed = {word: log(max(share, LEAST)) for word, share in shares.items()}
        return Reply("", listed, read, written)
    choice = values["choices"][0]
    text = choice["text"] if way == "completions" else choice["message"]["content"]
    told, pairs = choice.get("logprobs") or {}, []
    if told.get("content"):
        pairs = [(each["token"], each["logprob"]) for each in told["content"][0]["top_logprobs"]]
    elif told.get("top_logprobs"):  # the form that completions had first
        pairs = [*told["top_logprobs"][0].items()]
    listed = {}
    for token, share in pairs:  # one token with a blank before it, and one without
        if share in (None, -np.inf):
            continue
        listed[token.strip()] = max(float(share), listed.get(token.strip(), -np.inf))
    return Reply(str(text or ""), listed, read, written)


@cache
def _connection(name: str, server: str) -> Connection:
    """Return the connection of a served model, one for all who ask it; `server` is JSON."""
    return Connection(name, Server.model_validate_json(server))


@contextmanager
def _answers() -> Iterator[sqlite3.Connection]:
    """Open the file of kept answers. Raises StoreError."""
    path = make_home() / KEPT
    try:
        file = sqlite3.connect(path, timeout=30)
        try:
            with file:
                file.execute(TABLE)
                yield file
        finally:
            file.close()
    except sqlite3.Error as problem:
        raise StoreError(
            f"the kept answers of served models cannot be used: {problem}"
        ) from problem
    kept_private(path)


def _kept(keys: Sequence[str]) -> dict[str, Reply]:
    """Return the answers that are kept, by their keys."""
    with _answers() as file:
        rows = [
            file.execute("SELECT reply FROM answers WHERE key = ?", (key,)).fetchone()
            for key in keys
        ]
    pairs = zip(keys, rows, strict=True)
    return {key: Reply(**json.loads(row[0])) for key, row in pairs if row}


def _keep(key: str, reply: Reply) -> None:
    """Keep an answer, without the question; the oldest ones make room for it."""
    bound = settings().answers_mb * 1_000_000
    with _answers() as file:
        pages, unused, size = (
            file.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
        if (pages - unused) * size > bound:
            file.execute(OLDEST)
        file.execute(
            "INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, json.dumps(asdict(reply)))
        )


@dataclass(frozen=True)
class BoundedPrediction(Prediction):
    """An answer in which the probability of the labels `at_most` is at most what stands there."""

    at_most: tuple[Label, ...] = ()


def bounds_json(prediction: Prediction) -> dict[str, Any]:  # Any: JSON
    """Return the labels whose probability is a bound, nothing where none is."""
    return (
        {"at_most": list(prediction.at_most)} if isinstance(prediction, BoundedPrediction) else {}
    )


def bounds_words(prediction: Prediction) -> str:
    """Say which labels' probability is a bound, "" where none is."""
    if not isinstance(prediction, BoundedPrediction):
        return ""
    named = " and ".join(f"“{label}”" for label in prediction.at_most)
    return f"the server does not list {named}, of which the probability is at most what stands here"


@dataclass(frozen=True, eq=False)
class Served(Asked):
    """A language model at an address; `tokens` are those by which its labels are known.

    `top` is how many probabilities its server lists.
    """

    name: str
    connection: Connection
    task: Task
    prompt: Prompt
    asking: Asking = field(default_factory=Asking)
    way: Way = "chat"
    top: int = FEW
    tokens: tuple[str, ...] = ()
    given: Sequence[Example] = ()
    notes: tuple[str, ...] = ()
    revision: str | None = None

    @property
    def chats(self) -> bool:
        """Whether what is asked is a turn of a chat."""
        return self.way in ("chat", "text")

    @property
    def confident(self) -> bool:
        """Whether it tells probabilities."""
        return self.way != "text"

    @property
    def how(self) -> Sequence[str]:
        """The way it is asked in."""
        return [WAYS[self.way][1]]

    @cached_property
    def orders(self) -> tuple[tuple[str, ...], ...]:
        """The orders in which the labels are listed; one where there is nothing to average."""
        if self.way == "choice" and self.asking.orders == "all":
            return tuple(permutations(self.prompt.words))
        return super().orders[: 1 if self.way == "text" else None]

    def too_long(self, example: Example) -> bool:
        """Nothing is known of what was cut: a server refuses what is too long."""
        return False

    def _question(self, example: Example, order: Sequence[str]) -> Question:
        block, at = self.prompt.filled(self.task.texts(example), self.prompt.words[0], order)
        turns, answers = self.turns(order, self.shots_for(example), block.text[:at].rstrip())
        return self._said(turns, answers, order)

    def _said(self, turns: Sequence[str], answers: Sequence[str], order: Sequence[str]) -> Question:
        written = {"max_tokens": 1, "temperature": 1.0}
        if self.way == "completions":
            text = BETWEEN.join(turns)
            return Question(self.way, {"prompt": text, "logprobs": self.top, **written})
        if self.way == "choice":
            criteria = dict.fromkeys(order)
            asked = {"label": {"type": "choice", "criteria": criteria}}
            return Question(self.way, {"state": BETWEEN.join(turns), "questions": asked})
        said = {"messages": messages(turns, answers)}
        if self.way == "text":
            return Question(self.way, {**said, "max_tokens": LONGEST_ANSWER, "temperature": 0.0})
        return Question(self.way, {**said, "logprobs": True, "top_logprobs": self.top, **written})

    def shown(self, example: Example) -> str:
        """Return all that the model reads of an example, to the label, as text."""
        body = self._question(example, self.orders[0]).body
        if "messages" not in body:
            return str(body.get("prompt") or body["state"])
        turns = (f"{turn['role']}: {turn['content']}" for turn in body["messages"])
        return BETWEEN.join([*turns, "assistant:"])

    def seconds(self, examples: Sequence[Example]) -> float:
        """Return how long it takes to answer for examples, also where the answers are kept."""
        asked = [self._question(each, order) for each in examples for order in self.orders]
        replies = self.connection.ask(asked)
        every = [reply.seconds for reply in replies if isinstance(reply, Reply)]
        return sum(every) / max(1, min(len(every), self.connection.server.at_once))

    def _replies(self, examples: Sequence[Example]) -> Iterator[list[Reply]]:
        """Ask about examples; give the replies to each, by order of the labels.

        Raises ExampleError for one that the server does not take.
        """
        count = len(self.orders)
        asked = [self._question(each, order) for each in examples for order in self.orders]
        replies = self.connection.ask(asked, count)
        for at in range(0, len(replies), count):
            own = list[Reply]()
            for reply in replies[at : at + count]:
                if isinstance(reply, Refusal):
                    raise ExampleError(reply.words)
                own.append(reply)
            yield own

    def _score(self, reply: Reply) -> tuple[list[float], list[bool]]:
        """Return the score of each label, and whether it is a bound."""
        if not reply.listed:
            raise ModelError(f"the server of {self.name!r} tells no probabilities any more")
        if not reply.finite:
            raise ExampleError(f"the server of {self.name!r} lists a probability that is no number")
        if not any(token in reply.listed for token in self.tokens):
            first = ", ".join(f"“{token}”" for token in list(reply.listed)[:FEW])
            raise ExampleError(
                f"{self.name} would begin its answer with {first}, …, and none of the labels' "
                f"words is among the {len(reply.listed)} that its server lists"
            )
        least = min(reply.listed.values())
        scores = [reply.listed.get(token, least) for token in self.tokens]
        return scores, [token not in reply.listed for token in self.tokens]

    def _scored(self, examples: Sequence[Example]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the score of each label, and whether it is a bound.  # (examples, labels) each"""
        rows, bounds = list[Any](), list[Any]()  # Any: as numpy takes them
        for replies in self._replies(examples):
            each = [self._score(reply) for reply in replies]
            rows.append(np.mean([scores for scores, _ in each], axis=0))
            bounds.append(np.any([bounded for _, bounded in each], axis=0))
        shape = len(examples), len(self.labels)
        return np.array(rows, np.float64).reshape(shape), np.array(bounds, bool).reshape(shape)

    def scores(
        self, examples: Sequence[Example], precision: Precision = "fp32"
    ) -> NDArray[np.float64]:
        """Return the score of each label, before any calibration; the server has its precision.

        Raises ModelError, and ExampleError for an example whose answer begins with no label.
        """
        return self._scored(examples)[0]

    def predict(
        self, examples: Sequence[Example], precision: Precision = "fp32"
    ) -> list[Prediction]:
        """Answer for each example, in their order. Raises as `scores` does, and Stopped."""
        if self.way == "text":
            texts = [reply.text for (reply,) in self._replies(examples)]
            return [Prediction(self._named(text), (), self.labels) for text in texts]
        scores, bounds = self._scored(examples)
        answers = as_predictions(scores - self.usual, self.labels)
        return [
            BoundedPrediction(
                *(each.label, each.probabilities, each.labels),
                at_most=tuple(self.labels[at] for at in np.flatnonzero(row)),
            )
            if row.any()
            else each
            for each, row in zip(answers, bounds, strict=True)
        ]

    def _named(self, text: str) -> Label:
        """Return the label that an answer begins with. Raises ExampleError for any other."""
        begin = text.lstrip(" \t\r\n*_\"'“”‘’`.:#>-").lower()
        for word, label in zip(self.prompt.words, self.labels, strict=True):
            rest = begin.removeprefix(word.lower())
            if rest != begin and not rest[:1].isalnum():
                return label
        raise ExampleError(f"{self.name} answers “{text[:SHOWN]}”, which begins with no label")


def is_served(name: str) -> bool:
    """Whether a name is of a served model."""
    return name.partition("?")[0] in settings().served


def served_hash(address: str) -> str:
    """Return the hash of who answers at an address, as far as it is known here."""
    server = settings().served[address]
    told = [address, server.address, server.model, server.extra, server.top]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def read_served(
    name: str, address: str, asking: Asking, task: Task | None, template: str, files: bool
) -> Served:
    """Open a served model, which is asked how it can be asked. Raises ModelError.

    Arguments are as of `read_prompted`.
    """
    server = settings().served[address]
    asked = chosen_task(name, asking, task)
    if asked.has_spans:
        raise ModelError(f"{name!r} is asked for labels at an address; it reads no passages")
    prompt = chosen_prompt(name, asking, asked, True, template, files)
    if not prompt.asks:
        raise ModelError(
            f"the prompt {prompt.name!r} has text behind the label, and at an address the "
            "probability of one token alone is to be had; take one that ends at the label"
        )
    connection = _connection(address, server.model_dump_json())
    model = _in_its_way(Served(name, connection, asked, prompt, asking, top=server.top))
    if not model.confident and asking.calibration != "none":
        raise ModelError(f"{name!r} tells no probabilities, so that there is none to calibrate")
    if model.way == "choice":
        return replace(model, tokens=prompt.words)
    if model.way == "text":
        return replace(model, notes=(f"it is asked {WAYS['text'][1]}",))
    for one, other in combinations(prompt.words, 2):
        if one.encode()[0] == other.encode()[0]:
            raise ModelError(
                f"the words {one!r} and {other!r} may begin with the same token, and {name!r} is "
                "known by the first alone; take words that begin with different letters"
            )
    tokens = _first_tokens(model)
    parts = [
        f"{word!r} is known by its first token, {token!r}, alone"
        for word, token in zip(prompt.words, tokens, strict=True)
        if word != token
    ]
    return replace(model, tokens=tokens, notes=tuple(parts))


def _in_its_way(model: Served) -> Served:
    """Return a model as its server can be asked, the first way that tells probabilities.

    A server that takes a question and lists nothing drops it in silence.
    """
    ways: Sequence[tuple[Way, int]] = [
        *(("chat", model.top), ("chat", FEW), ("completions", FEW), ("choice", 0), ("text", 0))
    ]
    refusals, chats = list[str](), False
    example = model.task.sanity_examples[0]
    for way, top in ways:
        if way in ("chat", "completions") and chats:
            continue
        tried = replace(model, way=way, top=top)
        try:
            (reply,) = tried.connection.ask([tried._question(example, tried.orders[0])])
        except ModelError as problem:
            if way in ("chat", "text"):
                raise
            reply = Refusal(str(problem))  # some answer anything at addresses that they do not have
        if isinstance(reply, Refusal):
            refusals.append(reply.words)
        elif reply.listed or way == "text":
            return tried
        chats |= way == "chat" and isinstance(reply, Reply)
    raise ModelError(refusals[0])


def _first_tokens(model: Served) -> tuple[str, ...]:
    """Return the first token of each label's word, as the model writes it when it is told to."""
    asked = list[Question]()
    for word in model.prompt.words:
        said = f"Write this word and nothing else: {word}"
        if model.way == "completions":
            said = f"Answer: {word}\nAnswer: {word}\nAnswer:"
        asked.append(model._said([said], [], ()))
    tokens = list[str]()
    for word, reply in zip(model.prompt.words, model.connection.ask(asked), strict=True):
        listed = reply.listed if isinstance(reply, Reply) else {}
        begins = [token for token in listed if token and word.startswith(token)]
        tokens.append(max(begins, key=len, default=word))
    return tuple(tokens)
