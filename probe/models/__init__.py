"""Models: which there are, how they are loaded, and one loaded classifier."""
