"""Finished generalisations as figures, tables and files."""
