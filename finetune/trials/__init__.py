"""What is trained and measured: inoculation, generalisation, calibration, mitigation, debiasing and
transfer."""
