"""001 (EquiNAS), Equations 1 to 9: group convolutions, and relaxing them to a subgroup.

The equations are written out as they stand in the paper, sum by sum, with the pixels that it
leaves out; what the group does comes from `tests.turns`, which knows nothing of isotropy.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
import torch
from torch import Tensor, nn

import isotropy as iso
from isotropy.groups import regular, trivial
from isotropy.nn.linear import Weighted
from tests.turns import (
    ELEMENTS,
    SUBGROUPS,
    distance,
    inverse,
    move,
    right_cosets,
    times,
    turn,
    turn_fields,
)

Kernel = dict[str, Tensor]
PROPER = [name for name in SUBGROUPS if name != "D4"]
PAIRS = [
    (large, small)
    for large in SUBGROUPS
    for small in SUBGROUPS
    if set(SUBGROUPS[small]) <= set(SUBGROUPS[large])
]


def chains_down(group: str) -> list[tuple[str, ...]]:
    """All chains of subgroups from a group to C1 with nothing in between two steps."""
    members = set(SUBGROUPS[group])
    if len(members) == 1:
        return [(group,)]
    steps = [h for h in SUBGROUPS if set(SUBGROUPS[h]) < members]
    below = [h for h in steps if 2 * len(SUBGROUPS[h]) == len(members)]
    return [(group, *chain) for h in below for chain in chains_down(h)]


CHAINS = chains_down("D4")


def test_the_chains() -> None:
    assert [" ".join(chain) for chain in CHAINS] == [
        "D4 C4 C2 C1",
        "D4 D2 C2 C1",
        "D4 D2 D1 C1",
        "D4 D2 D1v C1",
        "D4 D2d C2 C1",
        "D4 D2d D1d C1",
        "D4 D2d D1a C1",
    ]
    assert len(PAIRS) == 34


# -- Equations 1 and 2 ------------------------------------------------------------------------


def offsets(kernel: int) -> list[tuple[int, int]]:
    """Twice the place of every kernel pixel from the centre, row by row."""
    return [
        (2 * i - (kernel - 1), 2 * j - (kernel - 1)) for i in range(kernel) for j in range(kernel)
    ]


def read_at(kernel: Tensor, offset: tuple[int, int]) -> Tensor:
    """A kernel (d, c, k, k) at a place relative to its centre."""
    k = kernel.shape[-1]
    return kernel[..., (offset[0] + k - 1) // 2, (offset[1] + k - 1) // 2]


def group_convolution(f: dict[str, Tensor], psi: Kernel) -> dict[str, Tensor]:
    """Eq. 1: [f ⋆ ψ]_d(x, g) = Σ_h Σ_y Σ_c f_c(y, h) ψ_{d,c}(g⁻¹(y - x), g⁻¹h)."""
    return {
        g: sum(pixel_sum(f[h], psi[times(inverse(g), h)], g) for h in f)  # type: ignore[misc]
        for g in f
    }


def lifting_convolution(x: Tensor, psi: Tensor, group: tuple[str, ...]) -> dict[str, Tensor]:
    """Eq. 2: [x ⋆ ψ]_d(z, g) = Σ_y Σ_c x_c(y) ψ_{d,c}(g⁻¹(y - z))."""
    return {g: pixel_sum(x, psi, g) for g in group}


def pixel_sum(x: Tensor, psi: Tensor, g: str) -> Tensor:
    """Σ_y Σ_c x_c(y) ψ_{d,c}(g⁻¹(y - z)) at every z where the kernel fits."""
    k = psi.shape[-1]
    height, width = x.shape[2] - k + 1, x.shape[3] - k + 1
    out = x.new_zeros(x.shape[0], psi.shape[0], height, width)
    for i in range(height):
        for j in range(width):
            for n, offset in enumerate(offsets(k)):
                pixel = x[:, :, i + n // k, j + n % k]
                out[:, :, i, j] += pixel @ read_at(psi, move(inverse(g), offset)).T
    return out


def as_function(x: Tensor, layout: tuple[str, ...], group: tuple[str, ...]) -> dict[str, Tensor]:
    """Eq. 3: the channels c · |layout| + g as a function of the subgroup, f_{(c,s)}(g') = f_c(g's).

    With the whole layout as the group this is f itself.
    """
    fields = x.unflatten(1, (-1, len(layout)))
    cosets = right_cosets(group, layout)
    places = {g: [layout.index(times(g, s)) for s in cosets] for g in group}
    return {g: fields[:, :, places[g]].flatten(1, 2) for g in group}


def read_kernel(weight: Tensor, layout: tuple[str, ...], group: tuple[str, ...]) -> Kernel:
    """The kernel ψ_{(d,t),(c,s)}(g') that a weight holds, read off its rows of g = e."""
    n, cosets = len(layout), right_cosets(group, layout)
    split = weight.unflatten(0, (-1, n)).unflatten(2, (-1, n))
    rows = split[:, [layout.index(t) for t in cosets]]
    kernel = {}
    for g in group:
        columns = rows[:, :, :, [layout.index(times(g, s)) for s in cosets]]
        kernel[g] = columns.flatten(2, 3).flatten(0, 1)
    return kernel


def compare(found: Tensor, expected: dict[str, Tensor], layout: tuple[str, ...]) -> None:
    """The layer's channels against the sums, element by element."""
    parts = as_function(found, layout, tuple(expected))
    for g, value in expected.items():
        assert distance(parts[g], value) < 1e-12


def pictures(channels: int, size: int = 5, count: int = 2) -> Tensor:
    return torch.randn(count, channels, size, size, dtype=torch.float64)


@pytest.mark.parametrize("kernel", [2, 3])
@pytest.mark.parametrize("name", SUBGROUPS)
def test_equation_1(name: str, kernel: int) -> None:
    group = SUBGROUPS[name]
    layer = iso.nn.GroupConv2d(2, 3, kernel, name, bias=False).double()
    x = pictures(2 * len(group))
    psi = read_kernel(layer.weight.detach(), group, group)
    compare(layer(x), group_convolution(as_function(x, group, group), psi), group)
    assert layer.scheme.free_parameters == 3 * 2 * len(group) * kernel**2


@pytest.mark.parametrize("kernel", [2, 3])
@pytest.mark.parametrize("name", SUBGROUPS)
def test_equation_2(name: str, kernel: int) -> None:
    group = SUBGROUPS[name]
    layer = iso.nn.LiftingConv2d(2, 3, kernel, name, bias=False).double()
    x = pictures(2)
    psi = layer.weight.detach()[:: len(group)]
    compare(layer(x), lifting_convolution(x, psi, group), group)
    assert layer.scheme.free_parameters == 3 * 2 * kernel**2


@pytest.mark.parametrize("name", SUBGROUPS)
def test_equation_1_inside_d4s_layout(name: str) -> None:
    """Tied to a subgroup, a layer with D4's channels is a group convolution of |R| times them."""
    d4, group = iso.group("D4"), SUBGROUPS[name]
    out, inp = regular(d4, 2), regular(d4, 1)
    layer = iso.nn.Conv2d.tied(out, inp, 3, bias=False, group=iso.group(name)).double()
    x = pictures(8)
    psi = read_kernel(layer.weight.detach(), ELEMENTS, group)
    compare(layer(x), group_convolution(as_function(x, ELEMENTS, group), psi), ELEMENTS)
    cosets = 8 // len(group)
    assert layer.scheme.free_parameters == (2 * cosets) * (1 * cosets) * len(group) * 3**2


@pytest.mark.parametrize("name", SUBGROUPS)
def test_equation_2_inside_d4s_layout(name: str) -> None:
    d4, group = iso.group("D4"), SUBGROUPS[name]
    layer = iso.nn.Conv2d.tied(
        regular(d4, 2), trivial(d4, 3), 3, bias=False, group=iso.group(name)
    ).double()
    x = pictures(3)
    cosets = right_cosets(group, ELEMENTS)
    rows = layer.weight.detach().unflatten(0, (2, 8))[:, [ELEMENTS.index(t) for t in cosets]]
    compare(layer(x), lifting_convolution(x, rows.flatten(0, 1), group), ELEMENTS)
    assert layer.scheme.free_parameters == (2 * len(cosets)) * 3 * 3**2


# -- Equations 3 to 9 -------------------------------------------------------------------------


def rearranged(psi: Kernel, group: tuple[str, ...], subgroup: tuple[str, ...]) -> Kernel:
    """Eq. 4: ψ~_{(d,t),(c,s)}(z, g') = ψ_{d,c}(t⁻¹z, t⁻¹g's)."""
    cosets = right_cosets(subgroup, group)
    found = {}
    for g in subgroup:
        rows = [
            torch.stack([turn(psi[times(inverse(t), times(g, s))], t) for s in cosets], 2)
            for t in cosets
        ]
        found[g] = torch.stack(rows, 1).flatten(2, 3).flatten(0, 1)
    return found


@pytest.mark.parametrize(("large", "small"), PAIRS, ids=lambda name: name)
def test_equation_4(large: str, small: str) -> None:
    """The relaxed layer holds the kernel of Eq. 4, and no more numbers than that has."""
    group, subgroup = SUBGROUPS[large], SUBGROUPS[small]
    layer = iso.nn.GroupConv2d(2, 1, 3, large).double()
    relaxed = iso.relax(layer, "", small)
    psi = rearranged(read_kernel(layer.weight.detach(), group, group), group, subgroup)
    found = read_kernel(relaxed.weight.detach(), group, subgroup)
    assert all(torch.equal(found[g], psi[g]) for g in subgroup)
    assert torch.equal(relaxed.weight, layer.weight)
    assert relaxed.scheme.free_parameters == sum(value.numel() for value in psi.values())
    assert relaxed.bias_scheme.free_parameters == len(group) // len(subgroup)


@pytest.mark.parametrize(("large", "small"), PAIRS, ids=lambda name: name)
def test_equation_4_of_a_lifting_layer(large: str, small: str) -> None:
    group, subgroup = SUBGROUPS[large], SUBGROUPS[small]
    layer = iso.nn.LiftingConv2d(2, 3, 3, large, bias=False).double()
    relaxed = iso.relax(layer, "", small)
    psi = layer.weight.detach()[:: len(group)]
    for t in right_cosets(subgroup, group):
        rows = relaxed.weight.detach()[group.index(t) :: len(group)]
        assert torch.equal(rows, turn(psi, t))
    cosets = len(group) // len(subgroup)
    assert relaxed.scheme.free_parameters == psi.numel() * cosets


@pytest.mark.parametrize(("large", "small"), PAIRS, ids=lambda name: name)
def test_equations_5_to_9(large: str, small: str) -> None:
    """[f ⋆ ψ]_d(g't) = [f~ ⋆ ψ~]_{(d,t)}(g'), and both are what the layers compute."""
    group, subgroup = SUBGROUPS[large], SUBGROUPS[small]
    layer = iso.nn.GroupConv2d(1, 1, 3, large, bias=False).double()
    x = pictures(len(group), 4, 1)
    psi = read_kernel(layer.weight.detach(), group, group)
    before = group_convolution(as_function(x, group, group), psi)
    after = group_convolution(as_function(x, group, subgroup), rearranged(psi, group, subgroup))
    cosets = right_cosets(subgroup, group)
    for g in subgroup:
        for n, t in enumerate(cosets):
            assert distance(after[g][:, n], before[times(g, t)][:, 0]) < 1e-12
    compare(iso.relax(layer, "", small)(x), after, group)


@pytest.mark.parametrize(("large", "small"), PAIRS, ids=lambda name: name)
def test_a_relaxed_layer_is_free_to_be_any_of_the_subgroup(large: str, small: str) -> None:
    """Drawn anew, it is still Eq. 1's convolution over the subgroup: nothing more is tied."""
    group, subgroup = SUBGROUPS[large], SUBGROUPS[small]
    relaxed = iso.relax(iso.nn.GroupConv2d(1, 1, 3, large, bias=False).double(), "", small)
    relaxed.reset_parameters()
    x = pictures(len(group), 4, 1)
    psi = read_kernel(relaxed.weight.detach(), group, subgroup)
    compare(relaxed(x), group_convolution(as_function(x, group, subgroup), psi), group)
    numbers = torch.cat([value.flatten() for value in psi.values()])
    assert numbers.unique().numel() == relaxed.scheme.free_parameters == numbers.numel()


# -- a whole network, trained -----------------------------------------------------------------

DEPTH = 8
FIELDS = 3
LAYERS = [*(f"conv{i}" for i in range(DEPTH)), "head"]


class Plain(nn.Module):
    """Eight convolutions with batch norm, an average pool that fits 9 pixels, a linear head."""

    def __init__(self) -> None:
        super().__init__()
        width = FIELDS * len(ELEMENTS)
        for i in range(DEPTH):
            self.add_module(f"conv{i}", nn.Conv2d(width if i else 1, width, 3, padding=1))
            self.add_module(f"norm{i}", nn.BatchNorm2d(width))
        self.pool = nn.AvgPool2d(3, 2, padding=1)
        self.head = nn.Linear(width, 4)

    def forward(self, x: Tensor) -> Tensor:
        for i in range(DEPTH):
            x = torch.relu(self.get_submodule(f"norm{i}")(self.get_submodule(f"conv{i}")(x)))
            x = self.pool(x) if i in (1, 3) else x
        return self.head(x.mean((2, 3)))


@dataclass
class Family:
    """A D4 network after 100 training steps, all that is relaxed from it, and two pictures."""

    root: nn.Module
    x: Tensor
    known: dict[tuple[str, tuple[str, ...]], nn.Module] = field(default_factory=dict)

    def relaxed(self, layer: str, chain: tuple[str, ...]) -> nn.Module:
        """The network relaxed at a layer step by step; the chain begins with D4."""
        if len(chain) == 1:
            return self.root
        if (layer, chain) not in self.known:
            parent = self.relaxed(layer, chain[:-1])
            self.known[layer, chain] = iso.relax(parent, layer, chain[-1])
        return self.known[layer, chain]


@pytest.fixture(scope="module")
def family() -> Family:
    torch.manual_seed(0)
    x = torch.randn(16, 1, 9, 9, dtype=torch.float64)
    y = torch.arange(16) % 4
    network = iso.equivariant(Plain().double(), "D4", x)
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    start = torch.cat([p.detach().flatten() for p in network.parameters()])
    for _ in range(100):
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(x), y).backward()
        optimizer.step()
    end = torch.cat([p.detach().flatten() for p in network.parameters()])
    assert distance(start, end) > 0.1  # training took it somewhere
    return Family(network.eval(), torch.randn(2, 1, 9, 9, dtype=torch.float64))


