"""On what models are compared and checked up: the app's examples, a person's file, one example."""

BUNDLED, FILE, ONE = SOURCES = ("bundled", "file", "one")
