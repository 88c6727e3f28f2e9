"""The making of a child: born of its parent by relaxation, trained stage by stage (001, 5.1)."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, replace
from math import isnan
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from isotropy._tensor_file import read_tensors, write_tensors
from isotropy.errors import InputError, IsotropyError, TrainingError
from isotropy.nn.blueprint import groups_of
from isotropy.nn.cost import count_parameters
from isotropy.nn.files import load
from isotropy.nn.modes import evaluating
from isotropy.nn.relax import carry_optimizer, relax
from isotropy.search.course import Course, error_of, fresh_optimizer
from isotropy.search.lineage import Child, Growth
from isotropy.search.problem import Problem
from isotropy.search.steps import LayerGroups
from isotropy.training import best_device
from isotropy.training.checkpoint import optimizer_state, set_optimizer_state

FORMAT = "isotropy-individual-1"
ROOT = "root.safetensors"
NETWORKS = "networks"
TOLERANCE = 1e-5
"""How far a child's outputs may be from its parent's, relative to their size, in float32."""
_COMPARED = 64


class MorphismError(IsotropyError):
    """A child does not compute what its parent does, though it must."""


@dataclass(frozen=True)
class Nursery:
    """What all children of a search have in common, as every worker gets it.

    Args:
        folder: where the networks are.
        classes: of the modules that they are made of, for those that are the caller's own.
        problem: what they learn.
        course: how they are trained.
        mark: of the search, so that no network of another is taken for one of it.
    """

    folder: Path
    classes: tuple[type[nn.Module], ...]
    problem: Problem
    course: Course
    mark: str

    def path(self, number: int) -> Path:
        """Where a network is kept."""
        return self.folder / NETWORKS / f"{number:06}.safetensors"

    def network(self, number: int, groups: LayerGroups) -> nn.Module:
        """A network as it was last kept, in eval mode."""
        return self._read(number, groups).model.eval()

    # -- a child's life -------------------------------------------------------------------------

    def born(self, child: Child, parent_groups: LayerGroups) -> Grown:
        """A child as it comes of its parent, with its weights and its optimiser's state."""
        if child.parent is None:
            model = self.root().to(best_device())
            return Grown(model, fresh_optimizer(model, self.course), self._growth(model, 0.0))
        parent = self._read(child.parent, parent_groups)
        if child.step is None:
            return Grown(parent.model, parent.optimizer, self._growth(parent.model, 0.0))
        model = relax(parent.model, child.step.layer, child.step.group)
        error = morphism_error(parent.model, model, self._compared())
        if isnan(error):
            raise TrainingError(f"the outputs of its parent {child.parent} are no numbers")
        if not error <= TOLERANCE:
            raise MorphismError(
                f"network {child.id} differs from its parent {child.parent} by {error:.1e} after "
                f"{child.step.layer} was relaxed to {child.step.group}; it must be the same"
            )
        optimizer = carry_optimizer(parent.optimizer, parent.model, model)
        return Grown(model, optimizer, self._growth(model, error))

    def trained(self, grown: Grown, child: Child) -> Grown:
        """A child after its next stage."""
        start = time.monotonic()
        stage = len(grown.growth.errors)
        model, data = grown.model, self.problem
        if child.generation:
            self.course.train(
                model, grown.optimizer, data.train, child.generation, stage, ("child", child.id)
            )
        errors = (*grown.growth.errors, _judged(model, data))
        seconds = grown.growth.seconds + time.monotonic() - start
        return replace(grown, growth=replace(grown.growth, errors=errors, seconds=seconds))

    def _growth(self, model: nn.Module, error: float) -> Growth:
        return Growth((), count_parameters(model), error, 0.0)

    def _compared(self) -> Tensor:
        """Some samples, to compare a child with its parent on."""
        x, _ = self.problem.train.batch(range(min(_COMPARED, len(self.problem.train))))
        return x.to(best_device())

    # -- on disk --------------------------------------------------------------------------------

    def write(self, child: Child, grown: Grown) -> None:
        """Keep a network, all at once; a slower process does not take back what is further on."""
        if self._stages_kept(child) >= len(grown.growth.errors):
            return
        state, described = optimizer_state(grown.optimizer)
        tensors = {f"model.{k}": v for k, v in grown.model.state_dict().items()}
        tensors |= {f"optimizer.{k}": v for k, v in state.items()}
        about = {
            "mark": self.mark,
            "child": child.to_json(),
            "growth": asdict(grown.growth),
            "optimizer": described,
        }
        separate = {k: v.detach().clone().contiguous().cpu() for k, v in tensors.items()}
        write_tensors(self.path(child.id), separate, json.dumps(about), FORMAT)

    def _stages_kept(self, child: Child) -> int:
        """How far a child had come when it was last kept."""
        if not self.path(child.id).exists():
            return 0
        about = self._open(child.id)[1]
        return len(about["growth"]["errors"]) if about["child"] == child.to_json() else 0

    def kept(self, child: Child) -> Grown | None:
        """A child as it was last kept; None if it never was."""
        if not self.path(child.id).exists():
            return None
        found, about = self._open(child.id)
        if about["child"] != child.to_json():
            raise InputError(f"{self.path(child.id)} is another network than was expected there")
        return self._rebuilt(child.groups, found, about)

    def _read(self, number: int, groups: LayerGroups) -> Grown:
        return self._rebuilt(groups, *self._open(number))

    def _open(self, number: int) -> tuple[dict[str, Tensor], dict[str, Any]]:
        path = self.path(number)
        tensors, text = read_tensors(path, FORMAT, "a search")
        about: dict[str, Any] = json.loads(text)
        if about["mark"] != self.mark:
            raise InputError(f"{path} belongs to another search; choose another out")
        return tensors, about

    def _rebuilt(
        self, groups: LayerGroups, tensors: dict[str, Tensor], about: dict[str, Any]
    ) -> Grown:
        model = retied(self.root(), groups)
        model.load_state_dict(_part(tensors, "model."))
        model.to(best_device())
        optimizer = fresh_optimizer(model, self.course)
        set_optimizer_state(optimizer, _part(tensors, "optimizer."), about["optimizer"])
        return Grown(model, optimizer, Growth.from_json(about["growth"]))

    def root(self) -> nn.Module:
        """The network that all come of, before any training."""
        return load(self.folder / ROOT, self.classes)


