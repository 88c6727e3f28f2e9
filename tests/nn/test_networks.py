"""Whole networks: tied by `iso.equivariant` or by hand, in train and eval mode, and folded.

Pictures are turned by `tests.turns`, so that what isotropy takes for a group's action is checked
against something it did not write.
"""

from __future__ import annotations

import copy
import warnings
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import isotropy as iso
from tests.models import MLP, VGG, Lambda, ResNet18, UNet, as_if_trained
from tests.turns import (
    SUBGROUPS,
    distance,
    inverse,
    pixel_permutation,
    split,
    turn,
)

Move = Callable[[Tensor, str], Tensor]
EXACT = 1e-10


# -- what the group does at both ends ---------------------------------------------------------


def stay(y: Tensor, element: str) -> Tensor:
    """Of what is invariant."""
    return y


def turn_vector(x: Tensor, element: str) -> Tensor:
    """Of pictures of nine pixels that were flattened."""
    return turn(x.unflatten(-1, (3, 3)), element).flatten(-2)


def vector_action(group: str) -> dict[str, list[int]]:
    """The same for isotropy."""
    return {g: pixel_permutation(g, 3) for g in SUBGROUPS[group]}


def run(model: nn.Module, x: Tensor) -> Tensor:
    """The model's output; dropout falls on the same channels every time."""
    torch.manual_seed(0)
    with torch.no_grad():
        return model(x)


def worst(
    model: nn.Module, x: Tensor, elements: tuple[str, ...], inp: Move = turn, out: Move = stay
) -> float:
    """The largest error over some elements, each batch run by itself."""
    reference = run(model, x)
    return max(distance(run(model, inp(x, g)), out(reference, g)) for g in elements)


def require_equivariant(
    model: nn.Module, x: Tensor, elements: tuple[str, ...], inp: Move = turn, out: Move = stay
) -> None:
    """In eval and in train mode."""
    for training in (False, True):
        assert worst(copy.deepcopy(model).train(training), x, elements, inp, out) < EXACT


def require_not_constant(model: nn.Module, x: Tensor) -> None:
    """It tells inputs apart; what does not is equivariant to anything."""
    y = run(model, x)
    assert y.std(0).max() > 1e-3 * y.abs().max()


@torch.no_grad()
def unsettle(model: nn.Module) -> nn.Module:
    """Norms as training leaves them: no scale 1, no shift 0, no statistics of 0 and 1."""
    for module in model.modules():
        if isinstance(module, iso.nn.BatchNorm) and module.running_mean is not None:
            module.running_mean.normal_(0, 0.3)
            module.running_var.uniform_(0.5, 1.5)
        scale = getattr(module, "weight_scheme", None)
        if isinstance(module, iso.nn.BatchNorm | iso.nn.LayerNorm | iso.nn.GroupNorm) and scale:
            scale.psi.uniform_(0.5, 1.5)
            module.bias_scheme.psi.uniform_(0, 0.5)  # above 0, or narrow networks die out
    return model.eval()


def require_plain(folded: nn.Module) -> None:
    """torch's own modules and the model's own containers, and nothing else."""
    for module in folded.modules():
        assert type(module).__module__.split(".")[0] != "isotropy", type(module)
        assert not any("isotropy" in name for name in vars(module))


def require_folds(model: nn.Module, x: Tensor, **settings: Any) -> nn.Module:
    folded = iso.fold(model, **settings)
    require_plain(folded)
    for training in (False, True):
        one, other = copy.deepcopy(model).train(training), copy.deepcopy(folded).train(training)
        if not training:
            assert distance(run(other, x), run(one, x)) < 1e-12
    return folded


# -- the plain models, under every subgroup ---------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A plain model, an input on which its strides fit, and what the group does at both ends."""

    make: Callable[[int], nn.Module]
    shape: tuple[int, ...]
    width: int
    narrow: int
    output: str = "invariant"
    inp: Move = turn

    @property
    def out(self) -> Move:
        return turn if self.output == "image" else stay

    def example(self, count: int = 3) -> Tensor:
        return torch.randn(count, *self.shape, dtype=torch.float64)

    def settings(self, group: str) -> dict[str, Any]:
        action = vector_action(group) if self.inp is turn_vector else None
        return {"output": self.output, "action": action}


CASES = {
    "VGG": Case(lambda width: VGG(width, size=8), (1, 8, 8), 8, 2),
    "ResNet18": Case(lambda width: ResNet18(width, channels=2), (2, 9, 9), 8, 2),
    "UNet": Case(UNet, (1, 8, 8), 8, 2, "image"),
    "UNet nearest": Case(lambda width: UNet(width, up="nearest"), (1, 8, 8), 8, 2, "image"),
    "UNet bilinear": Case(lambda width: UNet(width, up="bilinear"), (1, 8, 8), 8, 2, "image"),
    "MLP": Case(lambda width: MLP(9, width), (9,), 16, 3, inp=turn_vector),
}
MODELS = [name for name in CASES if " " not in name]


@cache
def plain(name: str, width: int) -> nn.Module:
    torch.manual_seed(0)
    return as_if_trained(CASES[name].make(width))


@cache
def converted(name: str, group: str) -> nn.Module:
    """The model tied, as training might leave it."""
    case = CASES[name]
    torch.manual_seed(0)
    model, x = plain(name, case.width), case.example()
    return unsettle(iso.equivariant(model, group, x, **case.settings(group)))


VARIANTS = [(name, group) for name in ("UNet nearest", "UNet bilinear") for group in ("D1a", "D4")]
EVERY = [(name, group) for name in MODELS for group in SUBGROUPS] + VARIANTS


