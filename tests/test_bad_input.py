"""Bad input is caught at the door: one row each, with what the message has to say.

An input error is an IsotropyError and a ValueError, in one line that names the argument, what was
given and what would do.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import jaxtyping
import numpy as np
import pytest
import torch
from torch import Tensor, nn

import isotropy as iso
from isotropy.groups import natural, permuting, regular, trivial, vectors
from tests.models import MLP, VGG, Lambda

C2, C4, D4 = iso.group("C2"), iso.group("C4"), iso.group("D4")
SWAPS = iso.PermutationGroup({"swap": [1, 0, 2], "turn": [1, 2, 0]}, "S3")
X = torch.randn(2, 1, 12, 12)
VECTORS = torch.randn(2, 9)


@pytest.fixture(autouse=True)
def _unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """As users run it: without the tests' check of annotations, which would speak up first."""
    off = property(lambda config: True)
    monkeypatch.setattr(type(jaxtyping.config), "jaxtyping_disable", off, raising=False)


def convs(*widths: int) -> nn.Module:
    pairs = zip((1, *widths[:-1]), widths, strict=True)
    return nn.Sequential(*(nn.Conv2d(i, o, 3, padding=1) for i, o in pairs))


def with_bad(name: str, value: float) -> nn.Module:
    model = VGG()
    model.state_dict()[name].view(-1)[0] = value
    return model


def tied(group: str = "D4") -> nn.Module:
    return iso.equivariant(convs(8, 8), group, X, output="field")


def tie(
    model: object, group: object = "D4", x: object = X, **options: object
) -> Callable[[], object]:
    """Not yet: the row is called within the test."""
    return lambda: iso.equivariant(
        model() if isinstance(model, partial) else model, group, x, **options
    )


fields = partial(convs, 8, 8)

