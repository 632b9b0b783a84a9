"""How a language model is asked: a prompt, examples in context, and what its scores are held to.

A prompt is one text, with each text of the task by its name in braces, and the words of its labels,
in the task's order, where the label stands: `{premise}, right? {Yes|Maybe|No}, {hypothesis}`.
"""

import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property
from itertools import permutations
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints
from urllib.parse import parse_qsl, urlencode

from probe.errors import ModelError
from probe.models.classifier import FIELD, Framed, framed
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI
from probe.tasks.task import TASKS, Example, Label, Task

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = Path(__file__).with_suffix(".toml")
WORDS = re.compile(r"\{([^{}]*\|[^{}]*)\}")
"""The words of the labels, in the place of the label."""
ANSWER = "{answer}"
"""Where a model answers a question about a passage in words of its own, at a prompt's end."""
NO_ANSWER_WORDS = "no answer"
"""What it is asked to say where the passage does not tell."""
LISTED = "{labels}"
"""Where a prompt lists them."""
BETWEEN = "\n\n"
"""Of the instruction, the examples in context and the example; in a chat each has a turn."""


@dataclass(frozen=True)
class Prompt:
    """A prompt of a task; `words[i]` stands for the task's i-th label, at `{label}` in the block.

    Of a task whose answers are no labels there is one empty word, where the model goes on. The
    instruction is said once, the block of the example and of each example in context.
    """

    name: str
    task: Task
    words: tuple[str, ...]
    instruction: str
    block: str

    @property
    def text(self) -> str:
        """The prompt as a person writes it."""
        words = ANSWER if self.task.has_spans else "{" + "|".join(self.words) + "}"
        block = self.block.replace("{label}", words)
        return BETWEEN.join(filter(None, [self.instruction, block]))

    @property
    def asks(self) -> bool:
        """Whether it ends at the label; else the text behind it is scored under each label too."""
        return self.block.endswith("{label}")

    @cached_property
    def orders(self) -> tuple[tuple[str, ...], ...]:
        """The orders in which the words can be listed; one where the prompt lists none."""
        several = LISTED in self.instruction + self.block
        return tuple(permutations(self.words)) if several else (self.words,)

    def beginning(self, order: Sequence[str]) -> str:
        """Return the instruction, which lists the words in an order."""
        return self.instruction.replace(LISTED, either(order))

    def filled(
        self, texts: Mapping[str, str], word: str, order: Sequence[str]
    ) -> tuple[Framed, int]:
        """Return the block of an example with a word for its label, and where the word begins."""
        whole = framed(self.block.replace(LISTED, either(order)), {**texts, "label": word})
        *places, (label, _) = whole.places
        return Framed(whole.text if word else whole.text.rstrip(), places), label


