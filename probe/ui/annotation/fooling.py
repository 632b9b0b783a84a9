"""Fool the model: the board of a round, and the page on which visitors write and confirm."""

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.errors import UserError
from probe.models.bundled import title_of
from probe.models.prediction import Prediction
from probe.runs.access import ModelAccess
from probe.runs.models import hash_if_there
from probe.runs.store import Store
from probe.settings import settings
from probe.statistics import FEWEST, Estimate, percent
from probe.surveys.rounds import (
    CONFIRMED,
    FEWEST_TRAINED,
    OPEN,
    Author,
    Board,
    Round,
    Try,
    confirm,
    next_to_confirm,
    own_keys,
    round_of,
    submit_try,
    tries,
)
from probe.surveys.survey import (
    GUEST_PATHS,
    MAX_NICKNAME,
    has_joined,
    join,
    respondents,
)
from probe.ui.annotation.answering import KEEP, RESTORE
from probe.ui.answers.answering import model_key
from probe.ui.events import EACH, PRESSED, QUIET, WAITED_FOR, cell_of, in_turn, scroll_to
from probe.ui.html import elements
from probe.ui.html.elements import NOTHING, alert, each, note, table, told, twin, unbroken
from probe.ui.html.elements import join as together
from probe.ui.html.prediction import bar, label_name, legend
from probe.ui.html.shared_link import CLASSROOM, PROJECT, handed_out
from probe.ui.links import code_in, link_to_guest
from probe.ui.page import Page
from probe.ui.visitors.belongings import moment

SECONDS = 3
"""Between two looks at what others have written."""
MAX_LABELS, MAX_TEXTS = 5, 2
"""Labels and texts of a task at most: the page is built before it is known of which it is."""
FIRST = 10
"""Authors that the board shows unfolded."""
SEEN = (
    "A nickname or none, no sign-in. They see this page alone, and what others wrote without its "
    "label."
)
ENDED = "Its link takes nothing more. What was written stays, until you delete it in Mine."
OVER = "this round has ended; nothing more is taken"
BUTTON = Markup('<button type="button" class="btn {}" data-cell="{}|{}||">{}</button>')
HEAD = Markup(
    '<h2 class="title">{title}</h2><p class="soft">Write {what} that {model} gets wrong, and say '
    "what is right. Two others, who see neither your answer nor the model's, decide whether you "
    "are right: write what everybody can tell.</p>{meanings}"
)
KEPT = Markup(
    '<p class="fine">Write nothing personal, nothing about people whom you know, and nothing that '
    "you would not say to a stranger: others read it. Kept: what you write, what you say of "
    "others’ and the nickname, until the teacher deletes the round. "
    '<a href="mine?kind=answers">What is kept, and how to delete it</a></p>'
)
CONFIRM = Markup(
    '<section class="card" data-key="{key}"><h3 class="title small">Somebody else wrote this. '
    '{question}</h3>{shown}<div class="strip">{buttons}</div></section>'
)
ANSWER = Markup('<button type="button" class="btn" data-cell="{}|{}">{}</button>')
NONE_WAITS = "Nothing of others waits for you. What fools the model comes here by itself."
CAME_TO = Markup('<section class="card" role="status"><p class="say">{}</p>{}{}</section>')
HELD = """owner => {
  const held = document.querySelector("#fool-confirm [data-key]")?.dataset.key ?? "";
  return [owner, held];
}"""
"""Says what is being read: nothing else takes its place under a finger."""


def quoted(count: int, share: Estimate, of: str) -> str:
    """Return a count and its share with its interval, and say where that rests on too little."""
    few = "; too few to be quoted" * (share.n < FEWEST)
    return f"{count:,} of {share.n:,} {of}, {percent(share)}{few}"


