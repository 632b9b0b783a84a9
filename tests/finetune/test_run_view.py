"""What the Inoculate tab shows of a challenge before a run."""

import pytest

from finetune.challenges import challenges
from finetune.ui.run_view import samples
from probe.transforms import REGISTRY

OF_HYPOTHESES = [n for n in challenges() if n in REGISTRY and REGISTRY[n].side == "hypothesis"]


@pytest.mark.parametrize("challenge", OF_HYPOTHESES)
def test_a_sample_is_shown_against_the_pair_it_was_made_of(challenge: str) -> None:
    lines = samples(challenge).split("<li>")[1:]
    assert lines
    for line in lines:  # the challenge leaves premises alone
        premise = line.partition(" ▸ ")[0]
        assert "<del" not in premise and "<ins" not in premise


@pytest.mark.parametrize("challenge", OF_HYPOTHESES)
def test_the_number_of_samples_is_the_number_shown(challenge: str) -> None:
    shown = samples(challenge)
    assert f">{shown.count('<li>')} pairs of this challenge" in shown
