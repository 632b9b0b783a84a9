"""One press that starts the run which would tell what another does not, and its time."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from markupsafe import Markup

from finetune.report.inoculation import NUMERICAL, plan_that_tells, task_of
from finetune.trials.challenges import bundled_sets, challenges
from finetune.trials.datasets import Sets
from finetune.trials.inoculation import InoculationRun, Plan, Selection, check, sets_from
from probe.errors import RunError, UserError
from probe.first_import import first_import
from probe.models.library import AnyModel
from probe.runs.access import require_for_runs
from probe.runs.gallery import OWNER
from probe.runs.run import Json
from probe.runs.store import Store
from probe.text.duration import duration_words
from probe.ui.html.elements import NOTHING

OFFER = Markup(
    '<p class="onward">What would tell{}: <button type="button" class="btn" data-cell="{}">{}'
    "</button> {} on one core.</p>"
)
ON_BUNDLED = ", on the bundled examples"


@dataclass(frozen=True)
class Telling:
    """The run store and the models that are loaded, and what would tell on them."""

    store: Store
    loaded: Callable[[str], AnyModel | None] = lambda name: None

    def job(self, owner: str, run: InoculationRun, selection: Selection) -> tuple[Plan, Sets]:
        """Return the plan and sets of the run that would tell; the gallery's keep no sets.

        Raises RunError where no run would, ModelError where the visitor has not its model.
        """
        plan, task = plan_that_tells(run, selection) if run.verdict else None, task_of(run)
        is_public = run.owner == OWNER
        same = run.plan.challenge in challenges(task) and run.plan.challenge != NUMERICAL
        if plan is None or not (same if is_public else run.owner == owner):
            raise RunError("no run that can be started here would tell more")
        require_for_runs(self.store, owner, plan.model)
        if is_public:
            sets = bundled_sets(plan.challenge, task)
            most = len(sets.challenge_train)
            plan = replace(plan, sizes=tuple(min(size, most) for size in plan.sizes))
        else:
            sets = sets_from(self.store.inputs(run.id))
        check(plan, sets)
        return plan, sets

    def _seconds(self, plan: Plan, sets: Sets) -> float:
        with first_import:
            from finetune.trials.duration import run_seconds

        return run_seconds(plan, sets, self.loaded(plan.model))

    def offer(self, owner: str, run: InoculationRun, selection: Selection) -> Markup:
        """Offer the press with its time, nothing where no run would tell."""
        try:
            plan, sets = self.job(owner, run, selection)
            wait = duration_words(self._seconds(plan, sets))
        except UserError:
            return NOTHING
        where = ON_BUNDLED if run.owner == OWNER else ""
        return OFFER.format(where, run.id, in_words(plan), wait)

    def facts(self, owner: str, run: InoculationRun) -> Json | None:
        """Return the arguments of `/inoculate` that would tell, and their seconds, None of none."""
        try:
            plan, sets = self.job(owner, run, "oracle_lr")
            seconds = self._seconds(plan, sets)
        except UserError:
            return None
        lists = {
            name: ", ".join(f"{n:g}" for n in getattr(plan, name)) for name in ("sizes", "lrs")
        }
        numbers = {name: getattr(plan, name) for name in ("mode", "max_epochs", "patience")}
        return {**lists, **numbers, "seconds": round(seconds, 1)}


def in_words(plan: Plan) -> str:
    """Say what a plan that would tell trains."""
    rates = " and ".join(f"{lr:g}" for lr in plan.lrs)
    several = f", at the rates {rates}" if len(plan.lrs) > 1 else ""
    return f"train all weights on {plan.sizes[0]} examples{several}"