@torch.no_grad()
def drawn_anew(model: nn.Module) -> nn.Module:
    """Other weights everywhere, of a size that neither dies out nor explodes."""
    torch.manual_seed(1)
    model = copy.deepcopy(model)
    for module in model.modules():
        if isinstance(module, Weighted):
            fan_in = module.scheme().detach()[0].numel()
            module.scheme.psi.normal_(0, (2 / fan_in) ** 0.5)
            module.bias_scheme.psi.normal_(0, 0.1)
        elif isinstance(module, iso.nn.BatchNorm):
            module.weight_scheme.psi.uniform_(0.5, 1.5)
            module.bias_scheme.psi.normal_(0, 0.3)
            module.running_mean.normal_(0, 0.3)
            module.running_var.uniform_(0.5, 1.5)
    return model


@torch.no_grad()
def errors_by_layer(model: nn.Module, x: Tensor) -> dict[str, dict[str, float]]:
    """For every layer and element: is its output for the turned picture its turned output?"""
    outputs: dict[str, Tensor] = {}
    handles = [
        model.get_submodule(name).register_forward_hook(
            lambda _, __, out, name=name: outputs.update({name: out})
        )
        for name in LAYERS
    ]
    model(torch.cat([turn(x, g) for g in ELEMENTS]))
    for handle in handles:
        handle.remove()
    found = {}
    for name, out in outputs.items():
        reference, *turned = out.chunk(len(ELEMENTS))
        moved = turn_fields if out.ndim == 4 else lambda value, _: value
        found[name] = {
            g: distance(value, moved(reference, g))
            for g, value in zip(ELEMENTS[1:], turned, strict=True)
        }
    return found


