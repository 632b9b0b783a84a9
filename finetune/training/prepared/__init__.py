"""Models and their examples before training, encoded once."""
