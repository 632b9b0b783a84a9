"""The tasks: their texts, labels and rules, and the examples that come with the app."""
