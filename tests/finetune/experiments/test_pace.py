"""How fast a model trains here, as a trial measures it."""

from dataclasses import replace

import pytest
import torch

from finetune.trials.base import Training
from finetune.trials.pace import mean_characters, trial, typical
from probe.analysis.pace import characters, sample
from probe.models.classifier import Classifier
from probe.tasks.nli import NLI, Pair
from tests.support.runs.clean_source import clean_source

PAIR = Pair("12345", "67890", "neutral")  # ten characters
LONGER = Pair("123456", "678901", "neutral")
EXAMPLES = clean_source().pool


@pytest.mark.parametrize("mode", ["full", "fast"])
def test_a_trial_leaves_the_model_as_it_was(mode: str, classifier: Classifier) -> None:
    before = {name: it.clone() for name, it in classifier.model.state_dict().items()}
    pace = trial(Training(1e-3, mode), EXAMPLES, classifier)  # type: ignore[arg-type]  # parametrised
    assert pace.train > 0
    assert pace.predict > 0
    assert (pace.prepare > 0) is (mode == "fast")
    after = classifier.model.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert all(weight.grad is None for weight in classifier.model.parameters())


def test_characters_are_those_of_all_texts_of_all_sets() -> None:
    assert characters(NLI, [PAIR, PAIR], [LONGER]) == 32
    assert mean_characters(NLI, [PAIR, LONGER]) == 11


def test_a_sample_comes_from_all_over() -> None:
    assert sample([replace(PAIR, id=str(n)) for n in range(16)], 8)[-1].id == "14"
    assert len(sample([PAIR] * 3, 8)) == 3


def test_a_batch_is_tried_with_examples_of_middling_length() -> None:
    examples = [Pair("x" * n, "", "neutral") for n in (1, 9, 2, 8, 5, 4, 6)]
    assert [len(each.premise) for each in typical(NLI, examples, 3)] == [4, 5, 6]
    assert len(typical(NLI, examples, 8)) == 7
