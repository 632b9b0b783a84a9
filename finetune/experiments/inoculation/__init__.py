"""Inoculation by fine-tuning (Liu et al. 2019)."""