@pytest.mark.parametrize(("name", "group"), EVERY)
def test_plain_models_convert(name: str, group: str) -> None:
    case, x = CASES[name], CASES[name].example()
    model = converted(name, group)
    assert type(model) is type(plain(name, case.width))
    assert {str(g) for g in iso.groups_of(model).values()} == {group}
    require_equivariant(model, x, SUBGROUPS[group], case.inp, case.out)
    assert iso.equivariance_error(model, x) < EXACT
    require_not_constant(model, x)
    for g in set(SUBGROUPS["D4"]) - set(SUBGROUPS[group]):
        assert worst(model, x, (g,), case.inp, case.out) > 1e-3


@pytest.mark.parametrize(("name", "group"), EVERY)
def test_folded_they_are_the_plain_model_again(name: str, group: str) -> None:
    """Same classes, same state, same outputs, and the plain model takes its weights."""
    x, model = CASES[name].example(), converted(name, group)
    folded = require_folds(model, x)
    original = copy.deepcopy(plain(name, CASES[name].width))
    assert [type(m) for m in folded.modules()] == [type(m) for m in original.modules()]
    original.load_state_dict(folded.state_dict())
    assert distance(run(original, x), run(model, x)) < 1e-12


@pytest.mark.parametrize("name", MODELS)
def test_the_given_model_is_left_alone(name: str) -> None:
    case = CASES[name]
    model = as_if_trained(case.make(case.width)).train()
    state = copy.deepcopy(model.state_dict())
    tied = iso.equivariant(model, "C2", case.example(), **case.settings("C2"))
    assert model.training
    assert tied.training
    assert all(torch.equal(value, state[key]) for key, value in model.state_dict().items())
    assert not any("isotropy" in type(m).__module__ for m in model.modules())
    with torch.no_grad():
        for parameter in tied.parameters():
            parameter.add_(1.0)
    assert all(torch.equal(value, state[key]) for key, value in model.state_dict().items())


@pytest.mark.parametrize("group", ["C4", "D4"])
@pytest.mark.parametrize("name", MODELS)
def test_training_keeps_them_equivariant(name: str, group: str) -> None:
    case, model = CASES[name], copy.deepcopy(converted(name, group)).train()
    x = case.example(6)
    y = torch.randn_like(model(x))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    start = [p.detach().clone() for p in model.parameters()]
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert all(not torch.equal(p, q) for p, q in zip(model.parameters(), start, strict=True))
    require_equivariant(model, x, SUBGROUPS[group], case.inp, case.out)
    require_folds(model, x)


def test_in_float32_too() -> None:
    case, x = CASES["VGG"], CASES["VGG"].example().float()
    model = iso.equivariant(case.make(case.width), "D4", x)
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert worst(model.eval(), x, SUBGROUPS["D4"]) < 1e-5
    assert iso.equivariance_error(model, x) < EXACT  # measured in float64


# -- a D4 network with batch norm and pooling -------------------------------------------------


def built_by_hand(classes: int = 10) -> nn.Module:
    d4 = iso.group("D4")
    layers = {
        "lift": iso.nn.LiftingConv2d(1, 2, 3, "D4", padding=1),
        "norm1": iso.nn.BatchNorm(iso.groups.regular(d4, 2)),
        "relu1": nn.ReLU(),
        "pool": nn.MaxPool2d(3, 2),
        "conv": iso.nn.GroupConv2d(2, 3, 3, d4, padding=1, bias=False),
        "norm2": iso.nn.BatchNorm(iso.groups.regular(d4, 3)),
        "relu2": nn.ReLU(),
        "drop": iso.nn.FieldDropout(iso.groups.regular(d4, 3), 0.3),
        "turns": iso.nn.GroupPool(d4, "max"),
        "mean": nn.AdaptiveAvgPool2d(1),
        "flat": nn.Flatten(),
        "head": nn.Linear(3, classes),
    }
    return nn.Sequential(OrderedDict(layers)).double()


def built_from_a_plain_one(classes: int = 10, **settings: Any) -> nn.Module:
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(3, 2),
        nn.Conv2d(16, 24, 3, padding=1, bias=False),
        nn.BatchNorm2d(24),
        nn.Tanh(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(24, classes),
    ).double()
    x = torch.randn(2, 1, 9, 9, dtype=torch.float64)
    return iso.equivariant(model, **{"group": "D4", "example": x, **settings})


@pytest.mark.parametrize("build", [built_by_hand, built_from_a_plain_one])
def test_a_d4_networks_logits_are_invariant(build: Callable[[], nn.Module]) -> None:
    """001's authors lacked both shared statistics and pooling over the group: 1.2 of 10.5."""
    model, x = unsettle(build()), torch.randn(5, 1, 9, 9, dtype=torch.float64)
    require_equivariant(model, x, SUBGROUPS["D4"])
    for training in (False, True):
        model.train(training)
        assert iso.equivariance_error(model, x, "D4", "invariant") < EXACT
        iso.assert_equivariant(model, x, "D4", "invariant")
    require_folds(model.eval(), x, example=x)
    require_not_constant(model, x)


# -- outputs that the group permutes, or whose sign it turns ----------------------------------

