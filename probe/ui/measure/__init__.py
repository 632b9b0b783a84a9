"""Measure: texts and models chosen once, and what is asked of them as views."""
