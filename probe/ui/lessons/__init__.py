"""Lessons of Learn: predict, run it live, see what the paper says, answer questions."""
