"""Pieces of HTML that the tabs show."""
