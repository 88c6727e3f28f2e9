"""Convolutions whose kernels come from a scheme."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeVar

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from isotropy.errors import InputError
from isotropy.groups.action import Action, Group
from isotropy.nn.linear import Weighted, tied_schemes
from isotropy.nn.subsample import smooth, smoothing_module
from isotropy.nn.tied import reset_like_torch
from isotropy.schemes import Scheme, Tie

Sizes = int | tuple[int, ...]
ConvType = TypeVar("ConvType", bound="_Conv")
PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _Conv(Weighted):
    """Shared by convolutions of all dimensions: the settings of torch's own layers."""

    dimensions: ClassVar[int]
    plain: ClassVar[type[nn.Module]]
    convolve: ClassVar[Callable[..., Tensor]]

    def __init__(
        self,
        scheme: Scheme,
        bias: Scheme | None = None,
        *,
        stride: Sizes = 1,
        padding: Sizes | str = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        tie: Tie | None = None,
        group: Group | None = None,
    ) -> None:
        super().__init__(scheme, bias, tie, group)
        self.kernel_size = tuple(scheme.shape[2:])
        self.stride = self._each(stride)
        self.dilation = self._each(dilation)
        self.padding = padding if isinstance(padding, str) else self._each(padding)
        self.groups = groups
        self.padding_mode = padding_mode
        self._check_settings()
        self.out_channels, self.in_channels = self._channels()
        # pixels a stride leaves over, averaged away when set (see `subsample`)
        self.left_over: tuple[int, ...] | None = None

    def _channels(self) -> tuple[int, int]:
        return self.scheme.shape[0], self.scheme.shape[1] * self.groups

    def _check_settings(self) -> None:
        """What torch's own layers refuse, and what would break the tie."""
        if self.padding_mode not in PADDING_MODES:
            raise InputError(
                f"padding_mode must be one of {PADDING_MODES}, not {self.padding_mode!r}"
            )
        for name, least in (("stride", 1), ("dilation", 1), ("padding", 0)):
            value = getattr(self, name)
            if not isinstance(value, str) and min(value) < least:
                raise InputError(f"{name} must be at least {least} on every axis, not {value}")
        if not isinstance(self.padding, str):
            return
        if self.padding not in ("same", "valid"):
            raise InputError(f'padding must be a number, "same" or "valid", not {self.padding!r}')
        if self.padding == "same" and max(self.stride) > 1:
            raise InputError(f'padding="same" does not go with a stride, which is {self.stride}')

    @classmethod
    def _each(cls, value: Sizes) -> tuple[int, ...]:
        return (value,) * cls.dimensions if isinstance(value, int) else tuple(value)

    @classmethod
    def tied(
        cls: type[ConvType],
        out: Action,
        inp: Action,
        kernel_size: Sizes,
        *,
        bias: bool = True,
        groups: int = 1,
        group: Group | None = None,
        orthonormal: bool = False,
        **settings: object,
    ) -> ConvType:
        """A convolution that commutes with a group's actions on channels and space.

        Args:
            out: the action on output channels.
            inp: the action on input channels.
            kernel_size: the kernel's size.
            bias: whether there is one.
            groups: blocks of channels, as in torch.
            group: tie to this subgroup only.
            orthonormal: see `OrbitScheme`.
            **settings: stride, padding, dilation, padding_mode and the like, as in torch.
        """
        kernel = cls._each(kernel_size)
        tie = Tie(out, inp, kernel, groups, cls._is_transposed())
        weight, bias_scheme = tied_schemes(tie, group, bias, orthonormal)
        layer = cls(weight, bias_scheme, groups=groups, tie=tie, group=group, **settings)  # type: ignore[arg-type]
        layer.reset_parameters()
        return layer

    @classmethod
    def _is_transposed(cls) -> bool:
        return False

    def reset_parameters(self) -> None:
        """Draw new weights, with the root mean square of torch's own layer."""
        fan_in = self.scheme.shape[1]
        for size in self.kernel_size:
            fan_in *= size
        reset_like_torch(self.scheme, self.bias_scheme, fan_in)

    def forward(self, x: Float[Tensor, "batch inp *grid"]) -> Float[Tensor, "batch out *grown"]:
        padding = self.padding
        if self.padding_mode != "zeros":
            x = F.pad(x, self._margins(), mode=self.padding_mode)
            padding = (0,) * self.dimensions
        stride = self.stride if self.left_over is None else (1,) * self.dimensions
        y = type(self).convolve(
            x, self.scheme(), self.bias, stride, padding, self.dilation, self.groups
        )
        return y if self.left_over is None else smooth(y, self.stride, self.left_over)

    def _margins(self) -> list[int]:
        """What to pad, last axis first, before and behind."""
        margins: list[int] = []
        for axis in reversed(range(self.dimensions)):
            total = self.dilation[axis] * (self.kernel_size[axis] - 1)
            if self.padding == "same":
                margins += [total // 2, total - total // 2]
            else:
                size = 0 if isinstance(self.padding, str) else self.padding[axis]
                margins += [size, size]
        return margins

    def _settings(self) -> dict[str, object]:
        return {
            "kernel_size": self.kernel_size,
            "stride": self.stride if self.left_over is None else 1,
            "padding": self.padding,
            "dilation": self.dilation,
            "groups": self.groups,
            "padding_mode": self.padding_mode,
            "bias": self.bias_scheme is not None,
        }

    def folded(self) -> nn.Module:
        plain = self._fill(self.plain(self.in_channels, self.out_channels, **self._settings()))
        if self.left_over is None:
            return plain
        return nn.Sequential(plain, smoothing_module(self.stride, self.left_over))

    def extra_repr(self) -> str:
        kernel = "×".join(map(str, self.kernel_size))
        return f"{self.in_channels}, {self.out_channels}, {kernel}, group={self.group}"


class Conv1d(_Conv):
    """A convolution over signals, its kernel from a scheme."""

    dimensions = 1
    plain = nn.Conv1d
    convolve = F.conv1d


class Conv2d(_Conv):
    """A convolution over images, its kernel from a scheme.

    >>> import torch, isotropy as iso
    >>> from isotropy.groups import regular, trivial
    >>> d4 = iso.group("D4")
    >>> lift = Conv2d.tied(regular(d4, fields=2), trivial(d4, 3), 3, padding=1)
    >>> lift(torch.zeros(1, 3, 9, 9)).shape
    torch.Size([1, 16, 9, 9])
    """

    dimensions = 2
    plain = nn.Conv2d
    convolve = F.conv2d


class Conv3d(_Conv):
    """A convolution over volumes, its kernel from a scheme.

    >>> import torch, isotropy as iso
    >>> from isotropy.groups import regular, trivial
    >>> cube = iso.group("O")
    >>> lift = Conv3d.tied(regular(cube), trivial(cube, 1), 3, padding=1)
    >>> lift(torch.zeros(1, 1, 5, 5, 5)).shape
    torch.Size([1, 24, 5, 5, 5])
    """

    dimensions = 3
    plain = nn.Conv3d
    convolve = F.conv3d


class _ConvTranspose(_Conv):
    """Shared by transposed convolutions; their weight is stored (in, out / groups, kernel)."""

    def __init__(
        self,
        scheme: Scheme,
        bias: Scheme | None = None,
        *,
        output_padding: Sizes = 0,
        groups: int = 1,
        padding_mode: str = "zeros",
        tie: Tie | None = None,
        group: Group | None = None,
        stride: Sizes = 1,
        padding: Sizes = 0,
        dilation: Sizes = 1,
    ) -> None:
        if padding_mode != "zeros":
            raise InputError(f"a transposed convolution pads with zeros, not {padding_mode!r}")
        super().__init__(
            scheme,
            bias,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
            tie=tie,
            group=group,
        )
        self.output_padding = self._each(output_padding)

    def _channels(self) -> tuple[int, int]:
        return self.scheme.shape[1] * self.groups, self.scheme.shape[0]

    @classmethod
    def _is_transposed(cls) -> bool:
        return True

    def forward(self, x: Float[Tensor, "batch inp *grid"]) -> Float[Tensor, "batch out *grown"]:
        return type(self).convolve(
            x,
            self.scheme(),
            self.bias,
            self.stride,
            self.padding,
            self.output_padding,
            self.groups,
            self.dilation,
        )

    def _settings(self) -> dict[str, object]:
        return {**super()._settings(), "output_padding": self.output_padding}


class ConvTranspose1d(_ConvTranspose):
    """A transposed convolution over signals, its kernel from a scheme."""

    dimensions = 1
    plain = nn.ConvTranspose1d
    convolve = F.conv_transpose1d


class ConvTranspose2d(_ConvTranspose):
    """A transposed convolution over images, its kernel from a scheme.

    >>> import torch, isotropy as iso
    >>> from isotropy.groups import regular
    >>> d4 = iso.group("D4")
    >>> grow = ConvTranspose2d.tied(regular(d4), regular(d4), 2, stride=2)
    >>> grow(torch.zeros(1, 8, 4, 4)).shape
    torch.Size([1, 8, 8, 8])
    """

    dimensions = 2
    plain = nn.ConvTranspose2d
    convolve = F.conv_transpose2d


class ConvTranspose3d(_ConvTranspose):
    """A transposed convolution over volumes, its kernel from a scheme."""

    dimensions = 3
    plain = nn.ConvTranspose3d
    convolve = F.conv_transpose3d
