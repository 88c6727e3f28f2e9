"""Every model can be tied exactly at any size, and does what tied networks do."""

from __future__ import annotations

import copy
import pickle
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import isotropy as iso
from isotropy import models
from isotropy.models.arguments import require_count
from tests.models import as_if_trained
from tests.turns import SUBGROUPS, turn

EXACT = 1e-10
SIZES = (8, 9, 13, 16, 28, 29, 32)
ON_GRIDS = tuple(name for name in models.names() if name != "mlp")
SMALL: dict[str, dict[str, Any]] = {
    "resnet": {"blocks": (1, 1, 1, 1)},
    "wrn": {"depth": 10, "widen": 1},
}
OUTPUT = dict.fromkeys(ON_GRIDS, "invariant") | {"unet": "image"}


def build(name: str, shape: tuple[int, ...], outputs: int = 3, **options: Any) -> nn.Module:
    """In float64, small unless said otherwise."""
    settings = {"width": 8, **SMALL.get(name, {}), **options}
    return as_if_trained(models.make(name, shape, outputs, **settings))


def tie(model: nn.Module, group: Any, x: Tensor, output: Any = "invariant") -> nn.Module:
    """Tied (a warning is an error), in eval mode, with the statistics of some data."""
    tied = iso.equivariant(model, group, x, output=output).train()
    with torch.no_grad():
        for _ in range(3):
            tied(torch.randn(4, *x.shape[1:], dtype=x.dtype))
    return tied.eval()


def picture(*shape: int) -> Tensor:
    return torch.randn(4, *shape, dtype=torch.float64)


def run(model: nn.Module, x: Tensor) -> Tensor:
    torch.manual_seed(0)  # dropout falls on the same fields every time
    with torch.no_grad():
        return copy.deepcopy(model)(x)


def worst_turn(model: nn.Module, x: Tensor, group: str, output: str) -> float:
    """The largest error over the group's elements, of `tests.turns` and not of isotropy."""
    y = run(model, x)
    errors = []
    for element in SUBGROUPS[group]:
        expected = turn(y, element) if output == "image" else y
        off = (run(model, turn(x, element).contiguous()) - expected).norm() / y.norm()
        errors.append(off.item())
    return max(errors)


def require_not_constant(model: nn.Module, x: Tensor) -> None:
    y = run(model, x)
    assert y.std(0).max() > 1e-3 * y.abs().max()


# -- exact at any size ------------------------------------------------------------------------

GROUPS = cycle(("D4", "C4"))
CASES = [(name, size, next(GROUPS)) for name in ON_GRIDS for size in SIZES]
CASES += [("cnn", size, group) for size in (8, 9) for group in ("C4", "D4")]
CASES += [(name, 64, "C4") for name in ON_GRIDS]


@pytest.mark.parametrize(("name", "size", "group"), sorted(set(CASES)))
def test_tied_exactly(name: str, size: int, group: str) -> None:
    x = picture(2, size, size)
    model = build(name, (2, size, size), width=iso.group(group).order)
    tied = tie(model, group, x, OUTPUT[name])
    require_not_constant(tied, x)
    for training in (False, True):
        assert worst_turn(tied.train(training), x, group, OUTPUT[name]) <= EXACT


@pytest.mark.parametrize("name", ON_GRIDS)
def test_defaults_tied_exactly(name: str) -> None:
    x = picture(1, 11, 11)
    model = models.make(name, (1, 11, 11), 3).double()
    tied = tie(model, "C4", x, OUTPUT[name])
    assert worst_turn(tied, x, "C4", OUTPUT[name]) <= EXACT


@pytest.mark.parametrize("name", ON_GRIDS)
def test_plain_model_is_not_equivariant(name: str) -> None:
    """Or the tests above would show nothing."""
    x = picture(1, 13, 13)
    assert iso.equivariance_error(build(name, (1, 13, 13)).train(), x, "C2", OUTPUT[name]) > 1e-3


@pytest.mark.parametrize("name", ON_GRIDS)
def test_mirrors_of_oblong_pictures(name: str) -> None:
    x = picture(1, 12, 17)
    tied = tie(build(name, (1, 12, 17)), "D2", x, OUTPUT[name])
    assert worst_turn(tied, x, "D2", OUTPUT[name]) <= EXACT


@pytest.mark.parametrize("name", ON_GRIDS)
@pytest.mark.parametrize("size", [19, 24])
def test_signals(name: str, size: int) -> None:
    x = picture(2, size)
    tied = tie(build(name, (2, size)), "D1", x, OUTPUT[name])
    y, mirrored = run(tied, x), run(tied, x.flip(-1))
    torch.testing.assert_close(mirrored, y.flip(-1) if name == "unet" else y)
    require_not_constant(tied, x)


