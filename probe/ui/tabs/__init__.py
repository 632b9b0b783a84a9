"""The places that look at models, and what their buttons do."""
