"""The Inoculate tab: its form, what is looked at, its endpoints."""
