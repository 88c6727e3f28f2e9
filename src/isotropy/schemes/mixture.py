"""The [G]-mixed layer: a weighted sum of weights tied under different groups (001, Section 4.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import torch
from jaxtyping import Float
from torch import Tensor, nn

from isotropy.errors import InputError
from isotropy.schemes.blend import Blend
from isotropy.schemes.normalised import normalised
from isotropy.schemes.partition import Partition


class MixtureScheme(Blend):
    """W = Σ_G z_G W_G with z = softmax α (001, Eq. 11), every ‖W_G‖ as it was at the start.

    The norms are fixed so that z alone says how much of W each group makes (Salimans & Kingma's
    weight normalisation, its scalar not trained): ψ_G gives the direction only.

    Args:
        partitions: by the name of every group, what is one number under it.
        alpha: the weights before the softmax, where another scheme has them already.
        normalise: fix the norms; not for what is zero at first, as a bias may be, since it would
            stay zero.

    >>> halves = Partition.from_labels([[0, 1], [1, 0]])
    >>> scheme = MixtureScheme({"all": Partition.discrete((2, 2)), "halves": halves}).reset(1.0)
    >>> scheme.z.tolist()
    [0.5, 0.5]
    """

    norms: Float[Tensor, " groups"]

    def __init__(
        self,
        partitions: Mapping[str, Partition],
        alpha: nn.Parameter | None = None,
        normalise: bool = True,
    ) -> None:
        super().__init__(partitions)
        if alpha is not None and tuple(alpha.shape) != (len(self.names),):
            raise InputError(f"alpha must be of shape {(len(self.names),)}, not {alpha.shape}")
        self.alpha = nn.Parameter(torch.zeros(len(self.names))) if alpha is None else alpha
        self.normalise = normalise
        self.register_buffer("norms", torch.zeros(len(self.names)))

    @property
    def z(self) -> Float[Tensor, " groups"]:
        """How much every group has of the weight; they sum to 1."""
        return torch.softmax(self.alpha, 0)

    def weights(self) -> dict[str, float]:
        """z by the groups' names."""
        return dict(zip(self.names, self.z.detach().tolist(), strict=True))

    def forward(self) -> Float[Tensor, "..."]:
        return self.total(self.values())

    def values(self) -> list[Float[Tensor, "_"]]:
        """z_G ψ_G for every group, ψ_G brought to the length that belongs to its norm."""
        return self._scaled(self.z)

    def _scaled(self, factors: Float[Tensor, " groups"]) -> list[Float[Tensor, "_"]]:
        scales = (factors * self.norms if self.normalise else factors).unbind()
        found = []
        for number, scale in enumerate(scales):
            psi = self.part(number).psi
            if self.normalise and psi.numel():
                found.append(normalised(psi, scale, self.weighting(number)))
            else:
                found.append(psi * scale)
        return found

    def kernel(self, group: str) -> Float[Tensor, "..."]:
        """W_G: what W would be if all of it were one group's."""
        alone = torch.zeros_like(self.norms)
        alone[self.names.index(group)] = 1
        return self.total(self._scaled(alone))

    def basis(self) -> Float[Tensor, "entries free"]:
        """All groups' matrices times z, side by side; W is linear in the numbers it is made of."""
        z = self.z.detach()
        return torch.cat([b * z[i] for i, b in enumerate(self.bases())], 1)

    @torch.no_grad()
    def reset(self, rms: float) -> MixtureScheme:
        """Draw all ψ, and fix the norms so that W has this root mean square at the present z.

        The parts are independent, so W's mean square is Σ z_G² of theirs.
        """
        share = float(self.z.double().square().sum().sqrt())
        for number in range(len(self.names)):
            part = self.part(number)
            part.reset(rms / share)
            self.norms[number] = part().norm()
        return self

    @torch.no_grad()
    def project_(self, weight: Float[Tensor, "..."]) -> MixtureScheme:
        super().project_(weight)
        for number in range(len(self.names)):
            self.norms[number] = self.part(number)().norm()
        return self

    def decaying(self) -> Iterator[nn.Parameter]:
        if not self.normalise:
            yield from (self.part(number).psi for number in range(len(self.names)))

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, of {', '.join(self.names)}"
