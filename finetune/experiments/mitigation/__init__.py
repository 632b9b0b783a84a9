"""Models that say when a text is no example of their task (Gupta et al. 2021, section 5)."""
