"""Finished runs as figures, sentences, tables and files."""
