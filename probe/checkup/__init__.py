"""The check-up of one model: what the papers would say about it, in one report."""