def either(words: Sequence[str]) -> str:
    """List words: "yes, maybe or no"."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def read_prompt(text: str, task: Task, name: str = "own") -> Prompt:
    """Read a prompt as a person writes it. Raises ModelError, with what it lacks."""
    text = text.strip("\n")
    found = WORDS.findall(text)
    words = tuple(word.strip() for word in found[0].split("|")) if found else ()
    example = "{" + "|".join(task.labels) + "}"
    answer = f"the words of the labels where the label stands, such as {example}"
    if task.has_spans:
        answer = f"{ANSWER} at its end"

    def refuse(problem: str) -> ModelError:
        wanted = " and ".join(f"{{{field}}}" for field in task.fields)
        return ModelError(
            f"the prompt {name!r} {problem}; a prompt for {task.title.lower()} has {wanted}, each "
            f"once, and {answer}"
        )

    if task.has_spans:
        if not text.endswith(ANSWER):
            raise refuse(f"does not end with {ANSWER}")
        text, words = text.replace(ANSWER, "{label}"), ("",)
    elif len(found) != 1:
        raise refuse(f"names the words of the labels {len(found) or 'no'} times")
    elif len(words) != len(task.labels) or not all(words):
        raise refuse(f"has {len(words)} words for {len(task.labels)} labels")
    if any(one.startswith(other) for one, other in permutations(words, 2)):
        raise refuse(f"has words of which one begins with another ({', '.join(words)})")
    paragraphs = WORDS.sub("{label}", text).split(BETWEEN)
    named = [{*FIELD.findall(each)} - {"labels"} for each in paragraphs]
    first = next((at for at, fields in enumerate(named) if fields), 0)
    instruction, block = (BETWEEN.join(part) for part in (paragraphs[:first], paragraphs[first:]))
    have, wanted = Counter(FIELD.findall(block.replace(LISTED, ""))), Counter(task.fields)
    for wrong, problem in ((wanted - have, "lacks {}"), (have - wanted, "names {} too often")):
        if names := [f"{{{field}}}" for field in wrong if field != "label"]:
            raise refuse(problem.format(" and ".join(names)))
    if not block.partition("{label}")[0].strip():
        raise refuse("begins with the label, which then rests on nothing")
    return Prompt(name, task, words, instruction, block)


@cache
def prompts(task: Task) -> Mapping[str, Prompt]:
    """Return the prompts that come with the app for a task, by name; the first is the usual one."""
    with FILE.open("rb") as file:
        known = tomllib.load(file).get(task.name, {})
    return {name: read_prompt(text, task, name) for name, text in known.items()}


Calibration = Literal["none", "content_free", "batch"]
CALIBRATIONS: Mapping[Calibration, str] = {
    "none": "the scores as they are",
    "content_free": "divided by the answer to texts without content (Zhao et al. 2021)",
    "batch": "divided by the mean answer to bundled examples, whose labels are not looked at "
    "(Zhou et al. 2024)",
}
CONTENT_FREE = ("N/A", "[MASK]", "")
"""As in Zhao et al. 2021."""
MEAN_OF = 48
"""Bundled examples whose mean answer calibrates."""
MOST_SHOTS = 64


@dataclass(frozen=True)
class Asking:
    """How a language model is asked, as it stands behind its address: `owner/name?prompt=cloze`.

    `prompt` is the name of one that comes with the app or the path of a file, by default the usual
    one; `shots` the number of examples in context, as many of each label as can be, drawn by `seed`
    from the bundled ones; `orders` whether listed labels are averaged over all orders.
    """

    task: str = ""
    prompt: str = ""
    shots: int = 0
    seed: int = 0
    calibration: Calibration = "none"
    orders: Literal["all", "one"] = "all"

    @property
    def suffix(self) -> str:
        """What stands behind the address; "" where all is usual."""
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        told = {f.name: given[f.name] for f in fields(self) if given[f.name] != f.default}
        return "?" + urlencode(told, safe="/") if told else ""


def split_name(name: str) -> tuple[str, Asking]:
    """Return the address of a model, and how it is asked. Raises ModelError for no such option."""
    address, mark, written = name.partition("?")
    if not mark:
        return name, Asking()
    kinds, values = get_type_hints(Asking), dict[str, Any]()  # Any: numbers and texts
    for option, value in parse_qsl(written, keep_blank_values=True):
        if option in values:
            raise ModelError(f"{name!r} names {option!r} twice behind its question mark")
        if option not in kinds:
            raise ModelError(
                f"{name!r} names {option!r} behind its question mark; there is: {', '.join(kinds)}"
            )
        choices = get_args(kinds[option])
        if choices and value not in choices:
            raise ModelError(f"{option}={value} of {name!r} is not one of {', '.join(choices)}")
        if kinds[option] is int and not (value.isdecimal() and len(value) < 10):
            raise ModelError(f"{option}={value} of {name!r} is no whole number from 0 on")
        values[option] = int(value) if kinds[option] is int else value
    if values.get("shots", 0) > MOST_SHOTS:
        raise ModelError(f"{name!r} asks for more than {MOST_SHOTS} examples in its prompt")
    return address, Asking(**values)


ASKED, PROMPT = "asked", "prompt"
"""Where the config of an adapter says how its model was asked in training: all but the prompt, and
that as a person writes it."""


def kept_asking(name: str, config: Mapping[str, Any]) -> tuple[Asking, str]:  # Any: JSON
    """Return how a model is asked by its name or else its config, and the prompt of that, if any.

    The prompt is not the config's where the name says another or another task. Raises ModelError.
    """
    address, _, given = name.partition("?")
    own, kept = split_name(name)[1], str(config.get(ASKED) or "")
    trained = split_name(f"{address}{kept}")[1]
    if not kept or own.prompt or own.task not in ("", trained.task):
        return own, ""
    options = dict(parse_qsl(kept.removeprefix("?"))) | dict(parse_qsl(given))
    return split_name(f"{address}?{urlencode(options)}")[1], str(config.get(PROMPT) or "")


def chosen_task(name: str, asking: Asking, task: Task | None) -> Task:
    """Return the task that a name says, or a person wants, or inference. Raises ModelError."""
    own = TASKS.get(asking.task)
    if asking.task and (own is None or (task and own.example is not task.example)):
        wanted = task.name if own and task else ", ".join(TASKS)
        raise ModelError(f"{name!r} is asked about the task {asking.task!r}, not {wanted}")
    return own or task or NLI


def chosen_prompt(
    name: str, asking: Asking, task: Task, chats: bool, template: str, files: bool
) -> Prompt:
    """Return the prompt that is asked for: a `template`, a file's, one of the app's, or the usual.

    That is the first for a model that `chats`, else the one to be gone on with. Without `files`
    only the app's own are opened by name. Raises ModelError.
    """
    known = prompts(task)
    if template and template not in known:
        written = (prompt for prompt in known.values() if prompt.text == template)
        return next(written, None) or read_prompt(template, task)
    first = next(iter(known), "")
    usual = next((each for each, prompt in known.items() if chats or not prompt.asks), first)
    if (template or asking.prompt or usual) in known:
        return known[template or asking.prompt or usual]
    path = Path(asking.prompt)
    if files and asking.prompt and path.is_file():
        try:
            return read_prompt(path.read_text(encoding="utf-8"), task, path.name)
        except (OSError, UnicodeDecodeError) as problem:
            raise ModelError(f"the prompt {asking.prompt!r} cannot be read: {problem}") from problem
    raise ModelError(
        f"there is no prompt {asking.prompt!r} for {name!r}; for {task.title.lower()} there are: "
        f"{', '.join(known)}" + (", or the path of a file" if files else "")
        if known
        else f"{task.title.lower()} cannot be asked in words yet"
    )


def by_label(task: Task, examples: Iterable[Any]) -> dict[Label, list[Any]]:
    """Return the examples under each of a task's labels.  Any: the task's class"""
    found: dict[Label, list[Any]] = {label: [] for label in task.labels}
    for example in examples:
        if label := task.nearest(example.gold or ""):
            found[label].append(example)
    return found


def drawn_shots(task: Task, shots: int, seed: int) -> list[tuple[Example, Example]]:
    """Draw examples in context from the bundled pool, as many of each label as can be.

    Each stands with another of its label, to be taken where it is itself the example that is asked.
    """
    rng = random.Random(f"{seed}|shots")
    if task.has_spans:
        questions = bundled_examples(task, "pool")
        if 2 * shots > len(questions):
            raise ModelError(f"the bundled pool has not {shots} examples of {task.title.lower()}")
        drawn = rng.sample(questions, 2 * shots)
        return list(zip(drawn[:shots], drawn[shots:], strict=True))
    pool = by_label(task, bundled_examples(task, "pool"))
    each, over = divmod(shots, len(task.labels))
    more = set(rng.sample(task.labels, over))
    chosen = list[tuple[Example, Example]]()
    for label, examples in pool.items():
        n = each + (label in more)
        if 2 * n > len(examples):
            raise ModelError(f"the bundled pool has not {shots} examples of {task.title.lower()}")
        drawn = rng.sample(examples, 2 * n)
        chosen += zip(drawn[:n], drawn[n:], strict=True)
    rng.shuffle(chosen)
    return chosen
