"""Finished calibrations, mitigations and transfers as figures, tables and files."""
