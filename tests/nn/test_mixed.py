"""Mixed networks: what each group's share alone is, what all together keep, and one plain model."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import isotropy as iso
from isotropy.errors import InputError, NotSupportedError
from isotropy.groups import regular, trivial
from isotropy.nn import BatchNorm, Conv2d, Linear, MixedBatchNorm
from isotropy.nn.blueprint import tied_modules, weight_layers
from isotropy.nn.moments import moments
from isotropy.schemes import Scheme, Tie
from isotropy.schemes.mixture import MixtureScheme
from isotropy.schemes.pathway import PathwayScheme
from tests.contracts import LayerContract, onnx_output, randomise, relative, run, same
from tests.models import VGG, Lambda, ResNet18, as_if_trained

D4 = iso.group("D4")
PAPER = ("C1", "D1", "C2", "D2", "C4", "D4")


def groups(names: Sequence[str]) -> list[iso.FiniteGroup]:
    return [iso.group(name) for name in names]


def schemes(tie: Tie, names: Sequence[str]) -> tuple[MixtureScheme, MixtureScheme]:
    """Of a weight and of a bias that shares its α."""
    weight = MixtureScheme({n: tie.weight(iso.group(n)) for n in names}).reset(0.3)
    parts = {n: tie.bias(iso.group(n)) for n in names}
    return weight, MixtureScheme(parts, weight.alpha, normalise=False).reset(0.3)


def dense(scheme: Scheme) -> Tensor:
    """A mixture's weight, of its groups' own matrices and norms."""
    assert isinstance(scheme, MixtureScheme)
    total = torch.zeros(scheme.shape, dtype=torch.float64)
    for number, name in enumerate(scheme.names):
        part = scheme.part(name)
        kernel = (part.basis() @ part.psi).view(scheme.shape)
        length = scheme.norms[number] / kernel.norm() if scheme.normalise else 1.0
        total = total + torch.softmax(scheme.alpha, 0)[number] * kernel * length
    return total


class MixedConvolution(LayerContract):
    """Groups that have half turns in common, two of them not inside one another."""

    names = ("C2", "D2", "C4")

    def make(self) -> Conv2d:
        tie = Tie(regular(D4, 1), regular(D4, 2), (3, 3))
        return Conv2d(*schemes(tie, self.names), tie=tie, group=iso.group("C2"), padding=1)

    def inputs(self) -> tuple[Tensor, ...]:
        return (torch.randn(2, 16, 5, 5),)

    def dense(self, layer: nn.Module, x: Tensor) -> Tensor:
        assert isinstance(layer, Conv2d)
        assert layer.bias_scheme is not None
        return F.conv2d(x, dense(layer.scheme), dense(layer.bias_scheme), padding=1)


class TestMixedConvolution(MixedConvolution):
    pass


class TestMixedLinear(LayerContract):
    grid = False

    def make(self) -> Linear:
        tie = Tie(trivial(D4, 3), regular(D4, 2))
        return Linear(*schemes(tie, ("C2", "D1d", "D4")), tie, iso.group("C1"))

    def inputs(self) -> tuple[Tensor, ...]:
        return (torch.randn(3, 16),)

    def dense(self, layer: nn.Module, x: Tensor) -> Tensor:
        assert isinstance(layer, Linear)
        assert layer.bias_scheme is not None
        return F.linear(x, dense(layer.scheme), dense(layer.bias_scheme))


class TestMixedBatchNorm(LayerContract):
    names = ("C2", "D2", "C4")

    def make(self) -> MixedBatchNorm:
        alpha = nn.Parameter(torch.randn(len(self.names)))
        return MixedBatchNorm(regular(D4, 2), 2, groups(self.names), alpha)

    def inputs(self) -> tuple[Tensor, ...]:
        return (torch.randn(3, 16, 5, 5) * 2 + 1,)

    def dense(self, layer: nn.Module, x: Tensor) -> Tensor:
        """Every group's statistics by itself, over its own orbits."""
        assert isinstance(layer, MixedBatchNorm)
        assert layer.weight_scheme is not None
        assert layer.bias_scheme is not None
        mean, var = torch.zeros(16, dtype=x.dtype), torch.zeros(16, dtype=x.dtype)
        for z, own in zip(torch.softmax(layer.alpha, 0), groups(self.names), strict=True):
            for orbit in orbits_of(layer, own):
                values = x[:, orbit]
                mean[orbit] += z * values.mean()
                var[orbit] += z * values.var(correction=0)
        centred = (x - mean.view(1, -1, 1, 1)) / (var + layer.eps).sqrt().view(1, -1, 1, 1)
        weight, bias = dense(layer.weight_scheme), dense(layer.bias_scheme)
        return centred * weight.view(1, -1, 1, 1) + bias.view(1, -1, 1, 1)


