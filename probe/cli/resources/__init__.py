"""The commands that make what transforms and baselines need: tables and weights."""
