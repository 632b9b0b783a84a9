"""Decomposable Attention, ESIM, BiDAF and QANet, which read whole words."""