QUARTER = [[0, -1], [1, 0]]
OUTPUTS: dict[str, tuple[str, dict[str, Any]]] = {
    "6 and 9 under a half turn": ("C2", {"r2": [0, 1, 2, 3, 4, 5, 9, 7, 8, 6]}),
    "two spirals under D4's mirrors": ("D4", {"s": [1, 0]}),
    "two spirals under D4, r given": ("D4", {"r": [0, 1], "s": [1, 0]}),
    "two spirals under D2": ("D2", {"s": [1, 0]}),
    "two spirals under D2d": ("D2d", {"sr": [1, 0], "sr3": [1, 0]}),
    "two spirals under a diagonal": ("D1d", {"sr3": [1, 0]}),
    "up and down": ("D1v", {"sr2": [1, 0, 2]}),
    "four directions under C4": ("C4", {"r": [1, 2, 3, 0]}),
    "four directions under D4": ("D4", {"r": [1, 2, 3, 0], "s": [2, 1, 0, 3]}),
    "quarter turns that change nothing twice": ("C4", {"r": [1, 0, 2]}),
    "a vector under C4": ("C4", {"r": QUARTER}),
    "a vector under C2": ("C2", {"r2": [[-1, 0], [0, -1]]}),
    "a vector under D4": ("D4", {"r": QUARTER, "s": [[1, 0], [0, -1]]}),
    "a sign under a mirror": ("D1", {"s": [[-1]]}),
    "a sign under D4's mirrors": ("D4", {"s": [[-1]]}),
    "a sign under quarter turns": ("C4", {"r": [[-1]]}),
    "cosine and sine of an angle": ("D4", {"r": QUARTER, "s": [[-1, 0], [0, 1]]}),
    "an angle and a size": ("C4", {"r": [[0, -1, 0], [1, 0, 0], [0, 0, 1]]}),
}


def as_matrix(value: list[Any]) -> Tensor:
    """A list of images or a signed permutation matrix."""
    if isinstance(value[0], list):
        return torch.tensor(value, dtype=torch.float64)
    return torch.eye(len(value), dtype=torch.float64)[:, value]


def label_matrix(given: dict[str, Any], element: str) -> Tensor:
    """Of s rᵏ: first k quarter turns, then the mirror; what was not given moves nothing."""
    if element in given:
        return as_matrix(given[element])
    still = torch.eye(len(next(iter(given.values()))), dtype=torch.float64)
    mirrors, quarters = split(element)
    result = still
    if "r" in given:
        result = torch.linalg.matrix_power(as_matrix(given["r"]), quarters)
    return as_matrix(given["s"]) @ result if mirrors and "s" in given else result


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_move_as_they_were_said_to(name: str) -> None:
    group, given = OUTPUTS[name]
    classes = len(next(iter(given.values())))
    model = unsettle(built_from_a_plain_one(classes, group=group, output=given))
    x = torch.randn(5, 1, 9, 9, dtype=torch.float64)

    def move(y: Tensor, element: str) -> Tensor:
        return y @ label_matrix(given, element).T

    require_equivariant(model, x, SUBGROUPS[group], out=move)
    for training in (False, True):
        assert iso.equivariance_error(model.train(training), x) < EXACT
        assert iso.equivariance_error(model, x, group, given) < EXACT
    require_folds(model.eval(), x)
    if any(not torch.equal(label_matrix(given, g), torch.eye(classes)) for g in SUBGROUPS[group]):
        assert worst(model, x, SUBGROUPS[group]) > 1e-3  # it is not invariant instead


def test_an_image_moves_like_its_mapping_says() -> None:
    """[0] goes to [1] and [1] to [2]: label i's logit is found at label p[i] afterwards."""
    model = built_from_a_plain_one(3, group="C4", output={"r": [1, 0, 2]}).eval()
    x = torch.randn(2, 1, 9, 9, dtype=torch.float64)
    before, after = run(model, x), run(model, torch.rot90(x, 1, (2, 3)))
    assert distance(after[:, [1, 0, 2]], before) < EXACT
    cycle = built_from_a_plain_one(4, group="C4", output={"r": [1, 2, 3, 0]}).eval()
    before, after = run(cycle, x), run(cycle, torch.rot90(x, 1, (2, 3)))
    for label, image in enumerate([1, 2, 3, 0]):
        assert distance(after[:, image], before[:, label]) < EXACT


def test_label_maps_turn_and_change_labels() -> None:
    """Two labels that mirrors exchange, at every pixel."""
    case = CASES["UNet"]
    x, given = case.example(), {"s": [1, 0]}
    model = unsettle(iso.equivariant(plain("UNet", 8), "D4", x, output=given))

    def move(y: Tensor, element: str) -> Tensor:
        moved = turn(y, element)
        return moved.flip(1) if split(element)[0] else moved

    require_equivariant(model, x, SUBGROUPS["D4"], out=move)


def test_labels_that_no_action_moves_so() -> None:
    """A half turn may exchange 6 and 9, but then a quarter turn would have to do half of it."""
    with pytest.raises(iso.InputError, match=r"no action of C4: .* fails"):
        built_from_a_plain_one(10, group="C4", output={"r2": [0, 1, 2, 3, 4, 5, 9, 7, 8, 6]})


# -- weights="lift" ---------------------------------------------------------------------------


@torch.no_grad()
def average(model: nn.Module, x: Tensor, group: str, inp: Move, out: Move) -> Tensor:
    """Σ_g g⁻¹ N(g x) / |G|."""
    turned = [out(model(inp(x, g)), inverse(g)) for g in SUBGROUPS[group]]
    return torch.stack(turned).mean(0)


@pytest.mark.parametrize("group", SUBGROUPS)
@pytest.mark.parametrize("name", MODELS)
def test_lifted_is_the_average_over_the_group(name: str, group: str) -> None:
    case, x = CASES[name], CASES[name].example()
    model = plain(name, case.narrow)
    lifted = iso.equivariant(model, group, x, weights="lift", **case.settings(group)).eval()
    expected = average(model, x, group, case.inp, case.out)
    assert distance(run(lifted, x), expected) < EXACT
    if group != "C1":
        assert distance(run(lifted, x), run(model, x)) > 1e-3
    require_equivariant(lifted, x, SUBGROUPS[group], case.inp, case.out)
    widths = [m.out_channels for m in model.modules() if isinstance(m, nn.Conv2d)]
    wider = [m.out_channels for m in lifted.modules() if isinstance(m, iso.nn.Conv2d)]
    hidden = slice(None) if case.output == "invariant" else slice(-1)
    assert wider[hidden] == [len(SUBGROUPS[group]) * n for n in widths[hidden]]
    assert distance(run(iso.fold(lifted), x), expected) < EXACT


