"""Side-by-side measurements: each is one command that prints ratios."""
