"""Where cells are computed: dask's workers, who holds a run, what happens to its cells."""