@pytest.mark.parametrize("tracking", [True, False])
def test_norm_of_vectors_without_scale_and_of_one_group(tracking: bool) -> None:
    layer = MixedBatchNorm(
        regular(D4, 2),
        0,
        [D4],
        nn.Parameter(torch.zeros(1)),
        affine=False,
        track_running_stats=tracking,
    )
    x = torch.randn(4, 16) * 2 + 1
    fields = x.view(4, 2, 8)
    mean, var = fields.mean((0, 2)), fields.var((0, 2), correction=0)
    expected = ((fields - mean[:, None]) / (var[:, None] + 1e-5).sqrt()).view(4, 16)
    same(run(layer, x), expected, 1e-5)
    if tracking:
        same(layer.running_mean, 0.1 * mean, 1e-5)
        same(run(layer.eval(), x), run(iso.fold(layer), x), 1e-5)
    else:
        same(run(layer.eval(), x), expected, 1e-5)
        with pytest.raises(NotSupportedError, match="without running statistics"):
            iso.fold(layer)


def orbits_of(layer: MixedBatchNorm, own: iso.FiniteGroup) -> list[Tensor]:
    labels = layer.channels.restrict(own)
    reached = {
        i: frozenset(int(labels.of(g).target[i]) for g in own.elements) for i in range(labels.size)
    }
    return [torch.tensor(sorted(orbit)) for orbit in dict.fromkeys(reached.values())]


def test_moments_are_torchs_with_their_derivatives() -> None:
    for shape in ((4, 3), (2, 3, 5), (2, 3, 4, 4)):
        x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
        dims = [d for d in range(len(shape)) if d != 1]
        var, mean = torch.var_mean(x, dims, correction=0)
        found = moments(x)
        same(found[0], mean)
        same(found[1], var)
        assert torch.autograd.gradcheck(moments, (x,))


# -- networks ------------------------------------------------------------------------------------


def small(width: int = 8) -> nn.Module:
    """Every kind of layer that follows a convolution, two of them twice."""
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1, bias=False),
        nn.BatchNorm2d(width),
        nn.PReLU(width),
        nn.Conv2d(width, 2 * width, 3, padding=1),
        nn.GroupNorm(2, 2 * width),
        nn.ReLU(),
        nn.AvgPool2d(3, 2, 1),
        nn.Conv2d(2 * width, width, 3),
        nn.InstanceNorm2d(width, affine=True),
        nn.ReLU(),
        nn.Dropout2d(0.2),
        nn.Flatten(),
        nn.Linear(width * 9, width),
        nn.LayerNorm(width),
        nn.Linear(width, 3),
    )


def brief() -> nn.Module:
    """What is needed to see a symmetry break."""
    return nn.Sequential(
        nn.Conv2d(1, 8, 3),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Conv2d(8, 8, 3),
        nn.Flatten(),
        nn.Linear(200, 3),
    )


EXAMPLE = torch.zeros(2, 1, 9, 9)
NETWORKS = {
    "all kinds": (small, EXAMPLE),
    "vgg": (VGG, torch.zeros(2, 1, 12, 12)),
    "resnet": (lambda: ResNet18(8), torch.zeros(2, 1, 17, 17)),
}


def set_weights(model: nn.Module, z: Tensor) -> None:
    with torch.no_grad():
        for layer in weight_layers(model).values():
            assert isinstance(layer.scheme, MixtureScheme)
            layer.scheme.alpha.copy_(z.log())


def alone(model: nn.Module, plain: nn.Module, example: Tensor, name: str) -> nn.Module:
    """The network tied under one group, made by other means, with the mixture's kernels."""
    twin = iso.equivariant(plain, "D4", example, check=False).double()
    first = next(iter(weight_layers(twin)))
    twin = iso.relax(twin, first, name)
    theirs = tied_modules(model)
    for path, module in tied_modules(twin).items():
        for attribute in module.partitions(iso.group(name)):
            scheme = getattr(module, attribute)
            if scheme is not None:
                mixture = getattr(theirs[path], attribute)
                scheme.project_(mixture.kernel(name))
    return twin


