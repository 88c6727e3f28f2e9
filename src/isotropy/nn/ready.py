"""Group convolutions ready to use: from pictures to regular fields, and between those."""

from __future__ import annotations

from typing import Any

from isotropy.errors import InputError
from isotropy.groups.action import regular, trivial
from isotropy.groups.finite import FiniteGroup
from isotropy.groups.named import as_group
from isotropy.nn.conv import Conv2d, Sizes
from isotropy.nn.linear import tied_schemes
from isotropy.schemes import Tie


class LiftingConv2d(Conv2d):
    """From plain channels to regular fields of a group (001, Eq. 2).

    Args:
        channels_in: plain channels, which only turn in space.
        fields_out: regular fields; the output has fields_out · |G| channels.
        kernel: the kernel's size.
        group: the group or its name.
        bias: whether there is one.
        settings: stride, padding and the like, as in torch.

    >>> import torch
    >>> LiftingConv2d(3, 4, 3, "C4", padding=1)(torch.zeros(1, 3, 7, 7)).shape
    torch.Size([1, 16, 7, 7])
    """

    def __init__(
        self,
        channels_in: int,
        fields_out: int,
        kernel: Sizes,
        group: FiniteGroup | str,
        *,
        bias: bool = True,
        **settings: Any,
    ) -> None:
        own = as_group(group)
        _require_some(channels_in=channels_in, fields_out=fields_out)
        tie = Tie(regular(own, fields_out), trivial(own, channels_in), self._each(kernel))
        super().__init__(*tied_schemes(tie, None, bias, False), tie=tie, **settings)
        self.reset_parameters()


class GroupConv2d(Conv2d):
    """Between regular fields of a group (001, Eq. 1).

    Args:
        fields_in: regular fields that come in, as fields_in · |G| channels.
        fields_out: regular fields that go out.
        kernel: the kernel's size.
        group: the group or its name.
        bias: whether there is one.
        settings: stride, padding and the like, as in torch.

    >>> layer = GroupConv2d(2, 4, 3, "D4")
    >>> layer.scheme.free_parameters == 4 * 2 * 8 * 3 * 3
    True
    """

    def __init__(
        self,
        fields_in: int,
        fields_out: int,
        kernel: Sizes,
        group: FiniteGroup | str,
        *,
        bias: bool = True,
        **settings: Any,
    ) -> None:
        own = as_group(group)
        _require_some(fields_in=fields_in, fields_out=fields_out)
        tie = Tie(regular(own, fields_out), regular(own, fields_in), self._each(kernel))
        super().__init__(*tied_schemes(tie, None, bias, False), tie=tie, **settings)
        self.reset_parameters()


def _require_some(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            raise InputError(f"{name} must be at least 1, not {number}")
