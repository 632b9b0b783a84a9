"""Pieces of HTML that the places show."""