@pytest.mark.parametrize("name", ["four directions under D4", "cosine and sine of an angle"])
def test_lifted_with_moving_outputs(name: str) -> None:
    group, given = OUTPUTS[name]
    x = CASES["VGG"].example()
    torch.manual_seed(0)
    model = as_if_trained(VGG(2, 8, classes=len(given["r"])))
    lifted = iso.equivariant(model, group, x, output=given, weights="lift").eval()

    def move(y: Tensor, element: str) -> Tensor:
        return y @ label_matrix(given, element).T

    assert distance(run(lifted, x), average(model, x, group, turn, move)) < EXACT
    require_equivariant(lifted, x, SUBGROUPS[group], out=move)


# -- weights="project" ------------------------------------------------------------------------


@pytest.mark.parametrize("group", ["C4", "D1a", "D4"])
@pytest.mark.parametrize("name", MODELS)
def test_projecting_what_was_equivariant_keeps_it(name: str, group: str) -> None:
    case, x = CASES[name], CASES[name].example()
    tied = converted(name, group)
    settings = {**case.settings(group), "check": False}
    again = iso.equivariant(iso.fold(tied), group, x, weights="project", **settings).eval()
    assert distance(run(again, x), run(tied, x)) < EXACT
    state = tied.state_dict()
    assert all(distance(value.double(), state[k].double()) < 1e-12
               for k, value in again.state_dict().items() if "num_batches" not in k)  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_projecting_an_ordinary_model_changes_it(name: str) -> None:
    case, x = CASES[name], CASES[name].example()
    model = plain(name, case.width)
    tied = iso.equivariant(model, "D4", x, weights="project", **case.settings("D4")).eval()
    require_equivariant(tied, x, SUBGROUPS["D4"], case.inp, case.out)
    assert distance(run(tied, x), run(model, x)) > 1e-2


def test_projection_is_the_mean_over_the_group() -> None:
    """Of a lifting layer: every filter turned back, the mean of those, and that turned again."""
    model = nn.Conv2d(1, 8, 3).double()
    x = torch.randn(1, 1, 5, 5, dtype=torch.float64)
    tied = iso.equivariant(model, "D4", x, output="field", weights="project")
    elements = SUBGROUPS["D4"]
    turned = [turn(model.weight[i], inverse(g)) for i, g in enumerate(elements)]
    mean = torch.stack(turned).mean(0)
    expected = torch.stack([turn(mean, g) for g in elements])
    assert distance(tied.weight, expected) < 1e-12
    assert distance(tied.bias, model.bias.mean().expand(8)) < 1e-12


# -- sizes that strides do not fit ------------------------------------------------------------

UNFORTUNATE: dict[str, tuple[Callable[[], nn.Module], int, str, str]] = {
    "a stride of two on eight pixels": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, 2, padding=1)
        ),
        8,
        "image",
        r"2: stride 2 on size 8 leaves 1 pixel\(s\) over \(kernel 3, padding 1\); "
        r"exact at size 7 or 9",
    ),
    "a shortcut on eight pixels": (
        lambda: ResNet18(8),
        8,
        "invariant",
        r"stages\.2\.conv1: stride 2 on size 8 .*stages\.2\.shortcut\.0: stride 2 on size 8",
    ),
    "max pooling on ten, then five": (
        lambda: VGG(8, size=10),
        10,
        "invariant",
        r"features\.13: stride 2 on size 5 leaves 1 pixel\(s\) over",
    ),
    "average pooling on ten": (
        lambda: nn.Sequential(nn.Conv2d(1, 8, 1), nn.AvgPool2d(3, 2, padding=1), nn.ReLU()),
        10,
        "image",
        r"stride 2 on size 10 leaves 1 pixel\(s\) over",
    ),
    "a stride of three, two over": (
        lambda: nn.Sequential(nn.Conv2d(1, 8, 3, 3), nn.Tanh()),
        8,
        "image",
        r"0: stride 3 on size 8 leaves 2 pixel\(s\) over",
    ),
}


def fields_or_image(y: Tensor, element: str) -> Tensor:
    return turn(y, element) if y.ndim == 4 else y


@pytest.mark.parametrize("name", UNFORTUNATE)
def test_without_exact_there_is_one_warning(name: str) -> None:
    """It names the layer and its measured error."""
    make, size, output, message = UNFORTUNATE[name]
    x = torch.randn(2, 1, size, size, dtype=torch.float64)
    with pytest.warns(iso.IsotropyWarning, match=message) as caught:
        model = iso.equivariant(make().double(), "D4", x, output=output).eval()
    assert len(caught) == 1
    said = str(caught[0].message)
    assert said.startswith("not exactly equivariant: ")
    assert "exact=True" in said
    errors = [float(part.split(")")[0]) for part in said.split("(error ")[1:]]
    assert errors
    assert all(1e-9 < error < 10 for error in errors)
    assert worst(model, x, SUBGROUPS["D4"], out=fields_or_image) > 1e-4


@pytest.mark.parametrize("name", UNFORTUNATE)
def test_exact_makes_them_exact(name: str) -> None:
    make, size, output, _ = UNFORTUNATE[name]
    x = torch.randn(2, 1, size, size, dtype=torch.float64)
    original = make().double()
    model = unsettle(iso.equivariant(original, "D4", x, output=output, exact=True))
    require_equivariant(model, x, SUBGROUPS["D4"], out=fields_or_image)
    assert run(model, x).shape == run(original.eval(), x).shape
    require_folds(model, x)


