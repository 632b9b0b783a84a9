"""Several models on the same examples."""
