"""The contract of schemes: how a weight comes from fewer numbers, vec(W) = B ψ."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional


class Scheme(nn.Module):
    """A weight W of fixed shape, computed from the free parameters of this module.

    Layers call the scheme for W and know nothing else of it. ``basis()`` is the slow, obvious form
    that tests hold everything against.
    """

    shape: tuple[int, ...]

    @abstractmethod
    def forward(self) -> Float[Tensor, "..."]:
        """The weight W, of shape `shape`."""

    @abstractmethod
    def basis(self) -> Float[Tensor, "entries free"]:
        """The matrix B with vec(W) = B ψ, dense, where W is linear in ψ."""

    def apply_to(
        self, x: Float[Tensor, "*batch inp"], bias: Float[Tensor, " out"] | None = None
    ) -> Float[Tensor, "*batch out"]:
        """W x + b, for a W of two dimensions; a scheme that should never build W overrides this."""
        return functional.linear(x, self(), bias)

    @property
    def free_parameters(self) -> int:
        """How many numbers are trained."""
        return sum(p.numel() for p in self.parameters())

    @property
    def trains(self) -> bool:
        """Whether any number is trained; a scheme without numbers counts as trained."""
        numbers = [p for p in self.parameters() if p.numel()]
        return not numbers or any(p.requires_grad for p in numbers)

    def decaying(self) -> Iterator[nn.Parameter]:
        """The numbers that weight decay shrinks: not those whose size means nothing."""
        yield from self.parameters()

    def penalty(self) -> Float[Tensor, ""] | None:
        """What this weight adds to the loss while it is trained, if anything."""
        return None

    def extra_repr(self) -> str:
        return f"{self.free_parameters} free of {'×'.join(map(str, self.shape))}"
