"""Wrong arguments, made from a seed: for each endpoint over HTTP and each event of the page's own.

They are sent as anybody can send them, past gradio's own clients, and the answers sorted into
outcomes. What is sent is a good call with one to three of its values replaced.
"""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

API = "gradio_api"
MAX_SENTENCE = 700
"""Characters of an answer that still is a sentence, with what it quotes."""
SECONDS = 90.0
"""How long an answer may take; a stream that gives none in this time hangs."""
INTERNALS = re.compile(
    r"Traceback|File \".*\", line|sqlite|sqlalchemy|SELECT |INSERT |Error\(|Exception|<class|"
    r"object at 0x|site-packages|unhashable|NoneType|unsupported operand|has no attribute|"
    r"expected str|positional argument|not subscriptable|not iterable|\[type=|validation error|"
    r"Cannot move|list index|\[<gradio|pydantic|Errno",
)
"""What no answer may hold: the words of our code and its libraries."""
GOOD: Mapping[str, Mapping[str, Any]] = {  # Any: JSON
    "probe": {"premise": "A man sleeps.", "hypothesis": "A man is awake.", "model": "da"},
    "compare_pair": {"premise": "A man sleeps.", "hypothesis": "He is.", "models": ["da", "esim"]},
    "hans": {"models": ["da"], "n": 1},
    "load_model": {"model": "nosuch-model"},
    "batch": {"transforms": "sort", "model": "da"},
    "compare": {"models": "da,esim"},
    "inoculate": {"model": "da", "challenge": "negation", "max_epochs": 0},
    "generalise": {"model": "da", "sizes": "5", "seeds": "0", "max_epochs": 0},
    "calibrate": {"model": "da", "sizes": "5", "seeds": "0", "epochs": 0},
    "mitigate": {"model": "da", "sizes": "5", "seeds": "0", "epochs": 0},
    "transfer": {"model": "da", "sizes": "5", "seeds": "0", "epochs": 0},
    "run": {"run_id": "none"},
    "cancel": {"run_id": "none"},
    "again": {"run_id": "none"},
}
"""The arguments of a cheap call of each endpoint, beside its defaults; those of `/inoculate`,
`/generalise` and the repairs start no run, since they are refused themselves."""
PAIRS = b"premise,hypothesis,label\nA man sleeps.,A man is awake.,contradiction\n"


def upload(path: str) -> dict[str, Any]:
    """Return what gradio takes for a file in a request."""
    return {"path": path, "meta": {"_type": "gradio.FileData"}}


