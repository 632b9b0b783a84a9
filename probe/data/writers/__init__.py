"""Tables written row by row, in every form that is read."""
