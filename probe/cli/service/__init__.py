"""The commands for who runs the app."""
