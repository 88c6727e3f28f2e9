"""EquiNAS_E: symmetry given up layer by layer while networks are trained (001, Algorithm 1)."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from isotropy import models
from isotropy.data import DataSet
from isotropy.errors import InputError
from isotropy.groups.action import Group
from isotropy.nn.blueprint import blueprint_of, groups_of
from isotropy.nn.cost import count_parameters
from isotropy.nn.equivariant import equivariant
from isotropy.nn.files import save
from isotropy.nn.layer_groups import ActionSpec
from isotropy.nn.measure import Output
from isotropy.search.breed import Breeding, Generation
from isotropy.search.course import PAPER, Course
from isotropy.search.evolution import Evolution
from isotropy.search.folder import made_folder
from isotropy.search.grow import NETWORKS, ROOT, Nursery
from isotropy.search.lineage import names_of
from isotropy.search.mapped import mapped
from isotropy.search.problem import Problem, make_problem
from isotropy.search.rules import Rules
from isotropy.search.steps import Guide
from isotropy.search.store import StudyStore
from isotropy.search.workers import Workers
from isotropy.training import Settings, torch_seed


def evolve(
    model: nn.Module | str,
    X: Any,
    y: Any = None,
    *,
    group: Group | str | None = None,
    groups: Sequence[Group | str] | None = None,
    layers: Sequence[str] | None = None,
    generations: int = 10,
    parents: int = 5,
    epochs: float = 0.5,
    settings: Settings = PAPER,
    validation: float | DataSet = 0.1,
    output: Output = "invariant",
    action: ActionSpec | None = None,
    guide: Guide | None = None,
    halvings: int = 0,
    budget: float | None = None,
    workers: int | None = 1,
    backend: str = "loky",
    address: str | None = None,
    gpus: float = 0.0,
    seed: int = 0,
    out: Path | str | None = None,
    resume: bool = False,
    storage: str | None = None,
    watch: Callable[[Generation], None] | None = None,
) -> Evolution:
    """Search for the group of every layer by evolution, while the networks are trained.

    It begins with one network that is tied to a whole group in every layer. In each generation
    every network has children: itself, unchanged, and itself with one layer relaxed (the last one
    by a step, others to the group of the one after), which compute what it computes. All are
    trained a little. Those on the Pareto front of validation error and parameters live on, and the
    most accurate of the others up to a number. Test data are never asked for.

    Every network is kept in `out`, with a study of all of them that Optuna reads. Results do not
    depend on the number of workers, nor on how often the search was killed and went on.

    Args:
        model: an ordinary network, or one that is tied already, or a name of `iso.models`
            ("equinas" is the paper's).
        X: the inputs as an array or tensor, or a `DataSet`.
        y: the targets, if X is an array.
        group: what all layers are tied to at the beginning; D4 unless given or tied already.
        groups: subgroups that layers may have; the paper's six for D4, unless given.
        layers: names of the layers to relax, in order of execution; all, unless given.
        generations: how many.
        parents: how many live on, if the front is not larger.
        epochs: passes over the training data in a generation; the paper has half a one.
        settings: how networks are trained; see `Course`. The paper's plain SGD by default.
        validation: the part of the data that networks are chosen by; or data set apart.
        output: what the group does to the outputs, as in `iso.equivariant`.
        action: what the group does to the inputs' entries or channels, as in `iso.equivariant`.
        guide: for a layer the weight of every group by name, as `mix` finds them: only relaxations
            that they speak for are tried.
        halvings: how often in a generation the worse half of the children is given up: the first
            time after 1 / 2^halvings of the training.
        budget: the passes over the training data that all networks may take together: no
            generation is begun that might take more.
        workers: how many networks are trained at once, with one thread each; None is every core.
        backend: "loky", "here", "ray" or "dask"; see `Workers`.
        address: of a running Ray or Dask cluster, all of whose nodes see `out`.
        gpus: with Ray, the part of a GPU that each network takes.
        seed: of everything.
        out: the folder that everything is kept in; without it only the result keeps it.
        resume: go on with the search in `out`, or begin it. A second process may do so while the
            first one runs: they share the work.
        storage: the URL of a database for the study instead of a file in `out`.
        watch: is called after every generation.

    >>> import numpy as np, isotropy as iso
    >>> X = np.random.default_rng(0).random((40, 1, 8, 8), dtype=np.float32)
    >>> y = np.arange(40) % 2
    >>> net = iso.models.make("cnn", (1, 8, 8), 2, width=8, stages=1)
    >>> found = iso.search.evolve(net, X, y, group="C4", generations=2, epochs=1.0, backend="here")
    >>> [(one.id, one.parent, list(one.groups.values())) for one in found.population][:3]
    [(0, None, ['C4', 'C4', 'C4']), (1, 0, ['C4', 'C4', 'C4']), (2, 0, ['C4', 'C4', 'C2'])]
    >>> found.max_morphism_error < 1e-5
    True
    """
    course = Course(generations, epochs, settings, seed, halvings)
    problem = make_problem(X, y, validation=validation, seed=seed)
    root = _root(model, problem, group, output, action, seed)
    rules = Rules(root, groups, layers, parents, guide, budget)
    kept = Path(tempfile.mkdtemp(prefix="isotropy-")) if out is None else made_folder(out)
    problem = problem.scaled(root)
    about = _about(root, rules, course, problem)
    with (
        Workers(workers, backend, address, gpus) as pool,
        StudyStore(kept, storage, about, resume) as store,
    ):
        (kept / NETWORKS).mkdir(exist_ok=True)
        if not (resume and (kept / ROOT).exists()):
            save(root, kept / ROOT)
        if pool.elsewhere:
            problem = mapped(problem, kept)
        nursery = Nursery(kept, _classes_of(root), problem, course, _mark(kept, about))
        search = Breeding(nursery, rules, store, pool, attached=resume)
        found = search.run(groups_of(root), about, watch or _silent)
    if out is None:
        weakref.finalize(found, shutil.rmtree, kept, ignore_errors=True)
    return found


def _silent(_: Generation) -> None:
    pass


# -- the beginning --------------------------------------------------------------------------------


def _root(
    model: nn.Module | str,
    problem: Problem,
    group: Group | str | None,
    output: Output,
    action: ActionSpec | None,
    seed: int,
) -> nn.Module:
    """The first network; where a search goes on, its weights are those that it began with."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(torch_seed(seed, "root"))
        return _tied(model, problem, group, output, action)


def _classes_of(model: nn.Module) -> tuple[type[nn.Module], ...]:
    """The classes that a network's file names, for processes that have not imported them."""
    return tuple(sorted({type(module) for module in model.modules()}, key=str))


def _tied(
    model: nn.Module | str,
    problem: Problem,
    group: Group | str | None,
    output: Output,
    action: ActionSpec | None,
) -> nn.Module:
    if isinstance(model, str):
        model = models.make(model, problem.train.shape, problem.train.outputs)
    if blueprint_of(model) is None:
        return equivariant(model, group or "D4", problem.example, output, action=action)
    whole = next(iter(groups_of(model).values()))
    if group is not None and str(group) != str(whole):
        raise InputError(f"group: the model is tied to {whole} already, not to {group}")
    return model


def _about(root: nn.Module, rules: Rules, course: Course, problem: Problem) -> dict[str, Any]:
    """What a search is: all that its result depends on, as JSON."""
    return {
        "group": str(rules.whole),
        "groups": rules.choices,
        "layers": list(rules.layers),
        "network": names_of(groups_of(root)),
        "parameters": count_parameters(root),
        "settings": {
            "generations": course.generations,
            "parents": rules.parents,
            "epochs": course.epochs,
            "halvings": course.halvings,
            "budget": rules.budget,
            "seed": course.seed,
            "guided": rules.guide is not None,
            **{k: v for k, v in course.settings.to_json().items() if k != "epochs"},
        },
        "guide": None if rules.guide is None else {k: dict(v) for k, v in rules.guide.items()},
        "train": problem.train.fingerprint(),
        "validation": problem.validation.fingerprint(),
    }


def _mark(folder: Path, about: Mapping[str, Any]) -> str:
    """What tells a search from all others: what it is, and the weights it began with."""
    found = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    found.update((folder / ROOT).read_bytes())
    return found.hexdigest()
