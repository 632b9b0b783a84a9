"""Changing models: training, inoculation by fine-tuning, and the runs they leave behind."""
