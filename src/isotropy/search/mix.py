"""EquiNAS_D: how much of each group every layer is, learned while it is trained (001, Alg. 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from isotropy import models
from isotropy.data import DataSet
from isotropy.errors import InputError
from isotropy.groups.action import Group
from isotropy.nn.fold import fold
from isotropy.nn.layer_groups import ActionSpec
from isotropy.nn.measure import Output
from isotropy.nn.mixed import mixed
from isotropy.schemes.mixture import MixtureScheme
from isotropy.search.folder import made_folder
from isotropy.search.mixing import Mixing, noted, told
from isotropy.search.problem import Problem, make_problem
from isotropy.training import Fit, Settings, Watch, fit, torch_seed

PAPER = Settings(
    optimizer="adam",
    lr=0.01,
    weight_decay=0.0,
    schedule="constant",
    warmup=0.0,
    keep="last",
)
"""How 001 trains its mixtures (Appendix B): an Adam for z and one for ψ, both at 0.01."""

GROUPS = ("C1", "D1", "C2", "D2", "C4", "D4")
GRADIENTS = ("two", "one")


def mix(
    model: nn.Module | str,
    X: Any,
    y: Any = None,
    *,
    groups: Sequence[Group | str] = GROUPS,
    gradients: str = "two",
    epochs: int = 20,
    settings: Settings = PAPER,
    prior: Mapping[str, float] | None = None,
    validation: float | DataSet = 0.1,
    output: Output = "invariant",
    action: ActionSpec | None = None,
    seed: int = 0,
    out: Path | str | None = None,
    resume: bool = False,
    minutes: float = 0.0,
    watch: Sequence[Watch] = (),
) -> Mixing:
    """Train a network whose layers are mixtures over groups, and the mixtures with it.

    Every layer is Σ_G z_G W_G with z = softmax α, α at 0 to begin with, and every ‖W_G‖ fixed. In
    turn α takes a step of Adam on one batch and ψ on another, drawn independently from the same
    training data. What comes out is one plain network: no group has to be chosen in the end.
    Validation data only tell how good it is.

    Args:
        model: an ordinary network, or a name of `iso.models` ("equinas" is the paper's).
        X: the inputs as an array or tensor, or a `DataSet`.
        y: the targets, if X is an array.
        groups: those that are mixed; they need not be inside one another.
        gradients: "two", as the paper has it; or "one": α and ψ step together on the gradients of
            a single batch, which takes half the time.
        epochs: passes over the training data, by ψ and, with two gradients, by α as well.
        settings: how both are trained; its `epochs` are not asked.
        prior: the z to begin with, for every group by name; by default all alike.
        validation: the part of the data that the network is judged on; or data set apart.
        output: what the groups do to the outputs, as in `iso.equivariant`.
        action: what they do to the inputs' entries or channels, as in `iso.equivariant`.
        seed: of everything.
        out: a folder for a checkpoint after every epoch.
        resume: go on from the checkpoint in `out`, if there is one; the end is the same to the bit.
        minutes: keep a checkpoint after so many minutes too.
        watch: who is told how it goes.

    >>> import numpy as np, isotropy as iso
    >>> X = np.random.default_rng(0).random((40, 1, 9, 9), dtype=np.float32)
    >>> y = np.arange(40) % 2
    >>> net = torch.nn.Sequential(
    ...     torch.nn.Conv2d(1, 8, 9), torch.nn.Flatten(), torch.nn.Linear(8, 2)
    ... )
    >>> found = iso.search.mix(net, X, y, groups=["C1", "D4"], epochs=2)
    >>> {layer: sorted(z) for layer, z in found.weights.items()}
    {'0': ['C1', 'D4'], '2': ['C1', 'D4']}
    >>> type(found.model[0]).__name__
    'Conv2d'
    """
    if gradients not in GRADIENTS:
        raise InputError(f"gradients must be one of {GRADIENTS}, not {gradients!r}")
    chosen = replace(settings, epochs=epochs)
    problem = make_problem(X, y, validation=validation, seed=seed)
    network = _root(model, problem, groups, output, action, prior, seed)
    problem = problem.scaled(network)
    fold(network, problem.example)  # what could not be in the end is refused now
    about = _about(groups, gradients, prior)
    start = noted(network)
    found = fit(
        network,
        problem.train,
        problem.validation,
        chosen,
        seed=torch_seed(seed, "mixture"),
        folder=None if out is None else made_folder(out),
        resume=resume,
        minutes=minutes,
        signature={**about, "data": problem.train.fingerprint()},
        turns=_turns(network) if gradients == "two" else (),
        notes=noted,
        watch=watch,
    )
    return _mixing(found, start, problem, {**about, "seed": seed, **chosen.to_json()})


def _mixing(
    found: Fit, start: Mapping[str, float], problem: Problem, settings: Mapping[str, Any]
) -> Mixing:
    return Mixing(
        weights=told(found.model, [start, *found.history]),
        model=fold(found.model, problem.example),
        mixture=found.model,
        scores=found.scores,
        seconds=found.seconds,
        history=tuple(found.history),
        stopped=found.stopped,
        metric="mse" if problem.train.task == "regression" else "error",
        settings=settings,
        train=problem.train,
    )


def _root(
    model: nn.Module | str,
    problem: Problem,
    groups: Sequence[Group | str],
    output: Output,
    action: ActionSpec | None,
    prior: Mapping[str, float] | None,
    seed: int,
) -> nn.Module:
    """The network to begin with."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(torch_seed(seed, "root"))
        if isinstance(model, str):
            model = models.make(model, problem.train.shape, problem.train.outputs)
        return mixed(model, groups, problem.example, output, action, prior=prior)


def _about(
    groups: Sequence[Group | str], gradients: str, prior: Mapping[str, float] | None
) -> dict[str, Any]:
    """What is searched for, as JSON."""
    return {
        "groups": [str(g) for g in groups],
        "gradients": gradients,
        "prior": None if prior is None else dict(prior),
    }


def _turns(network: nn.Module) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    """What is stepped first, and what second: Z, then Ψ."""
    schemes = (m for m in network.modules() if isinstance(m, MixtureScheme))
    alphas = list({id(scheme.alpha): scheme.alpha for scheme in schemes}.values())
    known = {id(alpha) for alpha in alphas}
    return alphas, [p for p in network.parameters() if id(p) not in known]