def require_groups(model: nn.Module, x: Tensor, groups: dict[str, str]) -> None:
    """Every layer's output keeps its group, to rounding, and no element beyond it."""
    assert {name: str(group) for name, group in iso.groups_of(model).items()} == groups
    for name, errors in errors_by_layer(model, x).items():
        for element, error in errors.items():
            if element in SUBGROUPS[groups[name]]:
                assert error < 1e-10, (name, element)
            else:
                assert error > 1e-3, (name, element)


def from_layer_on(layer: str, name: str) -> dict[str, str]:
    """D4 before a layer, a subgroup from it on."""
    first = LAYERS.index(layer)
    return {other: "D4" if i < first else name for i, other in enumerate(LAYERS)}


def require_same(child: nn.Module, parent: nn.Module, x: Tensor) -> None:
    with torch.no_grad():
        assert distance(child(x), parent(x)) < 1e-10


@pytest.mark.parametrize("chain", CHAINS, ids="-".join)
@pytest.mark.parametrize("layer", LAYERS)
def test_children_equal_their_parents(family: Family, layer: str, chain: tuple[str, ...]) -> None:
    networks = [family.relaxed(layer, chain[:n]) for n in range(1, len(chain) + 1)]
    for parent, child in pairwise(networks):
        require_same(child, parent, family.x)
        assert not child.training
        free = [sum(p.numel() for p in network.parameters()) for network in (parent, child)]
        assert free[0] < free[1]
    require_same(networks[-1], family.root, family.x)


