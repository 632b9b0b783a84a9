"""The wheel's dependencies: the lines of requirements.txt, which a Space reads as well."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class RequirementsHook(MetadataHookInterface):
    """Fills in `dependencies`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Read the requirements, their comments left out."""
        lines = Path(self.root, "requirements.txt").read_text(encoding="utf-8").splitlines()
        requirements = [re.sub(r"(^|\s)#.*", "", line).strip() for line in lines]
        metadata["dependencies"] = [requirement for requirement in requirements if requirement]
