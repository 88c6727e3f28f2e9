"""`iso.relax` on whole networks, and carrying an optimiser along.

The equations behind it, for every chain of subgroups, are in `tests/theorems/test_equinas.py`.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.optim import SGD, Adagrad, Adam, AdamW, NAdam, Optimizer, RMSprop

import isotropy as iso
from isotropy.nn.linear import Weighted
from isotropy.schemes import OrbitScheme, Partition
from tests.models import as_if_trained
from tests.turns import ELEMENTS, SUBGROUPS, distance, turn

WIDTH = 16
LAYERS = ["conv1", "conv2", "conv3", "head"]
OUTPUTS: dict[str, Any] = {
    "invariant": "invariant",
    "vector": {"r": [[0, -1], [1, 0]], "s": [[1, 0], [0, -1]]},
    "sign": {"s": [[-1]]},
}


def plain(classes: int = 3, affine: bool = True) -> nn.Sequential:
    """Three convolutions and a head; no bias before a norm, where its gradient is noise."""
    layers: dict[str, nn.Module] = {}
    for i in (1, 2, 3):
        layers[f"conv{i}"] = nn.Conv2d(1 if i == 1 else WIDTH, WIDTH, 3, padding=1, bias=False)
        layers[f"norm{i}"] = nn.BatchNorm2d(WIDTH, affine=affine)
        layers[f"act{i}"] = nn.PReLU(WIDTH) if affine and i == 2 else nn.Softplus()
        if i == 2:
            layers["drop"] = nn.Dropout2d(0.0)
    layers |= {"mean": nn.AdaptiveAvgPool2d(1), "flat": nn.Flatten()}
    layers["head"] = nn.Linear(WIDTH, classes)
    return nn.Sequential(OrderedDict(layers)).double()


def pictures(count: int = 4) -> Tensor:
    return torch.randn(count, 1, 7, 7, dtype=torch.float64)


def tied(output: str = "invariant", **settings: Any) -> nn.Module:
    """A D4 network in eval mode that could come out of training."""
    return copy.deepcopy(_tied(output, **settings))


@cache
def _tied(output: str, affine: bool = True, orthonormal: bool = False) -> nn.Module:
    torch.manual_seed(0)
    model = plain({"invariant": 3, "vector": 2, "sign": 1}[output], affine)
    made = iso.equivariant(model, "D4", pictures(), output=OUTPUTS[output], orthonormal=orthonormal)
    with torch.no_grad():
        for module in made.modules():
            if isinstance(module, iso.nn.BatchNorm):
                module.running_mean.normal_(0, 0.3)
                module.running_var.uniform_(0.5, 1.5)
                for scheme in (module.weight_scheme, module.bias_scheme):
                    if scheme is not None:
                        scheme.psi.uniform_(0.5, 1.5)
            elif isinstance(module, iso.nn.PReLU):
                module.weight_scheme.psi.uniform_(0.1, 0.4)
    return made.eval()


def by_hand() -> nn.Sequential:
    """The same kind of network without `iso.equivariant`, so without a record of its order."""
    d4 = iso.group("D4")
    channels = iso.groups.regular(d4, 2)
    layers = {
        "conv1": iso.nn.LiftingConv2d(1, 2, 3, "D4", padding=1),
        "norm1": iso.nn.BatchNorm(channels),
        "act1": nn.ReLU(),
        "conv2": iso.nn.GroupConv2d(2, 2, 3, "D4", padding=1),
        "norm2": iso.nn.BatchNorm(channels),
        "act2": nn.ReLU(),
        "conv3": iso.nn.GroupConv2d(2, 2, 3, "D4", padding=1),
        "pool": iso.nn.GroupPool(d4, "max"),
        "mean": nn.AdaptiveAvgPool2d(1),
        "flat": nn.Flatten(),
        "head": nn.Linear(2, 3),
    }
    model = nn.Sequential(OrderedDict(layers)).double().eval()
    model.norm1.running_mean.normal_()
    return model


def names(model: nn.Module) -> dict[str, str]:
    return {layer: str(group) for layer, group in iso.groups_of(model).items()}


def own_group(model: nn.Module, name: str) -> str:
    return str(model.get_submodule(name).group)


def free(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


def require_same(child: nn.Module, parent: nn.Module, x: Tensor) -> None:
    assert distance(child(x), parent(x)) < 1e-12


# -- what is relaxed --------------------------------------------------------------------------


@pytest.mark.parametrize("layer", LAYERS)
def test_layers_from_here_on_and_their_norms(layer: str) -> None:
    parent = tied()
    child = iso.relax(parent, layer, "C4")
    first = LAYERS.index(layer)
    expected = {name: "C4" if i >= first else "D4" for i, name in enumerate(LAYERS)}
    assert names(child) == expected
    for follower, leader in (("norm1", "conv1"), ("norm2", "conv2"), ("norm3", "conv3")):
        assert own_group(child, follower) == expected[leader]
        fields = WIDTH // len(SUBGROUPS[expected[leader]])
        norm = child.get_submodule(follower)
        assert norm.running_mean.shape == norm.weight_scheme.psi.shape == (fields,)
    assert own_group(child, "act2") == own_group(child, "drop") == expected["conv2"]
    assert child.get_submodule("drop").fields == WIDTH // len(SUBGROUPS[expected["conv2"]])
    require_same(child, parent, pictures())


def test_layers_before_are_as_they_were() -> None:
    parent = tied()
    before, after = parent.state_dict(), iso.relax(parent, "conv2", "C1").state_dict()
    assert before.keys() == after.keys()
    untouched = [key for key in before if key.startswith(("conv1", "norm1"))]
    assert len(untouched) == 6
    assert all(torch.equal(before[key], after[key]) for key in untouched)
    grown = [key for key in before if key.endswith("psi") and key not in untouched]
    assert grown
    assert all(
        after[key].numel() > before[key].numel() for key in grown if key != "head.bias_scheme.psi"
    )


def test_what_keeps_less_already_keeps_no_more() -> None:
    """A layer after it ends with what both groups have in common."""
    model = iso.equivariant(plain(), {"conv1": "D4", "conv3": "D2"}, pictures()).eval()
    child = iso.relax(model, "conv2", "C4")
    assert names(child) == {"conv1": "D4", "conv2": "C4", "conv3": "C2", "head": "C2"}
    assert own_group(child, "norm3") == "C2"
    require_same(child, model, pictures())
    child = iso.relax(model, "conv1", "D2d")
    assert names(child) == {"conv1": "D2d", "conv2": "D2d", "conv3": "C2", "head": "C2"}
    require_same(child, model, pictures())


def test_to_its_own_group_nothing_changes() -> None:
    parent = tied()
    child = iso.relax(parent, "conv1", "D4")
    assert child is not parent
    assert names(child) == names(parent)
    assert all(torch.equal(v, child.state_dict()[k]) for k, v in parent.state_dict().items())


@pytest.mark.parametrize("group", ["C4", iso.group("C4"), iso.group("D4").subgroup(["r"])])
def test_a_group_or_its_name(group: Any) -> None:
    assert names(iso.relax(tied(), "head", group))["head"] == "C4"


def test_the_original_is_left_alone() -> None:
    parent = tied()
    x = pictures()
    state = copy.deepcopy(parent.state_dict())
    logits, groups = parent(x), names(parent)
    child = iso.relax(parent, "conv1", "C2").train()
    with torch.no_grad():
        for parameter in child.parameters():
            parameter.add_(1.0)
    child(x)
    assert names(parent) == groups
    assert not parent.training
    assert all(torch.equal(value, parent.state_dict()[key]) for key, value in state.items())
    assert torch.equal(parent(x), logits)


@pytest.mark.parametrize("training", [True, False])
def test_mode_type_and_frozen_layers_are_kept(training: bool) -> None:
    parent = tied().float().train(training)
    parent.get_submodule("conv3").requires_grad_(False)
    child = iso.relax(parent, "conv2", "C4")
    assert all(module.training == training for module in child.modules())
    assert {p.dtype for p in child.parameters()} == {torch.float32}
    for (name, old), (other, new) in zip(
        parent.named_parameters(), child.named_parameters(), strict=True
    ):
        assert name == other
        assert old.requires_grad == new.requires_grad


def test_the_child_trains_what_it_gained() -> None:
    """Its gradient reaches every new number, and a step leaves the larger group."""
    x = pictures(8)
    parent = tied()
    assert iso.equivariance_error(parent, x, "D4") < 1e-10
    child = iso.relax(parent, "conv2", "C4").train()
    nn.functional.cross_entropy(child(x), torch.arange(8) % 3).backward()
    assert all(p.grad is not None and (p.grad != 0).any() for p in child.parameters())
    SGD(child.parameters(), 1.0).step()
    assert iso.equivariance_error(child.eval(), x, "C4") < 1e-10
    assert iso.equivariance_error(child, x, "D4") > 1e-5
    assert iso.equivariance_error(child, x) < 1e-10  # what the network itself says it keeps


def test_chains_with_training_between() -> None:
    """As EquiNAS goes on: train, relax, train, relax."""
    x, y = pictures(8), torch.arange(8) % 3
    network = tied().train()
    for layer, name in (("head", "C4"), ("conv3", "C4"), ("head", "C2"), ("conv1", "C4"),
                        ("conv2", "C2"), ("head", "C1"), ("conv1", "C1")):  # fmt: skip
        optimizer = Adam(network.parameters(), lr=0.01)
        for _ in range(5):
            optimizer.zero_grad()
            nn.functional.cross_entropy(network(x), y).backward()
            optimizer.step()
        child = iso.relax(network, layer, name)
        require_same(child.eval(), network.eval(), x)
        assert free(child) > free(network)
        assert iso.equivariance_error(child, x) < 1e-10
        network = child.train()
    assert set(names(network).values()) == {"C1"}


# -- train mode -------------------------------------------------------------------------------


def test_in_train_mode_outputs_move_a_little() -> None:
    """Finer batch statistics; `iso.relax` says so."""
    parent = tied().train()
    child = iso.relax(parent, "conv1", "C1")
    x = pictures(32)
    spread = parent(x).std(0).mean()
    moved = (child(x) - parent(x)).abs().mean()
    assert 1e-6 * spread < moved < 0.5 * spread
    assert iso.relax.__doc__ is not None
    assert "In train mode a relaxed batch norm uses finer statistics" in iso.relax.__doc__


def test_in_train_mode_they_do_not_move_on_data_with_the_symmetry() -> None:
    """Every picture in all its turns: the statistics of a field's channels are equal by then."""
    parent = tied().train()
    child = iso.relax(parent, "conv1", "C1")
    x = pictures(2)
    x = torch.cat([turn(x, g) for g in ELEMENTS])
    assert distance(child(x), parent(x)) < 1e-10
    for layer in ("norm1", "norm2", "norm3"):
        old, new = parent.get_submodule(layer), child.get_submodule(layer)
        assert distance(new.running_mean, old.running_mean.repeat_interleave(8)) < 1e-10
        # Bessel's n / (n - 1) is of other n
        assert distance(new.running_var, old.running_var.repeat_interleave(8)) < 1e-3