@pytest.mark.parametrize("name", PROPER)
@pytest.mark.parametrize("layer", LAYERS)
def test_drawn_anew_it_keeps_its_group_and_no_more(family: Family, layer: str, name: str) -> None:
    chain = next(c[: c.index(name) + 1] for c in CHAINS if name in c)
    require_groups(drawn_anew(family.relaxed(layer, chain)), family.x, from_layer_on(layer, name))


@pytest.mark.parametrize("name", PROPER)
@pytest.mark.parametrize("layer", LAYERS)
def test_the_way_there_does_not_matter(family: Family, layer: str, name: str) -> None:
    """Every chain to a subgroup, and the one step to it, end in the same network."""
    straight = iso.relax(family.root, layer, name).state_dict()
    for chain in {c[: c.index(name) + 1] for c in CHAINS if name in c}:
        state = family.relaxed(layer, chain).state_dict()
        assert state.keys() == straight.keys()
        assert all(torch.equal(state[key], straight[key]) for key in state)


@pytest.mark.parametrize("chain", CHAINS, ids="-".join)
def test_groups_may_fall_step_by_step_along_the_network(
    family: Family, chain: tuple[str, ...]
) -> None:
    """As EquiNAS grows them: the head first, then layers before it, each to the next subgroup."""
    network = family.root
    groups = dict.fromkeys(LAYERS, "D4")
    for layer, start in (("conv2", 1), ("conv4", 2), ("conv6", 3)):
        child = iso.relax(network, layer, chain[start])
        require_same(child, network, family.x)
        groups |= dict.fromkeys(LAYERS[LAYERS.index(layer) :], chain[start])
        network = child
    require_groups(drawn_anew(network), family.x, groups)


