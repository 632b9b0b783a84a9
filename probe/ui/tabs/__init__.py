"""The tabs that look at models, one module each, and what their buttons do."""
