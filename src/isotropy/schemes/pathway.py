"""Residual pathway priors: a tied weight and beside it a freer one, which is penalised."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor

from isotropy.errors import InputError
from isotropy.schemes.blend import Blend
from isotropy.schemes.partition import Partition


class PathwayScheme(Blend):
    """W = Σ_G W_G, with a penalty on some of the W_G (Finzi et al. 2021).

    Usually D4 free and C1 penalised: the symmetric part is cheap, and what breaks the symmetry has
    to earn its place. Training adds the penalty to the loss; weight decay, if there is any, comes
    on top and shrinks all W_G alike.

    Args:
        partitions: by the name of every group, what is one number under it.
        l2: the penalty on the squared norm of every penalised group's weight.

    >>> halves = Partition.from_labels([[0, 1], [1, 0]])
    >>> both = {"swap": halves, "none": Partition.discrete((2, 2))}
    >>> scheme = PathwayScheme(both, {"none": 1e-6}).reset(1.0)
    >>> scheme.free_parameters
    6
    """

    def __init__(self, partitions: Mapping[str, Partition], l2: Mapping[str, float]) -> None:
        super().__init__(partitions)
        unknown = [name for name in l2 if name not in self.names]
        if unknown:
            raise InputError(f"l2 names {unknown[0]!r}; the groups are {list(self.names)}")
        if any(not 0 <= value < float("inf") for value in l2.values()):
            raise InputError(f"l2 must be 0 or more, not {dict(l2)}")
        self.l2 = dict(l2)

    def forward(self) -> Float[Tensor, "..."]:
        return self.total([self.part(i).psi for i in range(len(self.names))])

    def basis(self) -> Float[Tensor, "entries free"]:
        return torch.cat(self.bases(), 1)

    def penalty(self) -> Float[Tensor, ""]:
        """Σ l2_G ‖W_G‖²."""
        total = self.part(0).psi.new_zeros(())
        for name, factor in self.l2.items():
            number = self.names.index(name)
            squares = self.part(number).psi.square() * self.weighting(number)
            total = total + factor * squares.sum()
        return total

    @torch.no_grad()
    def project_(self, weight: Float[Tensor, "..."]) -> PathwayScheme:
        """Come near to a weight: the most tied part first, the freer ones with what is left."""
        left = weight
        for number in self.order:
            part = self.part(number).project_(left)
            left = left - part()
        return self

    @torch.no_grad()
    def reset(self, rms: float) -> PathwayScheme:
        """Draw all ψ, so that W has this root mean square."""
        for number in range(len(self.names)):
            self.part(number).reset(rms / len(self.names) ** 0.5)
        return self

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, of {', '.join(self.names)}, l2={self.l2}"
