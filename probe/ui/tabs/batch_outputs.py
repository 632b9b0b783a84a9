"""What the Batch tab shows, and how a scored file fills it, however it was scored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gradio as gr

from probe.analysis.summary import Summary
from probe.data.names import stem_of
from probe.scoring.files import forms_words, precision_words
from probe.statistics import Estimate
from probe.tasks.task import Label, Task
from probe.ui.html.batch.pictures import against_rules
from probe.ui.html.batch.summary import figures, head
from probe.ui.html.elements import NOTHING, note
from probe.ui.html.file_progress import FileProgress, file_progress
from probe.ui.results.batch_tables import ALL, ANY, measures
from probe.ui.results.row_pages import Selection
from probe.ui.tab_outputs import TabOutputs
from probe.ui.tabs.batch_rows import shown_rows


@dataclass
class Outputs(TabOutputs):
    """What the page shows, in the order of the tab's outputs; what is not given stays.

    `results` holds everything after scoring; `paging` is the key
    of the results, `browse` what stands beside rows to turn over, `kept` and `change` choose among
    these, `taken` are the files.
    """

    progress: Any = field(default_factory=gr.skip)  # Any: markup, or one of gradio's updates
    trouble: Any = field(default_factory=gr.skip)
    results: Any = field(default_factory=gr.skip)
    head: Any = field(default_factory=gr.skip)
    halt: Any = field(default_factory=gr.skip)
    figures: Any = field(default_factory=gr.skip)
    rows: Any = field(default_factory=gr.skip)
    pager: Any = field(default_factory=gr.skip)
    label: Any = field(default_factory=gr.skip)
    browse: Any = field(default_factory=gr.skip)
    taken: Any = field(default_factory=gr.skip)
    files: Any = field(default_factory=gr.skip)
    forms: Any = field(default_factory=gr.skip)
    scored: Any = field(default_factory=gr.skip)
    pairs: Any = field(default_factory=gr.skip)
    paging: Any = field(default_factory=gr.skip)
    kept: Any = field(default_factory=gr.skip)
    change: Any = field(default_factory=gr.skip)


@dataclass(frozen=True)
class ScoredFile:
    """A file of which some rows or all are scored: `told` is the summary as JSON.

    `key` is that of the results, `rules` is what each rule reaches, `seconds` what the scoring
    took.
    """

    name: str
    task: Task
    summary: Summary
    told: Mapping[str, Any]  # Any: JSON
    files: list[str]
    key: str
    golds: Sequence[Label]
    rules: Mapping[str, Estimate]
    seconds: float

    @property
    def stem(self) -> str:
        """What the names of pictures begin with."""
        return stem_of(Path(self.name))


def finished(file: ScoredFile, state: FileProgress) -> Outputs:
    """Show what came of a file, with the first page of its rows."""
    task, summary, told = file.task, file.summary, file.told
    table, pager = shown_rows(file.key, Selection(), 1)
    golds = () if task.has_spans else file.golds  # each right answer is another
    rules = against_rules(file.rules, summary.original["accuracy"], file.stem)
    return Outputs(
        progress=file_progress(state),
        trouble=NOTHING,
        results=gr.Column(visible=True),
        head=head(file.name, summary, told["model"], precision_words(told), file.seconds),
        halt=gr.Button(visible=False),
        figures=figures(
            summary, task, file.stem, rules, measures(summary), notes=told.get("notes", ())
        ),
        rows=table,
        pager=pager,
        label=gr.Dropdown(choices=[ANY, *golds], value=ANY),
        browse=gr.Row(visible=True),
        taken=gr.Column(visible=True),
        files=gr.Files(file.files),
        forms=note(forms_words(told["forms"])),
        paging=file.key,
        kept=ALL,
        change="",
    )
