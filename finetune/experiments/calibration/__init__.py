"""Calibration, which does not cure word salad (Gupta et al. 2021, section 4)."""
