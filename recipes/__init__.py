"""How what ships was made: `python -m recipes.tagger`, `.translators` and `.bag_of_words`."""
