"""The app without its page: a store and an engine that resume open runs, until they are killed."""

import sys

from finetune.experiments.registry import register_experiments
from probe.runs.engine import Engine
from probe.runs.store import Store

if __name__ == "__main__":
    register_experiments()
    Engine(Store()).resume()
    sys.stdin.read()
