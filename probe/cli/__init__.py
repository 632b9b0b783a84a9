"""The commands of `python -m probe`, one module each; `main` puts them together."""
