"""What is too old goes while the app runs, and what cannot be removed now is tried again."""

import os
import time
from pathlib import Path

import pytest

from finetune.trials.datasets import Sets
from finetune.trials.inoculation import Plan, run_request
from probe.runs.access import NOBODY
from probe.runs.store import Store
from probe.ui.visitors.expiry import remove_old
from probe.ui.visitors.visitor_files import HOUR, fresh_folder
from tests.support.pages.visitors import ME
from tests.support.processes.database_trouble import locked

PLAN = Plan("tiny", "negation", (5,), (2e-5,), (0,))


def test_old_files_and_deleted_runs_go_also_after_a_locked_database(
    home: Path, sets: Sets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(home / "gradio"))
    store = Store(patience=0.05)
    store.set_state(store.create(NOBODY, run_request(PLAN, sets)).id, "done")
    folder = fresh_folder(ME)
    os.utime(folder, (time.time() - 25 * HOUR,) * 2)
    with locked(home):
        remove_old(store)
    assert not folder.exists()
    assert len(store.runs()) == 1
    remove_old(store)
    assert store.runs() == ()
