"""What the scores of a translation weigh, part of which a person may choose."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DecoderWeights:
    """Weights of a translation's scores beside its phrases' own scores.

    Each target word adds `word`, each phrase adds `phrase`. A phrase that starts d words from the
    end of the one before costs `distortion` * d; d is at most `distortion_limit`, 0 keeps the
    order.
    """

    language_model: float
    distortion: float
    distortion_limit: int
    word: float = 1.0
    phrase: float = 0.2
