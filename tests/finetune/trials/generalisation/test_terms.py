"""The words of generalisation in the glossary."""

from finetune.trials.generalisation import OUTCOMES, generalisation_terms
from probe.tasks.nli import NLI
from probe.tasks.task import task_named
from tests.support.glossary import require_plain


def test_outcomes_and_what_varies_are_terms() -> None:
    terms = generalisation_terms(NLI)
    require_plain(terms)
    assert {f"generalisation-{name.replace('_', '-')}" for name in OUTCOMES} <= set(terms)
    assert {"condition", "vary-complexity", "vary-range"} <= set(terms)


def test_templates_vary_in_inference_alone() -> None:
    assert "vary-range" not in generalisation_terms(task_named("sentiment"))
