"""The check-up of one model, a part of the Compare tab."""