# -- networks of other kinds ------------------------------------------------------------------


@pytest.mark.parametrize("layer", LAYERS[:3])
def test_a_network_built_by_hand(layer: str) -> None:
    """Without a record of its order, layers run as they were registered."""
    parent, x = by_hand(), pictures()
    child = iso.relax(parent, layer, "D2")
    first = LAYERS.index(layer)
    expected = {name: "D2" if i >= first else "D4" for i, name in enumerate(LAYERS[:3])}
    assert names(child) == expected
    assert own_group(child, "norm1") == expected["conv1"]
    assert own_group(child, "norm2") == expected["conv2"]
    require_same(child, parent, x)
    with torch.no_grad():
        for parameter in child.parameters():
            parameter.normal_()
    assert iso.equivariance_error(child, x, "D2") < 1e-10
    for larger in ("C4", "D2d", "D4"):
        assert iso.equivariance_error(child, x, larger) > 1e-3


def test_a_single_layer() -> None:
    layer = iso.nn.GroupConv2d(1, 2, 3, "D4").double()
    child = iso.relax(layer, "", "C2")
    assert str(child.group) == "C2"
    assert child.scheme.free_parameters == 4 * layer.scheme.free_parameters
    x = torch.randn(2, 8, 5, 5, dtype=torch.float64)
    assert torch.equal(child(x), layer(x))


