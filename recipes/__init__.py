"""What made what ships: `python -m recipes.tagger`, `.translators`, `.bag_of_words`, `.scored`."""
