"""What can be done with the runs that are looked at: stop, take up, be told, take away, share."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import gradio as gr

from probe.runs.access import share
from probe.runs.run import OPEN, STOPPED, AnyRun
from probe.runs.store import Store
from probe.ui.events import QUIET
from probe.ui.run_tab import scripts
from probe.ui.tab_outputs import TabOutputs


@dataclass
class Controls(TabOutputs):
    """The buttons below runs and the clock that looks at them again; what is not given stays."""

    timer: Any = field(default_factory=gr.skip)  # Any: components, or gradio's updates
    halt: Any = field(default_factory=gr.skip)
    again: Any = field(default_factory=gr.skip)
    tell: Any = field(default_factory=gr.skip)
    take: Any = field(default_factory=gr.skip)
    share: Any = field(default_factory=gr.skip)

    def offer(self, owner: str, runs: Sequence[AnyRun]) -> None:
        """Offer what can be done with the runs; only their owner can change them."""
        own = [run for run in runs if run.owner == owner]
        going = [run for run in own if run.state in OPEN]
        stoppable = any(not run.cancelling for run in going)
        self.timer = gr.Timer(active=any(run.state in OPEN for run in runs))
        self.halt = gr.Button("Stop all" if len(going) > 1 else "Stop", visible=stoppable)
        self.tell = gr.Button(visible=stoppable)
        self.again = gr.Button(visible=any(run.state in STOPPED for run in own) and not going)
        self.take = gr.Button(visible=any(run.results for run in runs))
        self.share = gr.Button(visible=bool(own))


@dataclass(frozen=True)
class Taken:
    """Where what is told and taken away of runs stands: `ended` holds what to tell."""

    ended: gr.Textbox
    files: gr.Files
    link: gr.Textbox
    problem: gr.HTML


def wire_taken(
    controls: Controls,
    taken: Taken,
    make_files: Callable[..., gr.Files],
    share_runs: Callable[..., list[Any]],
    looked_at: Sequence[Any],
    shared: Sequence[Any],
) -> None:
    """Tell how far runs are and that they ended, write their files, and copy their link.

    `looked_at` is given to `make_files`, `shared` to `share_runs`.
    """
    taken.ended.change(None, taken.ended, None, js=scripts.TELL, **QUIET)
    controls.tell.click(None, js=scripts.ask_to_tell(controls.tell.elem_id), **QUIET)
    controls.take.click(make_files, looked_at, taken.files, api_visibility="private")
    given = controls.share.click(share_runs, shared, [taken.problem, taken.link], **QUIET)
    given.then(None, taken.link, taken.link, js=scripts.COPY_LINK, **QUIET)


def change_own(
    act: Callable[[str], None], states: Collection[str], owner: str, runs: Iterable[AnyRun]
) -> None:
    """Do something with a visitor's own runs that are in these states. Raises StoreError."""
    for run in runs:
        if run.owner == owner and run.state in states:
            act(run.id)


def grants_of(store: Store, owner: str, runs: Iterable[AnyRun]) -> list[str]:
    """Let others read a visitor's own runs; return what lets them. Raises StoreError."""
    return [share(store, owner, run.id) for run in runs if run.owner == owner]
