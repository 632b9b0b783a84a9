"""Phrase-based translators from premises to hypotheses, one trained on the pairs of each label.

Gupta et al. 2021, section 3.1. Their tables lie in assets/phrases (its README says from what);
`python -m probe pbsmt train` makes them.
"""

from probe.pbsmt.translate import missing

__all__ = ["missing"]
