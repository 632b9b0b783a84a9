"""What the Compare tab shows of several models."""
