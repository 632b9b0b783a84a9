"""What the Batch tab shows of a scored file."""