@pytest.mark.parametrize(
    ("kind", "name"),
    [*product(["all kinds"], ["C1", "D1", "C2", "C4", "D4"]), ("vgg", "D2"), ("resnet", "C4")],
)
def test_all_weight_on_one_group_is_the_network_tied_to_it(kind: str, name: str) -> None:
    """In training and in eval mode, running statistics included."""
    make, example = NETWORKS[kind]
    plain = make()
    for module in plain.modules():
        if isinstance(module, nn.modules.dropout._DropoutNd):
            module.p = 0.0  # of whole fields in a mixture, of smaller orbits under its groups
    model = iso.mixed(plain, PAPER, example, check=False).double()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.shape != (len(PAPER),):
                parameter.add_(torch.randn_like(parameter) * 0.1)
    set_weights(model, torch.tensor([float(n == name) for n in PAPER]))
    twin = alone(model, plain, example, name)
    x = torch.randn(4, *example.shape[1:], dtype=torch.float64)
    for _ in range(3):
        same(run(model.train(), x), run(twin.train(), x), 1e-10)
    same(run(model.eval(), x), run(twin.eval(), x), 1e-10)


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("mixture", ("C2", "D4")),
        ("mixture", ("C4", "D2", "D2d")),
        ("mixture", ("D1", "C4")),
        ("pathway", ("C4", "D2")),
        ("pathway", ("D4", "C1")),
    ],
)
def test_keeps_what_all_groups_have_and_no_more(names: tuple[str, ...], kind: str) -> None:
    model = randomise(iso.mixed(brief(), names, EXAMPLE, kind=kind)).double()
    kept = groups(names)[0]
    for other in groups(names)[1:]:
        kept = kept.meet(other)
    assert {str(g) for g in iso.groups_of(model).values()} == {str(kept)}
    x = torch.randn(3, 1, 9, 9, dtype=torch.float64)
    assert iso.equivariance_error(model.eval(), x) < 1e-12
    assert iso.equivariance_error(model, x, "D4") > 1e-3
    rows = iso.audit(model, x, "D4").rows
    assert all("mix" in row.cause for row in rows if row.error > 1e-6)
    assert any(row.error > 1e-3 for row in rows)
    assert all(row.error < 1e-12 for row in iso.audit(model, x).rows)


@pytest.mark.parametrize(
    ("network", "kind"),
    [*product(NETWORKS, ["mixture"]), ("all kinds", "pathway")],
)
def test_folds_to_one_plain_layer_each(network: str, kind: str) -> None:
    make, example = NETWORKS[network]
    model = randomise(iso.mixed(make(), PAPER, example, kind=kind, check=False)).double().eval()
    plain = iso.fold(model)
    modules = [(type(m).__name__, type(m).__module__) for m in plain.modules()]
    assert not [name for name, home in modules if home.startswith("isotropy")]
    before = [type(m).__name__ for m in make().modules()]
    assert [name for name, _ in modules] == before
    x = torch.randn(3, *example.shape[1:], dtype=torch.float64)
    same(run(plain, x), run(model, x), 1e-10)


@pytest.mark.parametrize("kind", ["mixture", "pathway"])
def test_copies_files_and_costs(kind: str, tmp_path: Path) -> None:
    model = as_if_trained(randomise(iso.mixed(small(), PAPER, EXAMPLE, kind=kind)))
    x = torch.randn(3, 1, 9, 9, dtype=torch.float64)
    iso.save(model, tmp_path / "mixed.safetensors")
    twins = [
        iso.load(tmp_path / "mixed.safetensors"),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
    ]
    for twin in twins:
        assert torch.equal(run(twin, x), run(model, x))
        # one α for a layer and all that follows it, in the copy too
        assert len(list(twin.parameters())) == len(list(model.parameters()))
        assert iso.nn.mixture_weights(twin) == iso.nn.mixture_weights(model)
    other = iso.mixed(small(), PAPER, EXAMPLE, kind=kind).double().eval()
    other.load_state_dict(model.state_dict())
    assert torch.equal(run(other, x), run(model, x))
    cost = iso.cost(model, x)
    assert cost.parameters == sum(p.numel() for p in model.parameters())
    assert cost.plain_parameters == sum(p.numel() for p in small().parameters())
    assert cost.multiply_adds == iso.cost(small().double(), x).multiply_adds


