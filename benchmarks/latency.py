"""Seconds of an answer of Probe, alone and beside a fine-tune.

Run it by `python -m benchmarks.latency`.

Both are measured in one process on the same machine, one after the other: the whole answer of
the tab (prediction, importance, chosen transforms), then the same while the app's own engine
inoculates in its background process.
"""

import os

from probe.native_environment import NATIVE_ENVIRONMENT

os.environ.update(NATIVE_ENVIRONMENT | os.environ)  # as app.py does

import tempfile
import time
from collections.abc import Sequence
from statistics import median

from probe.analysis.transformed import examine
from probe.models.library import AnyModel, load_any
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import Pair
from probe.tasks.reading import READING
from probe.tasks.task import Example
from probe.transforms.registry import ready

PAIR = Pair(
    "The country's history has been turbulent, with three constitutions in ten years and a "
    "civil war that lasted for most of the century before.",
    "The country has had a calm and settled history.",
)
REPEATS = 15
FOUR = ["sort", "shuffle", "drop", "negation"]


def median_seconds(model: AnyModel, example: Example, names: Sequence[str]) -> float:
    """Return the median seconds of one answer."""
    examine(model, example, names)
    durations = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        examine(model, example, names)
        durations.append(time.perf_counter() - start)
    return median(durations)


def measure(models: Sequence[tuple[AnyModel, Example]]) -> dict[str, float]:
    """Return the seconds of an answer of each model with no, four and all transforms."""
    seconds = dict[str, float]()
    for model, example in models:
        able = ready(model.task)
        for title, names in (
            ("prediction and importance", []),
            ("with four transforms", FOUR),
            (f"with all {len(able)} transforms", able),
        ):
            seconds[f"{model.task.name}, {title}"] = median_seconds(model, example, names)
    return seconds


def main() -> None:
    """Print both measurements and their ratios."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["NLI_CLINIC_HOME"] = home
        from finetune.trials.challenges import bundled_sets
        from finetune.trials.inoculation import Plan, run_request
        from finetune.trials.planning import register_experiments
        from probe.runs.engine import Engine
        from probe.runs.run import environment
        from probe.runs.store import Store

        register_experiments()
        question = bundled_examples(READING, "test")[0]  # a passage of 130 words
        models = [(load_any("minilm"), PAIR), (load_any("minilm_reader"), question)]
        idle = measure(models)
        store = Store()
        engine = Engine(store)
        plan = Plan("minilm", "negation", (1000,), (2e-5,), (0,))
        request = run_request(plan, bundled_sets("negation"), environment())
        run = store.create("benchmark", request)
        engine.submit(run.id)
        while not any(cell.progress for cell in store.get(run.id).cells):
            time.sleep(0.5)  # until it trains
        busy = measure(models)
        state = store.get(run.id).state
        engine.cancel(run.id)
        engine.close()
    print(f"the fine-tune was {state} at the end of the second measurement")
    for name, alone in idle.items():
        print(
            f"{name:34} idle {1000 * alone:6.0f} ms   beside a fine-tune "
            f"{1000 * busy[name]:6.0f} ms   ratio {busy[name] / alone:.2f}"
        )


if __name__ == "__main__":
    main()
