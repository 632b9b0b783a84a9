"""About how long a generalisation takes here, by the pace of an inoculation like its cells."""

from finetune.trials.datasets import Sets
from finetune.trials.generalisation_plan import Plan, SourceData, draw_tests, draw_training
from finetune.trials.inoculation_plan import Plan as InoculationPlan
from finetune.trials.inoculation_time import estimate_seconds as inoculation_seconds
from probe.models.classifier import Classifier


def estimate_seconds(plan: Plan, data: SourceData, classifier: Classifier | None = None) -> float:
    """Return about how many seconds one worker takes for all cells, alone on its core.

    The first condition of the first seed stands for all of them. Raises ModelError, or
    ExperimentError where there is no fast mode or there are too few pairs.
    """
    seed, row = plan.seeds[0], plan.rows[0]
    tests = draw_tests(plan, data, seed)
    drawn = draw_training(plan, data, seed, row, tests)
    tested = tuple(example for examples in tests.values() for example in examples)
    sets = Sets(drawn.dev, data.original, drawn.train, tested, task=data.task)
    one = InoculationPlan(
        plan.model,
        plan.phenomenon,
        plan.sizes,
        plan.lrs,
        (seed,),
        plan.mode,
        plan.batch,
        plan.max_epochs,
        plan.patience,
        plan.max_tokens,
        plan.precision,
        task=plan.task,
        labels=plan.labels,
    )
    return len(set(plan.seeds)) * len(plan.rows) * inoculation_seconds(one, sets, classifier)
