"""What the Inoculate tab shows of a challenge before a run."""

import pytest

from finetune.trials.challenges import catalogue, challenges, template_challenges
from finetune.ui.inoculate.samples import SAMPLES, challenge_choices, samples
from probe.tasks.label_rules import COMPUTED
from probe.tasks.nli import NLI
from probe.transforms import REGISTRY

OF_HYPOTHESES = [
    name
    for name in challenges()
    if name in REGISTRY
    and REGISTRY[name].edited(NLI) == ("hypothesis",)
    and REGISTRY[name].rule is not COMPUTED
]


@pytest.mark.parametrize("challenge", OF_HYPOTHESES)
def test_a_sample_is_shown_against_the_pair_it_was_made_of(challenge: str) -> None:
    lines = samples(challenge).split("<li>")[1:]
    assert lines
    for line in lines:  # the challenge leaves premises alone
        premise = line.partition("/</span>")[0]
        assert "<del" not in premise and "<ins" not in premise


@pytest.mark.parametrize(
    "challenge", ["word_overlap", "hadjsyn", "numerical", *template_challenges()]
)
def test_the_number_of_samples_is_the_number_shown(challenge: str) -> None:
    shown = samples(challenge)
    count = shown.count("<li>")
    assert 0 < count <= SAMPLES
    assert f">{count} pairs of {challenge}" in shown


def test_pairs_that_are_made_anew_show_no_edits() -> None:
    assert "<del" not in samples("numerical") and "<ins" not in samples("templates_dative")


def test_of_several_challenges_the_first_is_shown() -> None:
    assert "of negation" in samples(["negation", "spelling"])
    assert "Choose at least one" in samples([])


def test_an_unknown_challenge_is_answered_by_a_sentence() -> None:
    assert 'role="alert"' in samples("<sideways>") and "<sideways>" not in samples("<sideways>")


def test_every_challenge_can_be_chosen_and_those_of_a_kind_stand_together() -> None:
    choices = challenge_choices()
    assert {name for _, name in choices} == set(challenges())
    family = {entry.name: entry.family for entry in catalogue()}
    kinds = [family[name] for _, name in choices]
    assert kinds == sorted(kinds, key=list(dict.fromkeys(kinds)).index)


def test_a_challenge_is_chosen_by_its_title_with_its_name_beside_it() -> None:
    assert ("Add a negation · negation", "negation") in challenge_choices()
