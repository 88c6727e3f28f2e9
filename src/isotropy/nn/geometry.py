"""Where grids come apart: strides, padding and resizing that a turned picture does not survive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from isotropy.errors import NotSupportedError
from isotropy.nn.subsample import SymmetricPool
from isotropy.nn.trace import CONVOLUTIONS, Call

_POOL_ARGUMENTS = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")
_AVG_ARGUMENTS = ("kernel_size", "stride", "padding", "ceil_mode")
_LP_ARGUMENTS = ("norm_type", "kernel_size", "stride", "ceil_mode")


@dataclass(frozen=True)
class Window:
    """A window that slides over one axis.

    `left_over` pixels at the far end are seen by no window: the windows sit off centre, and a
    mirrored picture is cut up differently, unless it is 0 (000, 001: exact only when
    (H + 2p - d(k-1) - 1) mod s = 0).
    """

    size: int
    kernel: int
    stride: int
    padding: int
    dilation: int

    @property
    def places(self) -> int:
        """Windows at stride 1."""
        return self.size + 2 * self.padding - self.dilation * (self.kernel - 1)

    @property
    def left_over(self) -> int:
        """Pixels beyond the last window."""
        return (self.places - 1) % self.stride


def cause(call: Call, axes: frozenset[int] | None = None) -> str | None:
    """Why a layer or operation cannot be exact on this grid, in words; None if it can.

    Args:
        call: what ran.
        axes: the axes of the grid that the group moves; all by default.
    """
    if isinstance(call.target, CONVOLUTIONS):
        return _convolution_cause(call.target, call.args[0], axes)
    operation = call.name.split(" ")[0]
    if operation in ("interpolate", "upsample"):
        return _resize_cause(call)
    if "pool" in operation and "adaptive" not in operation:
        return _stride_words(_pool_windows(call), axes)
    if operation == "pad":
        return _pad_cause(call)
    if operation == "getitem" and call.output.numel() < call.args[0].numel():
        return "asymmetric cut: its middle is not that of the grid"
    return None


def left_over(call: Call) -> tuple[int, ...] | None:
    """Pixels that a convolution's or a pooling's windows leave over; None for anything else."""
    operation = call.name.split(" ")[0]
    if isinstance(call.target, CONVOLUTIONS):
        if is_transposed(call.target):
            return None
        windows = conv_windows(call.target, call.args[0])
    elif not call.is_module and "pool" in operation and "adaptive" not in operation:
        windows = _pool_windows(call)
    else:
        return None
    return tuple(w.left_over for w in windows)


def _convolution_cause(module: Any, x: Tensor, axes: frozenset[int] | None) -> str | None:
    if any(_each(getattr(module, "output_padding", 0), x.ndim - 2)):
        return "asymmetric output padding"
    if module.padding == "same" and _asymmetric_same(module):
        return 'asymmetric padding ("same" with an even kernel)'
    if is_transposed(module) or getattr(module, "left_over", None):
        return None
    return _stride_words(conv_windows(module, x), axes)


def is_transposed(module: nn.Module) -> bool:
    """Whether a convolution, tied or plain, is a transposed one."""
    return "Transpose" in type(module).__name__


def _asymmetric_same(module: Any) -> bool:
    pairs = zip(module.kernel_size, module.dilation, strict=True)
    return any((d * (k - 1)) % 2 for k, d in pairs)


def conv_windows(module: Any, x: Tensor) -> list[Window]:
    """The windows of a convolution, one for every axis."""
    n = x.ndim - 2
    padding = _conv_padding(module, n)
    values = zip(
        x.shape[2:], module.kernel_size, module.stride, padding, module.dilation, strict=True
    )
    return [Window(*map(int, v)) for v in values]


def _conv_padding(module: Any, n: int) -> tuple[int, ...]:
    if module.padding == "same":
        pairs = zip(module.kernel_size, module.dilation, strict=True)
        return tuple(d * (k - 1) // 2 for k, d in pairs)
    return (0,) * n if module.padding == "valid" else _each(module.padding, n)


def _pool_windows(call: Call) -> list[Window]:
    kind = call.name.split("_")[0]
    names = {"max": _POOL_ARGUMENTS, "lp": _LP_ARGUMENTS}.get(kind, _AVG_ARGUMENTS)
    given = dict(zip(names, call.args[1:], strict=False)) | call.kwargs
    x = call.args[0]
    n = x.ndim - 2
    kernel = _each(given["kernel_size"], n)
    stride = _each(given.get("stride") or kernel, n)
    padding = _each(given.get("padding", 0), n)
    dilation = _each(given.get("dilation", 1), n)
    values = zip(x.shape[2:], kernel, stride, padding, dilation, strict=True)
    return [Window(*map(int, v)) for v in values]


def _each(value: Any, n: int) -> tuple[int, ...]:
    if isinstance(value, int):
        return (value,) * n
    values = tuple(int(v) for v in value)
    return values * n if len(values) == 1 else values


def _stride_words(windows: list[Window], axes: frozenset[int] | None) -> str | None:
    bad = [w for i, w in enumerate(windows) if w.left_over and (axes is None or i in axes)]
    if not bad:
        return None
    w = bad[0]
    fitting = [w.size - w.left_over, w.size - w.left_over + w.stride]
    return (
        f"stride {w.stride} on size {w.size} leaves {w.left_over} pixel(s) over "
        f"(kernel {w.kernel}, padding {w.padding}); exact at size "
        + " or ".join(str(size) for size in fitting if size > 0)
    )


def _resize_cause(call: Call) -> str | None:
    given = dict(zip(("size", "scale_factor", "mode"), call.args[1:], strict=False)) | call.kwargs
    mode = str(given.get("mode", "nearest"))
    sizes = zip(call.args[0].shape[2:], call.output.shape[2:], strict=True)
    if mode == "nearest" and any(after % before for before, after in sizes):
        return 'upsampling mode "nearest" by a factor that is no whole number'
    return f'interpolation in upsampling mode "{mode}"'


def _pad_cause(call: Call) -> str | None:
    widths = call.args[1] if len(call.args) > 1 else call.kwargs["pad"]
    pairs = list(zip(widths[::2], widths[1::2], strict=True))
    return "asymmetric padding" if any(a != b for a, b in pairs) else None


_POOL_MODULES = (
    nn.MaxPool1d,
    nn.MaxPool2d,
    nn.MaxPool3d,
    nn.AvgPool1d,
    nn.AvgPool2d,
    nn.AvgPool3d,
)


@torch.no_grad()
def symmetric_pool(module: nn.Module, x: Tensor) -> SymmetricPool | None:
    """The exact twin of a pooling module on this input, or None if it is exact as it is."""
    if not isinstance(module, _POOL_MODULES):
        return None
    n = x.ndim - 2
    kernel = _each(module.kernel_size, n)
    stride = _each(module.stride or kernel, n)
    padding = _each(module.padding, n)
    dilation = _each(getattr(module, "dilation", 1), n)
    values = zip(x.shape[2:], kernel, stride, padding, dilation, strict=True)
    left = tuple(Window(*map(int, v)).left_over for v in values)
    if not any(left):
        return None
    if module.ceil_mode:
        raise NotSupportedError("exact=True cannot replace a pooling with ceil_mode=True")
    settings: dict[str, Any] = {"kernel_size": kernel, "stride": 1, "padding": padding}
    if isinstance(module, _POOL_MODULES[:3]):
        settings["dilation"] = dilation
    if n == 1 and isinstance(module, nn.AvgPool1d):
        settings = {"kernel_size": kernel[0], "stride": 1, "padding": padding[0]}
    return SymmetricPool(type(module)(**settings), stride, left)
