"""The Learn tab: lessons, and what a class guesses."""
