"""Whether a repair knows what it was not shown, and what salad teaches (Gupta et al. 2021)."""
