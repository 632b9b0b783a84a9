"""The Repair tab: measure how sure a model is, mend it, see the cost (Gupta et al. 2021)."""
