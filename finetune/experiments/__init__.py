"""The experiments, a folder each."""
