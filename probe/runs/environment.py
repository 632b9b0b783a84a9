"""What a result may depend on beside its plan and inputs."""

import os
import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

from probe.first_import import first_import
from probe.models.classifier import resolve
from probe.runs.run import Json

PACKAGES = ("torch", "transformers", "tokenizers", "numpy", "captum", "nltk", "distributed")


def environment() -> Json:
    """Return versions, precision, processor and, where one computes, the graphics card."""
    with first_import:
        from probe.models.hardware.device import gpus

    versions = {}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    cards = gpus()
    return {
        "python": platform.python_version(),
        **versions,
        "precision": resolve("auto"),
        "machine": platform.machine(),
        "processor": platform.processor(),
        "cores": os.cpu_count(),
        **({"gpu": ", ".join(cards)} if cards else {}),
    }
