"""Which tokens matter to a prediction."""
