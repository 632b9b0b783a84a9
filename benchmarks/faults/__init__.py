"""Wrong input and breakdowns, and what becomes of them."""
