"""How much the app has to do, and what it takes of its machine."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import gradio as gr
import psutil  # type: ignore[import-untyped]  # has no types

from probe.runs.run import OPEN, AnyRun
from probe.settings import settings

MB, GB = 10**6, 10**9


def load_of(page: gr.Blocks, runs: Sequence[AnyRun]) -> Mapping[str, str]:
    """Return in words what the app does and takes, by what it is about."""
    queue, sessions = page._queue, page.app.state_holder
    app = psutil.Process()
    processes = app.children(recursive=True)
    going = [run for run in runs if run.state in OPEN]
    cells = [cell for run in going for cell in run.cells]
    home = settings().home
    return {
        "memory of the app": f"{app.memory_info().rss / MB:,.0f} MB",
        "its other processes": f"{len(processes)}, {_memory(processes) / MB:,.0f} MB",
        "memory of the machine": f"{psutil.virtual_memory().available / GB:,.1f} GB free",
        "pages remembered": f"{len(sessions.session_data):,} of {sessions.capacity:,}",
        "events": f"{queue.get_active_worker_count()} being answered, {len(queue)} waiting",
        "runs": f"{len(going)} going, {len(runs)} in all",
        "cells of those going": f"{sum(cell.state == 'done' for cell in cells)} of {len(cells)}",
        "disk": f"{_size(home) / MB:,.0f} MB stored, {_free(home) / GB:,.1f} GB free",
    }


def _memory(processes: Sequence[psutil.Process]) -> int:
    """Return the bytes of processes, of which some may have ended meanwhile."""
    total = 0
    for process in processes:
        try:
            total += process.memory_info().rss
        except psutil.Error:
            continue
    return total


def _size(folder: Path) -> int:
    """Return the bytes of the files in a folder, of which some may have gone meanwhile."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size
        except OSError:
            continue
    return total


def _free(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    return shutil.disk_usage(folder).free
