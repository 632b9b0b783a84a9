"""Measure what the lesson Ask or train? shows to who has brought no language model.

    python -m benchmarks.page.asked "FOLDER?prompt=cloze" SmolLM2-135M-Instruct "where it came from"

It writes assets/lessons/asked.json: figures alone. A model of 135 million weights takes half an
hour of one core.
"""

import sys
from dataclasses import replace
from typing import Any

from finetune.trials.inoculation import cells, conclude, verdict_json
from finetune.trials.trial import in_context
from finetune.ui.lessons.ask import KEPT, KEPT_FILE, MEASURES, Kept
from finetune.ui.lessons.inoculate import accuracies, own_plan, own_sets
from probe.models.library import load_any
from probe.models.prompted import Prompted
from probe.tasks.nli import NLI
from probe.ui.lessons.lesson import Compared, Live, Setting


def main(name: str, title: str, origin: str) -> None:
    """Measure a language model and keep its figures under a title."""
    model = load_any(name)
    assert isinstance(model, Prompted)
    model = replace(model, name=title)

    def measured(live: Live) -> Compared:
        nobody: Any = None  # Any: a measure asks no part of the app
        *_, last = live(Setting(NLI, model, "", nobody))
        return last.compared

    figures = {step: measured(live) for step, live in MEASURES.items()}
    plan = own_plan(name)
    sets = own_sets(plan)
    points = [in_context(plan, sets, cell, model) for cell in cells(plan)]
    verdict = verdict_json(conclude(plan, sets, points))["oracle_lr"]
    figures["dose"] = accuracies(verdict, points, title)
    told = f"{title}, {origin}; {model.told}"
    not_here = {
        step: {name: tuple(replace(it, live=False) for it in each) for name, each in own.items()}
        for step, own in figures.items()
    }
    found = Kept(title, told, not_here, verdict["outcome"], verdict["headline"])
    KEPT_FILE.parent.mkdir(exist_ok=True)
    KEPT_FILE.write_bytes(KEPT.dump_json(found, indent=2) + b"\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
