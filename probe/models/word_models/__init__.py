"""Decomposable Attention and ESIM, which read whole words."""
