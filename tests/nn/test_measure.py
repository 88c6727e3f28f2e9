"""equivariance_error says what a loop written by hand says, in float64, and touches nothing."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable

import jaxtyping
import numpy as np
import pytest
import torch
from torch import Tensor, nn

import isotropy as iso
from tests.models import MLP, VGG, UNet, as_if_trained
from tests.turns import ELEMENTS, SUBGROUPS, move, pixel_permutation, turn, turn_fields

EXACT = 1e-12
CLEAR = 1e-3

Model = Callable[[Tensor], Tensor]


@torch.no_grad()
def by_hand(model: Model, x: Tensor, group: str, moved: Callable[[Tensor, str], Tensor]) -> float:
    """The largest relative error over the elements, as the definition says."""
    y = model(x)
    errors = [
        torch.linalg.vector_norm(model(turn(x, g)) - moved(y, g)) / torch.linalg.vector_norm(y)
        for g in SUBGROUPS[group]
    ]
    return float(max(errors))


def classifier(classes: int = 6) -> nn.Module:
    """An ordinary one, with no symmetry at all."""
    return nn.Sequential(
        nn.Conv2d(2, 4, 3), nn.Tanh(), nn.Flatten(), nn.Linear(4 * 5 * 5, classes)
    ).double()


def mapper(out: int = 8) -> nn.Module:
    return nn.Sequential(nn.Conv2d(2, 4, 3), nn.Tanh(), nn.Conv2d(4, out, 3)).double()


def images(n: int = 3) -> Tensor:
    return torch.randn(n, 2, 7, 7, dtype=torch.float64)


# -- against a loop -------------------------------------------------------------------------


@pytest.mark.parametrize("group", SUBGROUPS)
class TestAgainstALoop:
    """Networks without symmetry, so that every element counts."""

    def test_invariant(self, group: str) -> None:
        model, x = classifier(), images()
        expected = by_hand(model, x, group, lambda y, g: y)
        assert iso.equivariance_error(model, x, group, "invariant") == pytest.approx(expected)
        assert iso.equivariance_error(model, x, group) == pytest.approx(expected)
        assert (expected > CLEAR) == (group != "C1")

    def test_image(self, group: str) -> None:
        model, x = mapper(), images()
        expected = by_hand(model, x, group, turn)
        assert iso.equivariance_error(model, x, group, "image") == pytest.approx(expected)

    def test_field(self, group: str) -> None:
        model, x = mapper(), images()
        expected = by_hand(model, x, group, lambda y, g: turn_fields(y, g, SUBGROUPS[group]))
        assert iso.equivariance_error(model, x, group, "field") == pytest.approx(expected)

    def test_field_without_a_grid(self, group: str) -> None:
        model, x = classifier(8), images()

        def moved(y: Tensor, g: str) -> Tensor:
            as_map = y[:, :, None, None]
            return turn_fields(as_map, g, SUBGROUPS[group])[:, :, 0, 0]

        expected = by_hand(model, x, group, moved)
        assert iso.equivariance_error(model, x, group, "field") == pytest.approx(expected)


def test_label_permutations_against_a_loop() -> None:
    model, x = classifier(3), images()
    swap = [0, 2, 1]
    inside = {"e": [0, 1, 2], "r2": [0, 1, 2], "s": swap, "sr2": swap}
    expected = by_hand(model, x, "D2", lambda y, g: y[:, inside[g]])
    assert iso.equivariance_error(model, x, "D2", {"s": swap}) == pytest.approx(expected)


def test_a_permutation_lists_images() -> None:
    """{g: p} means that label i becomes label p[i]."""
    cycle = [1, 2, 3, 0]

    def corners(x: Tensor) -> Tensor:
        """Counter-clockwise from the top right, the way r turns."""
        return torch.stack([x[:, 0, 0, -1], x[:, 0, 0, 0], x[:, 0, -1, 0], x[:, 0, -1, -1]], 1)

    assert iso.equivariance_error(corners, images(), "C4", {"r": cycle}) == 0
    assert iso.equivariance_error(corners, images(), "C4", {"r": [3, 0, 1, 2]}) > CLEAR


def moments(x: Tensor) -> Tensor:
    """Where the mass of a picture lies, (row, column) from its centre: a vector."""
    middle = (x.shape[-1] - 1) / 2
    offsets = torch.arange(x.shape[-1], dtype=x.dtype) - middle
    rows = (x * offsets[:, None]).sum((1, 2, 3))
    return torch.stack([rows, (x * offsets).sum((1, 2, 3))], 1)


def vector_matrix(element: str) -> np.ndarray:
    return np.array([move(element, (1, 0)), move(element, (0, 1))]).T


def test_signed_outputs() -> None:
    turns = {g: vector_matrix(g) for g in ELEMENTS}
    assert iso.equivariance_error(moments, images(), "D4", turns) <= EXACT
    wrong = {g: turns[g] for g in ("r2", "s")}
    assert iso.equivariance_error(moments, images(), "D2", wrong) <= EXACT
    wrong["s"] = -turns["s"]
    assert iso.equivariance_error(moments, images(), "D2", wrong) > CLEAR


def test_signed_outputs_against_a_loop() -> None:
    model, x = classifier(2), images()
    turns = {g: vector_matrix(g) for g in ELEMENTS}
    expected = by_hand(model, x, "D4", lambda y, g: y @ torch.from_numpy(turns[g].T).to(y))
    assert iso.equivariance_error(model, x, "D4", turns) == pytest.approx(expected)


def test_vectors_and_their_action() -> None:
    own = iso.group("D4")
    turns = {g: pixel_permutation(g, 3) for g in ELEMENTS}
    action = iso.groups.permuting(own, turns)
    model, x = nn.Linear(9, 5).double(), torch.randn(4, 9, dtype=torch.float64)
    expected = by_hand(lambda p: model(p.flatten(1)), x.view(4, 3, 3), "D4", lambda y, g: y)
    assert iso.equivariance_error(model, x, own, action=action) == pytest.approx(expected)
    smaller = iso.equivariance_error(model, x, "C2", action=action.restrict(iso.group("C2")))
    assert smaller == pytest.approx(
        by_hand(lambda p: model(p.flatten(1)), x.view(4, 3, 3), "C2", lambda y, g: y)
    )


def test_an_action_on_channels_and_the_grid_together() -> None:
    """Channels that swap when the picture is mirrored."""
    own = iso.group("D1")
    swap = iso.groups.permuting(own, {"s": [1, 0]})
    x = images()

    def difference(value: Tensor) -> Tensor:
        return value[:, :1] - value[:, 1:]

    signed = {"s": [[-1]]}
    assert iso.equivariance_error(difference, x, own, "image", swap) > CLEAR
    assert iso.equivariance_error(difference, x, own, signed, swap) == 0


def test_signals_and_volumes() -> None:
    signal = nn.Conv1d(2, 2, 3, padding=1)
    x = torch.randn(2, 2, 9)
    with torch.no_grad():
        y, moved = signal(x), signal(x.flip(-1))
        expected = float((moved - y.flip(-1)).norm() / y.norm())
    assert iso.equivariance_error(signal, x, "D1", "image") == pytest.approx(expected, rel=1e-5)
    volume = iso.nn.Conv3d.tied(*[iso.groups.trivial(iso.group("Oh"), 2)] * 2, 3)
    assert iso.equivariance_error(volume, torch.randn(1, 2, 5, 5, 5), "Oh", "image") <= EXACT


# -- what kind of number --------------------------------------------------------------------


def test_it_is_relative() -> None:
    model, x = classifier(), images()
    error = iso.equivariance_error(model, x, "D4")
    assert iso.equivariance_error(lambda v: 1e6 * model(v), x, "D4") == pytest.approx(error)
    assert iso.equivariance_error(lambda v: 1e-6 * model(v), x, "D4") == pytest.approx(error)


def test_it_is_the_worst_element() -> None:
    """Symmetric under three of four elements of D2 would be no group, so: one of two mirrors."""
    kernel = iso.nn.Conv2d.tied(*[iso.groups.trivial(iso.group("D1"), 2)] * 2, 3, padding=1)
    x = images()
    assert iso.equivariance_error(kernel, x, "D1", "image") <= EXACT
    errors = [iso.equivariance_error(kernel, x, g, "image") for g in ("D1v", "C2", "D1d", "C4")]
    assert min(errors) > CLEAR
    worst = iso.equivariance_error(kernel, x, "D4", "image")
    assert worst == pytest.approx(by_hand(kernel.double(), x, "D4", turn))
    assert worst >= max(errors) * (1 - 1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
def test_it_is_measured_in_float64(dtype: torch.dtype) -> None:
    x = torch.randn(2, 1, 12, 12)
    model = as_if_trained(iso.equivariant(VGG(), "D4", x)).to(dtype)
    assert iso.equivariance_error(model, x.to(dtype)) <= EXACT
    assert {p.dtype for p in model.parameters()} == {dtype}


def test_functions_get_float64() -> None:
    seen = []

    def function(x: Tensor) -> Tensor:
        seen.append(x.dtype)
        return torch.relu(x)

    assert iso.equivariance_error(function, images().float(), "D4", "image") == 0
    assert set(seen) == {torch.float64}


def test_integers_are_read_as_numbers() -> None:
    pictures = torch.randint(0, 255, (2, 1, 8, 8), dtype=torch.uint8)
    assert iso.equivariance_error(torch.relu, pictures, "D4", "image") == 0


def test_zero_output_is_equivariant() -> None:
    assert iso.equivariance_error(torch.zeros_like, images(), "D4", "image") == 0


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_output_that_is_not_finite_is_never_fine(bad: float) -> None:
    x = images()

    def everywhere(v: Tensor) -> Tensor:
        return torch.full_like(v, bad)

    def one(v: Tensor) -> Tensor:
        v = v.clone()
        v[0, 0, 0, 0] = bad
        return v

    for function in (everywhere, one):
        assert iso.equivariance_error(function, x, "D4", "image") == math.inf
        with pytest.raises(AssertionError, match="equivariance error inf"):
            iso.assert_equivariant(function, x, "D4", "image", tolerance=1e300)


def test_nan_in_the_input_is_never_fine() -> None:
    x = images()
    x[0, 0, 0, 0] = float("nan")
    with pytest.raises(iso.InputError, match="NaN"):
        iso.equivariance_error(torch.relu, x, "D4", "image")


def test_nan_for_one_element_only_is_never_fine() -> None:
    x = images()

    def function(v: Tensor) -> Tensor:
        return v if torch.equal(v, x) else v * float("nan")

    assert iso.equivariance_error(function, x, "D4", "image") == math.inf


# -- defaults -------------------------------------------------------------------------------


def test_a_tied_network_brings_group_and_output() -> None:
    x = torch.randn(2, 1, 12, 12)
    net = iso.equivariant(UNet(), "D4", x, output="image")
    assert iso.equivariance_error(net, x) <= EXACT
    assert iso.equivariance_error(net, x, "C4") <= EXACT
    assert iso.equivariance_error(net, x, "C4", "image") <= EXACT


def test_a_tied_network_brings_its_labels() -> None:
    x = torch.randn(2, 1, 12, 12)
    labels = {"r2": [0, 1, 2, 4, 3]}
    net = as_if_trained(iso.equivariant(VGG(), "C2", x, output=labels))
    assert iso.equivariance_error(net, x) <= EXACT
    assert iso.equivariance_error(net, x, output=labels) <= EXACT
    assert iso.equivariance_error(net, x, output="invariant") > 1e-6


def test_a_tied_network_brings_its_input_action() -> None:
    x = torch.randn(4, 9)
    turns = {"r": pixel_permutation("r", 3)}
    net = iso.equivariant(MLP(), "C4", x, action=turns)
    assert iso.equivariance_error(net, x) <= EXACT
    assert iso.equivariance_error(net, x, "C2") <= EXACT


def test_a_relaxed_network_brings_the_group_that_is_left() -> None:
    x = torch.randn(2, 1, 9, 9)
    plain = nn.Sequential(nn.Conv2d(1, 8, 3), nn.Conv2d(8, 8, 3))
    net = iso.relax(iso.equivariant(plain, "D4", x, output="field"), "1", "C4")
    net[1].reset_parameters()
    assert iso.equivariance_error(net, x) <= EXACT
    assert iso.equivariance_error(net, x, "D4") > CLEAR


def test_permutation_groups() -> None:
    swaps = iso.PermutationGroup({"a": [1, 0, 2, 3], "b": [1, 2, 3, 0]}, "S4")
    x = torch.randn(3, 4)
    net = iso.equivariant(
        nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), swaps, x, fields="input"
    )
    assert iso.equivariance_error(net, x) <= EXACT
    own = iso.groups.natural(swaps)
    assert iso.equivariance_error(lambda v: v.sum(1, keepdim=True), x, swaps, action=own) <= EXACT
    assert iso.equivariance_error(lambda v: v[:, :2], x, swaps, action=own) > CLEAR


# -- nothing is touched ---------------------------------------------------------------------


@pytest.mark.parametrize("training", [True, False])
def test_the_model_is_untouched(training: bool) -> None:
    x = torch.randn(4, 1, 12, 12)
    model = iso.equivariant(VGG(), "D4", x).train(training)
    model.head[3].train(not training)
    before = copy.deepcopy(model.state_dict())
    modes = [m.training for m in model.modules()]
    x_before, random_before = x.clone(), torch.get_rng_state()
    assert iso.equivariance_error(model, x) <= EXACT
    after = model.state_dict()
    assert list(after) == list(before)
    assert all(torch.equal(after[k], v) and after[k].dtype == v.dtype for k, v in before.items())
    assert [m.training for m in model.modules()] == modes
    assert torch.equal(x, x_before)
    assert torch.equal(torch.get_rng_state(), random_before)
    assert all(p.grad is None for p in model.parameters())


def test_the_input_may_need_a_gradient() -> None:
    x = images().requires_grad_()
    assert iso.equivariance_error(torch.relu, x, "D4", "image") == 0
    assert x.requires_grad
    assert x.grad is None


def test_it_measures_in_the_mode_that_the_model_is_in() -> None:
    """Statistics per channel are off in eval mode; in train mode they are those of the batch."""
    x = torch.randn(4, 8, 6, 6)
    fields = iso.groups.regular(iso.group("D4"))
    norm, tied = nn.BatchNorm2d(8), iso.nn.BatchNorm(fields)
    norm.running_mean.normal_()
    tied.running_mean.normal_()

    def error(layer: nn.Module) -> float:
        return iso.equivariance_error(layer, x, "D4", "field", action=fields)

    assert error(tied.eval()) <= EXACT
    assert error(tied.train()) <= EXACT
    assert error(norm.eval()) > CLEAR
    assert error(norm.train()) <= EXACT


def test_dropout_falls_on_the_same_fields() -> None:
    x = torch.randn(4, 16, 6, 6)
    fields = iso.groups.regular(iso.group("D4"), 2)
    drop = iso.nn.FieldDropout(fields).train()
    assert iso.equivariance_error(drop, x, "D4", "field", action=fields) == 0
    plain = nn.Dropout2d().train()
    assert iso.equivariance_error(plain, x, "D4", "field", action=fields) > CLEAR


# -- assert_equivariant ---------------------------------------------------------------------


def test_assert_equivariant() -> None:
    x = torch.randn(2, 1, 12, 12)
    net = iso.equivariant(UNet(), "C4", x, output="image")
    iso.assert_equivariant(net, x)
    plain = UNet()
    error = iso.equivariance_error(plain, x, "C4", "image")
    with pytest.raises(AssertionError, match=r"equivariance error .* is above 1e-10"):
        iso.assert_equivariant(plain, x, "C4", "image")
    iso.assert_equivariant(plain, x, "C4", "image", tolerance=1.01 * error)


# -- what is refused ------------------------------------------------------------------------


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """As users run it: without the tests' check of annotations, which would speak up first."""
    off = property(lambda config: True)
    monkeypatch.setattr(type(jaxtyping.config), "jaxtyping_disable", off, raising=False)


