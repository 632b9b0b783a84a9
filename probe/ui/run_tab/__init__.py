"""A tab with a form at the left, which starts runs, and what runs came to at the right."""
