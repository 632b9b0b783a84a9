"""Pieces of HTML that the Inoculate tab shows."""
