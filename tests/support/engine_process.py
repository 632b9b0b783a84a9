"""The app without its page: a store and an engine that go on with what is there, to be killed."""

import sys

from finetune.experiments.registry import register_experiments
from probe.runs.engine import Engine
from probe.runs.store import Store

if __name__ == "__main__":
    register_experiments()
    Engine(Store()).resume()
    sys.stdin.read()