def board_shown(wanted: Round, board: Board) -> Markup:
    """Show what a round has come to so far: its shares, then its authors."""
    unit, states = wanted.task.unit, board.statuses
    if not board.tries:
        return note("Nobody has written anything yet. Who has most confirmed will lead here.")
    fooled = sum(each.fooled for each in board.tries)
    rows_of = {f"Fooled {title_of(wanted.model)}": quoted(fooled, board.fooled, f"{unit}s")}
    if board.confirmed.n:
        rows_of["Confirmed"] = quoted(states[CONFIRMED], board.confirmed, "decided by others")
    if states[OPEN]:
        rows_of["Undecided"] = f"{states[OPEN]:,} wait for others".replace("1 wait ", "1 waits ")
    kappa, n = board.agreement
    if not math.isnan(kappa):
        few = "; too few to be quoted" * (n < FEWEST)
        rows_of["Agreement"] = f"Fleiss' kappa of the first two others {kappa:.2f}, n = {n}{few}"
    fact = Markup('<tr><th scope="row">{}</th><td>{}</td></tr>')
    facts = together(fact.format(name, unbroken(words)) for name, words in rows_of.items())
    columns = ("", "Tried", "Fooled it", "Confirmed")
    heads = each(Markup('<th scope="col">{}</th>'), columns)

    def rows(authors: Sequence[Author]) -> Markup:
        line = Markup('<tr><th scope="row">{}</th>{}</tr>')
        counts = ((row.tried, row.fooled, row.confirmed) for row in authors)
        told_of = (each(Markup('<td class="num">{}</td>'), numbers) for numbers in counts)
        names = (row.nickname or f"Visitor {row.number}" for row in authors)
        return together(line.format(*one) for one in zip(names, told_of, strict=True))

    first, others = board.authors[:FIRST], board.authors[FIRST:]
    shown = table("The board", heads, rows(first), "board")
    more = table("The others", heads, rows(others), "board") if others else NOTHING
    return (
        Markup('<table class="lined"><tbody>{}</tbody></table>').format(facts)
        + shown
        + (twin(f"{len(others)} more", more) if others else NOTHING)
    )


def one_round(store: Store, wanted: Round, request: gr.Request) -> Markup:
    """Show a round to its teacher: the board, what can be done, the link to hand out."""
    survey, board = wanted.survey, Board(tries(store, wanted.survey.id))
    ready = board.statuses[CONFIRMED]
    verbs = {
        "files": "Files",
        "train": f"Train on {ready} confirmed",
        **({"hide": "Hide the board from writers"} if survey.shown else {"show": "Show it to all"}),
    }
    buttons = together(BUTTON.format("", verb, survey.id, words) for verb, words in verbs.items())
    lacking = (
        f"Train begins with {FEWEST_TRAINED} confirmed {wanted.task.unit}s: half are trained on, "
        "half tested on."
    )
    people = respondents(store, survey.id)
    return Markup('<div data-set="{0}" data-round="{0}">{1}</div>').format(
        survey.id,
        CLASSROOM.format(
            title=survey.title,
            people=f"{people} {'person' if people == 1 else 'people'}",
            until=f"ended {moment(survey.ends)}" if survey.ended else "",
            shown=board_shown(wanted, board) + (note(lacking) if ready < FEWEST_TRAINED else ""),
            buttons=buttons
            + PROJECT
            + (NOTHING if survey.ended else BUTTON.format("bad", "end", survey.id, "End")),
            hand_out=note(ENDED)
            if survey.ended
            else handed_out(
                link_to_guest(GUEST_PATHS["round"], survey.id), request, "Visitors open", SEEN
            ),
        ),
    )


def answer_shown(wanted: Round, label: str, said: Prediction, fooled: bool) -> Markup:
    """Say whether somebody fooled the model, and show its answer."""
    model = title_of(wanted.model)
    if fooled:
        words = Markup("You fooled {}: it says {}, you say {}. Now two others judge it.")
        sentence = words.format(model, label_name(said.label), label_name(label))
    else:
        words = Markup("Not fooled: {} says {}, as you do. Try another one.")
        sentence = words.format(model, label_name(said.label))
    drawn = bar(said) + legend(said) if said.probabilities else NOTHING
    return CAME_TO.format(sentence, drawn, note(f"Confidence: {said.sure}."))


def to_confirm_shown(wanted: Round, waiting: Try | None) -> Markup:
    """Show what somebody else wrote, with neither its label nor the model's answer."""
    if waiting is None:
        return note(NONE_WAITS)
    titled = {wanted.task.title_of(name): text for name, text in waiting.texts.items()}
    return CONFIRM.format(
        key=waiting.key,
        question=wanted.task.question,
        shown=elements.shown_texts(titled),
        buttons=together(
            ANSWER.format(waiting.key, number, answer)
            for number, answer in enumerate(wanted.answers)
        ),
    )


@lru_cache(maxsize=8)
def _weights(model: object, address: str) -> str:
    """Return the hash of a loaded model, by what tells it from every other; "" where none is."""
    return hash_if_there(address) or ""