own = iso.group("C4")
REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "no group": (lambda: iso.equivariance_error(classifier(), images()), "group: say which"),
    "no group, a function": (
        lambda: iso.equivariance_error(torch.relu, images()),
        "group: say which",
    ),
    "no such group": (
        lambda: iso.equivariance_error(classifier(), images(), "quarter turns"),
        "unknown group 'quarter turns'",
    ),
    "invariant maps": (
        lambda: iso.equivariance_error(mapper(), images(), "C4"),
        'output="invariant" does not fit outputs of shape',
    ),
    "no such output": (
        lambda: iso.equivariance_error(classifier(), images(), "C4", "picture"),
        "output must be one of .*'invariant', 'image', 'field'.* not 'picture'",
    ),
    "broken fields": (
        lambda: iso.equivariance_error(classifier(6), images(), "C4", "field"),
        "whole regular fields of C4",
    ),
    "labels of another size": (
        lambda: iso.equivariance_error(classifier(6), images(), "C2", {"r2": [1, 0]}),
        "permutations of labels must all have one size",
    ),
    "labels that are no action": (
        lambda: iso.equivariance_error(classifier(3), images(), "C4", {"r": [1, 2, 0]}),
        "no action of C4",
    ),
    "action of another size": (
        lambda: iso.equivariance_error(
            nn.Linear(8, 2), torch.randn(3, 8), "C4", action=iso.groups.regular(own)
        ),
        "action is of C4 on 4 entries; needed is one of C4 on 8",
    ),
    "action of a smaller group": (
        lambda: iso.equivariance_error(
            nn.Linear(4, 2), torch.randn(3, 4), "D4", action=iso.groups.regular(own)
        ),
        "action is of C4 on 4 entries; needed is one of D4 on 4",
    ),
    "vectors without action": (
        lambda: iso.equivariance_error(nn.Linear(4, 2), torch.randn(3, 4), "C4"),
        "action",
    ),
    "no geometry": (
        lambda: iso.equivariance_error(mapper(), images(), "C8", "image"),
        "C8 does not act exactly on a pixel grid",
    ),
    "permutations of pictures": (
        lambda: iso.equivariance_error(
            mapper(), images(), iso.PermutationGroup([[1, 0, 2]], "swaps"), "image"
        ),
        "swaps",
    ),
    "quarter turns of signals": (
        lambda: iso.equivariance_error(nn.Conv1d(1, 1, 3), torch.randn(1, 1, 9), "C4", "image"),
        "needs 2 axes",
    ),
    "a model that turns the grid's shape": (
        lambda: iso.equivariance_error(
            lambda x: x[:, :, :3], torch.randn(1, 1, 6, 6), "C4", "image"
        ),
        "shape",
    ),
    "a tuple": (lambda: iso.equivariance_error(lambda x: (x, x), images(), "C4"), "tensor"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_measured_is_refused(name: str, unchecked: None) -> None:
    call, words = REFUSED[name]
    with pytest.raises(iso.InputError, match=words) as caught:
        call()
    assert isinstance(caught.value, ValueError)
