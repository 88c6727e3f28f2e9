"""What a network costs before it is trained: numbers, multiply-adds, memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from torch import Tensor, nn

from isotropy.errors import InputError
from isotropy.groups.action import Group
from isotropy.groups.finite import FiniteGroup
from isotropy.groups.named import as_group
from isotropy.nn.arguments import require_batch, require_module, running
from isotropy.nn.equivariant import equivariant
from isotropy.nn.fold import plain_twin
from isotropy.nn.geometry import conv_windows, is_transposed
from isotropy.nn.layer_groups import ActionSpec
from isotropy.nn.measure import Output
from isotropy.nn.modes import evaluating
from isotropy.nn.trace import CONVOLUTIONS, WEIGHT_LAYERS, Call, trace


@dataclass(frozen=True)
class CostRow:
    """One layer, for one sample."""

    layer: str
    parameters: int
    plain_parameters: int
    multiply_adds: int
    activation_bytes: int


@dataclass(frozen=True)
class Cost:
    """What a network costs for one sample, beside a plain network of the same width.

    Both do the same multiply-adds and keep the same activations; the tied one has fewer numbers to
    train, and builds its weights from them once a step.
    """

    rows: tuple[CostRow, ...]
    parameters: int
    plain_parameters: int

    @property
    def multiply_adds(self) -> int:
        """Multiply-adds of all layers, forward."""
        return sum(row.multiply_adds for row in self.rows)

    @property
    def activation_bytes(self) -> int:
        """Bytes of all layers' and operations' results, which training keeps."""
        return sum(row.activation_bytes for row in self.rows)

    def __str__(self) -> str:
        shown = [row for row in self.rows if row.plain_parameters or row.multiply_adds]
        width = max([len(row.layer) for row in shown] + [5])
        head = (
            f"{'layer':<{width}} {'trained':>11} {'plain twin':>11} {'mult-adds':>9} {'memory':>8}"
        )
        lines = [
            f"{r.layer:<{width}} {r.parameters:>11,} {r.plain_parameters:>11,} "
            f"{_short(r.multiply_adds):>9} {_short(r.activation_bytes) + 'B':>8}"
            for r in shown
        ]
        total = (
            f"{'total':<{width}} {self.parameters:>11,} {self.plain_parameters:>11,} "
            f"{_short(self.multiply_adds):>9} {_short(self.activation_bytes) + 'B':>8}"
        )
        return "\n".join([head, *lines, total])


def _short(value: int | float) -> str:
    for unit in ("", "k", "M", "G"):
        if value < 1000:
            return f"{value:.0f}{unit}" if value >= 100 or not unit else f"{value:.1f}{unit}"
        value /= 1000
    return f"{value:.1f}T"


def cost(model: nn.Module, example: Tensor) -> Cost:
    """Trained numbers, multiply-adds and activation memory of a network for one sample.

    Args:
        model: a tied or plain network.
        example: a batch to run once.

    >>> import torch, isotropy as iso
    >>> layer = torch.nn.Conv2d(1, 8, 3, padding=1)
    >>> iso.cost(layer, torch.zeros(1, 1, 10, 10)).multiply_adds
    7200
    """
    with evaluating(require_module(model)), running(require_batch(example)):
        run = trace(model, example[:1])
    counted: set[nn.Module] = set()
    rows = tuple(_row(call, counted) for call in run.calls)
    return Cost(rows, count_parameters(model), count_parameters(plain_twin(model, example[:1])))


def count_parameters(model: nn.Module) -> int:
    """Numbers that are trained.

    >>> count_parameters(nn.Linear(4, 3))
    15
    """
    return sum(p.numel() for p in model.parameters())


def _row(call: Call, counted: set[nn.Module]) -> CostRow:
    own = plain = 0
    module = call.target
    if isinstance(module, nn.Module) and module not in counted:
        counted.add(module)
        own, plain = count_parameters(module), count_parameters(plain_twin(module, call.args[0]))
    size = 0 if call.in_place else call.output.numel() * call.output.element_size()
    return CostRow(call.name, own, plain, _multiply_adds(call), size)


def _multiply_adds(call: Call) -> int:
    module: Any = call.target
    if not isinstance(module, WEIGHT_LAYERS):
        return 0
    if not isinstance(module, CONVOLUTIONS):
        return call.output.numel() * int(module.in_features)
    places, channels = call.output.numel(), int(module.in_channels)
    if is_transposed(module):
        places, channels = call.args[0].numel(), int(module.out_channels)
    elif getattr(module, "left_over", None):  # computed at stride 1
        windows = conv_windows(module, call.args[0])
        places = len(call.output) * module.out_channels * prod(w.places for w in windows)
    return places * channels * prod(module.kernel_size) // int(module.groups)


def matching_width(
    factory: Callable[[int], nn.Module],
    width: int,
    group: Group | str,
    example: Tensor,
    match: str = "parameters",
    output: Output = "invariant",
    action: ActionSpec | None = None,
) -> int:
    """The width at which a tied network matches the plain one of a given width.

    Args:
        factory: makes the plain network of a width.
        width: the plain network's.
        group: the group the other is to be tied under.
        example: a batch to run once.
        match: "parameters" (numbers trained) or "multiply_adds" (speed; at equal width a tied
            network does as many as a plain one).
        output: as for `iso.equivariant`.
        action: as for `iso.equivariant`.

    Returns:
        The multiple of |G| that comes nearest.

    >>> import torch, isotropy as iso
    >>> def net(width):
    ...     return torch.nn.Sequential(
    ...         torch.nn.Conv2d(1, width, 3),
    ...         torch.nn.ReLU(),
    ...         torch.nn.Conv2d(width, width, 3),
    ...         torch.nn.AdaptiveAvgPool2d(1),
    ...         torch.nn.Flatten(),
    ...         torch.nn.Linear(width, 10),
    ...     )
    >>> iso.matching_width(net, 32, "C4", torch.zeros(1, 1, 9, 9))
    64
    """
    own = as_group(group)
    if not isinstance(own, FiniteGroup):
        raise InputError(f"group: {own.name} has no regular fields, so widths cannot be matched")
    measure = _measures(match, own, example, output, action)
    target = measure(factory(width), False)
    # weights shared by the group: |G| times fewer, and their number grows with the width squared
    guess = width * own.order**0.5 if match == "parameters" else width
    return nearest_multiple(lambda w: measure(factory(w), True), target, own.order, guess)


def nearest_multiple(
    measure: Callable[[int], int], target: int, step: int, guess: int | float
) -> int:
    """The multiple of a step whose measure comes nearest a target; the smaller of two as near.

    Args:
        measure: what a number costs; it grows with the number, and is asked for few of them.
        target: the cost wanted.
        step: the result is a multiple of it, and at least it.
        guess: a number to start from.

    >>> nearest_multiple(lambda width: width * width, target=150, step=4, guess=30)
    12
    """
    known: dict[int, int] = {}

    def at(times: int) -> int:
        if times not in known:
            known[times] = measure(times * step)
        return known[times]

    low, high = _bracket(at, target, max(1, round(guess / step)))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if at(middle) < target else (low, middle)
    nearest = min((low, high) if low else (high,), key=lambda times: abs(at(times) - target))
    return nearest * step


# a measure that has not moved over so many steps will not
_FLAT = 64


def _bracket(at: Callable[[int], int], target: int, start: int) -> tuple[int, int]:
    """Two numbers with the target between their measures: above the lower's, or that is 0."""
    low = high = start
    stride = 1
    while at(high) < target:
        low, high, stride = high, high + stride, 2 * stride
        if stride > _FLAT and at(high) == at(start):
            raise InputError(f"what is measured does not grow with the width: {at(start)} always")
    while low and at(low) >= target:
        low, high, stride = max(low - stride, 0), low, 2 * stride
    return low, high


def _measures(
    match: str,
    group: FiniteGroup,
    example: Tensor,
    output: Output,
    action: ActionSpec | None,
) -> Callable[[nn.Module, bool], int]:
    if match not in ("parameters", "multiply_adds"):
        raise InputError(f'match must be "parameters" or "multiply_adds", not {match!r}')

    def measure(model: nn.Module, tie: bool) -> int:
        with torch.random.fork_rng(devices=[]):
            if tie and match == "parameters":
                model = equivariant(model, group, example, output, action=action, check=False)
        if match == "parameters":
            return count_parameters(model)
        return cost(model, example).multiply_adds

    return measure