def nested(depth: int) -> list[Any]:
    """Return a list in a list, so many times."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


VALUES: Sequence[Any] = (
    *(None, True, False, 0, -1, -0.0, 1.5, 7, 10**12, 10**30, -(10**30), 1e308),
    *(float("nan"), float("inf"), float("-inf")),
    *("", " ", "x", "sort", "sort, drop", "\ud800", "a\x00b", "🩺" * 50, "x" * 20_000, "all"),
    *("<img src=x onerror=alert(1)>", "' OR 1=1 --", "../../etc/passwd", "/etc/passwd", "~", "{}"),
    *("9" * 4301, "1e400", "nan", "inf", "-0", "10," * 3000, "sort+" * 2000, "[" * 2000, "null"),
    *([], [None], [[]], [5], ["sort", 5], [["sort"]], ["x"] * 5000, [1, 2, 3], [{}], nested(40)),
    *({}, {"a": 1}, {"a": {"b": [1]}}, {"value": "x"}, {"__type__": "update", "value": 1}),
    *({"a": nested(40)}, {"keep": 10**30}, {"keep": float("nan")}),
    {str(n): n for n in range(2000)},
    *map(upload, ("/etc/passwd", "http://127.0.0.1:9/x.csv", "nosuch.csv", "", "a\x00b")),
    {"path": 5, "meta": {"_type": "gradio.FileData"}},
    {"path": None, "url": "http://127.0.0.1:9/x.csv", "meta": {"_type": "gradio.FileData"}},
)
FETCHED = "hub-name"
"""How the id of a field ends whose text is looked for on the hub, whatever it is: what takes it is
not sent."""
ODD_BUT_FITTING = 0.4
"""How many of the replaced values of a page's event are of the right kind."""
EVENT_DATA: Sequence[Any] = (None, {}, {"cell": "0,1"}, {"cell": [1]}, {"cell": None}, 5, "x", [1])
BODIES: Sequence[bytes] = (
    b"", b"null", b"[]", b"{", b"5", b'"text"', b"{}", b'{"data": 5}', b'{"data": null}',
    b'{"data": {}}', b'{"data": [], "fn_index": 99999}', b'{"data": [], "fn_index": -1}',
    b'{"data": [], "fn_index": "x"}', b'{"data": [], "fn_index": null, "session_hash": "s"}',
    b'{"data": [], "fn_index": 0, "session_hash": 5}',
    b'{"data": [], "fn_index": 0, "session_hash": "s", "trigger_id": "x"}',
    b'{"data": [], "fn_index": 99999, "session_hash": "s"}',
    b'{"data": [' + b"9" * 4301 + b'], "fn_index": 0, "session_hash": "s"}',
    b'{"data": ' + b"[" * 5000 + b"]" * 5000 + b', "fn_index": 0, "session_hash": "s"}',
    b'{"data": ' + b"[" * 400 + b"]" * 400 + b', "fn_index": 0, "session_hash": "s"}',
    b'{"data": ["\xff"], "fn_index": 0, "session_hash": "s"}',
    b'{"data": [], "fn_index": 0, "session_hash": "s", "batched": true}',
    b'{"nosuch": 1}', b'{"data": [], "session_hash": "s", "oauth_token": 5}',
)  # fmt: skip
"""Bodies that are no request at all; sent to each address that takes one."""
ADDRESSES = (
    "queue/join", "call/probe", "call/nosuch", "call/v2/probe", "call/v2/nosuch", "run/probe",
    "api/nosuch", "run/run", "queue/data", "cancel", "reset",
)  # fmt: skip


@dataclass(frozen=True)
class Call:
    """What is sent: the name of the endpoint or event, and the body of the request."""

    name: str
    address: str
    body: bytes


@dataclass(frozen=True)
class Answer:
    """How a call was answered: its outcome in a word, and the words that came back."""

    call: Call
    outcome: str
    words: str = ""


@dataclass(frozen=True)
class Target:
    """An endpoint or event that can be called: its number and a good call's values."""

    name: str
    fn_index: int
    values: Sequence[Any] = field(repr=False)
    parts: Sequence[Mapping[str, Any]] = field(repr=False, default=())  # Any: JSON


def targets(url: str) -> tuple[Target, ...]:
    """Return every function that a request can name, private ones too."""
    config = httpx.get(f"{url}config", timeout=SECONDS).json()
    endpoints = httpx.get(f"{url}{API}/info", timeout=SECONDS).json()["named_endpoints"]
    sent = httpx.post(f"{url}{API}/upload", files={"files": ("a.csv", PAIRS)}, timeout=SECONDS)
    file, parts = upload(sent.json()[0]), {part["id"]: part for part in config["components"]}
    found = []
    for event in config["dependencies"]:
        name, number = event["api_name"] or "", event["id"]
        if name in GOOD and event["api_visibility"] == "public":
            good = {"file": file, **GOOD[name]}
            asked = endpoints[f"/{name}"]["parameters"]
            values = [good.get(one["parameter_name"], one["parameter_default"]) for one in asked]
            found.append(Target(f"/{name}", number, values))
        elif event["backend_fn"]:
            asked = [parts[part] for part in event["inputs"]]
            if any(str(part["props"].get("elem_id")).endswith(FETCHED) for part in asked):
                continue
            values = [part["props"].get("value") for part in asked]
            found.append(Target(f"event {number} {name}", number, values, asked))
    return tuple(found)