@pytest.mark.parametrize("name", ["VGG", "ResNet18", "UNet"])
def test_exact_changes_nothing_where_strides_fit(name: str) -> None:
    case, x = CASES[name], CASES[name].example()
    results = []
    for exact in (False, True):
        torch.manual_seed(3)
        model = iso.equivariant(plain(name, case.width), "D4", x, case.output, exact=exact)
        results.append((run(model.eval(), x), [type(m) for m in model.modules()]))
    assert torch.equal(results[0][0], results[1][0])
    assert results[0][1] == results[1][1]


def test_exact_cannot_replace_pooling_that_is_no_module() -> None:
    model = Lambda(lambda m, x: F.max_pool2d(m["conv"](x), 2), conv=nn.Conv2d(1, 8, 3, padding=1))
    x = torch.randn(2, 1, 7, 7)
    with pytest.raises(iso.NotSupportedError, match=r"max_pool2d in the model: exact=True can"):
        iso.equivariant(model, "C4", x, output="field", exact=True)


def test_a_half_turn_too_needs_strides_that_fit() -> None:
    """And nothing does where no group moves pixels."""
    x = torch.randn(2, 1, 8, 8)
    for group, troubled in (("C1", False), ("C2", True), ("D1", True), ("D1d", False)):
        model = nn.Sequential(nn.Conv2d(1, 8, 3, 2, padding=1))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            iso.equivariant(model, group, x, output="field")
        assert bool(caught) == troubled, group


# -- one group for every layer ----------------------------------------------------------------


def three_convolutions() -> nn.Module:
    layers: dict[str, nn.Module] = {}
    for i in (1, 2, 3):
        layers[f"conv{i}"] = nn.Conv2d(1 if i == 1 else 16, 16, 3, padding=1)
        layers[f"norm{i}"] = nn.BatchNorm2d(16)
        layers[f"relu{i}"] = nn.ReLU()
    layers |= {"mean": nn.AdaptiveAvgPool2d(1), "flat": nn.Flatten(), "head": nn.Linear(16, 4)}
    return nn.Sequential(OrderedDict(layers)).double()


@pytest.mark.parametrize(
    ("spec", "groups"),
    [
        ({"conv1": "D4", "conv3": "C4", "head": "C2"}, "D4 D4 C4 C2"),
        ({"conv1": "D4", "conv2": "D2d", "conv3": "D1a"}, "D4 D2d D1a D1a"),
        ({"conv1": "D2", "head": "C1"}, "D2 D2 D2 C1"),
        ({"conv2": "C4"}, "C4 C4 C4 C4"),
        ({"head": iso.group("D1v"), "conv1": iso.group("D2")}, "D2 D2 D2 D1v"),
    ],
)
def test_groups_by_layer(spec: dict[str, Any], groups: str) -> None:
    """Fields are those of the largest group throughout; each layer keeps its own group."""
    x = torch.randn(3, 1, 7, 7, dtype=torch.float64)
    model = unsettle(iso.equivariant(three_convolutions(), spec, x))
    assert " ".join(str(g) for g in iso.groups_of(model).values()) == groups
    assert [str(model.get_submodule(f"norm{i}").group) for i in (1, 2, 3)] == groups.split()[:3]
    end = groups.split()[-1]
    require_equivariant(model, x, SUBGROUPS[end])
    assert iso.equivariance_error(model, x) < EXACT
    assert worst(model, x, tuple(set(SUBGROUPS["D4"]) - set(SUBGROUPS[end]))) > 1e-3
    require_folds(model, x)


def test_groups_that_grow_along_the_network() -> None:
    x = torch.randn(2, 1, 7, 7, dtype=torch.float64)
    spec = {"conv1": "C4", "conv3": "D4"}
    with pytest.raises(iso.InputError, match=r"conv\d has \w+, which is no subgroup of \w+ before"):
        iso.equivariant(three_convolutions(), spec, x)
    model = iso.equivariant(three_convolutions(), spec, x, monotone=False)
    assert " ".join(str(g) for g in iso.groups_of(model).values()) == "C4 C4 D4 D4"
    require_equivariant(unsettle(model), x, SUBGROUPS["C4"])


def test_groups_for_layers_that_are_none() -> None:
    x = torch.randn(2, 1, 7, 7, dtype=torch.float64)
    with pytest.raises(iso.InputError, match=r"'conv4'.*the layers are \['conv1', 'conv2'"):
        iso.equivariant(three_convolutions(), {"conv4": "C4"}, x)


# -- architectures ----------------------------------------------------------------------------


def conv(inp: int, out: int, kernel: int = 3, **settings: Any) -> nn.Conv2d:
    return nn.Conv2d(inp, out, kernel, padding=kernel // 2, **settings)


def ending(inp: int, classes: int = 3) -> nn.Sequential:
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inp, classes))


def squeeze_excite_linear() -> nn.Module:
    def forward(m: nn.ModuleDict, x: Tensor) -> Tensor:
        x = torch.relu(m["conv"](x))
        weight = torch.sigmoid(m["up"](torch.relu(m["down"](x.mean((2, 3))))))
        return m["end"](x * weight[:, :, None, None])

    return Lambda(
        forward, conv=conv(1, 16), down=nn.Linear(16, 8), up=nn.Linear(8, 16), end=ending(16)
    )


