"""The transforms, a module for each family."""
