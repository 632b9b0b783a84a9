"""What a tab's handlers return: a value for each of its outputs, in their order."""

from typing import Any


class TabOutputs:
    """The base of a tab's dataclass of outputs, whose fields stand in the order of the tab's."""

    @property
    def outputs(self) -> list[Any]:  # Any: markup, values and gradio's updates
        """The values in their order."""
        return list(vars(self).values())