def test_a_layer_used_twice_stays_one() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Conv2d(1, 8, 3, padding=1)
            self.again = nn.Conv2d(8, 8, 3, padding=1)
            self.alias = self.again

        def forward(self, x: Tensor) -> Tensor:
            return self.alias(torch.relu(self.again(torch.relu(self.first(x))))).mean((2, 3))

    x = pictures()
    parent = iso.equivariant(Twice().double(), "D4", x, output="field")
    child = iso.relax(parent, "again", "C4")
    assert child.again is child.alias
    assert names(child) == {"first": "D4", "again": "C4"}
    require_same(child, parent, x)


@pytest.mark.parametrize("orthonormal", [False, True])
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("name", ["C4", "D2", "C1"])
def test_signed_outputs_and_orthonormal_numbers(output: str, orthonormal: bool, name: str) -> None:
    parent = tied(output, orthonormal=orthonormal)
    child = iso.relax(parent, "conv2", name)
    require_same(child, parent, pictures())
    assert free(child) > free(parent)
    with torch.no_grad():
        for module in child.modules():
            if isinstance(module, Weighted):
                module.scheme.psi.normal_()
    assert iso.equivariance_error(child, pictures(), name) < 1e-10
    assert iso.equivariance_error(child, pictures(), "D4") > 1e-3


