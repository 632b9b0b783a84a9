"""What the Probe tab shows of an example and its changes."""
