"""Networks whose layers are mixtures of layers tied under several groups (001, Section 4.2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from isotropy.errors import InputError, NotSupportedError
from isotropy.groups.action import Action, Group
from isotropy.groups.named import as_group
from isotropy.nn.batchnorm import BatchNorm, InstanceNorm
from isotropy.nn.blueprint import blueprint_of, meet_all, tied_modules, weight_layers
from isotropy.nn.equivariant import equivariant
from isotropy.nn.layer_groups import ActionSpec, join_all, on_this_input
from isotropy.nn.linear import Weighted
from isotropy.nn.measure import Output
from isotropy.nn.mixed_batchnorm import MixedBatchNorm
from isotropy.nn.tied import TiedModule
from isotropy.schemes import Partition, Scheme
from isotropy.schemes.blend import Blend
from isotropy.schemes.mixture import MixtureScheme
from isotropy.schemes.pathway import PathwayScheme

KINDS = ("mixture", "pathway")
L2 = 1e-6  # the paper's, on the freer part of a residual pathway


def mixed(
    model: nn.Module,
    groups: Sequence[Group | str],
    example: Tensor,
    output: Output = "invariant",
    action: ActionSpec | None = None,
    *,
    kind: str = "mixture",
    prior: Mapping[str, float] | None = None,
    l2: float | Mapping[str, float] | None = None,
    fields: str | Mapping[str, Action] = "regular",
    exact: bool = False,
    check: bool = True,
) -> nn.Module:
    """A copy of an ordinary network, every layer a blend of layers tied under several groups.

    Channels carry fields of the smallest group around all of them. As a "mixture" every layer's
    weight is Σ_G z_G W_G (001, Eq. 11): z = softmax α is trained, and ‖W_G‖ stays what it is now,
    so that z alone says how much of each group a layer is; its bias, and the norm after it with
    its statistics, are mixed by the same z. As a "pathway" (residual pathway priors) it is Σ_G W_G
    with an L2 penalty on what breaks the symmetry, in biases and norms too; norms take their
    statistics over the channels that the smallest group leaves alike, as the others are not.
    Either is one plain layer when folded.

    Args:
        model: any module that `iso.equivariant` takes.
        groups: for every layer; they need not be inside one another.
        example: a batch to run once.
        output: as for `iso.equivariant`.
        action: as for `iso.equivariant`.
        kind: "mixture" or "pathway".
        prior: for a mixture, the z to begin with, for every group by name; by default all alike.
        l2: for a pathway, the penalty on ‖W_G‖² by group; or one number for all groups that are
            inside another. By default 1e-6.
        fields: as for `iso.equivariant`.
        exact: as for `iso.equivariant`.
        check: measure the network with all layers tied to the group around the others.

    >>> import torch, isotropy as iso
    >>> net = torch.nn.Sequential(
    ...     torch.nn.Conv2d(1, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(288, 5)
    ... )
    >>> x = torch.randn(2, 1, 8, 8)
    >>> both = iso.mixed(net, ["C1", "D4"], x)
    >>> iso.nn.mixture_weights(both)["0"]
    {'C1': 0.5, 'D4': 0.5}
    >>> torch.allclose(iso.fold(both)(x), both(x), atol=1e-6)
    True
    """
    blending = _blending(kind, _distinct(groups, example, action), prior, l2)
    whole = join_all(blending.groups)
    for group in blending.groups:
        if not group.is_subgroup_of(whole):
            raise InputError(
                f"groups: {group.name} is not inside {whole.name}, and groups that are known by "
                "generators alone have no join"
            )
    tied = equivariant(
        model, whole, example, output, action=action, fields=fields, exact=exact, check=check
    )
    return blending.blend(tied, model)


# -- what is asked for -----------------------------------------------------------------------


def _distinct(
    groups: Sequence[Group | str], example: Tensor, action: ActionSpec | None
) -> list[Group]:
    """The groups as they act on this input; refused if there is none, or one twice."""
    if isinstance(groups, str) or not isinstance(groups, Sequence):
        raise InputError(f"groups must be a list of groups or names, not {groups!r}")
    found = [on_this_input(as_group(g), example, action) for g in groups]
    names = [g.name for g in found]
    if not found or len(set(names)) < len(names):
        raise InputError(f"groups must name at least one group, and none twice, not {names}")
    return found


def _blending(
    kind: str,
    groups: list[Group],
    prior: Mapping[str, float] | None,
    l2: float | Mapping[str, float] | None,
) -> _Blending:
    if kind not in KINDS:
        raise InputError(f"kind must be one of {KINDS}, not {kind!r}")
    if kind == "mixture":
        if l2 is not None:
            raise InputError('l2 is a pathway\'s; a mixture has none (kind="pathway" has)')
        return _Mixtures(groups, _logarithms(prior, groups))
    if prior is not None:
        raise InputError('prior is a mixture\'s; a pathway has no weights (kind="mixture" has)')
    return _Pathways(groups, _penalties(L2 if l2 is None else l2, groups))


def _logarithms(prior: Mapping[str, float] | None, groups: list[Group]) -> Tensor:
    """The α at which softmax gives the prior."""
    if prior is None:
        return torch.zeros(len(groups))
    names = [g.name for g in groups]
    if set(prior) != set(names) or not all(0 < v < float("inf") for v in prior.values()):
        raise InputError(f"prior must give a weight above 0 to each of {names}, not {dict(prior)}")
    z = torch.tensor([float(prior[name]) for name in names], dtype=torch.float64)
    return (z / z.sum()).log().float()


def _penalties(l2: float | Mapping[str, float], groups: list[Group]) -> dict[str, float]:
    if isinstance(l2, Mapping):
        return dict(l2)
    inside = [g for g in groups if any(g != h and g.is_subgroup_of(h) for h in groups)]
    return {g.name: float(l2) for g in inside}


# -- what is done to the layers ----------------------------------------------------------------


class _Blending(ABC):
    """How the layers of a network that is tied under one group become blends of several."""

    def __init__(self, groups: list[Group]) -> None:
        self.groups = groups
        self.common = meet_all(groups)

    @abstractmethod
    def weight(self, partitions: Mapping[str, Partition], rms: float) -> Blend:
        """The scheme of a layer's weight, drawn with this root mean square."""

    @abstractmethod
    def bias(self, partitions: Mapping[str, Partition], rms: float, weight: Blend) -> Blend:
        """The scheme of a layer's bias."""

    @abstractmethod
    def follow(self, module: TiedModule, weight: Blend) -> TiedModule:
        """What becomes of a norm or activation behind a layer with this weight."""

    def blend(self, tied: nn.Module, plain: nn.Module) -> nn.Module:
        """The network with all its layers blended, drawn as large as the plain ones are."""
        layers = weight_layers(tied)
        for name, layer in layers.items():
            self._layer(layer, plain.get_submodule(name))
        blueprint = blueprint_of(tied)
        assert blueprint is not None
        for name, module in tied_modules(tied).items():
            before = blueprint.follows.get(name)
            if before is not None:
                scheme = layers[before].scheme
                assert isinstance(scheme, Blend)
                _put(tied, module, self.follow(module, scheme))
        return tied

    def _layer(self, layer: Weighted, plain: nn.Module) -> None:
        found = self.partitions(layer)
        old, old_bias = layer.scheme, layer.bias_scheme
        layer.scheme = weight = self.weight(found["scheme"], _rms(plain.weight))
        _take_after(weight, old)
        weight.requires_grad_(old.trains)  # its mixture, too, where it has one
        if old_bias is not None:
            layer.bias_scheme = self.bias(found["bias_scheme"], _rms(plain.bias), weight)
            _take_after(layer.bias_scheme, old_bias)
        layer.group = self.common

    def partitions(self, module: TiedModule) -> dict[str, dict[str, Partition]]:
        """For every scheme of a layer, its partition under each group."""
        found: dict[str, dict[str, Partition]] = {}
        for group in self.groups:
            for name, partition in module.partitions(group).items():
                found.setdefault(name, {})[group.name] = partition
        return found


class _Mixtures(_Blending):
    """Σ_G z_G W_G, and the same for all that follows."""

    def __init__(self, groups: list[Group], alpha: Tensor) -> None:
        super().__init__(groups)
        self.alpha = alpha

    def weight(self, partitions: Mapping[str, Partition], rms: float) -> Blend:
        alpha = nn.Parameter(self.alpha.clone())  # one for the layer and all that follows it
        return MixtureScheme(partitions, alpha, normalise=rms > 0).reset(rms)

    def bias(self, partitions: Mapping[str, Partition], rms: float, weight: Blend) -> Blend:
        assert isinstance(weight, MixtureScheme)
        return MixtureScheme(partitions, weight.alpha, normalise=False).reset(rms)

    def follow(self, module: TiedModule, weight: Blend) -> TiedModule:
        assert isinstance(weight, MixtureScheme)
        if isinstance(module, InstanceNorm) and module.track_running_stats:
            raise NotSupportedError(
                "an InstanceNorm with running statistics shares them over fields, which a mixture "
                "does not; set track_running_stats=False"
            )
        twin = self._batch_norm(module, weight) if isinstance(module, BatchNorm) else module
        for name, partitions in self.partitions(module).items():
            old: Scheme | None = getattr(module, name)
            if old is None:
                continue
            scheme = MixtureScheme(partitions, weight.alpha, normalise=False)
            _take_after(scheme.project_(old().detach().cpu()), old)
            setattr(twin, name, scheme)
            twin.group = self.common
        return twin

    def _batch_norm(self, norm: BatchNorm, weight: MixtureScheme) -> MixedBatchNorm:
        twin = MixedBatchNorm(
            norm.channels,
            norm.dimensions,
            self.groups,
            weight.alpha,
            eps=norm.eps,
            momentum=norm.momentum,
            affine=norm.weight_scheme is not None,
            track_running_stats=norm.track_running_stats,
        )
        return twin.to(weight.alpha.device, weight.alpha.dtype).train(norm.training)


class _Pathways(_Blending):
    """Σ_G W_G with a penalty, and the same for all that follows."""

    def __init__(self, groups: list[Group], l2: dict[str, float]) -> None:
        super().__init__(groups)
        self.l2 = l2

    def weight(self, partitions: Mapping[str, Partition], rms: float) -> Blend:
        return PathwayScheme(partitions, self.l2).reset(rms)

    def bias(self, partitions: Mapping[str, Partition], rms: float, weight: Blend) -> Blend:  # noqa: ARG002
        return PathwayScheme(partitions, self.l2).reset(rms)

    def follow(self, module: TiedModule, weight: Blend) -> TiedModule:  # noqa: ARG002
        found = self.partitions(module)
        module.retie(self.common)
        for name, partitions in found.items():
            old: Scheme | None = getattr(module, name)
            if old is None:
                continue
            scheme = PathwayScheme(partitions, self.l2)
            _take_after(scheme.project_(old().detach().cpu()), old)
            setattr(module, name, scheme)
        return module


def _rms(value: object) -> float:
    if not isinstance(value, Tensor) or not value.numel():
        return 0.0
    return float(value.detach().double().square().mean().sqrt())


def _take_after(scheme: Blend, old: Scheme) -> None:
    """Put a scheme where another one is: device, type of numbers, mode, and whether it trains."""
    like = next(old.parameters())
    scheme.to(like.device, like.dtype).train(old.training)
    scheme.parts.requires_grad_(old.trains)


def _put(model: nn.Module, module: nn.Module, twin: nn.Module) -> None:
    """Replace a module wherever the model holds it."""
    for path, found in list(model.named_modules(remove_duplicate=False)):
        if found is module and twin is not module:
            parent, _, child = path.rpartition(".")
            setattr(model.get_submodule(parent), child, twin)
