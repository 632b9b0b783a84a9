"""What a model's outputs say."""