@dataclass(frozen=True)
class Grown:
    """A network, its optimiser, and what has become of it."""

    model: nn.Module
    optimizer: Optimizer
    growth: Growth


def grow(job: tuple[Nursery, Child, LayerGroups, int]) -> Growth:
    """Bring a child to the end of a stage; a function of its argument alone, for any process.

    What has been done before is taken from the child's file, so that nothing is done twice, and
    whoever goes on gets the same, to the bit.

    Args:
        job: the nursery, the child, its parent's groups, and the number of stages it is to have.
    """
    nursery, child, parent_groups, stages = job
    grown = nursery.kept(child)
    if grown is None:
        grown = nursery.born(child, parent_groups)
    while len(grown.growth.errors) < stages:
        grown = nursery.trained(grown, child)
        nursery.write(child, grown)
    return replace(grown.growth, errors=grown.growth.errors[:stages])


def _judged(model: nn.Module, data: Problem) -> float:
    """The validation error; a network whose answers are no numbers is lost, not the search."""
    try:
        return error_of(model, data.validation)
    except InputError as wrong:
        raise TrainingError(f"its answers cannot be judged: {wrong}") from wrong


def retied(model: nn.Module, groups: LayerGroups) -> nn.Module:
    """A network with the given group for every layer, none larger than it has."""
    for layer in groups_of(model):
        if groups_of(model)[layer] != groups[layer]:
            model = relax(model, layer, groups[layer])
    return model


@torch.no_grad()
def morphism_error(parent: nn.Module, child: nn.Module, x: Tensor) -> float:
    """The largest difference between two networks' outputs in eval mode, relative to the outputs.

    Args:
        parent: the one network.
        child: the other one.
        x: what to run them on.
    """
    with evaluating(parent), evaluating(child):
        expected, found = parent(x), child(x)
    size = float(expected.abs().max())
    return float((found - expected).abs().max()) / (size if size > 0 else 1.0)


def _part(tensors: dict[str, Tensor], start: str) -> dict[str, Tensor]:
    return {k.removeprefix(start): v for k, v in tensors.items() if k.startswith(start)}
