"""`python -m benchmarks.verdicts`: the verdicts of a gallery as stored, and by today's rule.

What the files hold was concluded when they were made; the app reads them by the rule of
`finetune.trials.inoculation`. Nothing is trained.
"""

import json
from pathlib import Path
from typing import Annotated

import typer

from finetune.report.inoculation import badge_of, shown_runs
from finetune.trials.registry import register_experiments
from probe.runs.gallery import FOLDER, OWNER


def main(gallery: Annotated[Path, typer.Option(help="Folder of finished runs.")] = FOLDER) -> None:
    """Print a row of Markdown for each inoculation."""
    register_experiments()
    print("| run | as stored | by today's rule | headline |\n|---|---|---|---|")
    for run in shown_runs(gallery):
        name = run.id.removeprefix(f"{OWNER}-")
        stored = json.loads((gallery / f"{name}.json").read_text(encoding="utf-8"))["verdict"]
        found = run.verdict["oracle_lr"]
        print(f"| {name} | {stored['outcome']} | {badge_of(found)} | {found['headline']} |")


if __name__ == "__main__":
    typer.run(main)
