"""How fast a tied weight moves: an orbit of n numbers, n times as fast, unless rescaled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import isotropy as iso
from isotropy.groups import grid, permuting, quotient, regular, side_by_side, trivial, vectors
from isotropy.nn import Conv1d, Conv2d, ConvTranspose2d, Linear
from tests.contracts import act, randomise, same, turn

D4, D1 = iso.group("D4"), iso.group("D1")
MANY = side_by_side([vectors(D4), quotient(D4, D1), trivial(D4, 1)])

LAYERS: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "linear": (lambda **k: Linear.tied(regular(D4), MANY, **k), ()),
    "linear, signed": (lambda **k: Linear.tied(MANY, regular(D4), **k), ()),
    "linear, flattened": (
        lambda **k: Linear.tied(trivial(D4, 3), trivial(D4, 1) * grid(D4, (4, 4)), **k),
        (),
    ),
    "linear, labels": (
        lambda **k: Linear.tied(permuting(D4, {"r2": [0, 1], "s": [1, 0]}), regular(D4), **k),
        (),
    ),
    "conv1d": (lambda **k: Conv1d.tied(regular(D1, 2), trivial(D1, 2), 3, padding=1, **k), (6,)),
    "conv2d": (lambda **k: Conv2d.tied(regular(D4), regular(D4), 3, **k), (5, 5)),
    "conv2d, signed": (lambda **k: Conv2d.tied(MANY, vectors(D4), 3, padding=1, **k), (4, 4)),
    "conv2d, depthwise": (
        lambda **k: Conv2d.tied(regular(D4), regular(D4), 3, groups=8, **k),
        (5, 5),
    ),
    "transposed": (
        lambda **k: ConvTranspose2d.tied(quotient(D4, D1), regular(D4), 2, stride=2, **k),
        (3, 3),
    ),
}


def everywhere(x: Tensor, action: Any) -> Tensor:
    """A batch with every picture in all its places."""
    axes = range(2, x.ndim)
    group = action.group
    return torch.cat([turn(act(x, action, g, 1), group, g, axes) for g in group.elements])


def step(model: nn.Module, x: Tensor, target: Tensor, lr: float = 0.01) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    ((model(x) - target) ** 2).sum().backward()
    optimizer.step()


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("orthonormal", [True, False])
def test_first_step_on_symmetric_data(name: str, orthonormal: bool) -> None:
    make, space = LAYERS[name]
    layer = randomise(make(orthonormal=orthonormal)).double()
    plain = layer.folded()
    before = {"scheme": layer.weight.detach(), "bias_scheme": layer.bias.detach()}

    x = torch.randn(3, layer.tie.inp.size, *space).double()
    target = torch.randn_like(plain(x))
    x, target = everywhere(x, layer.tie.inp), everywhere(target, layer.tie.out)
    step(layer, x, target)
    step(plain, x, target)

    for scheme, start in before.items():
        partition = getattr(layer, scheme).partition
        sizes = torch.ones(start.numel()).double()
        if not orthonormal:
            labels = torch.from_numpy(partition.labels).flatten().long()
            sizes[labels >= 0] = torch.from_numpy(partition.sizes)[labels[labels >= 0]].double()
            assert scheme == "bias_scheme" or int(sizes.max()) > 1
        twin = (plain.weight if scheme == "scheme" else plain.bias).detach() - start
        moved = getattr(layer, scheme)().detach() - start
        assert float(twin.norm()) > 1e-3
        same(moved, twin * sizes.view(start.shape), 1e-11, scheme)


@pytest.mark.parametrize("name", LAYERS)
def test_any_step_of_an_orthonormal_twin_is_the_projected_one(name: str) -> None:
    """On data without symmetry the plain layer leaves the tied ones; projected back, it is ours."""
    make, space = LAYERS[name]
    layer = randomise(make(orthonormal=True)).double()
    plain = layer.folded()
    x = torch.randn(5, layer.tie.inp.size, *space).double()
    target = torch.randn_like(plain(x))
    for _ in range(3):
        step(layer, x, target)
        step(plain, x, target)
        layer.zero_grad()
        plain.zero_grad()
        with torch.no_grad():
            projected = make().double()
            plain.weight.copy_(projected.scheme.project_(plain.weight)())
            plain.bias.copy_(projected.bias_scheme.project_(plain.bias)())
        same(layer.weight, plain.weight, 1e-11)
        same(layer.bias, plain.bias, 1e-11)