@pytest.mark.parametrize("size", [5, 6])
def test_volumes(size: int) -> None:
    x = picture(1, size, size, size)
    tied = tie(build("cnn", x.shape[1:], width=24), "O", x)
    for plane in ((2, 3), (3, 4), (2, 4)):
        torch.testing.assert_close(run(tied, x.rot90(1, plane)), run(tied, x))
    require_not_constant(tied, x)


@pytest.mark.parametrize("name", ["resnet", "vgg", "wrn", "unet"])
def test_deep_models_of_volumes(name: str) -> None:
    """Half turns about one axis: groups of cubes are large."""
    x = picture(1, 8, 9, 8)
    half_turn = iso.group("O").subgroup(["e", "-d-rc"])
    tied = tie(build(name, x.shape[1:]), half_turn, x, OUTPUT[name])
    y, turned = run(tied, x), run(tied, x.flip((2, 3)))
    torch.testing.assert_close(turned, y.flip((2, 3)) if name == "unet" else y)


def test_vectors() -> None:
    x = torch.randn(4, 6, dtype=torch.float64)
    action = {"r": [1, 2, 3, 0, 4, 5]}
    tied = iso.equivariant(build("mlp", (6,)), "C4", x, action=action)
    torch.testing.assert_close(run(tied, x), run(tied, x[:, [1, 2, 3, 0, 4, 5]]))
    require_not_constant(tied, x)


def test_mlp_flattens_pictures() -> None:
    x = picture(1, 5, 5)
    tied = iso.equivariant(build("mlp", (1, 5, 5), depth=1), "D4", x)
    assert worst_turn(tied, x, "D4", "invariant") <= EXACT


def test_label_permutations() -> None:
    x = picture(1, 9, 9)
    tied = tie(build("cnn", (1, 9, 9), 4), "C4", x, output={"r": [1, 2, 3, 0]})
    permuted = run(tied, x)[:, [3, 0, 1, 2]]
    torch.testing.assert_close(run(tied, turn(x, "r").contiguous()), permuted)


# -- what tied networks do --------------------------------------------------------------------


@pytest.mark.parametrize("name", ON_GRIDS)
def test_fold_and_export(name: str) -> None:
    x = picture(1, 9, 9)
    tied = tie(build(name, (1, 9, 9)), "C4", x, OUTPUT[name])
    folded = iso.fold(tied)
    torch.testing.assert_close(run(folded, x), run(tied, x))
    homes = {type(module).__module__.rsplit(".", 1)[0] for module in folded.modules()}
    assert homes <= {"torch.nn.modules", "isotropy.models"}
    if name in ("cnn", "vgg"):
        assert "isotropy.models" not in homes
    exported = torch.export.export(folded, (x,)).module()
    torch.testing.assert_close(exported(x), run(tied, x))


@pytest.mark.parametrize("name", models.names())
def test_there_and_back(name: str, tmp_path: Path) -> None:
    shape = (6,) if name == "mlp" else (1, 8, 8)
    x = torch.randn(4, *shape, dtype=torch.float64)
    plain = build(name, shape)
    action = {"r": [1, 2, 3, 0, 4, 5]} if name == "mlp" else None
    tied = iso.equivariant(plain, "C4", x, OUTPUT.get(name, "invariant"), action=action)
    for number, model in enumerate((plain, tied, iso.fold(tied))):
        iso.save(model, tmp_path / f"{number}.safetensors")
        assert torch.equal(run(iso.load(tmp_path / f"{number}.safetensors"), x), run(model, x))
        assert torch.equal(run(pickle.loads(pickle.dumps(model)), x), run(model, x))


@pytest.mark.parametrize("name", ["cnn", "resnet"])
def test_relaxes(name: str) -> None:
    x = picture(1, 9, 9)
    tied = tie(build(name, (1, 9, 9)), "D4", x)
    relaxed = iso.relax(tied, list(iso.groups_of(tied))[2], "C2")
    torch.testing.assert_close(run(relaxed, x), run(tied, x))


# -- widths -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", models.names())
@pytest.mark.parametrize("width", [1, 3, 8])
def test_hidden_channels_are_multiples_of_the_width(name: str, width: int) -> None:
    shape = (5,) if name == "mlp" else (5, 16, 16)
    model = models.make(name, shape, 7, width=width)
    layers = [m for m in model.modules() if isinstance(m, nn.Linear | nn.Conv2d)]
    sizes = [m.weight.shape[0] for m in layers]
    assert sizes[-1] == 7
    assert sizes[0] == width
    assert not any(size % width for size in sizes[:-1])


@pytest.mark.parametrize("name", models.names())
def test_default_width_fits_d4(name: str) -> None:
    shape = (5,) if name == "mlp" else (5, 8, 8)
    first = next(m for m in models.make(name, shape, 2).modules() if hasattr(m, "weight"))
    assert first.weight.shape[0] % 8 == 0