@pytest.mark.parametrize("chain", CHAINS, ids="-".join)
def test_groups_may_fall_from_the_end(family: Family, chain: tuple[str, ...]) -> None:
    """EquiNAS's own order: the last layer goes ahead, the one before follows it down."""
    network = family.root
    for layer in reversed(LAYERS[-4:]):
        child = iso.relax(network, layer, chain[1])
        require_same(child, network, family.x)
        network = child
    for layer, name in (("head", chain[2]), ("conv7", chain[2]), ("head", chain[3])):
        child = iso.relax(network, layer, name)
        require_same(child, network, family.x)
        network = child
    groups = from_layer_on("conv5", chain[1]) | {"conv7": chain[2], "head": chain[3]}
    require_groups(drawn_anew(network), family.x, groups)


@pytest.mark.parametrize("name", SUBGROUPS)
def test_equivariance_error_says_the_same(family: Family, name: str) -> None:
    """Of a network relaxed to each subgroup: within rounding to its subgroups, large to others."""
    network = drawn_anew(iso.relax(family.root, "conv3", name))
    for other, elements in SUBGROUPS.items():
        error = iso.equivariance_error(network, family.x, other)
        if set(elements) <= set(SUBGROUPS[name]):
            assert error < 1e-10
        else:
            assert error > 1e-3


