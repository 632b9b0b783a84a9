"""What a model does on examples: importance, transformed texts, files, comparisons."""
