"""Long work: stored, computed on workers, resumed after a restart."""