def squeeze_excite_view() -> nn.Module:
    """With the pooling and the `view` of the usual implementations."""

    def forward(m: nn.ModuleDict, x: Tensor) -> Tensor:
        x = torch.relu(m["conv"](x))
        b, c = x.shape[:2]
        weight = m["up"](torch.relu(m["down"](m["pool"](x).view(b, c))))
        return m["end"](x * torch.sigmoid(weight).view(b, c, 1, 1).expand_as(x))

    return Lambda(
        forward,
        conv=conv(1, 16),
        pool=nn.AdaptiveAvgPool2d(1),
        down=nn.Linear(16, 8),
        up=nn.Linear(8, 16),
        end=ending(16),
    )


def squeeze_excite_conv() -> nn.Module:
    def forward(m: nn.ModuleDict, x: Tensor) -> Tensor:
        x = F.silu(m["norm"](m["conv"](x)))
        squeezed = F.adaptive_avg_pool2d(x, 1)
        return m["end"](x * torch.sigmoid(m["up"](F.silu(m["down"](squeezed)))))

    return Lambda(
        forward,
        conv=conv(1, 16),
        norm=nn.BatchNorm2d(16),
        down=conv(16, 8, 1),
        up=conv(8, 16, 1),
        end=ending(16),
    )


def densenet() -> nn.Module:
    """Every layer sees what all before it made, the picture too."""

    def forward(m: nn.ModuleDict, x: Tensor) -> Tensor:
        for name in ("1", "2", "3"):
            x = torch.cat([x, torch.relu(m[f"conv{name}"](torch.relu(m[f"norm{name}"](x))))], 1)
        return m["end"](m["narrow"](x))

    return Lambda(
        forward,
        norm1=nn.BatchNorm2d(2),
        conv1=conv(2, 8, bias=False),
        norm2=nn.BatchNorm2d(10),
        conv2=conv(10, 8, bias=False),
        norm3=nn.BatchNorm2d(18),
        conv3=conv(18, 8, bias=False),
        narrow=conv(26, 16, 1),
        end=ending(16),
    )


def inverted_residual() -> nn.Module:
    """MobileNet's: widen, one filter a channel, narrow, add."""

    def forward(m: nn.ModuleDict, x: Tensor) -> Tensor:
        x = m["stem"](x)
        y = F.relu6(m["norm1"](m["widen"](x)))
        y = F.hardswish(m["norm2"](m["depthwise"](y)))
        return m["end"](x + m["narrow"](y))

    return Lambda(
        forward,
        stem=conv(1, 8),
        widen=conv(8, 24, 1),
        norm1=nn.BatchNorm2d(24),
        depthwise=conv(24, 24, groups=24),
        norm2=nn.BatchNorm2d(24),
        narrow=conv(24, 8, 1),
        end=ending(8),
    )


def depthwise_strided() -> nn.Module:
    return nn.Sequential(
        conv(1, 16), nn.ReLU(), nn.Conv2d(16, 16, 3, 2, 1, groups=16), nn.ReLU(), ending(16)
    )


def channel_multiplier() -> nn.Module:
    """Three filters a channel."""
    return nn.Sequential(
        conv(1, 8),
        nn.ReLU(),
        conv(8, 24, groups=8),
        nn.BatchNorm2d(24),
        nn.ReLU(),
        conv(24, 16, 1),
        nn.ReLU(),
        ending(16),
    )


def resnext() -> nn.Module:
    def forward(m: nn.ModuleDict, x: Tensor) -> Tensor:
        x = torch.relu(m["stem"](x))
        return m["end"](torch.relu(x + m["norm"](m["grouped"](x))))

    return Lambda(
        forward,
        stem=conv(1, 32),
        grouped=conv(32, 32, groups=4),
        norm=nn.BatchNorm2d(32),
        end=ending(32),
    )


def gated_by_chunk() -> nn.Module:
    def forward(m: nn.ModuleDict, x: Tensor) -> Tensor:
        value, gate = m["conv"](x).chunk(2, dim=1)
        return m["end"](value * torch.sigmoid(gate))

    return Lambda(forward, conv=conv(1, 32), end=ending(16))


def split_into_branches() -> nn.Module:
    def forward(m: nn.ModuleDict, x: Tensor) -> Tensor:
        left, right = torch.split(torch.relu(m["stem"](x)), [8, 16], dim=1)
        return m["end"](torch.cat([m["left"](left), m["right"](right)], 1))

    return Lambda(forward, stem=conv(1, 24), left=conv(8, 8), right=conv(16, 8), end=ending(16))


def residual_to_the_input() -> nn.Module:
    """DnCNN's: the network finds what to take away from its picture of three channels."""
    body = nn.Sequential(conv(3, 16), nn.BatchNorm2d(16), nn.ReLU(), conv(16, 3))
    return Lambda(lambda m, x: x - m["body"](x), body=body)


def convnext() -> nn.Module:
    """Depthwise 7×7, then layer norm and linear layers with the channels last."""

    def forward(m: nn.ModuleDict, x: Tensor) -> Tensor:
        x = m["stem"](x)
        y = m["depthwise"](x).permute(0, 2, 3, 1)
        y = m["narrow"](F.gelu(m["widen"](m["norm"](y))))
        x = x + y.permute(0, 3, 1, 2)
        return m["head"](m["last"](x.mean([-2, -1])))

    return Lambda(
        forward,
        stem=conv(1, 16),
        depthwise=conv(16, 16, 7, groups=16),
        norm=nn.LayerNorm(16, eps=1e-6),
        widen=nn.Linear(16, 32),
        narrow=nn.Linear(32, 16),
        last=nn.LayerNorm(16),
        head=nn.Linear(16, 3),
    )


