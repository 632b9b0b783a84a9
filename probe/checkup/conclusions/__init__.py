"""What the figures of a check-up say."""
