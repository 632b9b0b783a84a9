"""Runs in one list, and what those that are looked at came to: of Train and of the check-up."""
