"""How a request is answered: what it may ask for, how long it takes, and once for a whole class."""
