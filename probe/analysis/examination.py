"""The whole look at one example: the answer, its importance, and what becomes of it transformed."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from probe.analysis.importance import PAPER, AskedMethod, BaselineToken, Importance, attribute
from probe.analysis.legibility import UNJUDGED, Legibility, legibility
from probe.analysis.transformed import Transformed, explained, require_usable, transform_all
from probe.baselines import BASELINES, baselines_for
from probe.data.rows import require_text
from probe.errors import AttributionError
from probe.models.classifier import Model, Precision, Prediction, resolve
from probe.models.library import AnyModel
from probe.models.reader import SpanPrediction
from probe.models.windows import WindowPrediction, window_words
from probe.tasks.task import Example, Label, Task
from probe.transforms import Options

WINDOW = (
    "The premise is longer than what the model reads at once. It was read in windows of whole "
    "sentences that overlap, and window {} decides: “{}”"
)
SHOWN = 160
"""Characters at either end of a window that is shown."""


def _ends(text: str) -> str:
    """Return the beginning and the end of a text."""
    return text if len(text) <= 2 * SHOWN else f"{text[:SHOWN]} … {text[-SHOWN:]}"


@dataclass(frozen=True)
class Examination:
    """An example, the prediction, the importance of its tokens, and its transformed versions.

    `importance` is None where it is not to be had, and `no_importance` says why; `rules` is what
    the rule baselines of the task answer, `legible` what the model reads of the example, `seconds`
    the time that the prediction took.
    """

    model: Model
    example: Any  # Any: of the task's own dataclass
    prediction: Prediction
    importance: Importance | None
    transformed: tuple[Transformed, ...]
    rules: Mapping[str, Label]
    legible: Legibility = UNJUDGED
    seconds: float = field(default=0.0, compare=False)
    no_importance: str = ""

    @property
    def notes(self) -> list[str]:
        """Sentences on what the model does not read, reads in parts, or may not understand."""
        legible, unit = self.legible, self.model.task.unit
        answer, window = self.prediction, ""
        windows = answer.windows if isinstance(answer, SpanPrediction) else 1
        if isinstance(answer, WindowPrediction):
            text = getattr(self.example, self.model.task.source or "")[answer.start : answer.end]
            window = WINDOW.format(window_words(answer), _ends(text))
        said = {
            f"This {unit} is too long for the model: its end is cut.": legible.cut,
            "The passage is longer than what the model reads at once: it was read in "
            f"{windows} parts that overlap.": windows > 1,
            window: window,
            f"This {unit} is in {legible.language}. Transforms for English leave it as it is, and "
            "a model that has learnt English alone can say little of it.": legible.language,
            f"The model does not know {100 * legible.unknown:.0f} % of the tokens of this {unit}: "
            "its answer says nothing.": legible.mostly_unknown,
        }
        return [sentence for sentence, applies in said.items() if applies]


def examine(
    model: Model,
    example: Example,
    names: Sequence[str] = (),
    seed: int = 0,
    options: Options = Options(),
    method: AskedMethod = "auto",
    baseline: BaselineToken = "pad",
    label: Label | None = None,
    precision: Precision = "fp32",
) -> Examination:
    """Look at one example. `label` is what is explained: given, else gold, else predicted.

    The answer is given where importance is not to be had, too.

    Raises ExampleError where a text is empty, UnknownTransform for a name that is not there,
    Unavailable for a transform that cannot run here.
    """
    require_text(model.task, example)
    for name in names:
        require_usable(name, model)
    began = time.perf_counter()
    prediction = model.predict([example], precision)[0]
    seconds = time.perf_counter() - began
    usual = explained(model.task, [example], [prediction.answer])[0]
    importance, why_not = None, f"{model.name} does not say which tokens its answer rests on"
    if isinstance(model, AnyModel):
        shown = label or usual
        try:
            importance = attribute(model, [example], [shown], method, options.sign, baseline)[0]
        except AttributionError as problem:
            why_not = str(problem)
    # the sub-word transforms read these scores, taken in fp32
    ranks = options.ranks == "shown" or (importance and importance.method == PAPER)
    serves = importance and ranks and importance.label == usual and resolve(precision) == "fp32"
    scored = [importance] if importance and serves else []
    (legible,) = legibility(model, [example])
    transformed = transform_all(
        model,
        [example],
        [prediction],
        names,
        seed,
        options,
        precision,
        scored,
        [legible.foreign],
        method,
        baseline,
    )
    new_examples = tuple(new for rows in transformed.values() for new in rows[0])
    rules = _rules(model.task, example)
    return Examination(
        model,
        example,
        prediction,
        importance,
        new_examples,
        rules,
        legible,
        seconds,
        "" if importance else why_not,
    )


def _rules(task: Task, example: Any) -> dict[str, Label]:
    """Return what the rule baselines answer, but the majority label, which is that of a set."""
    names = [name for name in baselines_for(task) if name != "majority"]
    return {name: BASELINES[name]([example])[0] for name in names}
