"""Where a model computes and with which numbers."""
