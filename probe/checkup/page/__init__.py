"""A check-up as a page and as files."""
