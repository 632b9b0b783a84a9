"""The parts of the Annotate tab: what it shows, and what its buttons do."""