@dataclass(frozen=True)
class Fooling:
    """What the page of who holds a round's link does.

    Handlers return values by the names of its parts.
    """

    store: Store
    models: ModelAccess

    def open_link(self, visitor: str, request: gr.Request) -> dict[str, Any]:
        """Take part in the round of the link, and show all of it."""
        try:
            wanted = round_of(self.store, code_in(request.query_params))
            survey, task = wanted.survey, wanted.task
            if not survey.ended and not has_joined(self.store, survey, visitor):
                join(self.store, survey, visitor)
        except UserError as trouble:
            return {"told": alert(trouble)}
        one = f"a {task.unit}" if not wanted.given else f"a {task.title_of(task.target).lower()}"
        meanings = twin(
            "What the labels mean",
            Markup("<ul>{}</ul>").format(
                together(
                    Markup("<li>{} {}</li>").format(label_name(label), task.meanings[label])
                    for label in task.labels
                )
            ),
        )
        head = HEAD.format(
            title=survey.title, what=one, model=title_of(wanted.model), meanings=meanings
        )
        fields: dict[str, Any] = {}
        for at in range(MAX_TEXTS):
            name = task.fields[at] if at < len(task.fields) else ""
            given = bool(wanted.given) and name == task.source
            fields[f"text_{at + 1}"] = gr.Textbox(
                secrets.choice(wanted.given) if given else "",
                label=f"{task.title_of(name)}{', given to you' * given}" if name else "",
                visible=bool(name),
                interactive=not given,
            )
        labels = [(label, number) for number, label in enumerate(task.labels)]
        return {
            "told": NOTHING,
            "head": head,
            "form": gr.Column(visible=True),
            **fields,
            "another": gr.Button(visible=bool(wanted.given)),
            "label": gr.Radio(choices=labels, value=None, label="Right is"),
            **self.look(visitor, request, ""),
        }

    def another(self, given: str, request: gr.Request) -> dict[str, Any]:
        """Give another text to write to."""
        try:
            wanted = round_of(self.store, code_in(request.query_params))
        except UserError as trouble:
            return {"told": alert(trouble)}
        at = wanted.task.fields.index(wanted.task.source or "") + 1
        others = [text for text in wanted.given if text != given] or wanted.given
        return {f"text_{at}": secrets.choice(others), "result": NOTHING}

    def ask(
        self, visitor: str, nickname: str, text_1: str, text_2: str, label: int | None,
        request: gr.Request,
    ) -> dict[str, Any]:  # fmt: skip
        """Have the model answer what was written, and say whether it was fooled."""
        try:
            wanted = round_of(self.store, code_in(request.query_params))
            task, owner = wanted.task, wanted.survey.owner
            if nickname or not has_joined(self.store, wanted.survey, visitor):
                join(self.store, wanted.survey, visitor, nickname or "")
            classifier = self.models.get(owner, wanted.model, task)
            address = self.models.for_run(owner, wanted.model)[1].address
            texts = dict(zip(task.fields, (text_1 or "", text_2 or ""), strict=False))
            right = dict(enumerate(task.labels)).get(-1 if label is None else label, "")
            weights = _weights(model_key(classifier), address)
            said, fooled = submit_try(
                self.store, wanted, visitor, texts, right, classifier, weights
            )
        except UserError as trouble:
            return {"result": alert(trouble)}
        kept = {task.source} if wanted.given else set()
        empty = {f"text_{at}": "" for at, name in enumerate(task.fields, 1) if name not in kept}
        return {
            **empty,
            "label": None,
            "result": answer_shown(wanted, right, said, fooled),
            "board": self.look(visitor, request, "")["board"],
        }

    def press(self, event: gr.EventData, visitor: str, request: gr.Request) -> dict[str, Any]:
        """Take what a visitor says of another's, and show the next one."""
        key, _, number = cell_of(event).partition("|")
        try:
            wanted = round_of(self.store, code_in(request.query_params))
            known = dict(enumerate(wanted.answers))
            answer = known.get(int(number) if number.isdecimal() else -1, "")
            confirm(self.store, wanted, visitor, key, answer)
        except UserError as trouble:
            return {"confirm": alert(trouble)}
        return self.look(visitor, request, "")

    def look(self, visitor: str, request: gr.Request, held: str) -> dict[str, Any]:
        """Show what waits to be confirmed and the board; the one whose key is `held` stays."""
        try:
            wanted = round_of(self.store, code_in(request.query_params))
            survey, written = wanted.survey, tries(self.store, wanted.survey.id)
            own = own_keys(self.store, survey.id, visitor)
            waiting = next_to_confirm(self.store, wanted, visitor, written)
        except UserError as trouble:
            return {"told": alert(trouble)}
        shown = NOTHING
        if own:
            theirs = Board([each for each in written if each.key in own])
            shown = told(f"Of yours: {theirs.words}.")
        if survey.shown:
            shown += elements.card(board_shown(wanted, Board(written)))
        asks: object = NOTHING if survey.ended else to_confirm_shown(wanted, waiting)
        if held and not survey.ended:
            asks = gr.skip()
        over = {"form": gr.Column(visible=False), "told": alert(OVER)} if survey.ended else {}
        return {"confirm": asks, "board": shown + KEPT, **over}


