"""001, Sections 4.2 and 5.2: the [G]-mixed layer and EquiNAS_D, as statements that can fail."""

from __future__ import annotations

from functools import cache
from itertools import chain, combinations

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import isotropy as iso
from isotropy.groups import regular, vectors
from isotropy.nn import Conv2d
from isotropy.nn.blueprint import weight_layers
from isotropy.schemes import Partition, Tie
from isotropy.schemes.mixture import MixtureScheme
from tests.contracts import run, same

D4 = iso.group("D4")
ALL = tuple(str(group) for group in D4.subgroups())
PAPER = ("C1", "D1", "C2", "D2", "C4", "D4")
TIES = {
    "fields": Tie(regular(D4, 1), regular(D4, 1), (2, 2)),
    "signed": Tie(vectors(D4), regular(D4, 1), (3, 3)),
}


@cache
def partition(tie: str, group: str) -> Partition:
    return TIES[tie].weight(iso.group(group))


def separate(x: Tensor, scheme: MixtureScheme) -> Tensor:
    """Eq. 10: every group's convolution by itself, of fixed norm, then their weighted sum."""
    outputs = torch.zeros((), dtype=x.dtype)
    for name, z, norm in zip(scheme.names, scheme.z, scheme.norms, strict=True):
        part = scheme.part(name)
        kernel = (part.basis() @ part.psi).view(scheme.shape)
        outputs = outputs + z * F.conv2d(x, norm * kernel / kernel.norm())
    return outputs


@pytest.mark.parametrize(("tie", "subgroups"), [("fields", ALL), ("signed", PAPER)])
def test_equation_10_is_equation_11_for_every_set_of_subgroups(
    tie: str, subgroups: tuple[str, ...]
) -> None:
    """All 1023 sets of D4's ten subgroups, whether or not one is inside another."""
    x = torch.randn(2, 8, 4, 4, dtype=torch.float64)
    sets = [combinations(subgroups, size) for size in range(1, len(subgroups) + 1)]
    for names in chain(*sets):
        scheme = MixtureScheme({name: partition(tie, name) for name in names}).reset(0.4)
        scheme.double().alpha.data.normal_()
        layer = iso.fold(Conv2d(scheme))
        assert type(layer) is nn.Conv2d
        same(run(layer, x), separate(x, scheme), 1e-10, str(names))


# -- EquiNAS_D -----------------------------------------------------------------------------------


def pictures(samples: int = 48) -> tuple[np.ndarray, np.ndarray]:
    draws = np.random.default_rng(0)
    return draws.normal(size=(samples, 1, 7, 7)).astype(np.float32), np.arange(samples) % 2


def network() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Conv2d(8, 8, 3),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 2),
    )


def norms(model: nn.Module) -> Tensor:
    """Of every group's kernel in every layer, as they are."""
    schemes = [layer.scheme for layer in weight_layers(model).values()]
    return torch.stack([s.kernel(name).detach().norm() for s in schemes for name in s.names])


@pytest.mark.parametrize("gradients", ["two", "one"])
def test_norms_of_kernels_stay_while_numbers_and_weights_move(gradients: str) -> None:
    """After any number of epochs of a run, they are those at its beginning."""
    plain, data = network(), pictures()
    seen, numbers, weights = [], [], []
    for epochs in (1, 4):
        found = iso.search.mix(
            plain, *data, groups=PAPER, gradients=gradients, epochs=epochs, validation=0.25
        )
        seen.append(norms(found.mixture))
        first = found.mixture[0].scheme
        assert isinstance(first, MixtureScheme)
        numbers.append(first.part("D4").psi.detach().clone())
        weights.append(torch.tensor([list(z.values()) for z in found.weights.values()]))
    fixed = torch.cat([layer.scheme.norms for layer in weight_layers(found.mixture).values()])
    assert fixed.shape == (3 * len(PAPER),)
    assert bool((fixed > 0).all())
    for now in seen:
        same(now, fixed, 1e-6)
    assert float((numbers[1] - numbers[0]).norm() / numbers[0].norm()) > 0.01
    last = weights[-1]  # layers, groups, times
    assert torch.equal(last[:, :, 0], torch.full_like(last[:, :, 0], 1 / 6))  # α begins at 0
    assert torch.equal(last[:, :, :2], weights[0])  # a longer run begins as a shorter one does
    assert float((last[:, :, -1] - last[:, :, 0]).abs().max()) > 0.005
    same(last.sum(1), torch.ones(3, 5), 1e-6)


def test_the_outcome_is_a_plain_network_of_the_smallest_group() -> None:
    """Section 5.2: the final model is a standard convolutional model."""
    found = iso.search.mix(network(), *pictures(), groups=PAPER, epochs=2, validation=0.25)
    assert [type(m) for m in found.model.modules()] == [type(m) for m in network().modules()]
    x = torch.randn(3, 1, 7, 7)
    same(run(found.model, x), run(found.mixture, x), 1e-5)
