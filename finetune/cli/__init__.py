"""The commands of `python -m finetune`, one module each; `main` puts them together."""
