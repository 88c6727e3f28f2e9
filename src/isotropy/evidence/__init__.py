"""Is the data symmetric: candidates, tests of the inputs, gains with intervals."""

from isotropy.evidence.candidates import candidates_for
from isotropy.evidence.gain import Gain, paired_gain
from isotropy.evidence.symmetry import Symmetry
from isotropy.evidence.two_sample import TwoSample, holm, two_sample

__all__ = [
    "Gain",
    "Symmetry",
    "TwoSample",
    "candidates_for",
    "holm",
    "paired_gain",
    "two_sample",
]