def build_guest(page: Page) -> None:
    """Put the page of who holds a round's link together."""
    fooling = Fooling(page.core.store, page.core.models)
    most = settings().max_text
    parts: dict[str, Any] = {}  # Any: components share no useful type
    with gr.Column(elem_id="fool"):
        parts["told"] = gr.HTML(padding=False, elem_id="fool-told")
        parts["head"] = gr.HTML(padding=False, elem_id="fool-head")
        with gr.Column(elem_classes="card", elem_id="fool-form", visible=False) as parts["form"]:
            for at in range(1, MAX_TEXTS + 1):
                parts[f"text_{at}"] = gr.Textbox(
                    "", label="", lines=2, max_length=most, elem_id=f"fool-text-{at}"
                )
                if at == 1:
                    parts["another"] = gr.Button(
                        "Another one", visible=False, elem_id="fool-another", min_width=0
                    )
            parts["label"] = gr.Radio(
                list(range(MAX_LABELS)), label="Right is", elem_id="fool-label", elem_classes="seg"
            )
            with gr.Row(elem_id="fool-send"):
                nickname = gr.Textbox(
                    "", label="A nickname, or none", max_length=MAX_NICKNAME, min_width=160,
                    elem_id="fool-nickname",
                )  # fmt: skip
                ask = gr.Button(
                    "Ask the model", variant="primary", elem_id="fool-ask", min_width=140, scale=0
                )
        parts["result"] = gr.HTML(padding=False, elem_id="fool-result")
        parts["confirm"] = gr.HTML(padding=False, elem_id="fool-confirm", js_on_load=PRESSED)
        parts["board"] = gr.HTML(padding=False, elem_id="fool-board")
        held = gr.Textbox("", label="held", visible=False)
        timer = gr.Timer(SECONDS)

    def by_name(shown: Mapping[str, Any]) -> dict[Any, Any]:
        return {parts[name]: value for name, value in shown.items()}

    def open_link(visitor: str, request: gr.Request) -> dict[Any, Any]:
        return by_name(fooling.open_link(visitor, request))

    def another(given: str, request: gr.Request) -> dict[Any, Any]:
        return by_name(fooling.another(given, request))

    def ask_model(
        visitor: str, name: str, text_1: str, text_2: str, label: int | None, request: gr.Request
    ) -> dict[Any, Any]:
        return by_name(fooling.ask(visitor, name, text_1, text_2, label, request))

    def press(event: gr.EventData, visitor: str, request: gr.Request) -> dict[Any, Any]:
        return by_name(fooling.press(event, visitor, request))

    def look(visitor: str, held: str, request: gr.Request) -> dict[Any, Any]:
        return by_name(fooling.look(visitor, request, held))

    every, turn = list(parts.values()), in_turn("fool")
    opened = page.on_open(open_link, page.owner, every, **turn)
    parts["another"].click(another, parts["text_1"], every, **QUIET)
    written = [nickname, parts["text_1"], parts["text_2"], parts["label"]]
    opened.then(None, written, written, js=RESTORE, **QUIET)
    gr.on([part.input for part in written], None, written, None, js=KEEP, **QUIET)
    settled = {**WAITED_FOR, "show_progress_on": [parts["result"]]}
    asked = ask.click(ask_model, [page.owner, *written], every, **settled)
    asked.then(None, written, None, js=KEEP, **QUIET)
    asked.then(None, js=scroll_to("fool-result", "nearest", after=100), **QUIET)
    parts["confirm"].click(press, page.owner, every, **EACH, **turn)
    looked = [parts[name] for name in ("told", "form", "confirm", "board")]
    timer.tick(look, [page.owner, held], looked, js=HELD, **turn)
