"""Pooling over the group: from regular fields to one number each."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from isotropy.errors import InputError, NotSupportedError
from isotropy.groups.finite import FiniteGroup

_MAX: dict[int, type[nn.Module]] = {0: nn.MaxPool1d, 1: nn.MaxPool2d, 2: nn.MaxPool3d}
_MEAN: dict[int, type[nn.Module]] = {0: nn.AvgPool1d, 1: nn.AvgPool2d, 2: nn.AvgPool3d}


class GroupPool(nn.Module):
    """Mean or maximum over the |G| channels of every regular field.

    What comes out is one invariant channel per field (it still turns in space).

    Args:
        group: the group whose regular fields come in.
        mode: "mean" or "max".

    >>> import torch, isotropy as iso
    >>> GroupPool(iso.group("D4"))(torch.zeros(2, 24, 5, 5)).shape
    torch.Size([2, 3, 5, 5])
    """

    def __init__(self, group: FiniteGroup, mode: str = "mean") -> None:
        super().__init__()
        if mode not in ("mean", "max"):
            raise InputError(f'mode must be "mean" or "max", not {mode!r}')
        self.group = group
        self.mode = mode

    def forward(self, x: Float[Tensor, "batch channels *space"]) -> Tensor:
        if x.shape[1] % self.group.order:
            raise InputError(
                f"GroupPool over {self.group} needs a multiple of {self.group.order} channels, "
                f"not {x.shape[1]}"
            )
        fields = x.reshape(x.shape[0], -1, self.group.order, *x.shape[2:])
        return fields.mean(2) if self.mode == "mean" else fields.amax(2)

    def folded(self, channels: int, dimensions: int) -> nn.Module:
        """The same in torch's own modules, for so many channels on a grid of so many axes."""
        if dimensions > 2:
            raise NotSupportedError("a GroupPool over volumes has no form in torch's own modules")
        kinds = _MEAN if self.mode == "mean" else _MAX
        window = (self.group.order, *[1] * dimensions)
        return nn.Sequential(
            nn.Unflatten(1, (channels // self.group.order, self.group.order)),
            kinds[dimensions](window if dimensions else self.group.order),
            nn.Flatten(1, 2),
        )

    def extra_repr(self) -> str:
        return f"{self.group}, {self.mode}"
