"""iso.cost against counts by hand, and matching_width against trying every width."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import isotropy as iso
from isotropy.groups import regular, trivial
from isotropy.nn.cost import nearest_multiple
from tests.models import MLP, VGG, Lambda, ResNet18, UNet


def numbers(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


def rows_of(cost: iso.nn.cost.Cost) -> dict[str, iso.nn.cost.CostRow]:
    return {row.layer: row for row in cost.rows}


# -- multiply-adds of single layers ---------------------------------------------------------

# layer, shape of one sample, multiply-adds: numbers out × numbers read for each (or, transposed,
# numbers in × numbers written from each)
LAYERS: list[tuple[nn.Module, tuple[int, ...], int]] = [
    (nn.Conv2d(3, 8, 3), (3, 10, 10), (8 * 8 * 8) * (3 * 9)),
    (nn.Conv2d(3, 8, 3, padding=1, bias=False), (3, 10, 10), (8 * 10 * 10) * (3 * 9)),
    (nn.Conv2d(3, 8, 3, stride=2), (3, 11, 11), (8 * 5 * 5) * (3 * 9)),
    (nn.Conv2d(3, 8, 3, stride=(1, 2)), (3, 9, 11), (8 * 7 * 5) * (3 * 9)),
    (nn.Conv2d(3, 8, 3, dilation=2), (3, 10, 10), (8 * 6 * 6) * (3 * 9)),
    (nn.Conv2d(8, 12, 3, groups=4), (8, 10, 10), (12 * 8 * 8) * (2 * 9)),
    (nn.Conv2d(8, 8, 5, groups=8, padding=2), (8, 6, 6), (8 * 6 * 6) * 25),
    (nn.Conv2d(2, 4, (3, 5)), (2, 9, 9), (4 * 7 * 5) * (2 * 15)),
    (nn.Conv2d(2, 4, 3, padding="same", padding_mode="reflect"), (2, 9, 9), 4 * 81 * 18),
    (nn.Conv1d(4, 6, 5, stride=3), (4, 20), (6 * 6) * (4 * 5)),
    (nn.Conv3d(2, 4, 3, padding=1), (2, 5, 6, 7), (4 * 5 * 6 * 7) * (2 * 27)),
    (nn.ConvTranspose2d(4, 6, 2, stride=2), (4, 5, 5), (4 * 5 * 5) * (6 * 4)),
    (nn.ConvTranspose2d(4, 6, 3, groups=2), (4, 5, 5), (4 * 5 * 5) * (3 * 9)),
    (nn.ConvTranspose1d(4, 6, 4, stride=2, padding=1), (4, 9), (4 * 9) * (6 * 4)),
    (nn.Linear(7, 5), (7,), 35),
    (nn.Linear(7, 5, bias=False), (7,), 35),
]


@pytest.mark.parametrize(("layer", "shape", "expected"), LAYERS, ids=lambda v: str(v))
def test_multiply_adds(layer: nn.Module, shape: tuple[int, ...], expected: int) -> None:
    cost = iso.cost(layer, torch.zeros(3, *shape))
    (row,) = cost.rows
    assert cost.multiply_adds == row.multiply_adds == expected
    assert cost.parameters == row.parameters == numbers(layer)
    assert cost.plain_parameters == row.plain_parameters == numbers(layer)
    assert cost.activation_bytes == 4 * layer(torch.zeros(1, *shape)).numel()


D4 = iso.group("D4")
TIED: list[tuple[nn.Module, nn.Module, tuple[int, ...]]] = [
    (
        iso.nn.LiftingConv2d(3, 2, 3, D4, stride=2),
        nn.Conv2d(3, 16, 3, stride=2),
        (3, 9, 9),
    ),
    (iso.nn.GroupConv2d(2, 1, 3, D4), nn.Conv2d(16, 8, 3), (16, 7, 7)),
    (
        iso.nn.Conv2d.tied(regular(D4, 4), regular(D4, 4), 3, groups=4, dilation=2),
        nn.Conv2d(32, 32, 3, groups=4, dilation=2),
        (32, 9, 9),
    ),
    (
        iso.nn.ConvTranspose2d.tied(regular(D4, 1), regular(D4, 2), 2, stride=2, bias=False),
        nn.ConvTranspose2d(16, 8, 2, stride=2, bias=False),
        (16, 5, 5),
    ),
    (iso.nn.Linear.tied(trivial(D4, 5), regular(D4, 2)), nn.Linear(16, 5), (16,)),
]


@pytest.mark.parametrize(("tied", "plain", "shape"), TIED, ids=lambda v: type(v).__name__)
def test_tied_layers_cost_what_plain_ones_do(
    tied: nn.Module, plain: nn.Module, shape: tuple[int, ...]
) -> None:
    x = torch.zeros(1, *shape)
    mine, theirs = iso.cost(tied, x), iso.cost(plain, x)
    assert mine.multiply_adds == theirs.multiply_adds > 0
    assert mine.activation_bytes == theirs.activation_bytes
    assert mine.plain_parameters == theirs.parameters
    assert mine.parameters == numbers(tied) < theirs.parameters


def test_parameters_of_group_convolutions_by_hand() -> None:
    """C_out · C_in · |G| · k² numbers, and a bias for each field (001)."""
    cost = iso.cost(iso.nn.GroupConv2d(2, 3, 3, "D4"), torch.zeros(1, 16, 5, 5))
    assert cost.parameters == 3 * 2 * 8 * 9 + 3
    assert cost.plain_parameters == 24 * 16 * 9 + 24
    cost = iso.cost(iso.nn.LiftingConv2d(2, 3, 3, "C4"), torch.zeros(1, 2, 5, 5))
    assert cost.parameters == 3 * 2 * 9 + 3
    assert cost.plain_parameters == 12 * 2 * 9 + 12


def test_linear_layers_on_every_pixel() -> None:
    model = Lambda(lambda m, x: m["a"](x.permute(0, 2, 3, 1)), a=nn.Linear(3, 5))
    assert iso.cost(model, torch.zeros(1, 3, 4, 6)).multiply_adds == (4 * 6 * 5) * 3


def test_an_exact_stride_costs_what_it_does() -> None:
    """exact=True convolves at stride 1 and averages: as many multiply-adds as when folded."""
    x = torch.randn(1, 1, 8, 8)
    tied = iso.equivariant(
        nn.Sequential(nn.Conv2d(1, 8, 3, 2)), "C4", x, output="field", exact=True
    )
    assert iso.cost(tied, x).multiply_adds == (8 * 6 * 6) * 9
    assert iso.cost(iso.fold(tied), x).multiply_adds == (8 * 6 * 6) * 9


# -- networks -------------------------------------------------------------------------------

NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], str]] = {
    "VGG": (VGG, (1, 12, 12), "invariant"),
    "ResNet": (ResNet18, (1, 17, 17), "invariant"),
    "U-Net": (UNet, (1, 12, 12), "image"),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_of_all_kinds(name: str) -> None:
    make, shape, output = NETWORKS[name]
    plain, x = make(), torch.randn(2, *shape)
    tied = iso.equivariant(plain, "D4", x, output=output)
    folded = iso.fold(tied)
    costs = {form: iso.cost(m, x) for form, m in zip("ptf", (plain, tied, folded), strict=True)}
    assert len({c.multiply_adds for c in costs.values()}) == 1
    assert len({c.activation_bytes for c in costs.values()}) == 1
    assert {c.plain_parameters for c in costs.values()} == {numbers(plain)}
    assert costs["t"].parameters == numbers(tied) < numbers(plain) / 4
    assert costs["p"].parameters == costs["f"].parameters == numbers(plain)
    for cost in costs.values():
        assert sum(row.parameters for row in cost.rows) == cost.parameters
        assert sum(row.plain_parameters for row in cost.rows) == cost.plain_parameters
        assert sum(row.multiply_adds for row in cost.rows) == cost.multiply_adds


def test_a_vgg_by_hand() -> None:
    cost = iso.cost(VGG(width=8, size=12, channels=1, classes=5), torch.zeros(1, 1, 12, 12))
    convolutions = 144 * (8 * 1 + 8 * 8) * 9 + 36 * (16 * 8 + 16 * 16) * 9
    assert cost.multiply_adds == convolutions + 144 * 16 + 16 * 5
    assert rows_of(cost)["features.7"].multiply_adds == 36 * 16 * 8 * 9
    assert rows_of(cost)["features.1"].parameters == 16
    assert rows_of(cost)["features.1"].multiply_adds == 0


def test_relaxing_costs_numbers_and_nothing_else() -> None:
    x = torch.randn(1, 1, 9, 9)
    plain = nn.Sequential(nn.Conv2d(1, 8, 3), nn.Conv2d(8, 8, 3))
    tied = iso.equivariant(plain, "D4", x, output="field")
    costs = [iso.cost(iso.relax(tied, "1", g), x) for g in ("D4", "C4", "C2", "C1")]
    assert [rows_of(c)["1"].parameters for c in costs] == [72 + 1, 144 + 2, 288 + 4, 576 + 8]
    assert len({c.multiply_adds for c in costs}) == 1
    assert len({rows_of(c)["0"].parameters for c in costs}) == 1


def test_a_shared_layer_is_counted_once_and_runs_twice() -> None:
    model = Lambda(
        lambda m, x: m["b"](m["b"](m["a"](x))), a=nn.Conv2d(1, 8, 1), b=nn.Conv2d(8, 8, 1)
    )
    x = torch.zeros(1, 1, 5, 5)
    for network in (model, iso.equivariant(model, "C4", x, output="field")):
        cost = iso.cost(network, x)
        assert cost.multiply_adds == 25 * (8 + 64 + 64)
        assert cost.parameters == numbers(network)
        assert sum(row.parameters for row in cost.rows) == cost.parameters
        assert cost.plain_parameters == 16 + 72
        assert sum(row.plain_parameters for row in cost.rows) == cost.plain_parameters


def test_group_pooling_costs_nothing_to_train() -> None:
    model = nn.Sequential(
        iso.nn.LiftingConv2d(1, 2, 3, "C4"), iso.nn.GroupPool(iso.group("C4")), nn.Conv2d(2, 3, 1)
    )
    cost = iso.cost(model, torch.zeros(2, 1, 5, 5))
    assert cost.parameters == (18 + 2) + 9
    assert cost.plain_parameters == (72 + 8) + 9
    assert cost.multiply_adds == 9 * 8 * 9 + 9 * 3 * 2
    assert cost.activation_bytes == 4 * 9 * (8 + 2 + 3)


def test_the_number_of_samples_does_not_matter() -> None:
    model = VGG()
    costs = [iso.cost(model, torch.randn(n, 1, 12, 12)) for n in (1, 2, 7)]
    assert costs[0] == costs[1] == costs[2]


# -- activations ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "size"), [(torch.float32, 4), (torch.float64, 8), (torch.bfloat16, 2)]
)
def test_activation_bytes_by_hand(dtype: torch.dtype, size: int) -> None:
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3),  # 4 × 6 × 6
        nn.BatchNorm2d(4),  # the same
        nn.ReLU(),  # the same
        nn.MaxPool2d(2),  # 4 × 3 × 3
        nn.Flatten(),  # a view
        nn.Linear(36, 5),  # 5
    ).to(dtype)
    cost = iso.cost(model, torch.zeros(2, 1, 8, 8, dtype=dtype))
    assert cost.activation_bytes == size * (3 * 144 + 36 + 5)


IN_PLACE: dict[str, Callable[[Tensor], Tensor]] = {
    "method": lambda x: x.relu_(),
    "torch": torch.relu_,
    "functional": lambda x: F.relu(x, inplace=True),
    "functional, underscore": F.relu_,
    "leaky": lambda x: F.leaky_relu(x, 0.1, True),
    "add": lambda x: x.add_(1),
    "operator": lambda x: x.__iadd__(1),
    "clamp": lambda x: x.clamp_(0),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_what_happens_in_place_takes_no_memory(name: str) -> None:
    model = Lambda(lambda m, x: IN_PLACE[name](m["a"](x)), a=nn.Conv2d(1, 4, 3))
    assert iso.cost(model, torch.zeros(1, 1, 8, 8)).activation_bytes == 4 * 144


def test_modules_in_place_take_no_memory() -> None:
    x = torch.zeros(1, 1, 8, 8)
    kept, saved = (
        iso.cost(nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(inplace=flag)), x).activation_bytes
        for flag in (False, True)
    )
    assert (kept, saved) == (4 * 288, 4 * 144)


VIEWS: dict[str, Callable[[Tensor], Tensor]] = {
    "flatten": lambda x: torch.flatten(x, 1),
    "view": lambda x: x.view(x.shape[0], -1),
    "reshape": lambda x: x.reshape(len(x), -1),
    "permute": lambda x: x.permute(0, 2, 3, 1),
    "transpose": lambda x: x.transpose(2, 3),
    "unsqueeze": lambda x: x[:, :, None],
    "contiguous": lambda x: x.contiguous(),
    "detach": lambda x: x.detach(),
    "swapaxes": lambda x: x.swapaxes(2, 3),
    "movedim": lambda x: x.movedim(1, 3),
    "moveaxis": lambda x: x.moveaxis(1, 3),
    "float, which it is": lambda x: x.float(),
    "chunk": lambda x: x.chunk(2, 1)[0],
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_take_no_memory(name: str) -> None:
    model = Lambda(lambda m, x: VIEWS[name](m["a"](x)), a=nn.Conv2d(1, 4, 3))
    assert iso.cost(model, torch.zeros(1, 1, 8, 8)).activation_bytes == 4 * 144


# -- side effects and the table -------------------------------------------------------------


@pytest.mark.parametrize("training", [True, False])
def test_the_model_is_untouched(training: bool) -> None:
    x = torch.randn(2, 1, 12, 12)
    for model in (VGG(), iso.equivariant(VGG(), "D4", x)):
        model.train(training)
        before = copy.deepcopy(model.state_dict())
        iso.cost(model, x)
        assert all(m.training == training for m in model.modules())
        assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())
        assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


def test_layers_that_are_in_another_mode_stay_in_it() -> None:
    """Frozen batch norms stay in eval mode while the network trains."""
    model = VGG().train()
    model.features[1].eval()
    iso.cost(model, torch.randn(2, 1, 12, 12))
    assert [n for n, m in model.named_modules() if not m.training] == ["features.1"]


def test_the_mode_stays_when_the_model_fails() -> None:
    model = VGG().train()
    with pytest.raises(Exception, match=r".+"):
        iso.cost(model, torch.randn(2, 3, 12, 12))
    assert all(m.training for m in model.modules())


def test_the_table_reads_well() -> None:
    x = torch.randn(1, 1, 12, 12)
    cost = iso.cost(iso.equivariant(VGG(), "D4", x), x)
    head, *lines, total = str(cost).splitlines()
    assert head.split() == ["layer", "trained", "plain", "twin", "mult-adds", "memory"]
    assert len({len(line) for line in (head, *lines, total)}) == 1, "columns stand in line"
    shown = {line.split()[0]: line.split()[1:] for line in lines}
    assert list(shown) == [r.layer for r in cost.rows if r.plain_parameters or r.multiply_adds]
    assert shown["features.3"] == ["72", "576", "82.9k", "4.6kB"]
    name, own, plain, *_ = total.split()
    assert name == "total"
    assert int(own.replace(",", "")) == cost.parameters
    assert int(plain.replace(",", "")) == cost.plain_parameters


def test_the_table_of_a_model_without_layers() -> None:
    cost = iso.cost(nn.Sequential(nn.ReLU()), torch.zeros(1, 1, 4, 4))
    assert (cost.parameters, cost.plain_parameters, cost.multiply_adds) == (0, 0, 0)
    assert str(cost).splitlines()[-1].startswith("total")


@pytest.mark.parametrize(
    ("count", "words"),
    [(999, "999"), (1000, "1.0k"), (123_456, "123k"), (9_990_000, "10.0M"), (2.5e12, "2.5T")],
)
def test_large_numbers_are_short(count: float, words: str) -> None:
    row = iso.nn.cost.CostRow("a", 1, 1, int(count), 0)
    assert str(iso.nn.cost.Cost((row,), 1, 1)).splitlines()[1].split()[3] == words


# -- widths that match ----------------------------------------------------------------------


def small(width: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, width, 3),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.Conv2d(width, width, 3),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(width, 3),
    )


def widening(width: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(width, 2 * width, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(2 * width, 4, 1),
        nn.AdaptiveMaxPool2d(1),
        nn.Flatten(),
    )


def headed(width: int) -> nn.Module:
    """Most numbers in a head on the flattened map."""
    return nn.Sequential(nn.Conv2d(1, width, 3), nn.Tanh(), nn.Flatten(), nn.Linear(width * 9, 7))


FACTORIES = {f.__name__: f for f in (small, widening, headed)}
X = torch.zeros(1, 1, 5, 5)


@cache
def count(name: str, width: int, group: str | None, match: str = "parameters") -> int:
    model = FACTORIES[name](width)
    if match == "multiply_adds":
        return iso.cost(model, X).multiply_adds
    return numbers(iso.equivariant(model, group, X, check=False) if group else model)


def best_widths(name: str, width: int, group: str, match: str) -> set[int]:
    """Every multiple of |G| that comes nearest, all tried: at |G| times the width it is more."""
    order = iso.group(group).order
    target = count(name, width, None, match)
    tried = range(order, order * width + 2 * order, order)
    off = {n: abs(count(name, n, group, match) - target) for n in tried}
    return {n for n, value in off.items() if value == min(off.values())}


@pytest.mark.parametrize("group", ["C1", "D1", "C4", "D4"])
@pytest.mark.parametrize("width", [2, 5, 8])
@pytest.mark.parametrize("name", FACTORIES)
def test_widths_that_match_in_parameters(name: str, width: int, group: str) -> None:
    found = iso.matching_width(FACTORIES[name], width, group, X)
    assert found in best_widths(name, width, group, "parameters")


@pytest.mark.parametrize("group", ["C1", "C4", "D4"])
@pytest.mark.parametrize("width", [3, 8, 13])
@pytest.mark.parametrize("name", FACTORIES)
def test_widths_that_match_in_multiply_adds(name: str, width: int, group: str) -> None:
    found = iso.matching_width(FACTORIES[name], width, group, X, match="multiply_adds")
    assert found in best_widths(name, width, group, "multiply_adds")
    if width % iso.group(group).order == 0:
        assert found == width


def test_widths_for_other_outputs() -> None:
    x = torch.zeros(1, 1, 7, 7)

    def maps(width: int) -> nn.Module:
        return nn.Sequential(nn.Conv2d(1, width, 3), nn.ReLU(), nn.Conv2d(width, 1, 3))

    found = iso.matching_width(maps, 16, "C4", x, output="image")
    target = numbers(maps(16))
    off = {
        n: abs(numbers(iso.equivariant(maps(n), "C4", x, output="image")) - target)
        for n in range(4, 73, 4)
    }
    assert off[found] == min(off.values())


@pytest.mark.parametrize("step", [1, 3, 8])
@pytest.mark.parametrize("guess", [0.0, 1.0, 17.4, 40.0, 500.0])
def test_nearest_multiple(step: int, guess: float) -> None:
    """Whatever it starts from, against trying all; few numbers are measured, each once."""
    for target in (-5, 0, 1, 63, 64, 65, 100, 1_000, 1_012, 5_000):
        asked: list[int] = []

        def measure(number: int, asked: list[int] = asked) -> int:
            asked.append(number)
            return number * number + 3

        found = nearest_multiple(measure, target, step, guess)
        tried = range(step, 100 + step, step)
        assert found == min(tried, key=lambda n: abs(n * n + 3 - target))
        assert len(asked) == len(set(asked)) <= 20
        assert all(number > 0 and number % step == 0 for number in asked)


def test_nearest_multiple_of_a_measure_with_steps() -> None:
    """Where two are as near the smaller is taken, also if measures stay alike for a while."""
    assert nearest_multiple(lambda n: n // 10, target=3, step=1, guess=1) == 30
    assert nearest_multiple(lambda n: n, target=6, step=4, guess=100) == 4


def test_a_width_that_changes_nothing_is_refused() -> None:
    plain, other = small(8), nn.Linear(3, 2)

    def factory(width: int) -> nn.Module:
        return copy.deepcopy(plain)

    with pytest.raises(iso.InputError, match="does not grow with the width"):
        iso.matching_width(factory, 8, "C4", X)
    with pytest.raises(iso.InputError, match="does not grow with the width: 8 always"):
        nearest_multiple(lambda _: numbers(other), target=9, step=2, guess=4)


def test_widths_refused() -> None:
    with pytest.raises(iso.InputError, match='"parameters" or "multiply_adds", not \'flops\''):
        iso.matching_width(small, 8, "C4", X, match="flops")
    swaps = iso.PermutationGroup([[1, 0]], "swaps")
    with pytest.raises(iso.InputError, match="swaps has no regular fields"):
        iso.matching_width(small, 8, swaps, X)


def test_widths_of_networks_on_vectors() -> None:
    """Vectors need an action, which the message asks for."""
    with pytest.raises(iso.InputError, match="action"):
        iso.matching_width(lambda w: MLP(8, w), 16, "C4", torch.zeros(1, 8))
