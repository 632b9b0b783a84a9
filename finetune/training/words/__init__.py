"""Models that read whole words, trained from word vectors."""
