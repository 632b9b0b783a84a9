"""Scored files on the disk: what a person takes away, and what the page shows of it by rows."""
