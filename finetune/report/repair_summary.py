"""The summary of a calibration, a mitigation or a transfer, as command and page write it."""

import json

from probe.runs.run import Json, StoredRun


def repair_summary(run: StoredRun) -> Json:
    """Return what a judged run came to, its plan, its inputs' hashes and its environment."""
    return {
        **run.verdict,
        "plan": run.plan,
        "artefacts": {name: run.artefacts.get(name) for name in ("model", "sets")},
        "environment": run.environment,
    }


def summary_text(summary: Json) -> str:
    """Return a summary as the text of its file."""
    return json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
