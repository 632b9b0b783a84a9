"""Training loops, their recipes, and what they keep between cells."""
