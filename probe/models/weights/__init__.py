"""The files of weights: found, told apart, shared, written."""
