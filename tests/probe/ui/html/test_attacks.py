"""No text that a person or a model brings becomes markup, whichever function shows it."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from markupsafe import Markup

from finetune.ui.inoculate import samples
from probe.analysis.batch import score
from probe.analysis.comparison import Row
from probe.analysis.hans import Profiled, profile
from probe.analysis.smallest import smallest
from probe.analysis.summary import summarise
from probe.analysis.transformed import examine
from probe.data.rows import guess, read_rows
from probe.data.source import read_table
from probe.models.classifier import Prediction
from probe.scoring.files import ScoringRequest, part_of
from probe.tasks.nli import LABELS, NLI, Pair
from probe.text.difference import edits
from probe.ui.html import elements, prediction
from probe.ui.html import examination as probe
from probe.ui.html.edits import diff
from probe.ui.html.examination import full_view
from probe.ui.links import (
    link_to_example,
    link_to_inoculation,
    link_to_measure,
    link_to_model,
)
from probe.ui.measure import compared, figures, hans, rows, texts
from probe.ui.measure.progress import FileProgress, file_progress
from probe.ui.tabs import mine
from probe.ui.visitors.belongings import Belonging
from tests.support.models.tiny_models import shared
from tests.support.pages.attacks import ATTACKS
from tests.support.pages.markup import require_ours
from tests.support.pages.visitors import ME, page_models, uploaded

TRANSFORMS = ("reverse", "copyone", "negation", "sort+drop")
"""The plan's fields that take no text."""
ELEMENTS: dict[str, Callable[[str], Markup]] = {
    "note": elements.note,
    "alert": elements.alert,
    "title": elements.title,
    "link": lambda attack: elements.link(link_to_model(attack), attack),
    "meter": lambda attack: elements.meter(attack, 0.5),
    "twin": lambda attack: elements.twin(attack, elements.note(attack)),
    "heads": lambda attack: elements.table(attack, elements.heads([attack]), Markup("")),
    "sheet": lambda attack: elements.sheet(pd.DataFrame({attack: [attack, None]}), attack),
    "label": prediction.label_name,
    "bar": lambda attack: prediction.bar(Prediction(attack, (0.6, 0.4), (attack, "other"))),
    "verdict": lambda attack: prediction.verdict(Prediction(attack, (1.0,), (attack,))),
    "legend": lambda attack: prediction.legend(Prediction(attack, (1.0,), (attack,))),
    "diff": lambda attack: diff(edits(attack, f"not {attack}")),
    "samples": samples,
    "mine": lambda attack: mine.things("runs", [thing(attack)], attack),
    "question": lambda attack: mine.question(attack, attack, attack),
    "own model": lambda attack: mine.bring(page_models(), ME, attack, attack)[0],
}


def thing(attack: str) -> Belonging:
    """Return something that is kept, all of whose words are the text."""
    opens = {attack: link_to_model(attack)}
    return Belonging(attack, attack, attack, attack, opens, ("files", "delete"), 0.5)


def test_an_element_shows_it_as_text() -> None:
    for show in ELEMENTS.values():
        for attack in ATTACKS:
            require_ours(show(attack))


def test_a_text_is_shown_whole() -> None:
    for attack in ATTACKS:
        for show in (elements.note, elements.title):
            assert require_ours(show(attack)).text == attack
        assert require_ours(elements.alert(attack)).text in (attack, f"{attack}.")


def test_an_attribute_holds_it_whole() -> None:
    for attack in ATTACKS:
        shown = require_ours(elements.meter(attack, 0.5))
        assert ("aria-label", attack) in shown.attributes


def test_a_link_leads_to_this_page_only() -> None:
    for attack in ATTACKS:
        pair = Pair(attack, attack)
        for address in (
            link_to_example(NLI, pair, attack),
            link_to_model(attack),
            link_to_measure("compare", NLI, [attack, attack], text=attack),
            link_to_inoculation(attack, attack),
        ):
            (href,) = (
                value for name, value in require_ours(elements.link(address, "x")).attributes
            )
            assert href == address
            assert not set(address) & set("<>\"' ")


def test_a_pair_is_examined_and_shown_as_text() -> None:
    for attack in ATTACKS:
        examination = examine(shared("bert"), Pair(attack, f"It is {attack}"), TRANSFORMS)
        answer = require_ours(probe.answer(examination))
        assert "".join(attack.split()) in "".join(answer.text.split()) or "token" in answer.text
        require_ours(probe.rows(examination))
        for transformed in examination.transformed[:2]:
            shown = full_view(
                transformed,
                examination.prediction,
                examination.importance,
                examination.transformed[:1],
                attack,
            )
            require_ours(shown)
        require_ours(compared.side_by_side([examination]))
    for attack in ATTACKS[:2]:
        found = smallest(shared("bert"), Pair(attack, f"It is {attack}"), ["reduce"], budget=20)
        require_ours(probe.flips(found, NLI))


def test_compared_rows_are_shown_as_text() -> None:
    for attack in ATTACKS:
        first, second = (Prediction(label, (0.8, 0.1, 0.1), LABELS) for label in LABELS[:2])
        pressed, several = (
            compared.Pressed("key", cell="gold|all"),
            [
                Row(0, NLI, Pair(attack, attack, "entailment"), (first, second), "", (False, True)),
                Row(1, NLI, error=attack),
            ],
        )
        names = [attack, f"{attack} too"]
        for shown in (
            compared.sentence(several, names),
            compared.tiles(several, names, "fp32"),
            compared.parts(several, names, pressed),
            compared.tests(several, names),
            compared.matrix(several, names, pressed),
            compared.numbers(several, names, pressed),
            compared.rows_of(several[:1], names, pressed),
        ):
            require_ours(shown)


def test_a_file_is_previewed_and_scored_as_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for attack in ATTACKS:
        monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
        path = tmp_path / "attack.jsonl"
        names = ("premise", "hypothesis", "label", attack)
        path.write_text(json.dumps(dict.fromkeys(names, attack)), encoding="utf-8")
        place = str(uploaded(path))
        named = texts.show_file(ME, NLI.name, place)
        shown = [part for part in named if isinstance(part, Markup)]
        assert len(shown) == 3
        for part in shown:
            require_ours(part)
        table = read_table(path)
        classifier = shared("bert")
        columns = guess([str(name) for name in table.frame.columns], NLI)
        scored = [row for chunk in score(table, columns, classifier) for row in chunk.rows]
        part = part_of(scored, classifier, request := ScoringRequest(columns))
        seen = rows.part_view(read_rows(table, columns, NLI), part, NLI, request)
        require_ours(rows.rows_table(seen, NLI, [], attack, attack))
        summary = summarise(scored, [], NLI)
        require_ours(figures.head(attack, summary, attack, "fp32", 1.0))
        require_ours(figures.figures(summary, NLI, attack, key=attack))
        for state in ("waiting", "starting", "scoring", "finished", "stopped"):
            require_ours(file_progress(FileProgress(attack, state, why=attack)))


@pytest.fixture(scope="module")
def profiled() -> list[Profiled]:
    return list(profile(shared("bert"), 1, 0))


def test_a_profile_is_shown_as_text(profiled: list[Profiled]) -> None:
    for attack in ATTACKS:
        profiles = {attack: profiled}
        for shown in (
            hans.sentences(profiles),
            hans.progress(profiles, 1, 1),
            hans.sub_cases(profiles),
        ):
            require_ours(shown)
