"""The tabs that change models."""
