"""A model measured, part by part."""
