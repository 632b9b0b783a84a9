"""The Probe tab: one example, live."""
