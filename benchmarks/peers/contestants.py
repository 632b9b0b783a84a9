"""What each contestant does, in a process and an environment of its own.

    python benchmarks/peers/contestants.py NAME FOLDER

FOLDER has a model; standard input has a line of JSON for each job, and standard output the
processor's seconds that it took and what came of it, as a line each. Nothing of the project is
imported but by its own contestant and by what borrows its tagger: the others have other versions
of what both need.
"""

import contextlib
import json
import os
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

os.environ.update(OMP_NUM_THREADS="1", TOKENIZERS_PARALLELISM="false", HF_HUB_OFFLINE="1")
warnings.filterwarnings("ignore")

Work = Callable[[], Any]  # Any: what is sent as JSON
Job = dict[str, Any]  # Any: JSON
BATCH, STEPS = 16, 20
"""Texts that are explained together by hand, and the steps of every path."""


def opened(folder: str) -> tuple[Any, Any]:  # Any: as transformers has it
    """Return a model and its tokenizer."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(folder)
    return model.eval(), AutoTokenizer.from_pretrained(folder)


def of_words(encoded: Any, row: int, scores: Iterable[float]) -> list[float]:
    """Return the scores of a row's tokens that stand in its texts."""
    texts = encoded.sequence_ids(row)
    return [float(score) for text, score in zip(texts, scores, strict=False) if text is not None]


OWN_NAMES = {
    "misspell": "spelling",
    "synonyms": "hnounsyn+hverbsyn+hadjsyn+hadvsyn",
    "antonyms": "hnounant+hverbant+hadjant+hadvant",
}
"""This project's transforms that come nearest to those of others."""


def ours(folder: str, job: Job) -> Work:
    """Return what this project does."""
    from probe.analysis.importance import attribute
    from probe.analysis.transformed import ImportanceReader
    from probe.models.library import load
    from probe.tasks.nli import NLI, Pair
    from probe.transforms import Options, apply

    pairs = [Pair(*pair) for pair in job["pairs"]]
    if job["kind"] == "score":
        from typer.testing import CliRunner

        from probe.cli.main import app

        words = ["batch", job["file"], "--out", job["out"], "--model", folder]

        def score() -> Any:
            result = CliRunner().invoke(app, [*words, "--precision", job["name"]])
            assert result.exit_code == 0, result.output
            return column(job["out"], "prediction")

        return score
    model = load(folder)
    if job["kind"] == "transform":
        read = ImportanceReader(model, Options())
        if job["name"] == "drop":
            read(pairs)  # which words matter is known before
        name = OWN_NAMES.get(job["name"], job["name"])

        def change() -> Any:
            return [
                row[0].example.hypothesis for row in apply(name, pairs, NLI, 0, Options(), read)
            ]

        return change

    def explain() -> Any:
        found = attribute(model, pairs, job["labels"], job["name"], steps=STEPS, most_steps=STEPS)
        return [
            [token.score for field in NLI.fields for token in each.tokens(field)] for each in found
        ]

    return explain


def pandas(folder: str, job: Job) -> Work:
    """Return what a user of pandas and transformers' pipeline writes."""
    import pandas
    import torch
    from transformers import pipeline

    dtype = torch.bfloat16 if job["name"] == "bf16" else torch.float32
    pipe = pipeline("text-classification", model=folder, device="cpu", dtype=dtype)

    def score() -> Any:
        frame = pandas.read_csv(job["file"])
        inputs = [
            {"text": premise, "text_pair": hypothesis}
            for premise, hypothesis in zip(frame.premise, frame.hypothesis, strict=True)
        ]
        answers = pipe(inputs, batch_size=32)
        frame["prediction"] = [answer["label"] for answer in answers]
        frame["confidence"] = [answer["score"] for answer in answers]
        frame.to_csv(job["out"], index=False)
        return column(job["out"], "prediction")

    return score


def column(path: str, name: str) -> list[str]:
    """Return a column of a file."""
    import csv

    with open(path, newline="", encoding="utf-8") as file:
        return [row[name] for row in csv.DictReader(file)]