def test_numbers_forced_to_zero_are_free_in_the_child() -> None:
    """A sign that every mirror changes has no bias; where quarter turns alone remain, it has."""
    parent = tied("sign")
    assert parent.head.bias_scheme.free_parameters == 0
    child = iso.relax(parent, "head", "C4")
    assert child.head.bias_scheme.psi.tolist() == [0.0]
    assert child.head.bias_scheme.psi.requires_grad


def test_groups_known_by_generators() -> None:
    """Permutations of six points, relaxed to those of the first three."""
    everything = iso.PermutationGroup(
        {"swap": [1, 0, 2, 3, 4, 5], "three": [1, 2, 0, 3, 4, 5], "all": [1, 2, 3, 4, 5, 0]}
    )
    model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 2)).double()
    x = torch.randn(3, 6, dtype=torch.float64)
    parent = iso.equivariant(model, everything, x, fields="input")
    some = everything.subgroup(["swap", "three"], "S3")
    child = iso.relax(parent, "0", some)
    require_same(child, parent, x)
    assert free(child) > free(parent)
    with torch.no_grad():
        for parameter in child.parameters():
            parameter.normal_()
    assert iso.equivariance_error(child, x, some) < 1e-12
    assert iso.equivariance_error(child, x, everything) > 1e-3


# -- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize("layer", ["conv4", "norm1", "", "conv"])
def test_a_layer_that_is_none(layer: str) -> None:
    with pytest.raises(iso.InputError) as error:
        iso.relax(tied(), layer, "C4")
    assert str(error.value) == (
        f"layer must be one of ['conv1', 'conv2', 'conv3', 'head'], not {layer!r}"
    )


@pytest.mark.parametrize("name", ["D4", "D2", "D1", "D2d", "S3", "O"])
def test_a_group_that_is_no_subgroup(name: str) -> None:
    child = iso.relax(tied(), "conv2", "C4")
    with pytest.raises(iso.InputError, match=f"{name} is not a subgroup of C4, which conv2 has"):
        iso.relax(child, "conv2", name)


def test_a_group_that_nobody_knows() -> None:
    with pytest.raises(iso.InputError, match=r"unknown group 'C3v'\. Known: C1, C2, .*D4"):
        iso.relax(tied(), "conv2", "C3v")


def test_a_network_that_is_not_tied() -> None:
    with pytest.raises(iso.InputError, match="the model has no tied layers"):
        iso.relax(plain(), "conv1", "C4")


def test_a_layer_on_which_no_group_acts() -> None:
    scheme = OrbitScheme(Partition.from_labels(np.arange(6).reshape(2, 3)))
    with pytest.raises(iso.InputError):
        iso.relax(nn.Sequential(iso.nn.Linear(scheme)), "0", "C1")