ROWS: dict[str, tuple[Callable[[], object], str]] = {
    # -- groups
    "unknown group": (
        lambda: iso.group("quarter"),
        "unknown group 'quarter'. Known: C1, C2, C4, D1, D1v, D1d, D1a, D2, D2d, D4, O, Oh, "
        "C<n>, D<n>, S<n>",
    ),
    "unknown group, nearly right": (lambda: iso.group("D1b"), "Did you mean D1"),
    "group in small letters": (lambda: iso.group("d4"), "Did you mean D4?"),
    "empty name": (lambda: iso.group(""), "unknown group ''"),
    "group of no elements": (lambda: iso.group("C0"), "unknown group 'C0'"),
    "group that is too large": (lambda: iso.group("S7"), "S<n> (n ≤ 6)"),
    "number for a group": (lambda: iso.group(4), "a group's name must be a string, not int"),
    "unknown group for a network": (tie(fields, "Q8"), "unknown group 'Q8'"),
    "number for a network's group": (tie(fields, 8), "group"),
    "unknown group for a layer": (tie(fields, {"0": "Q8"}), "unknown group 'Q8'"),
    "unknown group for GroupConv2d": (
        lambda: iso.nn.GroupConv2d(1, 1, 3, "square"),
        "unknown group 'square'",
    ),
    "no such element": (
        lambda: D4.subgroup(["r", "t"]),
        "D4 has no element 't'; it has e, r, r2, r3, s, sr, sr2, sr3",
    ),
    "not a subgroup": (lambda: D4.cosets(iso.group("O")), "O is not a subgroup of D4"),
    "not a normal subgroup": (
        lambda: D4.quotient(iso.group("D1")),
        "D1 is not a normal subgroup of D4",
    ),
    "permutation with a gap": (
        lambda: iso.PermutationGroup([[0, 2]]),
        "generator 'g1' must list the image of every point once, not [0, 2]",
    ),
    "permutations of two sets": (
        lambda: iso.PermutationGroup([[1, 0], [1, 2, 0]]),
        "generators must act on one set of points, not on [2, 3]",
    ),
    # -- widths
    "width": (
        tie(partial(convs, 8, 12), output="field"),
        "1: 12 channels are no multiple of |D4| = 8; the nearest widths that work are 8 or 16",
    ),
    "small width": (
        tie(partial(convs, 3), "C4", output="field"),
        "0: 3 channels are no multiple of |C4| = 4; the nearest widths that work are 4",
    ),
    "width of fields that come in": (
        tie(partial(MLP, 9, 6), "C2", VECTORS, fields="input", action={"r2": [*range(8, -1, -1)]}),
        "layers.0: 6 channels are no multiple of the input's size = 9; the nearest widths that "
        "work are 9",
    ),
    "width of output fields": (
        tie(partial(convs, 8, 10), output="field"),
        "1: 10 channels are no multiple of |D4| = 8; the nearest widths that work are 8 or 16",
    ),
    "width of a depthwise block": (
        lambda: iso.equivariant(
            nn.Sequential(nn.Conv2d(1, 8, 1), nn.Conv2d(8, 8, 1, groups=4)), "D4", X, output="field"
        ),
        "1: D4 does not keep the 4 blocks of a convolution with groups=4 together; every block "
        "must hold whole fields",
    ),
    "blocks of a group norm": (
        lambda: iso.equivariant(
            nn.Sequential(nn.Conv2d(1, 8, 1), nn.GroupNorm(4, 8)), "D4", X, output="field"
        ),
        "1: GroupNorm with num_groups=4 on 8 channels",
    ),
    "no fields": (
        lambda: iso.nn.GroupConv2d(0, 1, 3, "C4"),
        "fields_in must be at least 1, not 0",
    ),
    "fewer fields than none": (
        lambda: iso.nn.LiftingConv2d(3, -1, 3, "C4"),
        "fields_out must be at least 1, not -1",
    ),
    "kernel of no pixels": (
        lambda: iso.nn.GroupConv2d(1, 1, 0, "C4"),
        "kernel sizes must be at least 1, not (0, 0)",
    ),
    "no blocks": (
        lambda: iso.nn.Conv2d.tied(regular(C4), regular(C4), 3, groups=0),
        "groups must be at least 1, not 0",
    ),
    "no stride": (
        lambda: iso.nn.GroupConv2d(1, 1, 3, "C4", stride=(1, 0)),
        "stride must be at least 1 on every axis, not (1, 0)",
    ),
    "dilation of nothing": (
        lambda: iso.nn.ConvTranspose2d.tied(regular(C4), regular(C4), 3, dilation=0),
        "dilation must be at least 1 on every axis, not (0, 0)",
    ),
    "padding below nothing": (
        lambda: iso.nn.GroupConv2d(1, 1, 3, "C4", padding=-1),
        "padding must be at least 0 on every axis, not (-1, -1)",
    ),
    "padding by an unknown word": (
        lambda: iso.nn.GroupConv2d(1, 1, 3, "C4", padding="full"),
        'padding must be a number, "same" or "valid", not \'full\'',
    ),
    "same size with a stride": (
        lambda: iso.nn.GroupConv2d(1, 1, 3, "C4", padding="same", stride=2),
        'padding="same" does not go with a stride, which is (2, 2)',
    ),
    "channels of a BatchNorm": (
        lambda: iso.nn.BatchNorm(regular(C4, 2))(torch.zeros(2, 6, 3, 3)),
        "BatchNorm is of 8 channels, not 6",
    ),
    "channels of a GroupPool": (
        lambda: iso.nn.GroupPool(D4)(torch.zeros(1, 12, 3, 3)),
        "GroupPool over D4 needs a multiple of 8 channels, not 12",
    ),
    # -- groups of layers
    "unknown layer": (
        tie(fields, {"0": "D4", "conv": "C4"}),
        "group names the layer 'conv'; the layers are ['0', '1']",
    ),
    "no layer at all": (tie(fields, {}), "group"),
    "group that grows": (
        tie(fields, {"0": "C4", "1": "D4"}),
        "group grows along the network: 1 has D4, which is no subgroup of C4 before it; set "
        "monotone=False if that is meant",
    ),
    "groups side by side": (
        tie(fields, {"0": "C4", "1": "D2"}),
        "1 has D2, which is no subgroup of C4 before it",
    ),
    "relaxing to a larger group": (
        lambda: iso.relax(tied("C4"), "1", "D4"),
        "group: D4 is not a subgroup of C4, which 1 has",
    ),
    "relaxing to another group": (
        lambda: iso.relax(tied("C4"), "1", "D1"),
        "group: D1 is not a subgroup of C4, which 1 has",
    ),
    "relaxing an unknown layer": (
        lambda: iso.relax(tied(), "2", "C4"),
        "layer must be one of ['0', '1'], not '2'",
    ),
    "relaxing a plain network": (lambda: iso.relax(fields(), "0", "C4"), "no tied layers"),
    # -- grids
    "picture that is not square": (
        tie(fields, "C4", torch.randn(2, 1, 12, 10)),
        "element r of C4 exchanges axes of different lengths: the grid 12×10 must be square",
    ),
    "kernel that is not square": (
        lambda: iso.equivariant(nn.Sequential(nn.Conv2d(1, 8, (3, 5))), "C4", X, output="field"),
        "0: element r of C4 exchanges axes of different lengths: the grid 3×5 must be square",
    ),
    "quarter turns of signals": (
        lambda: iso.equivariant(
            nn.Sequential(nn.Conv1d(1, 8, 3)), "C4", torch.randn(2, 1, 9), output="field"
        ),
        "element r of C4 needs 2 axes, but there are 1",
    ),
    "eighths of a turn": (
        tie(fields, "C8"),
        "C8 does not act exactly on a pixel grid (only quarter turns and mirrors do)",
    ),
    "permutations of pixels": (tie(fields, SWAPS), "S3 does not act exactly on a pixel grid"),
    # -- the model
    "function for a model": (
        tie(torch.relu),
        "model must be a torch.nn.Module, not builtin_function_or_method",
    ),
    "class for a model": (tie(VGG), "model must be a torch.nn.Module, not type"),
    "nothing for a model": (tie(None), "model must be a torch.nn.Module, not NoneType"),
    "model without layers": (
        tie(nn.Sequential(nn.ReLU(), nn.Flatten())),
        "the model has no convolution or linear layer to tie",
    ),
    "model whose layers do not run": (
        lambda: iso.equivariant(Lambda(lambda m, x: x, a=nn.Conv2d(1, 8, 3)), "D4", X),
        "the model has no convolution or linear layer to tie",
    ),
    "tied model": (
        lambda: iso.equivariant(tied(), "D4", X),
        "the model is tied already; use iso.relax, or tie the plain model",
    ),
    "NaN weight": (
        tie(partial(with_bad, "features.3.weight", float("nan"))),
        "the model's weight features.3.weight holds NaN or infinite values",
    ),
    "infinite weight": (
        tie(partial(with_bad, "head.4.bias", float("inf"))),
        "the model's weight head.4.bias holds NaN or infinite values",
    ),
    "NaN statistics": (
        tie(partial(with_bad, "features.1.running_var", float("nan"))),
        "features.1.running_var holds NaN or infinite values",
    ),
    # -- the example
    "integer example": (
        tie(fields, x=torch.ones(2, 1, 12, 12, dtype=torch.uint8)),
        "example must be a float tensor (batch, channels, *grid) or (batch, features)",
    ),
    "array for an example": (
        tie(fields, x=np.zeros((2, 1, 12, 12), np.float32)),
        "example must be a float tensor",
    ),
    "shape for an example": (tie(fields, x=(2, 1, 12, 12)), "example must be a float tensor"),
    "vector for an example": (tie(fields, x=torch.zeros(12)), "example must be a float tensor"),
    "picture without batch": (tie(fields, x=torch.zeros(1, 12, 12)), "batch"),
    "empty batch": (tie(fields, x=torch.zeros(0, 1, 12, 12)), "at least one sample"),
    "NaN example": (
        tie(fields, x=torch.full((2, 1, 12, 12), float("nan"))),
        "without NaN or infinite values",
    ),
    "infinite example": (
        tie(fields, x=torch.full((2, 1, 12, 12), float("inf"))),
        "without NaN or infinite values",
    ),
    # -- words
    "output": (
        tie(fields, output="picture"),
        "output must be one of ('invariant', 'image', 'field') or label permutations by element "
        "name, not 'picture'",
    ),
    "output for a map": (
        tie(fields),
        'output="invariant", but the model returns a map of shape (2, 8, 12, 12); choose '
        'output="image" or "field"',
    ),
    "output for labels": (
        tie(VGG(), output="image"),
        'output="image", but the model returns shape',
    ),
    "weights": (
        tie(VGG(), weights="random"),
        "weights must be one of ('fresh', 'project', 'lift'), not 'random'",
    ),
    "fields": (
        tie(VGG(), fields="quotient"),
        'fields must be "regular", "input" or a mapping, not \'quotient\'',
    ),
    "mode of a GroupPool": (
        lambda: iso.nn.GroupPool(D4, "sum"),
        'mode must be "mean" or "max", not \'sum\'',
    ),
    "padding": (
        lambda: iso.nn.GroupConv2d(1, 1, 3, "C4", padding_mode="mirror"),
        "padding_mode must be one of",
    ),
    "padding of a transposed convolution": (
        lambda: iso.nn.ConvTranspose2d.tied(regular(C4), regular(C4), 3, padding_mode="circular"),
        "a transposed convolution pads with zeros, not 'circular'",
    ),
    # -- actions on the input
    "no action on vectors": (
        tie(MLP(), "C4", VECTORS),
        "action: say how the group permutes the entries of the input vectors, as "
        '{"r": [1, 2, 3, 0]}',
    ),
    "action of another size": (
        tie(MLP(), "C4", VECTORS, action={"r": [1, 2, 3, 0]}),
        "the permutations of input entries must all have one size, not [4, 9]",
    ),
    "action of another group": (
        tie(MLP(), "D4", VECTORS, action=trivial(C4, 9)),
        "action is of C4 on 9 entries; needed is one of D4 on 9",
    ),
    "action on another size": (
        tie(MLP(), "C4", VECTORS, action=regular(C4, 2)),
        "action is of C4 on 8 entries; needed is one of C4 on 9",
    ),
    "action of an unknown element": (
        tie(MLP(), "C4", VECTORS, action={"s": [*range(9)]}),
        "C4 has no element 's'; it has e, r, r2, r3",
    ),
    "action that repeats itself": (
        tie(MLP(), "C4", VECTORS, action={"r": [0] * 9}),
        "the permutation of input entries for 'r' must list the image of every point once",
    ),
    "action that is none": (
        tie(MLP(), "C4", VECTORS, action={"r": [1, 2, 0, *range(3, 9)]}),
        "these permutations of input entries are no action of C4: ",
    ),
    "points that do not fit": (
        tie(MLP(8), SWAPS, torch.randn(2, 8), fields="input"),
        "S3 permutes 3 points, but the input has 8 entries, which is no multiple",
    ),
    "regular fields of permutations": (
        tie(MLP(), SWAPS, VECTORS),
        'S3 is known by its generators alone, so it has no regular fields; choose fields="input"',
    ),
    "fields of another size": (
        tie(
            MLP(),
            "C2",
            VECTORS,
            action={"r2": [*range(8, -1, -1)]},
            fields={"layers.0": regular(C2)},
        ),
        "fields['layers.0'] is of C2 on 2 channels; needed is one of C2 on 16",
    ),
    "fields of an unknown layer": (
        tie(VGG(), fields={"features.nought": regular(D4)}),
        "features.nought",
    ),
    # -- labels
    "labels of another size": (
        tie(VGG(), "C2", output={"r2": [1, 0]}),
        "the permutations of labels must all have one size, not [2, 5]",
    ),
    "labels that repeat themselves": (
        tie(VGG(), "C2", output={"r2": [1, 0, 2, 3, 3]}),
        "the permutation of labels for 'r2' must list the image of every point once, not "
        "[1, 0, 2, 3, 3]",
    ),
    "labels by fractions": (
        tie(VGG(), "C2", output={"r2": (np.eye(5) / 2).tolist()}),
        "the permutation of labels for 'r2' must be a signed permutation matrix",
    ),
    "labels for an unknown element": (
        tie(VGG(), "C2", output={"s": [1, 0, 2, 3, 4]}),
        "C2 has no element 's'; it has e, r2",
    ),
    "6 and 9 under quarter turns": (
        tie(VGG(), "C4", output={"r2": [1, 0, 2, 3, 4]}),
        "these permutations of labels are no action of C4: r·r = r2 fails, as r after r gives "
        "(0 1 2 3 4) but r2 is (1 0 2 3 4) (r was not given, so it moves nothing)",
    ),
    "labels that turn in three": (
        tie(VGG(), "C4", output={"r": [1, 2, 0, 3, 4]}),
        "these permutations of labels are no action of C4: ",
    ),
    "labels that do not commute": (
        tie(VGG(), "D2", output={"r2": [1, 0, 2, 3, 4], "s": [0, 2, 1, 3, 4]}),
        "these permutations of labels are no action of D2: ",
    ),
    # -- signs
    "norm of signed channels": (
        lambda: iso.nn.BatchNorm(vectors(D4)),
        "BatchNorm does not commute with sign changes of channels",
    ),
    "matrix that is no signed permutation": (
        lambda: permuting(C2, {"r2": [[1, 1], [0, 1]]}),
        "must be a signed permutation matrix (one ±1 in every row and column, 0 elsewhere)",
    ),
    # -- other ways in
    "folding a function": (lambda: iso.fold(torch.relu), "model must be a torch.nn.Module"),
    "relaxing a function": (
        lambda: iso.relax(torch.relu, "0", "C4"),
        "model must be a torch.nn.Module",
    ),
    "auditing a function": (
        lambda: iso.audit(torch.relu, X, "C4"),
        "model must be a torch.nn.Module",
    ),
    "costs of a function": (lambda: iso.cost(torch.relu, X), "model must be a torch.nn.Module"),
    "saving a function": (
        lambda: iso.save(torch.relu, "/tmp/never.safetensors"),
        "model must be a torch.nn.Module",
    ),
    "groups of a function": (
        lambda: iso.groups_of(torch.relu),
        "model must be a torch.nn.Module",
    ),
    "error of a number": (
        lambda: iso.equivariance_error(3, X, "C4"),
        "model must be a torch.nn.Module or a function",
    ),
    "costs on a vector": (lambda: iso.cost(VGG(), torch.zeros(3)), "example must be"),
    "costs on an array": (lambda: iso.cost(VGG(), np.zeros((2, 1, 12, 12))), "example must be"),
    "costs on nothing": (lambda: iso.cost(VGG(), X[:0]), "example must"),
    "audit on a vector": (lambda: iso.audit(VGG(), torch.zeros(3), "C4"), "x must be"),
    "audit on nothing": (lambda: iso.audit(VGG(), X[:0], "C4"), "x must"),
    "error on a number": (
        lambda: iso.equivariance_error(torch.relu, torch.zeros(()), "C4", "image"),
        "x must be",
    ),
    "error on nothing": (
        lambda: iso.equivariance_error(VGG(), X[:0], "C4"),
        "x must hold at least one sample",
    ),
    "optimizer of another network": (
        lambda: iso.carry_optimizer(
            torch.optim.SGD(fields().parameters()), tied(), iso.relax(tied(), "1", "C4")
        ),
        "optimizer holds parameters that `before` does not have",
    ),
    "width that matches nothing": (
        lambda: iso.matching_width(convs, 8, "C4", X, match="time", output="field"),
        'match must be "parameters" or "multiply_adds", not \'time\'',
    ),
    "assignments that are no numbers": (
        lambda: iso.partition_distance([[0.5, float("nan")]], [[0.5, 0.5]]),
        "an assignment matrix must not hold NaN",
    ),
    "weight of another shape": (
        lambda: iso.nn.GroupConv2d(1, 1, 3, "C4").scheme.project_(torch.zeros(3, 3)),
        "weight must have shape (4, 4, 3, 3), not (3, 3)",
    ),
    "natural points of a subset": (
        lambda: natural(SWAPS).restrict(iso.PermutationGroup([[1, 0, 2]], "other")),
        "other is not a subgroup of S3",
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_bad_input(name: str) -> None:
    call, words = ROWS[name]
    with pytest.raises(iso.InputError, match=re.escape(words)) as caught:
        call()
    assert isinstance(caught.value, iso.IsotropyError)
    assert isinstance(caught.value, ValueError)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    assert caught.value.__cause__ is None


def hooked() -> nn.Module:
    model = convs(8, 8)
    model[1].register_forward_hook(lambda *_: None)
    return model


NOT_SUPPORTED: dict[str, tuple[Callable[[], object], str]] = {
    "pixel shuffle": (
        lambda: iso.equivariant(nn.Sequential(nn.Conv2d(1, 8, 3), nn.PixelShuffle(2)), "C4", X),
        "1 (PixelShuffle): it turns channels into pixels",
    ),
    "output padding": (
        lambda: iso.equivariant(
            nn.Sequential(nn.ConvTranspose2d(1, 8, 3, 2, output_padding=1)),
            "C4",
            X,
            output="field",
        ),
        "0 (ConvTranspose2d): asymmetric padding: output_padding enlarges one side only",
    ),
    "a layer with a hook": (
        lambda: iso.equivariant(hooked(), "D4", X, output="field"),
        "1 (Conv2d): it has hooks, which its tied twin would not have; remove them first",
    ),
    "norm that cannot be lifted": (
        lambda: iso.equivariant(
            nn.Sequential(nn.Conv2d(1, 8, 3), nn.GroupNorm(2, 8)),
            "C4",
            X,
            output="field",
            weights="lift",
        ),
        '1 (GroupNorm): GroupNorm mixes channels in its statistics, so weights="lift" has no exact',
    ),
    "fixed number of channels": (
        lambda: iso.equivariant(
            Lambda(
                lambda m, x: m["b"](m["a"](x).view(-1, 3 * 100)),
                a=nn.Conv2d(1, 3, 3),
                b=nn.Linear(300, 2),
            ),
            "C4",
            X,
            weights="lift",
        ),
        "the lifted network does not run; does its forward fix a number of channels?",
    ),
}


@pytest.mark.parametrize("name", NOT_SUPPORTED)
def test_what_is_not_supported(name: str) -> None:
    call, words = NOT_SUPPORTED[name]
    with pytest.raises(iso.NotSupportedError, match=re.escape(words)) as caught:
        call()
    assert isinstance(caught.value, iso.IsotropyError)
    assert not isinstance(caught.value, ValueError), "the input is fine, we are not"
    assert "\n" not in str(caught.value)


def test_growing_groups_if_that_is_meant() -> None:
    groups = {"0": "C4", "1": "D4"}
    net = iso.equivariant(convs(8, 8), groups, X, output="field", monotone=False)
    assert {n: str(g) for n, g in iso.groups_of(net).items()} == groups


def test_a_stride_that_does_not_fit_is_one_warning() -> None:
    model = nn.Sequential(nn.Conv2d(1, 8, 3, 2), nn.ReLU(), nn.MaxPool2d(2))
    with pytest.warns(iso.IsotropyWarning) as caught:
        iso.equivariant(model, "C4", X, output="field")
    (warning,) = caught
    message = str(warning.message)
    assert "\n" not in message
    for words in (
        "0: stride 2 on size 12 leaves 1 pixel(s) over (kernel 3, padding 0); "
        "exact at size 11 or 13",
        "max_pool2d in 2: stride 2 on size 5 leaves 1 pixel(s) over",
        "exact=True",
    ):
        assert words in message
    assert re.search(r"\(error \d\.\de[+-]\d\d\)", message)
    iso.equivariant(model, "C4", X, output="field", exact=True)


def test_good_input_is_not_refused() -> None:
    """Beside the rows: what they would be if nothing were wrong with them."""
    turn: dict[str, list[int] | Tensor] = {"r2": [*range(8, -1, -1)]}
    half = torch.bfloat16
    made = [
        (iso.equivariant(fields(), "D4", X, output="field"), "D4"),
        (iso.equivariant(fields(), {"0": "D4", "1": "C4"}, X[:1], output="field"), "D4"),
        (iso.equivariant(fields(), "D2", torch.randn(1, 1, 12, 10), output="field"), "D2"),
        (iso.equivariant(VGG(), "C2", X, output={"r2": [1, 0, 2, 3, 4]}), "C2"),
        (iso.equivariant(VGG(), D4, X.double().float()), "D4"),
        (iso.equivariant(VGG().to(half), "C4", X.to(half)), "C4"),
        (iso.equivariant(MLP(), "C2", VECTORS, action=turn), "C2"),
    ]
    for model, group in made:
        assert str(next(iter(iso.groups_of(model).values()))) == group
