"""The lessons that fine-tune."""
