"""Rows of files as they are read, form by form."""
