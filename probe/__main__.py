"""`python -m probe`: everything the Probe, Batch and Compare tabs do, on the command line."""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch: probing beside a fine-tune

from probe.cli.main import app

if __name__ == "__main__":
    app()
