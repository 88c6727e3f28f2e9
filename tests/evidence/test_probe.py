"""The networks candidates are compared with: exactly tied, and as large as the untied one."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from isotropy.evidence import Symmetry
from isotropy.evidence.candidates import candidates_for
from isotropy.evidence.probe import FULL, Probe
from isotropy.groups.action import permuting
from isotropy.nn.cost import count_parameters
from tests.evidence.kinds import SHAPES, data_of, permuted, usual

CASES = [*usual(), *[("given", symmetry) for symmetry in permuted()]]
OUTPUTS = 3


def probe_of(kind: str, symmetry: Symmetry) -> Probe:
    if symmetry.view == "entries":
        shape: tuple[int, ...] = (symmetry.inputs.size,)
    else:
        shape = SHAPES[kind][0]
    return Probe(shape, OUTPUTS, symmetry.view)


def name(value: object) -> str:
    return value.name if isinstance(value, Symmetry) else str(value)


def count(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


def whole_fields(width: int, symmetry: Symmetry) -> int:
    return -(-width // symmetry.field_size) * symmetry.field_size


def in_double(net: nn.Module) -> nn.Module:
    """In eval mode, with statistics and offsets that are not those of a fresh network."""
    net = net.double()
    for module in net.modules():
        for key, buffer in module.named_buffers(recurse=False):
            if key == "running_var":
                buffer.uniform_(0.5, 2)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return net.eval()


@pytest.mark.parametrize(("kind", "symmetry"), CASES, ids=name)
def test_tied_networks_are_exactly_invariant(kind: str, symmetry: Symmetry) -> None:
    probe = probe_of(kind, symmetry)
    net = in_double(probe.tied(symmetry, whole_fields(8, symmetry)))
    x = torch.randn(3, *probe.shape, dtype=torch.float64)
    with torch.no_grad():
        y = net(x)
        for element in symmetry.tested:
            moved = net(symmetry.move(x, element))
            torch.testing.assert_close(moved, y, atol=1e-9 * float(y.abs().max()), rtol=0)
    assert float(y.std(0).max()) > 1e-6  # it does look at its input


@pytest.mark.parametrize("kind", ["square picture", "signal", "vector", "oblong volume"])
def test_untied_networks_are_not(kind: str) -> None:
    data = data_of(kind)
    x = data.samples.take(np.arange(3)).double()
    for symmetry in candidates_for(data):
        net = in_double(probe_of(kind, symmetry).plain(8))
        with torch.no_grad():
            for element in symmetry.tested:
                moved = net(symmetry.move(x, element))
                assert float((moved - net(x)).abs().max()) > 1e-3


KNOWN = [
    ("square picture", "D4"),
    ("square picture", "C4"),
    ("square picture", "D1"),
    ("large picture", "D2d"),
    ("odd picture", "C2"),
    ("signal", "reversal"),
    ("signal", "shift + sign"),
    ("vector", "sign"),
    ("vector", "permute all"),
    ("volume", "C2 row"),
]


@pytest.mark.parametrize(("kind", "candidate"), KNOWN)
def test_tied_networks_train_about_as_many_numbers(kind: str, candidate: str) -> None:
    """Within a tenth, and no width of whole fields that is next to it comes nearer."""
    symmetry = next(c for c in candidates_for(data_of(kind)) if c.name == candidate)
    probe = probe_of(kind, symmetry)
    width, step = probe.matched_width(symmetry), symmetry.field_size
    plain = count_parameters(probe.plain())

    def off(width: int) -> int:
        return abs(count_parameters(probe.tied(symmetry, width)) - plain)

    assert width % step == 0
    assert off(width) < 0.1 * plain
    assert off(width) <= off(width + step)
    if width > step:
        assert off(width) <= off(width - step)


@pytest.mark.parametrize(("kind", "symmetry"), CASES, ids=name)
def test_equal_width_is_that_of_the_untied_in_whole_fields(kind: str, symmetry: Symmetry) -> None:
    probe = probe_of(kind, symmetry)
    width = probe.equal_width(symmetry)
    assert 0 <= width - probe.first_width < symmetry.field_size
    assert width % symmetry.field_size == 0


def test_labels_are_exchanged_by_networks_that_are_tied_so() -> None:
    data = data_of("square picture")
    for symmetry in candidates_for(data, ["D1", "C2", "D1d"]):
        (g,) = symmetry.group.generators
        labels = permuting(symmetry.group, {g: [1, 0, 2]}, "labels", OUTPUTS)
        swapping = symmetry.permuting(labels)
        net = in_double(probe_of("square picture", swapping).tied(swapping, 4))
        x = torch.randn(2, 3, 8, 8, dtype=torch.float64)
        torch.testing.assert_close(net(swapping.move(x, g)), net(x)[:, [1, 0, 2]])


def test_signs_are_turned_by_networks_that_are_tied_so() -> None:
    (symmetry,) = candidates_for(data_of("signal"), ["reversal"])
    targets = permuting(symmetry.group, {"f": np.diag([-1, 1])}, "targets", 2)
    turning = symmetry.permuting(targets)
    net = in_double(Probe(SHAPES["signal"][0], 2).tied(turning, 4))
    x = torch.randn(2, *SHAPES["signal"][0], dtype=torch.float64)
    torch.testing.assert_close(net(x.flip(-1)), net(x) * torch.tensor([-1.0, 1.0]))


LARGE = [(1, 28, 28), (3, 64, 48), (1, 33, 33), (1, 100, 9), (1, 3, 3), (1, 1, 5), (1, 20, 20, 20)]


@pytest.mark.parametrize("shape", LARGE, ids=str)
def test_large_grids_are_brought_down_exactly(shape: tuple[int, ...]) -> None:
    """Strided layers meet both ends of the grid alike, whatever its size."""
    probe = Probe(shape, OUTPUTS)
    net = in_double(probe.plain(4))
    seen: list[tuple[int, ...]] = []
    net.get_submodule("block1").register_forward_pre_hook(lambda _, x: seen.append(x[0].shape[2:]))
    x = torch.randn(2, *shape, dtype=torch.float64)
    assert net(x).shape == (2, OUTPUTS)
    assert min(seen[0]) <= max(FULL, 3)


@pytest.mark.parametrize("length", [2, 3, 7, 64])
def test_signals_of_any_length(length: int) -> None:
    probe = Probe((2, length), OUTPUTS)
    for shift in (False, True):
        assert probe.plain(4, shift)(torch.randn(2, 2, length)).shape == (2, OUTPUTS)


def test_only_networks_for_shifts_are_blind_to_them() -> None:
    probe = Probe((1, 32), OUTPUTS)
    x = torch.randn(2, 1, 32, dtype=torch.float64)
    for shift in (False, True):
        net = in_double(probe.plain(4, shift))
        difference = float((net(x.roll(5, -1)) - net(x)).detach().abs().max())
        assert (difference < 1e-10) is shift


def test_own_models_are_made_by_width() -> None:
    widths: list[int] = []

    def factory(width: int) -> nn.Module:
        widths.append(width)
        return nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.AdaptiveAvgPool2d(1), nn.Flatten()
        )

    probe = Probe((1, 8, 8), 8, factory=factory, width=8)
    assert probe.plain().get_parameter("0.weight").shape[0] == 8
    assert widths == [8]
