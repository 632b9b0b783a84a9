"""The Generalise tab: train on one kind of example, test on each (Rozen et al. 2019)."""