@pytest.mark.parametrize("group", ["C4", "D4"])
def test_matching_width(group: str) -> None:
    x = torch.zeros(1, 1, 8, 8)

    def net(width: int) -> nn.Module:
        return models.make("cnn", (1, 8, 8), 3, width=width)

    width = iso.matching_width(net, 8, group, x)
    assert width > 8
    tied = iso.equivariant(net(width), group, x)
    ratio = iso.cost(tied, x).parameters / iso.cost(net(8), x).parameters
    assert 0.5 < ratio < 2


def test_cnn_is_small() -> None:
    x = torch.zeros(1, 1, 28, 28)
    assert iso.cost(models.make("cnn", (1, 28, 28), 10), x).multiply_adds < 6e6


# -- options ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("cnn", {"stages": 1}),
        ("cnn", {"stages": 4}),
        ("resnet", {"blocks": (1, 1)}),
        ("wrn", {"depth": 10, "widen": 1, "dropout": 0.3}),
        ("vgg", {"dropout": 0.0}),
        ("unet", {"depth": 1}),
    ],
)
def test_options(name: str, options: dict[str, Any]) -> None:
    x = picture(1, 9, 9)
    tied = tie(build(name, (1, 9, 9), **options), "C4", x, OUTPUT[name])
    for training in (False, True):
        assert worst_turn(tied.train(training), x, "C4", OUTPUT[name]) <= EXACT


def test_wide_resnet_has_as_many_layers_as_it_says() -> None:
    for depth in (10, 16):
        model = models.WideResNet((1, 8, 8), 2, width=1, depth=depth)
        layers = [m for m in model.modules() if isinstance(m, nn.Linear | nn.Conv2d)]
        assert sum(m.weight.shape[2:] != (1, 1) for m in layers) == depth - 2


# -- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shape", "options", "words"),
    [
        ("cnnn", (1, 8, 8), {}, r"unknown model 'cnnn'. Known: cnn, equinas, .*Did you mean cnn\?"),
        ("UNet", (1, 8, 8), {}, "Did you mean unet"),
        ("cnn", (1, 1, 8), {}, "halves the grid 1 .* at least 2 pixels .* not 1 × 8"),
        ("cnn", (1, 7, 7), {"stages": 4}, "at least 8 pixels"),
        ("cnn", (1, 8, 8), {"stages": 0}, "stages must be a whole number, at least 1, not 0"),
        ("cnn", (1, 999, 999), {"stages": 9}, "stages must be at most"),
        ("cnn", (9,), {}, r"needs \(channels, \*grid\).* not \(9,\)"),
        ("cnn", (1, 4, 4, 4, 4), {}, "one to three axes"),
        ("resnet", (1, 7, 8), {}, "resnet halves the grid 3 .* 8 pixels along every axis"),
        ("resnet", (1, 8, 8), {"blocks": ()}, "number of stages"),
        ("resnet", (1, 8, 8), {"blocks": (2, 0)}, "every count must be"),
        ("wrn", (1, 3, 3), {}, "at least 4 pixels"),
        ("wrn", (1, 8, 8), {"depth": 12}, "depth must be 6 n"),
        ("wrn", (1, 8, 8), {"widen": 0}, "widen must be"),
        ("vgg", (1, 1, 1), {}, "at least 2 pixels"),
        ("unet", (1, 7, 7), {}, "at least 8 pixels"),
        ("unet", (1, 8, 8), {"depth": 0}, "depth must be"),
        ("mlp", (), {}, "example_shape must be"),
        ("mlp", (0,), {}, r"example_shape \(0,\): every size must be"),
        ("mlp", (4,), {"depth": 0}, "depth must be"),
        ("cnn", (1, 8, 8), {"width": 0}, "width must be a whole number"),
        ("cnn", (1, 8, 8), {"depth": 3}, "cnn has no option 'depth'. Its options: stages"),
    ],
)
def test_bad_input(name: str, shape: tuple[int, ...], options: dict[str, Any], words: str) -> None:
    with pytest.raises(iso.InputError, match=words):
        models.make(name, shape, 3, **options)


def test_bad_outputs() -> None:
    with pytest.raises(iso.InputError, match="outputs must be"):
        models.make("cnn", (1, 8, 8), 0)


@pytest.mark.parametrize(
    ("name", "least"), [("cnn", 2), ("resnet", 8), ("wrn", 4), ("vgg", 2), ("unet", 8)]
)
def test_least_size_is_enough(name: str, least: int) -> None:
    x = picture(1, least, least)
    tied = tie(build(name, (1, least, least)), "C4", x, OUTPUT[name])
    assert worst_turn(tied, x, "C4", OUTPUT[name]) <= EXACT


def test_counts_may_come_from_numpy() -> None:
    assert require_count(np.int64(3), "width") == 3
    for wrong in (True, 3.0, "3", None):
        with pytest.raises(iso.InputError, match="width must be a whole number"):
            require_count(wrong, "width")
