"""`python -m finetune`: training and inoculation on the command line."""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch: probing beside a fine-tune

from finetune.cli.main import app

if __name__ == "__main__":
    app()
