"""The reference in docs/reference, written from the registries: `python -m documentation`."""