OTHERS: dict[str, tuple[nn.Module, Tensor, tuple[str, str], dict[str, object]]] = {
    "vectors": (
        nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 3)),
        torch.zeros(3, 4),
        ("C2", "C4"),
        {"action": {"r": [1, 2, 3, 0]}},
    ),
    "signed channels of signals": (
        nn.Sequential(nn.Conv1d(3, 4, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(24, 2)),
        torch.zeros(2, 3, 6),
        ("C1", "C2"),
        {"action": {"r2": -torch.eye(3, dtype=torch.int64).numpy()}},
    ),
    "labels that are exchanged": (
        nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(72, 2)),
        torch.zeros(2, 1, 5, 5),
        ("D1", "D4"),
        {"output": {"s": [1, 0]}},
    ),
    "maps, depthwise and up": (
        nn.Sequential(
            nn.Conv2d(2, 8, 3, padding=1),
            nn.BatchNorm2d(8),
            nn.Conv2d(8, 8, 3, padding=1, groups=8),
            nn.ReLU(),
            nn.ConvTranspose2d(8, 2, 2, 2),
        ),
        torch.zeros(2, 2, 4, 4),
        ("C2", "D4"),
        {"output": "image"},
    ),
}


@pytest.mark.parametrize("what", OTHERS)
def test_other_inputs_and_outputs(what: str) -> None:
    """Equivariant to the smaller group, and not to the larger one; folded to the same function."""
    plain, example, (small, large), options = OTHERS[what]
    model = randomise(iso.mixed(plain, [small, large], example, **options)).double().eval()
    x = torch.randn(3, *example.shape[1:], dtype=torch.float64)
    same(run(iso.fold(model), x), run(model, x), 1e-10)
    assert iso.equivariance_error(model, x) < 1e-12
    for layer in weight_layers(model).values():
        layer.group = iso.group(large)  # as if it kept more
    assert iso.equivariance_error(model, x) > 1e-3


def test_sixteen_bits_by_autocast() -> None:
    model = iso.mixed(brief(), ("C1", "D4"), EXAMPLE)
    x = torch.randn(4, 1, 9, 9)
    with torch.autocast("cpu", torch.bfloat16):
        rough = model(x)
    rough.float().sum().backward()
    assert rough.dtype == torch.bfloat16
    assert all(p.grad is not None for p in model.parameters())
    same(rough, run(model, x), 0.05)


def test_exports_and_runs_in_onnxruntime() -> None:
    model = iso.mixed(brief(), ("C1", "C4", "D4"), EXAMPLE).eval()
    x = torch.randn(2, 1, 9, 9)
    program = torch.export.export(model, (x,))
    same(run(program.module(), x), run(model, x), 1e-5)
    same(torch.from_numpy(onnx_output(model, x)), run(model, x), 1e-4)


def test_compiles_in_one_piece() -> None:
    torch._dynamo.reset()
    model = iso.mixed(brief(), ("C1", "D4"), EXAMPLE).double()
    compiled = torch.compile(copy.deepcopy(model), fullgraph=True, backend="aot_eager")
    x = torch.randn(2, 1, 9, 9, dtype=torch.float64)
    same(run(compiled, x), run(model, x), 1e-10)


# -- how it begins -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["mixture", "pathway"])
@pytest.mark.parametrize("names", [PAPER, ("D1", "C4"), ("D4",)])
def test_first_outputs_vary_as_those_of_the_plain_layer(kind: str, names: tuple[str, ...]) -> None:
    x = torch.randn(8, 16, 12, 12)
    ratios = []
    for seed in range(12):
        torch.manual_seed(seed)
        plain = nn.Conv2d(16, 64, 3, bias=False)
        with torch.no_grad():
            plain.weight.mul_(1.7)  # as its author liked it
        model = iso.mixed(plain, names, x, "field", fields="regular", kind=kind, check=False)
        ratios.append(float(run(model, x).var() / run(plain, x).var()))
    assert abs(sum(ratios) / len(ratios) - 1) < 0.05


def test_begins_at_the_prior() -> None:
    assert iso.nn.mixture_weights(iso.mixed(small(), ["C1", "D4"], EXAMPLE)) == {
        name: {"C1": 0.5, "D4": 0.5} for name in ("0", "3", "7", "12", "14")
    }
    prior = {"D4": 6.0, "C1": 2.0}
    model = iso.mixed(small(), ["C1", "D4"], EXAMPLE, prior=prior)
    for weights in iso.nn.mixture_weights(model).values():
        assert weights == pytest.approx({"C1": 0.25, "D4": 0.75})


