"""The commands of `python -m probe`, one module each."""
