"""The files that the starter of the courses on data set artefacts leaves, as far as people read on.

These are a model at each `checkpoint-STEP`, and what the last one answers to a set:
`eval_predictions.jsonl` and `eval_metrics.json` (Durrett's fp-dataset-artifacts, run.py).
"""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from torch import tensor
from torch.nn.functional import cross_entropy

from finetune.training.checkpoints import save_model
from probe.errors import TrainingError, write_whole
from probe.models.classifier import Precision
from probe.models.library import Trainee
from probe.models.reader import Reader
from probe.models.weights import TRAINER_STATE
from probe.tasks.reading import best, same_span, token_f1

ANSWERS, METRICS = "eval_predictions.jsonl", "eval_metrics.json"


def keep_model(
    model: Trainee, out: Path, step: int, epoch: float, scores: Mapping[str, float]
) -> None:
    """Write the model as it is at a step, with what was measured then."""
    folder = out / f"checkpoint-{step}"
    save_model(model, folder)
    noted = {f"eval_{name}": score for name, score in scores.items()}
    rows = [{"epoch": epoch, "step": step, **noted}] if noted else []
    state = {"epoch": epoch, "global_step": step, "log_history": rows}
    write_whole(folder / TRAINER_STATE, json.dumps(state, indent=2).encode())


def write_answers(
    model: Trainee,
    examples: Sequence[Any],  # Any: the task's own dataclass
    precision: Precision,
    out: Path,
) -> Mapping[str, float]:
    """Write what a model answers to a set, and return its measures; those of spans are in percent.

    Labels are numbered as the model's outputs, and stand in words beside. Raises TrainingError for
    a gold label that is none of them.
    """
    begun = time.monotonic()
    rows, measures = (_spans if isinstance(model, Reader) else _labels)(model, examples, precision)
    seconds = time.monotonic() - begun
    measures |= {
        "eval_runtime": round(seconds, 4),
        "eval_samples_per_second": round(len(rows) / max(seconds, 1e-9), 3),
    }
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    write_whole(out / ANSWERS, "".join(lines).encode())
    write_whole(out / METRICS, json.dumps(measures).encode())
    return measures


Answered = tuple[list[dict[str, Any]], dict[str, float]]  # Any: JSON values


def _spans(reader: Any, questions: Sequence[Any], precision: Precision) -> Answered:
    # Any: a Reader, and Questions
    answers = [each.label for each in reader.predict(questions, precision)]
    rows = [
        {
            "id": question.id,
            "context": question.passage,
            "question": question.question,
            "answers": {
                "text": [span.text for span in question.answers],
                "answer_start": [span.start for span in question.answers],
            },
            "predicted_answer": answer,
        }
        for question, answer in zip(questions, answers, strict=True)
    ]
    measured = {
        name: 100 * fmean(
            best(row["predicted_answer"], question.references, score)
            for row, question in zip(rows, questions, strict=True)
        )
        for name, score in (("eval_exact_match", same_span), ("eval_f1", token_f1))
    }  # fmt: skip
    return rows, measured


def _labels(classifier: Any, examples: Sequence[Any], precision: Precision) -> Answered:
    # Any: a Classifier, and examples of its task
    numbers = {label: at for at, label in enumerate(classifier.labels)}
    if other := next((each.gold for each in examples if each.gold not in numbers), None):
        raise TrainingError(
            f"the starter's files number the labels {', '.join(numbers)}, and the set to answer "
            f"has {other}"
        )
    scores = classifier.unscaled(classifier.token_rows(examples), precision).cpu()
    golds = tensor([numbers[each.gold] for each in examples])
    rows = [
        {
            **classifier.task.texts(example),
            "label": numbers[example.gold],
            "gold_label": example.gold,
            "predicted_scores": row.tolist(),
            "predicted_label": int(row.argmax()),
        }
        for example, row in zip(examples, scores, strict=True)
    ]
    right = (scores.argmax(1) == golds).double()
    loss = float(cross_entropy(scores, golds))
    return rows, {"eval_loss": loss, "eval_accuracy": float(right.mean())}
