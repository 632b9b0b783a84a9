"""The parts of Ask people: what it shows, and what its buttons do."""