def test_what_is_zero_at_first_can_move() -> None:
    """A last layer that its author set to zero has no norm to keep."""
    plain = nn.Sequential(nn.Conv2d(1, 8, 3), nn.Conv2d(8, 8, 3))
    nn.init.zeros_(plain[1].weight)
    model = iso.mixed(plain, PAPER, EXAMPLE, "field", check=False)
    x = torch.randn(2, 1, 9, 9)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        (model(x) - 1).square().mean().backward()
        optimizer.step()
    assert float(model[1].weight.detach().norm()) > 0


def test_frozen_layers_stay_frozen_and_others_trained() -> None:
    plain = small()
    plain[3].requires_grad_(False)
    plain[0].weight.requires_grad_(False)
    plain[14].bias.requires_grad_(False)
    model = iso.mixed(plain, PAPER, EXAMPLE, check=False)
    frozen = {n for n, p in model.named_parameters(remove_duplicate=False) if not p.requires_grad}
    assert {n for n in frozen if n.startswith(("3.", "0."))} == {
        n for n, _ in model.named_parameters(remove_duplicate=False) if n.startswith(("3.", "0."))
    }
    assert not [n for n in frozen if n.startswith(("7.", "12."))]
    assert model[14].scheme.alpha.requires_grad
    folded = dict(iso.fold(model).named_parameters())
    expected = dict(plain.named_parameters())
    for name, parameter in folded.items():
        follows = name.startswith(("1.", "2.", "4."))  # scale and shift go on by themselves
        assert parameter.requires_grad == expected[name].requires_grad or follows, name


def test_the_plain_model_is_left_alone() -> None:
    plain = small()
    before = copy.deepcopy(plain.state_dict())
    iso.mixed(plain, PAPER, EXAMPLE)
    assert all(torch.equal(v, before[k]) for k, v in plain.state_dict().items())
    assert not tied_modules(plain)


def test_shared_layers_stay_shared() -> None:
    plain = Lambda(
        lambda own, x: own["b"](own["n"](own["b"](own["n"](own["a"](x))))),
        a=nn.Conv2d(1, 8, 3, padding=1),
        b=nn.Conv2d(8, 8, 3, padding=1),
        n=nn.BatchNorm2d(8),
    )
    model = iso.mixed(plain, PAPER, EXAMPLE, "field")
    assert isinstance(model.layers["n"], MixedBatchNorm)
    assert len([m for m in model.modules() if isinstance(m, MixedBatchNorm)]) == 1


# -- pathways ------------------------------------------------------------------------------------


def test_pathways_penalise_what_is_inside_another_group() -> None:
    model = iso.mixed(small(), ["D4", "C1"], EXAMPLE, kind="pathway")
    layers = weight_layers(model)
    assert all(isinstance(layer.scheme, PathwayScheme) for layer in layers.values())
    assert all(layer.scheme.l2 == {"C1": 1e-6} for layer in layers.values())
    own = iso.mixed(small(), ["D4", "C4", "C1"], EXAMPLE, kind="pathway", l2={"C1": 2.0})
    assert weight_layers(own)["0"].scheme.l2 == {"C1": 2.0}
    norm = model[1]
    assert (norm.weight_scheme.l2, norm.bias_scheme.l2) == ({"C1": 1e-6}, {"C1": 1e-6})
    assert norm.running_mean.shape == (8,)  # channels of a field differ, so each has its own
    assert torch.equal(norm.weight_scheme.part("D4").psi, torch.ones(1))
    assert not norm.weight_scheme.part("C1").psi.any()


@pytest.mark.parametrize("names", [("D4", "C1"), ("C4", "D2"), ("D4", "C4", "C2")])
def test_a_pathways_norm_is_that_of_the_smallest_group(names: tuple[str, ...]) -> None:
    model = randomise(iso.mixed(small(), names, EXAMPLE, kind="pathway")).double().train()
    norm = next(m for m in model.modules() if isinstance(m, BatchNorm))
    x = torch.randn(4, norm.channels.size, 3, 3, dtype=torch.float64)
    slow = BatchNorm(norm.channels, group=norm.group).double()
    with torch.no_grad():
        expected = slow(x) * norm.weight.view(1, -1, 1, 1) + norm.bias.view(1, -1, 1, 1)
    assert torch.allclose(norm(x), expected, atol=1e-12)
    assert str(norm.group) == {"C4": "C2", "D2": "C2"}.get(names[0], names[-1])


