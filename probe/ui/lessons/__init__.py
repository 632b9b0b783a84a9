"""Lessons of the Learn tab: predict, run it live, see what the paper says, answer questions."""
