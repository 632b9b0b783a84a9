"""What the Repair tab shows of runs: of a calibration, a mitigation, a transfer, and of several."""
