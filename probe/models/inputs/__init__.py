"""Examples as a network takes them."""
