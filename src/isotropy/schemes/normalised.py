"""Numbers brought to a fixed length, with a derivative that reads them as seldom as it can."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


class _Normalised(torch.autograd.Function):
    """ψ · length / size, and size, the weighted norm of ψ.

    Torch's own derivative of the product and of the norm goes over the numbers eleven times; this
    one seven times (the numbers of a mixture are more than twice as many as its weights).
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(psi: Tensor, length: Tensor, weighting: Tensor) -> tuple[Tensor, Tensor]:
        size = _size(psi, weighting)
        return psi * (length / size), size

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(*inputs, output[1])
        ctx.save_for_forward(*inputs, output[1])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        psi, length, weighting, size = ctx.saved_tensors
        of_result, of_size = grads
        along = torch.dot(of_result, psi)
        pull = of_size / size - along * length / size**3
        by_psi = torch.addcmul(of_result * (length / size), psi, pull * weighting)
        return by_psi, along / size, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        psi, length, weighting, size = ctx.saved_tensors
        of_psi, of_length = tangents[0], tangents[1]
        of_size = (psi * weighting * of_psi).sum() / size
        scale = of_length / size - length * of_size / size**2
        return torch.addcmul(of_psi * (length / size), psi, scale), of_size


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

    >>> normalised(torch.tensor([3.0, 4.0]), torch.tensor(10.0), 1.0).tolist()
    [6.0, 8.0]
    """
    if isinstance(weighting, float):
        weighting = psi.new_tensor(weighting)
    if torch.compiler.is_compiling():
        return psi * (length / _size(psi, weighting))
    result: Tensor = _Normalised.apply(psi, length, weighting)[0]  # type: ignore[no-untyped-call]
    return result


def _size(psi: Tensor, weighting: Tensor) -> Tensor:
    """The weighted norm, never quite zero."""
    if weighting.ndim:
        size = (psi.square() * weighting).sum().sqrt()
    else:
        size = torch.linalg.vector_norm(psi) * weighting.sqrt()
    return size.clamp_min(torch.finfo(psi.dtype).tiny ** 0.25)