# -- the optimiser ----------------------------------------------------------------------------

STEPS = 4
SGDS: dict[str, Callable[..., Optimizer]] = {
    "momentum": lambda p: SGD(p, lr=0.005, momentum=0.9),
    "nesterov": lambda p: SGD(p, lr=0.005, momentum=0.9, nesterov=True),
    "dampening": lambda p: SGD(p, lr=0.005, momentum=0.9, dampening=0.5),
    "momentum, fused": lambda p: SGD(p, lr=0.005, momentum=0.9, fused=True),
}
ADAPTIVE: dict[str, Callable[..., Optimizer]] = {
    "Adam": lambda p: Adam(p, lr=0.01, eps=1e-30),
    "amsgrad": lambda p: Adam(p, lr=0.01, eps=1e-30, amsgrad=True),
    "AdamW": lambda p: AdamW(p, lr=0.01, eps=1e-30, weight_decay=0.1),
    "Adam, fused": lambda p: Adam(p, lr=0.01, eps=1e-30, fused=True),
    "AdamW, fused": lambda p: AdamW(p, lr=0.01, eps=1e-30, weight_decay=0.1, fused=True),
    "NAdam": lambda p: NAdam(p, lr=0.01, eps=1e-30),
    "RMSprop": lambda p: RMSprop(p, lr=0.01, eps=1e-30),
    "RMSprop with momentum": lambda p: RMSprop(p, lr=0.01, eps=1e-30, momentum=0.9),
    "Adagrad": lambda p: Adagrad(p, lr=0.01, eps=1e-30),
}


