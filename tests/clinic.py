"""The app without its page: a store and an engine that go on with what is there, to be killed."""

import sys

from finetune.engine import Engine
from finetune.runs import Store

if __name__ == "__main__":
    Engine(Store()).resume()
    sys.stdin.read()
