"""Finished inoculations as figures, sentences, tables and files."""
