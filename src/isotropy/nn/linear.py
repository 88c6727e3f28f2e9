"""The linear layer whose weight comes from a scheme."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from isotropy.errors import InputError
from isotropy.groups.action import Action, Group
from isotropy.nn.tied import TiedModule, reset_like_torch
from isotropy.schemes import OrbitScheme, Partition, Scheme, Tie


class Weighted(TiedModule):
    """A layer with a weight scheme and perhaps a bias scheme, and the actions behind them.

    `weight` and `bias` read as tensors, as they do on plain layers; what is trained is
    `scheme.psi` and `bias_scheme.psi`.
    """

    scheme: Scheme
    bias_scheme: Scheme | None
    tie: Tie | None

    def __init__(
        self, scheme: Scheme, bias: Scheme | None, tie: Tie | None, group: Group | None
    ) -> None:
        super().__init__()
        self.scheme = scheme
        self.bias_scheme = bias
        self.tie = tie
        self.layout = tie.group if tie is not None else None
        self.group = group or self.layout

    @property
    def weight(self) -> Tensor:
        """The weight W, computed from the free parameters."""
        weight: Tensor = self.scheme()
        return weight

    @property
    def bias(self) -> Tensor | None:
        """The bias, computed from its free parameters."""
        return None if self.bias_scheme is None else self.bias_scheme()

    def partitions(self, group: Group) -> dict[str, Partition]:
        if self.tie is None:
            raise InputError("this layer was made from a scheme alone: no group acts on it")
        found = {"scheme": self.tie.weight(group)}
        if self.bias_scheme is not None:
            found["bias_scheme"] = self.tie.bias(group)
        return found

    @torch.no_grad()
    def _fill(self, plain: Any) -> nn.Module:
        """Give a plain twin my weight, bias, mode and place."""
        weight, bias = self.weight, self.bias
        plain = plain.to(weight.device, weight.dtype)
        plain.weight.copy_(weight)
        if self.bias_scheme is not None:
            plain.bias.copy_(bias)
            plain.bias.requires_grad_(self.bias_scheme.trains)
        plain.weight.requires_grad_(self.scheme.trains)
        twin: nn.Module = plain.train(self.training)
        return twin

    def extra_repr(self) -> str:
        return f"group={self.group}, bias={self.bias_scheme is not None}"


def tied_schemes(
    tie: Tie, group: Group | None, bias: bool, orthonormal: bool
) -> tuple[OrbitScheme, OrbitScheme | None]:
    """Weight and bias scheme of a layer tied under a (sub)group."""
    own = group or tie.group
    weight = OrbitScheme(tie.weight(own), orthonormal)
    return weight, OrbitScheme(tie.bias(own), orthonormal) if bias else None


class Linear(Weighted):
    """y = W x + b with W from a scheme.

    Args:
        scheme: gives W, of shape (out, in).
        bias: gives b, of shape (out,), or None.
        tie: the actions that W is tied under, if it is.
        group: the group W is tied to now, a subgroup of the tie's.

    >>> import torch, isotropy as iso
    >>> from isotropy.groups import permuting, regular
    >>> c4 = iso.group("C4")
    >>> layer = Linear.tied(regular(c4, fields=3), permuting(c4, {"r": [1, 2, 3, 0]}))
    >>> layer(torch.zeros(5, 4)).shape, layer.scheme.free_parameters
    (torch.Size([5, 12]), 12)
    """

    def __init__(
        self,
        scheme: Scheme,
        bias: Scheme | None = None,
        tie: Tie | None = None,
        group: Group | None = None,
    ) -> None:
        super().__init__(scheme, bias, tie, group)
        self.out_features, self.in_features = scheme.shape

    @classmethod
    def tied(
        cls,
        out: Action,
        inp: Action,
        bias: bool = True,
        group: Group | None = None,
        orthonormal: bool = False,
    ) -> Linear:
        """A layer that commutes with a group's actions on its output and input."""
        tie = Tie(out, inp)
        layer = cls(*tied_schemes(tie, group, bias, orthonormal), tie, group)
        layer.reset_parameters()
        return layer

    def reset_parameters(self) -> None:
        """Draw new weights, with the root mean square of torch's own layer."""
        reset_like_torch(self.scheme, self.bias_scheme, self.in_features)

    def forward(self, x: Float[Tensor, "*batch inp"]) -> Float[Tensor, "*batch out"]:
        return self.scheme.apply_to(x, self.bias)

    def folded(self) -> nn.Module:
        has_bias = self.bias_scheme is not None
        return self._fill(nn.Linear(self.in_features, self.out_features, has_bias))
