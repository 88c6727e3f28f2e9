"""The last look: the recommended network and the untied one, trained on all but the test data."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules.conv import _ConvNd

from isotropy.data import DataSet, Scaling
from isotropy.discovery.study import Study
from isotropy.discovery.trial import TIED, UNTIED, Trial, score_of, trained
from isotropy.evidence.probe import Probe
from isotropy.evidence.symmetry import Symmetry
from isotropy.groups.action import Action
from isotropy.nn.blueprint import weight_layers
from isotropy.nn.cost import count_parameters
from isotropy.nn.equivariant import equivariant
from isotropy.nn.files import load, save
from isotropy.nn.linear import Weighted
from isotropy.schemes import OrbitScheme

EPS = 1e-12  # torch wants some; far below the rounding of any deviation


@dataclass(frozen=True)
class Shipped:
    """One of the two last networks, on disk.

    Args:
        key: what it is filed under.
        path: the file of the model.
        score: on the test data.
        error: of that score, one standard deviation.
        samples: of the test data.
        parameters: numbers trained.
        seconds: it took.
    """

    key: str
    path: str
    score: float
    error: float
    samples: int
    parameters: int
    seconds: float


def train_last(job: tuple[Study, DataSet, Symmetry | None, int, Path]) -> Shipped:
    """Train on all samples of a study, test once, and keep the model; for any process."""
    study, test, symmetry, width, path = job
    start = time.monotonic()
    shipped = network_for(study, study.data, symmetry, width)
    save(shipped, path)
    score = score_of(study, shipped, test)
    seconds = time.monotonic() - start
    error = standard_error(study, shipped, test)
    parameters = count_parameters(shipped.get_submodule("net"))
    return Shipped(path.name, str(path), score, error, len(test), parameters, seconds)


def network_for(study: Study, data: DataSet, symmetry: Symmetry | None, width: int) -> nn.Module:
    """A network trained on some data, that takes samples as they are.

    Args:
        study: how it is made and trained.
        data: all that it learns from.
        symmetry: it is tied under, if it is.
        width: of its layers; 0 for the untied one's.
    """
    train = study.scaled(data, symmetry)
    trial = Trial(UNTIED if symmetry is None else TIED, "", 0, symmetry, width)
    net = trained(study, train, trial, symmetry)
    return with_scaling(net, study.probe, symmetry, width, train)


def standard_error(study: Study, model: nn.Module, test: DataSet, draws: int = 200) -> float:
    """The deviation of the score over test samples drawn again with replacement."""
    from isotropy.training import predict
    from isotropy.training.evaluate import scores

    outputs = predict(model, test)
    chance = np.random.default_rng(0)
    found = []
    for _ in range(draws):
        drawn = chance.integers(len(test), size=len(test))
        again = test.subset(drawn)
        found.append(float(scores(outputs[torch.from_numpy(drawn)], again).get(study.metric, 0.0)))
    # half of the middle 68 %: a few draws of a small test set can have next to no variance, and
    # an r2 of minus thousands
    low, high = np.quantile(found, [0.159, 0.841])
    return float(high - low) / 2


def with_scaling(
    net: nn.Module, probe: Probe, symmetry: Symmetry | None, width: int, train: DataSet
) -> nn.Module:
    """The network for data as they are: what scales inputs and targets becomes layers of it.

    Args:
        net: trained on scaled samples.
        probe: made it.
        symmetry: it is tied under, if it is.
        width: its own.
        train: the scaled samples.
    """
    assert train.scaling is not None
    shift = symmetry is not None and symmetry.shift
    signed = symmetry is not None and symmetry.inputs.is_signed
    unscale = train.target_scaling is not None
    plain = _wrapped(probe.plain(width or None, shift), probe, train.scaling, signed, unscale)
    if symmetry is None or not symmetry.group.generators:
        whole: nn.Module = plain
    else:
        whole = equivariant(
            plain,
            symmetry.group,
            probe.example,
            symmetry.output,
            action=symmetry.inputs,
            fields=_fields(net, symmetry),
            check=False,
        )
    whole.get_submodule("net").load_state_dict(net.state_dict())
    _set_scale(whole.get_submodule("scale"), train.scaling)
    if train.target_scaling is not None:
        _set_unscale(whole.get_submodule("unscale"), train.target_scaling)
    return whole.eval()


def _fields(net: nn.Module, symmetry: Symmetry) -> dict[str, Action]:
    """What the channels carry between the layers: their own, and the inputs' before them.

    Nothing else tells: what comes before and after the network could carry any fields.
    """
    found = {
        f"net.{name}": layer.tie.out for name, layer in weight_layers(net).items() if layer.tie
    }
    return {"scale": symmetry.inputs, **found} if symmetry.inputs.is_signed else found


def _wrapped(
    net: nn.Module, probe: Probe, scaling: Scaling, signed: bool, unscale: bool
) -> nn.Module:
    """What scales, the network, and for regression what brings outputs to their own units."""
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    if probe.view == "entries" and len(probe.shape) > 1:
        layers["flatten"] = nn.Flatten()
    axes = 0 if probe.view == "entries" else len(probe.shape) - 1
    layers["scale"] = _scaler(len(scaling.shift), axes, signed)
    layers["net"] = net
    if unscale:
        layers["unscale"] = nn.Linear(probe.outputs, probe.outputs)
    return nn.Sequential(layers)


def _scaler(channels: int, axes: int, signed: bool) -> nn.Module:
    """A norm whose statistics are the scaling; no norm commutes with a change of sign, though."""
    if not signed:
        norm = (nn.BatchNorm1d, nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)[axes]
        return norm(channels, eps=EPS, momentum=0.0, affine=False)
    if not axes:
        return nn.Linear(channels, channels)
    conv = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[axes - 1]
    return conv(channels, channels, 1, groups=channels)


@torch.no_grad()
def _set_scale(layer: nn.Module, scaling: Scaling) -> None:
    shift, scale = torch.tensor(scaling.shift), torch.tensor(scaling.scale)
    if isinstance(layer, nn.Linear | _ConvNd | Weighted):
        _set_weight(layer, 1 / scale, -shift / scale)
        return
    index = getattr(layer, "index", torch.arange(len(shift)))  # tied: one number for every orbit
    for name, values in (("running_mean", shift), ("running_var", scale.square())):
        getattr(layer, name)[index] = values


@torch.no_grad()
def _set_unscale(layer: nn.Module, scaling: Scaling) -> None:
    _set_weight(layer, torch.tensor(scaling.scale), torch.tensor(scaling.shift))


def _set_weight(layer: nn.Module, factors: Tensor, offsets: Tensor) -> None:
    """Let a layer multiply every channel and then add to it."""
    weight, bias = layer.weight, layer.bias
    assert isinstance(weight, Tensor)
    assert isinstance(bias, Tensor)
    wanted = torch.diag(factors) if weight.ndim == 2 else factors.view(weight.shape)
    if isinstance(layer, Weighted):
        assert isinstance(layer.scheme, OrbitScheme)
        assert isinstance(layer.bias_scheme, OrbitScheme)
        layer.scheme.project_(wanted)
        layer.bias_scheme.project_(offsets)
    else:
        weight.copy_(wanted)
        bias.copy_(offsets)


def open_model(shipped: Shipped) -> nn.Module:
    """The model that was kept."""
    return load(Path(shipped.path)).eval()