def autoencoder() -> nn.Module:
    """To a vector and back: from there on channels and pixels are made out of one dimension."""

    def forward(m: nn.ModuleDict, x: Tensor) -> Tensor:
        x = torch.relu(m["down2"](torch.relu(m["down1"](x))))
        code = m["code"](x.flatten(1))
        y = torch.relu(m["open"](code)).view(len(code), 16, 3, 3)
        return torch.sigmoid(m["up2"](torch.relu(m["up1"](y))))

    return Lambda(
        forward,
        down1=nn.Conv2d(1, 8, 3, 2, 1),
        down2=nn.Conv2d(8, 16, 3, 2, 1),
        code=nn.Linear(16 * 3 * 3, 8),
        open=nn.Linear(8, 16 * 3 * 3),
        up1=nn.ConvTranspose2d(16, 8, 3, 2, 1),
        up2=nn.ConvTranspose2d(8, 1, 3, 2, 1),
    )


def max_over_the_picture() -> nn.Module:
    def forward(m: nn.ModuleDict, x: Tensor) -> Tensor:
        return m["head"](torch.relu(m["conv"](x)).amax((2, 3)))

    return Lambda(forward, conv=conv(1, 16), head=nn.Linear(16, 3))


def mean_and_max_and_spread() -> nn.Module:
    def forward(m: nn.ModuleDict, x: Tensor) -> Tensor:
        x = torch.relu(m["conv"](x))
        parts = [x.mean((2, 3)), x.amax(dim=(2, 3)), F.adaptive_max_pool2d(x, 1).flatten(1)]
        return m["head"](torch.cat(parts, dim=1))

    return Lambda(forward, conv=conv(1, 8), head=nn.Linear(24, 3))


def one_layer_twice() -> nn.Module:
    def forward(m: nn.ModuleDict, x: Tensor) -> Tensor:
        x = torch.relu(m["stem"](x))
        for _ in range(2):
            x = x + torch.relu(m["norm"](m["again"](x)))
        return m["end"](x)

    return Lambda(
        forward, stem=conv(1, 16), again=conv(16, 16), norm=nn.BatchNorm2d(16), end=ending(16)
    )


def two_heads_of_attention_over_pixels() -> nn.Module:
    """Weights for every pixel from one channel, softmax over channels left out."""

    def forward(m: nn.ModuleDict, x: Tensor) -> Tensor:
        x = torch.relu(m["conv"](x))
        return m["end"](x * torch.sigmoid(m["where"](x)))

    return Lambda(forward, conv=conv(1, 16), where=conv(16, 1), end=ending(16))


def all_norms() -> nn.Module:
    return nn.Sequential(
        conv(1, 16),
        nn.GroupNorm(2, 16),
        nn.PReLU(16),
        conv(16, 16),
        nn.InstanceNorm2d(16, affine=True, track_running_stats=True),
        nn.LeakyReLU(),
        conv(16, 16),
        nn.LayerNorm([16, 9, 9]),
        nn.ELU(),
        nn.Flatten(),
        nn.Linear(16 * 81, 8),
        nn.BatchNorm1d(8),
        nn.PReLU(),
        nn.Linear(8, 3),
    )


def padded_and_dilated() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding="same", padding_mode="circular"),
        nn.ReLU(),
        nn.Conv2d(8, 8, 5, padding=2, padding_mode="reflect"),
        nn.ReLU(),
        nn.Conv2d(8, 8, 3, padding=2, dilation=2, padding_mode="replicate"),
        nn.ZeroPad2d(1),
        nn.Conv2d(8, 8, 5, stride=3, padding="valid"),
        nn.ReLU(),
        nn.Dropout2d(0.2),
        nn.Conv2d(8, 8, 2),
        nn.Flatten(),
        nn.Linear(8 * 4, 3),
    )


ARCHITECTURES: dict[str, tuple[Callable[[], nn.Module], int, str]] = {
    "squeeze-excite, linear": (squeeze_excite_linear, 1, "invariant"),
    "squeeze-excite, linear and view": (squeeze_excite_view, 1, "invariant"),
    "squeeze-excite, conv": (squeeze_excite_conv, 1, "invariant"),
    "DenseNet": (densenet, 2, "invariant"),
    "MobileNet": (inverted_residual, 1, "invariant"),
    "depthwise with a stride": (depthwise_strided, 1, "invariant"),
    "channel multiplier": (channel_multiplier, 1, "invariant"),
    "ResNeXt": (resnext, 1, "invariant"),
    "GLU by chunk": (gated_by_chunk, 1, "invariant"),
    "split and cat": (split_into_branches, 1, "invariant"),
    "residual to the input": (residual_to_the_input, 3, "image"),
    "ConvNeXt": (convnext, 1, "invariant"),
    "autoencoder": (autoencoder, 1, "image"),
    "global max": (max_over_the_picture, 1, "invariant"),
    "mean and max": (mean_and_max_and_spread, 1, "invariant"),
    "one layer twice": (one_layer_twice, 1, "invariant"),
    "a mask of one channel": (two_heads_of_attention_over_pixels, 1, "invariant"),
    "all norms": (all_norms, 1, "invariant"),
    "padding and dilation": (padded_and_dilated, 1, "invariant"),
}


