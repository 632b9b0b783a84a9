"""Phrase-based translators from premises to hypotheses, one trained on the pairs of each label.

Gupta et al. 2021, section 3.1. Their tables lie in assets/phrases, whose README says what they
were trained on; `python -m recipes.translators` trains them.
"""

from probe.pbsmt.translate import missing

__all__ = ["missing"]
