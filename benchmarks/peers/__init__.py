"""Side by side with what people would take instead: `python -m benchmarks.peers`."""
