"""The tasks: their texts, labels and rules, and the examples that come with the app.

A task is a module of this folder that registers it; every module here is imported with the folder.
"""

from importlib import import_module
from pkgutil import iter_modules

for module in iter_modules(__path__):
    import_module(f"{__name__}.{module.name}")
