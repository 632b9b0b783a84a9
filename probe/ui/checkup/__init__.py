"""The check-up of one model, a view of Measure."""
