"""Probe: one example, live."""
