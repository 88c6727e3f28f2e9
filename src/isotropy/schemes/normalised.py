"""Numbers brought to a fixed length, with a derivative that reads them as seldom as it can."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def normalised(
    psi: Float[Tensor, " numbers"],
    length: Float[Tensor, ""],
    weighting: Float[Tensor, "..."] | float,
) -> Float[Tensor, " numbers"]:
    """ψ · length / ‖ψ‖, where the norm is that of the weight ψ stands for.

    Args:
        psi: the numbers.
        length: what the norm is to be.
        weighting: how many entries every number stands for, or one count for all.
    """
    if isinstance(weighting, float):
        size = torch.linalg.vector_norm(psi) * weighting**0.5
    else:
        size = (psi.square() * weighting).sum().sqrt()
    scale: Tensor = length / size.clamp_min(torch.finfo(psi.dtype).tiny)
    return psi * scale