@pytest.mark.parametrize("group", ["D4", "C4"])
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_architectures(name: str, group: str) -> None:
    make, channels, output = ARCHITECTURES[name]
    x = torch.randn(3, channels, 9, 9, dtype=torch.float64)
    original = as_if_trained(make())
    model = unsettle(iso.equivariant(original, group, x, output=output))
    out = turn if output == "image" else stay
    require_equivariant(model, x, SUBGROUPS[group], out=out)
    assert iso.equivariance_error(model, x) < EXACT
    require_not_constant(model, x)
    folded = require_folds(model, x)
    original.load_state_dict(folded.state_dict())
    assert distance(run(original.eval(), x), run(model, x)) < 1e-12
    tied = sum(p.numel() for p in model.parameters())
    assert tied < sum(p.numel() for p in original.parameters())


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_architectures_relax(name: str) -> None:
    """Any layer of any of them, with the function kept and the smaller group exact."""
    make, channels, output = ARCHITECTURES[name]
    x = torch.randn(3, channels, 9, 9, dtype=torch.float64)
    model = unsettle(iso.equivariant(as_if_trained(make()), "D4", x, output=output, check=False))
    out = turn if output == "image" else stay
    layers = list(iso.groups_of(model))
    for layer in {layers[0], layers[len(layers) // 2], layers[-1]}:
        child = iso.relax(model, layer, "C4")
        assert distance(run(child, x), run(model, x)) < EXACT
        with torch.no_grad():
            for parameter in child.parameters():
                parameter.add_(0.1 * torch.randn_like(parameter))
        assert worst(child, x, SUBGROUPS["C4"], out=out) < EXACT


def test_signals_under_their_mirror() -> None:
    model = nn.Sequential(
        nn.Conv1d(2, 8, 5, padding=2),
        nn.BatchNorm1d(8),
        nn.ReLU(),
        nn.MaxPool1d(3, 2),
        nn.Conv1d(8, 8, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Dropout1d(0.2),
        nn.Flatten(),
        nn.Linear(8 * 4, 3),
    ).double()
    x = torch.randn(3, 2, 15, dtype=torch.float64)
    tied = unsettle(iso.equivariant(model, "D1", x))
    require_equivariant(tied, x, ("e", "s"), inp=lambda v, g: v.flip(-1) if g == "s" else v)
    assert iso.equivariance_error(tied, x) < EXACT
    require_folds(tied, x)


def test_signals_whose_mirror_exchanges_channels() -> None:
    """A left and a right microphone."""
    model = nn.Sequential(nn.Conv1d(2, 8, 3), nn.ReLU(), nn.Conv1d(8, 2, 3)).double()
    x = torch.randn(3, 2, 9, dtype=torch.float64)
    tied = iso.equivariant(model, "D1", x, output={"s": [1, 0]}, action={"s": [1, 0]})
    swapped = tied(x.flip(1, 2))
    assert distance(swapped, tied(x).flip(1, 2)) < EXACT


def rotations(x: Tensor) -> list[Tensor]:
    """A volume after each quarter turn about an axis; all 24 are products of these."""
    pairs = ((2, 3), (3, 4), (2, 4))
    return [torch.rot90(x, k, axes) for axes in pairs for k in (1, 2, 3)]


def test_volumes_under_the_cubes_rotations() -> None:
    model = nn.Sequential(
        nn.Conv3d(1, 24, 3, padding=1),
        nn.BatchNorm3d(24),
        nn.ReLU(),
        nn.MaxPool3d(3, 2),
        nn.Conv3d(24, 24, 2),
        nn.AdaptiveAvgPool3d(1),
        nn.Flatten(),
        nn.Linear(24, 3),
    ).double()
    x = torch.randn(2, 1, 5, 5, 5, dtype=torch.float64)
    tied = unsettle(iso.equivariant(model, "O", x))
    for training in (False, True):
        tied.train(training)
        reference = run(tied, x)
        assert all(distance(run(tied, turned), reference) < EXACT for turned in rotations(x))
    assert distance(run(tied.eval(), x.flip(2)), run(tied, x)) > 1e-4  # a mirror is no rotation
    require_folds(tied, x)


@pytest.mark.parametrize("group", ["D2", "C2", "D1", "D1v"])
def test_pictures_that_are_not_square(group: str) -> None:
    x = torch.randn(3, 1, 6, 10, dtype=torch.float64)
    model = nn.Sequential(
        nn.Conv2d(1, 8, (3, 5), padding=(1, 2)),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(8 * 3 * 5, 3),
    ).double()
    tied = unsettle(iso.equivariant(model, group, x))
    require_equivariant(tied, x, SUBGROUPS[group])
    require_folds(tied, x)


@pytest.mark.parametrize("group", ["C4", "D4", "D1d", "D2d"])
def test_pictures_that_are_not_square_cannot_be_turned(group: str) -> None:
    model = nn.Conv2d(1, 8, 3)
    with pytest.raises(iso.InputError, match=r"6×10 must be square"):
        iso.equivariant(model, group, torch.randn(1, 1, 6, 10), output="field")


def test_colour_channels_that_a_group_moves() -> None:
    """Directions of wind, say: two channels that turn with the picture."""
    x = torch.randn(3, 2, 7, 7, dtype=torch.float64)
    model = nn.Sequential(nn.Conv2d(2, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 2, 1)).double()
    wind = {"r": QUARTER}

    def move(v: Tensor, element: str) -> Tensor:
        matrix = label_matrix(wind, element)
        return torch.einsum("ij,bjhw->bihw", matrix, turn(v, element))

    tied = iso.equivariant(model, "C4", x, output=wind, action=wind)
    require_equivariant(tied, x, SUBGROUPS["C4"], inp=move, out=move)
    assert worst(tied, x, ("r",), inp=turn, out=turn) > 1e-3


def test_fields_as_output() -> None:
    """Features for a head of one's own: the group's copies of every channel."""
    x = torch.randn(3, 1, 7, 7, dtype=torch.float64)
    model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Conv2d(8, 16, 3)).double()
    tied = iso.equivariant(model, "D4", x, output="field")
    pooled = nn.Sequential(tied, iso.nn.GroupPool(iso.group("D4")))
    require_equivariant(pooled, x, SUBGROUPS["D4"], out=turn)
    assert worst(tied, x, ("r",), out=turn) > 1e-3
