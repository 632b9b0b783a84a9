"""Seconds of an answer of the Probe tab, alone and beside a fine-tune.

Run it by `python -m benchmarks.latency`.

Both are measured in one process on the same machine, one after the other: the whole answer of
the tab (prediction, importance, chosen transforms), then the same while the app's own engine
inoculates in its background process.
"""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as app.py does

import tempfile
import time
from collections.abc import Sequence
from statistics import median

from probe.analysis.examination import examine
from probe.models.classifier import Classifier
from probe.models.library import load
from probe.tasks.nli import NLI, Pair
from probe.transforms.availability import ready

PAIR = Pair(
    "The country's history has been turbulent, with three constitutions in ten years and a "
    "civil war that lasted for most of the century before.",
    "The country has had a calm and settled history.",
)
REPEATS = 15


def median_seconds(classifier: Classifier, names: Sequence[str]) -> float:
    """Return the median seconds of one answer."""
    examine(classifier, PAIR, names)
    durations = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        examine(classifier, PAIR, names)
        durations.append(time.perf_counter() - start)
    return median(durations)


def measure(classifier: Classifier) -> dict[str, float]:
    """Return the seconds of an answer with no, four and all transforms."""
    four = ["sort", "shuffle", "drop", "negation"]
    return {
        "prediction and importance": median_seconds(classifier, []),
        "with four transforms": median_seconds(classifier, four),
        f"with all {len(ready(NLI))} transforms": median_seconds(classifier, ready(NLI)),
    }


def main() -> None:
    """Print both measurements and their ratios."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["NLI_CLINIC_HOME"] = home
        from finetune.experiments.inoculation.challenges import bundled_sets
        from finetune.experiments.inoculation.plan import Plan
        from finetune.experiments.inoculation.run import run_request
        from finetune.experiments.registry import register_experiments
        from probe.runs.compute.engine import Engine
        from probe.runs.environment import environment
        from probe.runs.store import Store

        register_experiments()
        classifier = load("minilm")
        idle = measure(classifier)
        store = Store()
        engine = Engine(store)
        plan = Plan("minilm", "negation", (1000,), (2e-5,), (0,))
        request = run_request(plan, bundled_sets("negation"), environment())
        run = store.create("benchmark", request)
        engine.submit(run.id)
        while not any(cell.progress for cell in store.get(run.id).cells):
            time.sleep(0.5)  # until it trains
        busy = measure(classifier)
        state = store.get(run.id).state
        engine.cancel(run.id)
        engine.close()
    print(f"the fine-tune was {state} at the end of the second measurement")
    for name, alone in idle.items():
        print(
            f"{name:28} idle {1000 * alone:6.0f} ms   beside a fine-tune "
            f"{1000 * busy[name]:6.0f} ms   ratio {busy[name] / alone:.2f}"
        )


if __name__ == "__main__":
    main()
