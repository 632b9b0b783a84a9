"""Words, tags, lemmas and synonyms of plain English text."""