# -- the paper's backbone ---------------------------------------------------------------------


def test_the_backbone_is_that_of_the_paper() -> None:
    """Appendix B: eight convolutions, 16 and then 32 fields of D4, pooled to one pixel."""
    plain = iso.models.make("equinas", (3, 28, 28), 10, hidden=64, order=8)
    x = torch.zeros(2, 3, 28, 28)
    convolutions = [m for m in plain.modules() if isinstance(m, nn.Conv2d)]
    assert [m.out_channels // 8 for m in convolutions] == [16] * 4 + [32] * 4
    assert all(m.kernel_size == (5, 5) and m.padding == (2, 2) for m in convolutions)
    fields = [3, 16, 16, 16, 16, 32, 32, 32, 32]
    for layer, (inp, out) in zip(convolutions, pairwise(fields), strict=True):
        assert float(layer.weight.detach().std()) == pytest.approx((inp * out) ** -0.5, rel=0.1)
    tied = iso.equivariant(plain, "D4", x, check=False)
    counts = [m.scheme.psi.numel() for m in tied.modules() if isinstance(m, Weighted)]
    group_convolutions = [3 * 16 * 25] + [out * inp * 8 * 25 for inp, out in pairwise(fields[1:])]
    assert counts[:8] == group_convolutions


@pytest.mark.parametrize(("size", "pooled"), [(28, (2, 4, 6)), (64, (2, 4, 5, 6))])
def test_the_backbone_is_pooled_where_the_paper_says(size: int, pooled: tuple[int, ...]) -> None:
    for pool in ("exact", "paper"):
        plain = iso.models.make("equinas", (1, size, size), 10, width=8, pool=pool)
        names = [name for name, _ in plain.named_children() if name.startswith("pool")]
        assert names == [f"pool{number + 1}" for number in pooled]
        convolutional = nn.Sequential(*list(plain.children())[:-1])
        out = convolutional(torch.zeros(2, 1, size, size))
        assert out.shape[-1] == (4 if pool == "paper" else {28: 3, 64: 4}[size])


def test_the_audit_says_what_the_paper_s_pool_breaks() -> None:
    x = torch.randn(2, 1, 28, 28)
    plain = iso.models.make("equinas", (1, 28, 28), 10, width=8, pool="paper")
    with pytest.warns(iso.IsotropyWarning, match="not exactly equivariant"):
        tied = iso.equivariant(plain, "C4", x)
    broken = [row for row in iso.audit(tied, x, "C4").rows if row.error > 1e-3]
    assert [row.layer for row in broken] == ["avg_pool2d in pool3", "avg_pool2d in pool5"]
    assert all("stride 2" in row.cause for row in broken)
    exact = iso.equivariant(iso.models.make("equinas", (1, 28, 28), 10, width=8), "C4", x)
    for mode in (exact.train(), exact.eval()):
        assert iso.equivariance_error(mode, x.double(), "C4") < 1e-6
    with pytest.raises(iso.InputError, match="pool must be one of"):
        iso.models.make("equinas", (1, 28, 28), 10, pool="max")
