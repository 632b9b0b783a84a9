"""`python -m probe`: everything the Probe, Batch and Compare tabs do, on the command line."""

import os

from probe.native_environment import NATIVE_ENVIRONMENT

os.environ.update(NATIVE_ENVIRONMENT | os.environ)  # before torch is imported

from probe.cli.main import app

if __name__ == "__main__":
    app()