@dataclass
class Data:
    """Pictures and targets; of symmetric ones every picture is there in all its turns."""

    x: Tensor
    y: Tensor

    @classmethod
    def symmetric(cls, network: nn.Module, output: str, turns: int = 3) -> Data:
        """Targets turn with the picture as the network's outputs do."""
        x = pictures(turns)
        y = torch.randn(turns, network(x).shape[1], dtype=torch.float64)
        act = iso.groups.trivial(iso.group("D4"), y.shape[1])
        if output != "invariant":
            act = iso.groups.permuting(iso.group("D4"), OUTPUTS[output])
        moved = [act.apply(g, y, 1) for g in ELEMENTS]
        return cls(torch.cat([turn(x, g) for g in ELEMENTS]), torch.cat(moved))

    @classmethod
    def of_no_symmetry(cls, network: nn.Module) -> Data:
        x = pictures(12)
        return cls(x, torch.randn(12, network(x).shape[1], dtype=torch.float64))

    def train(self, network: nn.Module, optimizer: Optimizer, steps: int = 1) -> list[float]:
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(network(self.x), self.y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses


def trained_beside(
    parent: nn.Module, layer: str, name: str, data: Data, make: Callable[..., Optimizer]
) -> tuple[Optimizer, Optimizer, nn.Module]:
    """Train a parent; at each step its child sees the same data with the same weights.

    Returns:
        The parent's optimiser, the child's with all that it gathered on its own, and the child.
    """
    child = iso.relax(parent, layer, name)
    optimizer, own = make(parent.parameters()), make(child.parameters())
    for _ in range(STEPS):
        data.train(child, own)
        data.train(parent, optimizer)
        child.load_state_dict(iso.relax(parent, layer, name).state_dict())
    return optimizer, own, child


def require_equal_states(found: Optimizer, expected: Optimizer) -> None:
    """State by state, parameter by parameter."""
    groups = zip(found.param_groups, expected.param_groups, strict=True)
    pairs = [p for a, b in groups for p in zip(a["params"], b["params"], strict=True)]
    compared = 0
    for mine, theirs in pairs:
        assert mine.shape == theirs.shape
        if mine.numel() < 3:  # a bias that a sign forces to zero: rounding is all it gathers
            continue
        for key, value in expected.state[theirs].items():
            own = torch.as_tensor(found.state[mine][key])
            torch.testing.assert_close(own, torch.as_tensor(value), rtol=1e-7, atol=1e-13, msg=key)
            compared += 1
    assert compared >= len(LAYERS)


@pytest.mark.parametrize("make", [*SGDS.values(), *ADAPTIVE.values()], ids=[*SGDS, *ADAPTIVE])
@pytest.mark.parametrize("output", OUTPUTS)
def test_carried_is_what_the_child_would_have_gathered(
    output: str, make: Callable[..., Optimizer]
) -> None:
    """On data with the parent's symmetry, in train mode, at the moment of splitting.

    There the gradient is the same all over an orbit of n entries, so a part of n_i has n_i / n of
    it; and so have its running means, and of squares the square.
    """
    parent = tied(output).train()
    data = Data.symmetric(parent, output)
    optimizer, own, child = trained_beside(parent, "conv2", "C2", data, make)
    require_equal_states(iso.carry_optimizer(optimizer, parent, child), own)


@pytest.mark.parametrize("orthonormal", [False, True])
@pytest.mark.parametrize(("layer", "name"), [("conv1", "C1"), ("conv2", "D2d"), ("head", "D1v")])
def test_carried_for_any_layer_and_group(layer: str, name: str, orthonormal: bool) -> None:
    """An orthonormal number stands for its orbit's root mean square: shares are the roots."""
    parent = tied("vector", orthonormal=orthonormal).train()
    data = Data.symmetric(parent, "vector")
    for make in (SGDS["momentum"], ADAPTIVE["Adam"]):
        optimizer, own, child = trained_beside(parent, layer, name, data, make)
        require_equal_states(iso.carry_optimizer(optimizer, parent, child), own)


def split_schemes(parent: nn.Module, child: nn.Module) -> Iterator[tuple[OrbitScheme, OrbitScheme]]:
    """Schemes that have more numbers in the child than in the parent."""
    for path, old in parent.named_modules():
        if isinstance(old, OrbitScheme):
            new = child.get_submodule(path)
            if 0 < old.free_parameters < new.free_parameters:
                yield old, new


def whole_from_parts(old: OrbitScheme, new: OrbitScheme, parts: Tensor) -> Tensor:
    """The signed sum of the parts' values over every orbit of the parent."""
    fine, coarse = new.basis().detach(), old.basis().detach()
    # coarse = fine · inside, and the columns of `fine` are orthogonal
    return coarse.T @ (fine @ (parts / fine.square().sum(0)))


@pytest.mark.parametrize(
    ("make", "key"),
    [(SGDS["momentum"], "momentum_buffer"), (ADAPTIVE["Adam"], "exp_avg")],
    ids=["SGD", "Adam"],
)
@pytest.mark.parametrize("output", OUTPUTS)
def test_on_any_data_the_parts_sum_to_the_whole(
    output: str, make: Callable[..., Optimizer], key: str
) -> None:
    """All that holds without symmetric data: a gradient is divided, so its running mean is.

    What each part would have gathered on its own is another division of the same sum. (In eval
    mode, as parent and child are not the same function in train mode.)
    """
    parent = tied(output).eval()
    data = Data.of_no_symmetry(parent)
    optimizer, own, child = trained_beside(parent, "conv2", "C2", data, make)
    carried = iso.carry_optimizer(optimizer, parent, child)
    differences = []
    for old, new in split_schemes(parent, child):
        expected = optimizer.state[old.psi][key]
        given, gathered = carried.state[new.psi][key], own.state[new.psi][key]
        for parts in (given, gathered):
            torch.testing.assert_close(
                whole_from_parts(old, new, parts), expected, rtol=1e-7, atol=1e-13
            )
        differences.append(distance(given, gathered))
    assert max(differences) > 1e-2


def weights(model: nn.Module) -> dict[str, Tensor]:
    """Every tied weight and bias, written out."""
    found = {}
    for path, module in model.named_modules():
        if isinstance(module, OrbitScheme):
            found[path] = module().detach().clone()
    return found


def sizes(scheme: OrbitScheme) -> Tensor:
    """For every entry of a weight, how many entries its orbit has (1 where zero is forced)."""
    filled = (scheme.basis().detach() != 0).double()
    return (filled @ filled.sum(0)).clamp(min=1)


@pytest.mark.parametrize("make", SGDS.values(), ids=SGDS)
def test_a_step_of_sgd_is_the_share_of_the_parents(make: Callable[..., Optimizer]) -> None:
    """Parts of an orbit move n_i / n as fast as it did: tied weights are fast (see OrbitScheme)."""
    parent = tied("vector").train()
    data = Data.symmetric(parent, "vector")
    optimizer, _, child = trained_beside(parent, "conv2", "C4", data, make)
    carried = iso.carry_optimizer(optimizer, parent, child)
    before = weights(parent)
    data.train(parent, optimizer)
    data.train(child, carried)
    after, moved = weights(parent), weights(child)
    shares = set()
    for path, start in before.items():
        old, new = parent.get_submodule(path), child.get_submodule(path)
        share = (sizes(new) / sizes(old)).view(start.shape)
        shares |= set(share.flatten().tolist())
        torch.testing.assert_close(
            moved[path] - start, share * (after[path] - start), rtol=1e-6, atol=1e-13
        )
    assert shares == {0.5, 1.0}


@pytest.mark.parametrize("make", SGDS.values(), ids=SGDS)
def test_with_orthonormal_numbers_training_goes_on_as_if_nothing_had_been(
    make: Callable[..., Optimizer],
) -> None:
    """SGD on data with the symmetry keeps it: the child's path is the parent's, step by step."""
    parent = tied("vector", affine=False, orthonormal=True).train()
    data = Data.symmetric(parent, "vector")
    optimizer, _, child = trained_beside(parent, "conv1", "C2", data, make)
    carried = iso.carry_optimizer(optimizer, parent, child)
    losses = data.train(parent, optimizer, 6)
    assert data.train(child, carried, 6) == pytest.approx(losses, rel=1e-9)
    other = weights(child)
    for path, value in weights(parent).items():
        torch.testing.assert_close(other[path], value, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("make", ADAPTIVE.values(), ids=ADAPTIVE)
def test_with_adaptive_steps_too(make: Callable[..., Optimizer]) -> None:
    """Those divide by the gradient's size, so parts move as fast as the whole without more ado."""
    parent = tied("vector").train()
    data = Data.symmetric(parent, "vector")
    optimizer, _, child = trained_beside(parent, "conv1", "C2", data, make)
    carried = iso.carry_optimizer(optimizer, parent, child)
    losses = data.train(parent, optimizer, 6)
    assert data.train(child, carried, 6) == pytest.approx(losses, rel=1e-6)
    other = weights(child)
    for path, value in weights(parent).items():
        torch.testing.assert_close(other[path], value, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("make", [*SGDS.values(), *ADAPTIVE.values()], ids=[*SGDS, *ADAPTIVE])
def test_training_goes_on(make: Callable[..., Optimizer]) -> None:
    network = tied().train()
    data = Data.of_no_symmetry(network)
    optimizer = make(network.parameters())
    losses = data.train(network, optimizer, 10)
    for layer, name in (("head", "C4"), ("conv2", "C4"), ("head", "C1")):
        child = iso.relax(network, layer, name)
        optimizer = iso.carry_optimizer(optimizer, network, child)
        network = child
        losses += data.train(network, optimizer, 10)
    assert losses[-1] < losses[9] < losses[0]


def test_param_groups_and_settings_are_kept() -> None:
    network = tied()
    convolutions = [p for n, p in network.named_parameters() if n.startswith("conv")]
    head = list(network.get_submodule("head").parameters())
    optimizer = SGD(
        [{"params": head, "lr": 0.5, "nesterov": True}, {"params": convolutions}],
        lr=0.1,
        momentum=0.7,
        weight_decay=0.01,
    )
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    Data.of_no_symmetry(network).train(network, optimizer)
    scheduler.step()
    child = iso.relax(network, "conv2", "C4")
    carried = iso.carry_optimizer(optimizer, network, child)
    assert type(carried) is SGD
    assert carried.defaults == optimizer.defaults
    for old, new in zip(optimizer.param_groups, carried.param_groups, strict=True):
        settings = [{k: v for k, v in group.items() if k != "params"} for group in (old, new)]
        assert settings[0] == settings[1]
    assert [group["lr"] for group in carried.param_groups] == [0.25, 0.05]
    held = [[id(p) for p in group["params"]] for group in carried.param_groups]
    own = dict(child.named_parameters())
    assert held[0] == [id(own[n]) for n in own if n.startswith("head")]
    assert held[1] == [id(own[n]) for n in own if n.startswith("conv")]


def test_the_parents_optimiser_is_left_alone() -> None:
    network = tied().train()
    data = Data.of_no_symmetry(network)
    optimizer = Adam(network.parameters(), lr=0.01)
    data.train(network, optimizer, 2)
    before = copy.deepcopy(optimizer.state_dict())
    child = iso.relax(network, "conv2", "C1")
    data.train(child, iso.carry_optimizer(optimizer, network, child), 2)
    after = optimizer.state_dict()
    assert after["param_groups"] == before["param_groups"]
    for number, state in before["state"].items():
        assert all(torch.equal(value, after["state"][number][key]) for key, value in state.items())


@pytest.mark.parametrize("make", [lambda p: SGD(p, lr=0.1), SGDS["momentum"], ADAPTIVE["Adam"]])
def test_before_the_first_step_there_is_nothing_to_carry(make: Callable[..., Optimizer]) -> None:
    network = tied().train()
    optimizer = make(network.parameters())
    child = iso.relax(network, "conv1", "C4")
    carried = iso.carry_optimizer(optimizer, network, child)
    assert not carried.state
    Data.of_no_symmetry(network).train(child, carried)


class Sketchy(Optimizer):
    """Keeps a number for every parameter that nobody has heard of."""

    def __init__(self, params: Any, lr: float = 0.1) -> None:
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self.state[p]["vibes"] = p.grad.clone()


@pytest.mark.parametrize(
    ("make", "state"),
    [
        (Sketchy, "vibes"),
        (torch.optim.Rprop, "prev"),
        (torch.optim.Adadelta, "acc_delta"),
        (torch.optim.Adamax, "exp_inf"),
        (torch.optim.ASGD, "ax"),
    ],
)
def test_a_state_of_unknown_kind_is_refused(make: Callable[..., Optimizer], state: str) -> None:
    network = tied().train()
    optimizer = make(network.parameters())
    Data.of_no_symmetry(network).train(network, optimizer)
    with pytest.raises(iso.InputError, match=f"state '{state}'"):
        iso.carry_optimizer(optimizer, network, iso.relax(network, "conv2", "C4"))


def test_an_optimiser_that_keeps_all_in_one_piece_is_refused() -> None:
    """L-BFGS holds one long vector of all parameters, which the child's do not fit."""
    network = tied().train()
    data = Data.of_no_symmetry(network)
    optimizer = torch.optim.LBFGS(network.parameters(), lr=0.1, max_iter=2)

    def loss() -> Tensor:
        optimizer.zero_grad()
        value = nn.functional.mse_loss(network(data.x), data.y)
        value.backward()
        return value

    optimizer.step(loss)
    with pytest.raises(iso.InputError):
        iso.carry_optimizer(optimizer, network, iso.relax(network, "conv2", "C4"))


def test_an_optimiser_of_another_network_is_refused() -> None:
    network, other = tied(), tied()
    child = iso.relax(network, "conv2", "C4")
    with pytest.raises(iso.InputError, match="parameters that `before` does not have"):
        iso.carry_optimizer(SGD(other.parameters(), lr=0.1), network, child)


def test_a_network_that_is_no_child_is_refused() -> None:
    network = tied().train()
    optimizer = SGD(network.parameters(), lr=0.1, momentum=0.9)
    Data.of_no_symmetry(network).train(network, optimizer)
    with pytest.raises(iso.InputError):
        iso.carry_optimizer(optimizer, network, nn.Linear(3, 3))
    child = iso.relax(network, "conv2", "C4")
    with pytest.raises(iso.InputError):
        iso.carry_optimizer(optimizer, network, as_if_trained(plain()))
    with pytest.raises(iso.InputError):
        iso.carry_optimizer(SGD(child.parameters(), lr=0.1), child, network)