def test_pathways_without_their_free_part_are_tied() -> None:
    model = randomise(iso.mixed(small(), ["D4", "C1"], EXAMPLE, kind="pathway")).double().eval()
    x = torch.randn(3, 1, 9, 9, dtype=torch.float64)
    assert iso.equivariance_error(model, x, "D4") > 1e-3
    with torch.no_grad():
        for scheme in (m for m in model.modules() if isinstance(m, PathwayScheme)):
            scheme.part("C1").psi.zero_()
        for norm in (m for m in model.modules() if isinstance(m, BatchNorm)):
            norm.running_mean.fill_(0.3)  # measured, not trained: alike where channels are
            norm.running_var.fill_(2.0)
    assert iso.equivariance_error(model, x, "D4") < 1e-12


# -- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"groups": "D4"}, "groups must be a list"),
        ({"groups": []}, "at least one"),
        ({"groups": ["C4", "C4"]}, "none twice"),
        ({"groups": ["C4", "D5"]}, "not subgroups of one known group"),
        ({"groups": ["C4", "Q8"]}, "unknown group 'Q8'"),
        ({"groups": ["C1", "D4"], "kind": "blend"}, "kind must be one of"),
        ({"groups": ["C1", "D4"], "prior": {"C1": 1.0}}, "prior must give"),
        ({"groups": ["C1", "D4"], "prior": {"C1": 1.0, "D4": 0.0}}, "prior must give"),
        ({"groups": ["C1", "D4"], "l2": 1.0}, "l2 is a pathway's"),
        ({"groups": ["C1", "D4"], "kind": "pathway", "prior": {}}, "prior is a mixture's"),
        ({"groups": ["C1", "D4"], "kind": "pathway", "l2": -1.0}, "l2 must be 0 or more"),
        ({"groups": ["C1", "D4"], "kind": "pathway", "l2": {"C4": 1.0}}, "l2 names 'C4'"),
        ({"model": nn.Conv2d(1, 12, 3)}, "no multiple"),
        ({"model": nn.ReLU()}, "no convolution or linear layer"),
    ],
)
def test_bad_input(arguments: dict[str, object], words: str) -> None:
    own: dict[str, object] = {"model": nn.Conv2d(1, 8, 3), "groups": ["C1", "D4"]}
    own |= {"example": EXAMPLE, "output": "field", **arguments}
    with pytest.raises(InputError, match=words):
        iso.mixed(**own)  # type: ignore[arg-type]


def test_a_mixture_cannot_be_relaxed_or_mixed_again() -> None:
    model = iso.mixed(small(), ["C2", "D4"], EXAMPLE)
    with pytest.raises(NotSupportedError, match="not tied under one group"):
        iso.relax(model, "3", "C1")
    with pytest.raises(InputError, match="tied already"):
        iso.mixed(model, ["C2", "D4"], EXAMPLE)


def test_groups_known_by_generators_alone_must_be_inside_one_of_them() -> None:
    def swapping(**images: list[int]) -> iso.PermutationGroup:
        return iso.PermutationGroup({name: np.array(image) for name, image in images.items()})

    plain = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    one, other = swapping(a=[1, 0, 3, 2]), swapping(b=[3, 2, 1, 0])
    both = swapping(a=[1, 0, 3, 2], b=[3, 2, 1, 0])
    x = torch.randn(3, 4, dtype=torch.float64)
    model = randomise(iso.mixed(plain, [one, both], x.float(), fields="input")).double()
    assert iso.equivariance_error(model, x) < 1e-12
    with pytest.raises(InputError, match="groups that are known by generators alone have no join"):
        iso.mixed(plain, [one, other], x.float(), fields="input")


def test_statistics_over_fields_of_instances_are_refused() -> None:
    plain = nn.Sequential(nn.Conv2d(1, 8, 3), nn.InstanceNorm2d(8, track_running_stats=True))
    with pytest.raises(NotSupportedError, match="track_running_stats=False"):
        iso.mixed(plain, PAPER, EXAMPLE, "field")


def test_relative_error_is_seen() -> None:
    """The comparisons above can fail: another z is another function."""
    model = iso.mixed(small(), PAPER, EXAMPLE, check=False).double().eval()
    x = torch.randn(3, 1, 9, 9, dtype=torch.float64)
    before = run(model, x)
    set_weights(model, torch.tensor([0.0, 0, 0, 0, 0, 1]))
    assert relative(run(model, x), before) > 1e-3
