"""Dropout that draws one random byte an element.

torch's own draws a float for each, which takes a tenth of the training of a small BiDAF on a
processor and a fifth of a QANet's.
"""

import torch
from torch import nn

LEVELS = 256


class ByteDropout(nn.Module):
    """Zeroes elements in training with a chance rounded to 256ths, and scales up the others."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.kept = round((1 - rate) * LEVELS)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Return values of the same shape."""
        if not self.training or self.kept == LEVELS:
            return values
        words = torch.empty(-(-values.numel() // 8), dtype=torch.int64, device=values.device)
        draws = words.random_(-(2**63), None).view(torch.uint8)[: values.numel()]
        factors = (draws < self.kept).to(values.dtype) * (LEVELS / self.kept)
        return values * factors.view_as(values)