def calls(url: str, n: int, seed: int) -> Iterator[Call]:
    """Yield `n` calls, each function in turn, then a body that is none, again and again."""
    rng, known = random.Random(seed), targets(url)
    for at in range(n):
        if at % 8 == 7:
            address = rng.choice(ADDRESSES)
            yield Call(f"body to {address}", address, rng.choice(BODIES))
        else:
            target = known[(at - at // 8) % len(known)]
            yield Call(target.name, "queue/join", body(target, f"{seed}-{at}", rng))


def body(target: Target, session: str, rng: random.Random) -> bytes:
    """Return a request with up to three wrong values, one too few or one too many."""
    data = list(target.values)
    for place in rng.sample(range(len(data)), min(len(data), rng.choice((1, 1, 2, 3)))):
        fits = rng.random() < ODD_BUT_FITTING and bool(target.parts)
        data[place] = fitting(target.parts[place], rng) if fits else rng.choice(VALUES)
    odd = rng.random()
    if odd < 0.08 and data:
        data.pop()
    elif odd < 0.16:
        data.append(rng.choice(VALUES))
    request = {
        "data": data,
        "fn_index": target.fn_index,
        "session_hash": session,
        "event_data": rng.choice(EVENT_DATA),
        "trigger_id": rng.choice((None, 1, 10**9)),
    }
    return json.dumps(request).encode()


def fitting(part: Mapping[str, Any], rng: random.Random) -> Any:
    """Return a value that a component may send, though nobody would choose it there."""
    if offered := [value for _, value in part["props"].get("choices") or ()]:
        some = rng.sample(offered, rng.randint(0, min(3, len(offered))))
        several = part["type"] == "checkboxgroup" or part["props"].get("multiselect")
        return some if several else rng.choice(offered)
    kinds: Mapping[str, type[Any]] = {"number": int, "slider": int, "checkbox": bool}
    kind = kinds.get(part["type"], str)
    return rng.choice([value for value in VALUES if type(value) is kind])


def send(url: str, call: Call) -> Answer:
    """Send a call and wait for its answer."""
    headers = {"content-type": "application/json"}
    try:
        with httpx.Client(base_url=f"{url}{API}/", timeout=SECONDS, headers=headers) as client:
            if call.address == "queue/data":
                return refusal(call, client.get("queue/data", params={"session_hash": "nobody"}))
            came = client.post(call.address, content=call.body)
            if came.status_code != httpx.codes.OK:
                return refusal(call, came)
            if call.address != "queue/join":
                return Answer(call, "result")
            return streamed(call, client)
    except httpx.TimeoutException:
        return Answer(call, "hangs")
    except httpx.RemoteProtocolError as broken:
        return Answer(call, "breaks off", str(broken))


def streamed(call: Call, client: httpx.Client) -> Answer:
    """Wait for the end of an event, and return its outcome."""
    session = {"session_hash": json.loads(call.body)["session_hash"]}
    with client.stream("GET", "queue/data", params=session) as stream:
        for line in stream.iter_lines():
            message = json.loads(line[5:]) if line.startswith("data:") else {}
            if message.get("msg") == "unexpected_error":
                return Answer(call, "breaks off", message["message"])
            if message.get("msg") == "process_completed":
                if message["success"]:
                    return Answer(call, "result")
                return Answer(call, judged(words := str(message["output"].get("error"))), words)
    return Answer(call, "breaks off")


def refusal(call: Call, came: httpx.Response) -> Answer:
    """Return the outcome of a request that gradio did not take.

    One that it ran at once, without its queue, is refused with an error and status 500.
    """
    said = came.json() if "json" in came.headers["content-type"] else {"detail": came.text}
    if came.status_code >= httpx.codes.INTERNAL_SERVER_ERROR and "error" not in said:
        return Answer(call, f"status {came.status_code}", came.text[:200])
    words = str(said.get("error", said.get("detail")))
    return Answer(call, judged(words), words)


def judged(words: str) -> str:
    """Return whether words are a sentence for a person."""
    if "this app's own fault" in words:
        return "own fault"
    plain = 0 < len(words) <= MAX_SENTENCE and "\n" not in words.strip()
    return "sentence" if plain and words != "None" and not INTERNALS.search(words) else "internals"
