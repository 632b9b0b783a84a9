"""The words of inoculation in the glossary."""

from finetune.trials.inoculation import MEASURES, OUTCOMES, inoculation_terms
from finetune.trials.registry import register_experiments
from probe.glossary import glossary
from probe.tasks.nli import NLI
from tests.support.glossary import require_plain, undefined


def test_outcomes_and_measures_are_terms() -> None:
    terms = inoculation_terms(NLI)
    require_plain(terms)
    assert {f"outcome-{key.replace('_', '-')}" for key in OUTCOMES} <= set(terms)
    assert {"gap", "share-closed"} <= set(terms)
    assert {term.title for term in MEASURES.values()} <= {term.title for term in terms.values()}


def test_the_glossary_has_them_where_experiments_are_known() -> None:
    register_experiments()
    sections = glossary(NLI)
    everything = {id: term for terms in sections.values() for id, term in terms.items()}
    assert len(everything) == sum(map(len, sections.values()))  # no id twice
    assert undefined(everything) == []
