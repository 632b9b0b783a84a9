"""For who makes a set: draw the texts, hand out the link, read the results."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import gradio as gr

from probe.data.reading import labelled
from probe.errors import ArgumentError, UserError
from probe.limits import visitor_bounds
from probe.runs.access import ModelAccess
from probe.runs.database import Survey
from probe.runs.store import Store
from probe.surveys.annotation_results import results, write_files
from probe.surveys.annotation_set import (
    AnnotationSet,
    create_set,
    draw_items,
    mode_for,
    set_control,
)
from probe.surveys.survey import change_survey, end_survey, own_survey, own_surveys
from probe.tasks.examples import bundled_examples
from probe.ui.annotation.shown import controls, no_set, own_sets, results_shown, set_head
from probe.ui.html.elements import NOTHING, alert, note
from probe.ui.html.shared_link import shared_link
from probe.ui.measure.choice import BUNDLED, Asked
from probe.ui.tab_outputs import TabOutputs
from probe.ui.visitors.visitor_files import fresh_folder, own_file

MAX_EACH = 100
"""Texts of each change at most: what the paper had of each."""
NO_MODEL = ""


@dataclass
class OwnOutputs(TabOutputs):
    """What the maker of sets sees, in the order of the outputs; what is not given stays."""

    told: Any = field(default_factory=gr.skip)  # Any: markup, values and gradio's updates
    listed: Any = field(default_factory=gr.skip)
    empty: Any = field(default_factory=gr.skip)
    one: Any = field(default_factory=gr.skip)
    chosen: Any = field(default_factory=gr.skip)
    head: Any = field(default_factory=gr.skip)
    link: Any = field(default_factory=gr.skip)
    controls: Any = field(default_factory=gr.skip)
    show: Any = field(default_factory=gr.skip)
    beside: Any = field(default_factory=gr.skip)
    results: Any = field(default_factory=gr.skip)
    files: Any = field(default_factory=gr.skip)


@dataclass(frozen=True)
class OwnSets:
    """What the buttons of who makes sets do."""

    store: Store
    models: ModelAccess

    def show(self, visitor: str, chosen: str = "") -> list[Any]:
        """List the sets; the one that is looked at is hidden where it has been deleted since."""
        try:
            surveys = own_surveys(self.store, visitor)
            shown = OwnOutputs(listed=self._listed(surveys))
        except UserError as trouble:
            return OwnOutputs(told=alert(trouble)).outputs
        if chosen and chosen not in {each.id for each in surveys}:
            shown.one, shown.chosen, shown.empty = gr.Column(visible=False), "", no_set()
        return shown.outputs

    def make(self, *values: Any) -> Iterator[list[Any]]:  # Any: the choice's, and the form's
        """Draw the texts of a set and store it; then show it with its link."""
        try:
            *chosen, mode_name, transforms, each = values
            asked = Asked.read(*chosen)
            visitor, task = asked.visitor, asked.task
            mode, count = mode_for(task, mode_name), int(each or 0)
            if not transforms:
                raise ArgumentError("choose at least one change of the texts")
            if not 1 <= count <= MAX_EACH:
                raise ArgumentError(f"of each change there can be 1 to {MAX_EACH} texts")
            examples, origin = self._examples(asked)
            yield OwnOutputs(told=note("Drawing the texts …")).outputs
            classifier = self.models.get(visitor, asked.model, task)
            items, checks = draw_items(
                task, mode, examples, transforms, count, classifier, asked.seed
            )
            drawn = create_set(
                *(self.store, visitor, task, mode, [*items, *checks]),
                source=origin,
                seed=asked.seed,
            )
        except UserError as trouble:
            yield OwnOutputs(told=alert(trouble)).outputs
            return
        yield self.open(visitor, drawn.survey.id)

    def _examples(self, asked: Asked) -> tuple[Sequence[Any], str]:
        """Return the examples to draw from, and where they are from. Raises FileError."""
        if asked.source == BUNDLED:
            return bundled_examples(asked.task), "the bundled examples"
        file = own_file(asked.visitor, asked.file)
        read = labelled(file, asked.task, asked.reading, bounds=visitor_bounds())
        return read.examples, file.name

    def open(self, visitor: str, survey_id: str, model: str = NO_MODEL) -> list[Any]:
        """Show a set of one's own: its link, how far it is, its controls and results."""
        try:
            annotated = AnnotationSet(own_survey(self.store, visitor, survey_id))
            classifier = self.models.get(visitor, model, annotated.task) if model else None
            found = results(self.store, annotated, classifier)
            names = self.models.names(visitor, annotated.task)
        except UserError as trouble:
            return OwnOutputs(told=alert(trouble)).outputs
        return OwnOutputs(
            told=NOTHING,
            empty=NOTHING,
            listed=self._listed(own_surveys(self.store, visitor)),
            one=gr.Column(visible=True),
            chosen=survey_id,
            head=set_head(self.store, annotated),
            link=shared_link(annotated.address, grants=False, label="Link for who is to answer"),
            controls=controls(annotated),
            show=gr.Checkbox(value=annotated.survey.shown),
            beside=gr.Dropdown(choices=[("none", NO_MODEL), *names], value=model),
            results=results_shown(annotated, found),
            files=gr.Files(visible=False),
        ).outputs

    def refresh(self, visitor: str, survey_id: str, model: str) -> list[Any]:
        """Count anew, beside a model where one is chosen."""
        return self.open(visitor, survey_id, model or NO_MODEL)

    def set_shown(self, visitor: str, survey_id: str, model: str, shown: bool) -> list[Any]:
        """Let respondents see the results, or hide them."""
        return self._changed(
            visitor,
            survey_id,
            model,
            lambda: change_survey(self.store, visitor, survey_id, shown=shown),
        )

    def end(self, visitor: str, survey_id: str, model: str) -> list[Any]:
        """Take no more answers."""
        return self._changed(
            visitor, survey_id, model, lambda: end_survey(self.store, visitor, survey_id)
        )

    def change_control(self, visitor: str, survey_id: str, model: str, said: str) -> list[Any]:
        """Set the answer of a control; `said` is its id and the answer."""
        item, _, answer = said.partition("=")
        return self._changed(
            visitor,
            survey_id,
            model,
            lambda: set_control(self.store, visitor, survey_id, item, answer),
        )

    def _changed(self, visitor: str, survey_id: str, model: str, change: Any) -> list[Any]:
        try:
            change()
        except UserError as trouble:
            return OwnOutputs(told=alert(trouble)).outputs
        return self.refresh(visitor, survey_id, model)

    def export(self, visitor: str, survey_id: str, model: str) -> list[Any]:
        """Write items, votes and results as files of the visitor."""
        try:
            annotated = AnnotationSet(own_survey(self.store, visitor, survey_id))
            classifier = self.models.get(visitor, model, annotated.task) if model else None
            folder = fresh_folder(visitor)
            write_files(self.store, annotated, classifier, folder)
        except UserError as trouble:
            return OwnOutputs(told=alert(trouble)).outputs
        names = ("votes.csv", "items.csv", "results.json")
        files = [str(folder / name) for name in names]
        return OwnOutputs(told=NOTHING, files=gr.Files(files, visible=True)).outputs

    def _listed(self, surveys: Sequence[Survey]) -> Any:
        return own_sets(self.store, [each for each in surveys if each.kind == "annotation"])