def captum(folder: str, job: Job) -> Work:
    """Return what a user of Captum writes for log p of a label."""
    import torch
    from captum.attr import FeatureAblation, LayerGradientXActivation, LayerIntegratedGradients

    model, tokenizer = opened(folder)
    numbers = [model.config.label2id[label] for label in job["labels"]]
    words = model.get_input_embeddings()

    def f(ids: Any, others: Any, mask: Any, targets: Any) -> Any:
        logits = model(input_ids=ids, token_type_ids=others, attention_mask=mask).logits
        targets = targets.repeat_interleave(len(logits) // len(targets))
        return logits.log_softmax(-1).gather(1, targets[:, None])[:, 0]

    def batches(size: int) -> Iterable[tuple[Any, Any, Any]]:
        for start in range(0, len(numbers), size):
            several = job["pairs"][start : start + size]
            encoded = tokenizer(
                *map(list, zip(*several, strict=True)), return_tensors="pt", padding=True,
                truncation=True,
            )  # fmt: skip
            others = (
                encoded["token_type_ids"], encoded["attention_mask"],
                torch.tensor(numbers[start : start + size]),
            )  # fmt: skip
            yield encoded, encoded["input_ids"], others

    def gradients() -> Any:
        method = LayerGradientXActivation(f, words)
        return [
            of_words(encoded, row, scores)
            for encoded, ids, others in batches(BATCH)
            for row, scores in enumerate(
                method.attribute(ids, additional_forward_args=others).sum(-1).tolist()
            )
        ]

    def without(encoded: Any, ids: Any) -> Any:
        gone = torch.tensor([text is not None for text in encoded.sequence_ids(0)])
        return torch.where(gone, tokenizer.pad_token_id, ids)

    def integrated() -> Any:
        method, found = LayerIntegratedGradients(f, words), []
        for encoded, ids, others in batches(1):
            scores = method.attribute(
                ids, without(encoded, ids), additional_forward_args=others, n_steps=STEPS
            )
            found.append(of_words(encoded, 0, scores.sum(-1)[0].tolist()))
        return found

    def left_out() -> Any:
        method, found = FeatureAblation(f), []
        for encoded, ids, others in batches(1):
            with torch.no_grad():
                scores = method.attribute(
                    ids, without(encoded, ids), additional_forward_args=others,
                    perturbations_per_eval=BATCH,
                )  # fmt: skip
            found.append(of_words(encoded, 0, scores[0].tolist()))
        return found

    return {
        "gradient_x_input": gradients, "integrated_gradients": integrated, "occlusion": left_out,
    }[job["name"]]  # fmt: skip


def interpreto(folder: str, job: Job) -> Work:
    """Return what a user of interpreto writes."""
    import torch
    from interpreto import (  # type: ignore[import-not-found]  # in its own environment
        Granularity,
        IntegratedGradients,
        Occlusion,
        Saliency,
    )
    from interpreto.attributions import InferenceModes  # type: ignore[import-not-found]  # likewise

    model, tokenizer = opened(folder)
    kind, more = {
        "gradient_x_input": (Saliency, {"input_x_gradient": True}),
        "integrated_gradients": (IntegratedGradients, {"n_perturbations": STEPS}),
        "occlusion": (Occlusion, {}),
    }[job["name"]]
    explainer = kind(
        model, tokenizer, batch_size=BATCH, granularity=Granularity.ALL_TOKENS,
        inference_mode=InferenceModes.LOG_SOFTMAX, **more,
    )  # fmt: skip
    numbers = [model.config.label2id[label] for label in job["labels"]]

    def explain() -> Any:
        inputs = [
            tokenizer(*pair, return_tensors="pt", return_offsets_mapping=True, truncation=True)
            for pair in job["pairs"]
        ]
        found = explainer(inputs, torch.tensor(numbers)[:, None])
        return [
            of_words(encoded, 0, each.attributions.flatten().tolist())
            for encoded, each in zip(inputs, found, strict=True)
        ]

    return explain


def ferret(folder: str, job: Job) -> Work:
    """Return what a user of ferret writes; it takes one text, so that a separator joins a pair."""
    from ferret.explainers.gradient import (  # type: ignore[import-not-found]  # in its own one
        GradientExplainer,
        IntegratedGradientExplainer,
    )

    model, tokenizer = opened(folder)
    kinds = {
        "gradient_x_input": (GradientExplainer, {}),
        "integrated_gradients": (IntegratedGradientExplainer, {"call_args": {"n_steps": STEPS}}),
    }
    kind, more = kinds[job["name"]]
    explainer = kind(model, tokenizer)
    special = set(tokenizer.all_special_tokens)

    def explain() -> Any:
        found = []
        for pair, label in zip(job["pairs"], job["labels"], strict=True):
            text, target = f" {tokenizer.sep_token} ".join(pair), model.config.label2id[label]
            each = explainer(text, target, **more)
            scored = zip(each.tokens, each.scores, strict=True)
            found.append([float(score) for token, score in scored if token not in special])
        return found

    return explain


def transformers_interpret(folder: str, job: Job) -> Work:
    """Return what a user of transformers-interpret writes."""
    from transformers_interpret import (  # type: ignore[import-not-found]  # in its own environment
        PairwiseSequenceClassificationExplainer,
    )

    explainer = {"integrated_gradients": PairwiseSequenceClassificationExplainer}[job["name"]](
        *opened(folder)
    )
    special = set(explainer.tokenizer.all_special_tokens)

    def explain() -> Any:
        found = []
        for (first, second), label in zip(job["pairs"], job["labels"], strict=True):
            scored = explainer(first, second, class_name=label, n_steps=STEPS)
            found.append([float(score) for token, score in scored if token not in special])
        return found

    return explain


def nlpaug(folder: str, job: Job) -> Work:
    """Return what a user of nlpaug writes; WordNet is that of this machine.

    Words are tagged by this project where NLTK's tagger is not on the machine: its data is fetched.
    """
    import nltk
    import nltk.corpus

    from probe.text.tagger import FOLDER, load, tags
    from probe.text.wordnet import reader

    nltk.corpus.wordnet = reader()
    try:
        nltk.pos_tag(["word"])
    except LookupError:
        tagger = load(FOLDER)  # which remembers nothing, as NLTK's does not
        nltk.pos_tag = lambda words: list(zip(words, tags(words, tagger), strict=True))
    import nlpaug.augmenter.word as augmenters  # type: ignore[import-not-found]  # in its own one

    changer = {
        "shuffle": lambda: augmenters.RandomWordAug(action="swap", aug_p=1.0, aug_max=None),
        "misspell": lambda: augmenters.SpellingAug(aug_max=1),
        "drop": lambda: augmenters.RandomWordAug(action="delete", aug_p=0.5, aug_max=None),
        "synonyms": lambda: augmenters.SynonymAug(aug_p=1.0, aug_max=None),
        "antonyms": lambda: augmenters.AntonymAug(aug_p=1.0, aug_max=None),
    }
    random.seed(0)
    change = changer[job["name"]]()

    def changed() -> Any:
        return [(change.augment(hypothesis) or [""])[0] for _, hypothesis in job["pairs"]]

    return changed


CONTESTANTS: dict[str, Callable[[str, Job], Work]] = {
    "ours": ours,
    "pandas": pandas,
    "captum": captum,
    "interpreto": interpreto,
    "ferret": ferret,
    "transformers-interpret": transformers_interpret,
    "nlpaug": nlpaug,
}


def main(name: str, folder: str) -> None:
    """Do the jobs that are asked for; the first time that one is asked for is not counted."""
    import torch

    torch.set_num_threads(1)
    answers, ready = sys.stdout, dict[str, Work]()
    for line in sys.stdin:
        job = json.loads(line)
        with contextlib.redirect_stdout(sys.stderr):
            try:
                if line not in ready:
                    ready[line] = CONTESTANTS[name](folder, job)
                    few: Sequence[Any] = job["pairs"][:4]
                    CONTESTANTS[name](folder, {**job, "pairs": few, "labels": job["labels"][:4]})()
                began = time.process_time()
                found = ready[line]()
                said: Job = {"seconds": time.process_time() - began, "found": found}
            except KeyError as lacking:
                said = {"lacks": str(lacking)}
            except Exception as problem:  # whatever another's code raises is told
                said = {"problem": f"{type(problem).__name__}: {problem}"}
        print(json.dumps(said), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
