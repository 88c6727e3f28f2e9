"""What a search has to be better than: networks trained as long without it (001, Section 6.1)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import nn

from isotropy.data import DataSet
from isotropy.errors import InputError
from isotropy.groups.action import Group
from isotropy.nn.blueprint import blueprint_of, groups_of, meet
from isotropy.nn.cost import count_parameters
from isotropy.nn.fold import fold
from isotropy.nn.linear import Weighted
from isotropy.nn.measure import Output
from isotropy.nn.mixed import mixed
from isotropy.nn.relax import carry_optimizer, relax
from isotropy.schemes import OrbitScheme
from isotropy.search.course import error_of, fresh_optimizer
from isotropy.search.grow import Nursery, retied
from isotropy.search.rules import Rules
from isotropy.search.steps import LayerGroups, Step
from isotropy.training import Augmentation, best_device, stream, torch_seed

FIXED, PRIOR, PATHWAY, SCHEDULE, AUGMENTED = "fixed", "prior", "pathway", "schedule", "augmented"
KINDS = (FIXED, PRIOR, PATHWAY, SCHEDULE, AUGMENTED)


@dataclass(frozen=True)
class Rival:
    """A network that is trained for as long as one lineage of a search.

    Args:
        kind: "fixed" (tied to one group throughout), "prior" (the same, with weights drawn under a
            larger group and relaxed before any training), "pathway" (no symmetry beside all of it,
            Finzi et al. 2021), "schedule" (relaxed at random while it is trained) or "augmented"
            (no symmetry, on samples moved by the group).
        group: that it has; None where the kind says it.
        prior: that its weights are drawn under.
        number: of several of a kind.
    """

    kind: str
    group: Group | None = None
    prior: Group | None = None
    number: int = 0

    @property
    def name(self) -> str:
        """What it is called in tables."""
        if self.kind == FIXED:
            return str(self.group)
        if self.kind == PRIOR:
            return f"{self.group} (prior: {self.prior})"
        return {PATHWAY: "RPP", SCHEDULE: "random schedules", AUGMENTED: "augmented"}[self.kind]

    @property
    def key(self) -> str:
        """Its name, and its number among several of that name."""
        return f"{self.name} {self.number}" if self.kind == SCHEDULE else self.name


@dataclass(frozen=True)
class Finish:
    """What a rival came to.

    Args:
        val_error: on the validation data.
        test_error: on the test data.
        parameters: numbers that are trained.
        seconds: the time it took.
    """

    val_error: float
    test_error: float
    parameters: int
    seconds: float


def rivals(rules: Rules, kinds: Sequence[str], schedules: int) -> list[Rival]:
    """All networks of some kinds that a search is compared with.

    Args:
        rules: of the search: its groups are those of the rivals.
        kinds: some of "fixed", "prior", "pathway", "schedule", "augmented".
        schedules: how many random schedules there are.
    """
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise InputError(f"baselines must be some of {KINDS}, not {unknown[0]!r}")
    makers: dict[str, Callable[[], Iterator[Rival]]] = {
        FIXED: lambda: (Rival(FIXED, group) for group in rules.allowed),
        PRIOR: lambda: _with_prior(rules),
        PATHWAY: lambda: iter([Rival(PATHWAY)]),
        SCHEDULE: lambda: (Rival(SCHEDULE, number=n) for n in range(schedules)),
        AUGMENTED: lambda: iter([Rival(AUGMENTED)]),
    }
    return [rival for kind in KINDS if kind in kinds for rival in makers[kind]()]


def _with_prior(rules: Rules) -> Iterator[Rival]:
    """Relaxed before training from the whole group, or from C4 where layers may have it."""
    for prior in rules.allowed:
        if prior == rules.whole or str(prior) == "C4":
            smaller = (g for g in rules.allowed if g != prior and g.is_subgroup_of(prior))
            yield from (Rival(PRIOR, group, prior) for group in smaller)


def race(job: tuple[Nursery, Rules, Rival, DataSet, int]) -> Finish:
    """Train a rival and test it; a function of its argument alone, for any process.

    Args:
        job: the search's nursery and rules, the rival, the test data, and how many generations
            there were (a budget may end a search early).
    """
    nursery, rules, rival, test, generations = job
    start = time.monotonic()
    model = _begun(nursery, rules, rival).to(best_device())
    model = _trained(model, nursery, rules, rival, generations)
    return Finish(
        error_of(model, nursery.problem.validation),
        error_of(model, test),
        count_parameters(model),
        time.monotonic() - start,
    )


def _begun(nursery: Nursery, rules: Rules, rival: Rival) -> nn.Module:
    """A rival before its training."""
    root = nursery.root()
    seed = torch_seed(nursery.course.seed, "rival", rival.key)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if rival.kind == SCHEDULE:
            return drawn_anew(root)
        least = rules.allowed[0]
        if rival.kind == PATHWAY:
            return _pathway(drawn_anew(_all_at(root, least)), root, [least, rules.whole], nursery)
        if rival.kind == PRIOR:
            assert rival.prior is not None
            root = drawn_anew(_all_at(root, rival.prior))
            return _all_at(root, rival.group or least)
        return drawn_anew(_all_at(root, rival.group or least))


def _all_at(model: nn.Module, group: Group) -> nn.Module:
    """A network with every layer relaxed to one group, as far as it has it."""
    return retied(model, {layer: meet(own, group) for layer, own in groups_of(model).items()})


@torch.no_grad()
def drawn_anew(model: nn.Module) -> nn.Module:
    """A network, in place, with new weights of the same size under the groups that it has now."""
    for module in model.modules():
        if isinstance(module, Weighted):
            for scheme in (module.scheme, module.bias_scheme):
                if isinstance(scheme, OrbitScheme):
                    scheme.reset(float(scheme().square().mean().sqrt()))
    return model


def _pathway(
    model: nn.Module, root: nn.Module, groups: Sequence[Group], nursery: Nursery
) -> nn.Module:
    """The network with a second pathway in every layer: residual pathway priors."""
    blueprint = blueprint_of(root)
    assert blueprint is not None, "a root was made by iso.equivariant"
    output: Output = blueprint.output
    if output == "labels":
        moves = blueprint.output_action
        output = {element: moves.of(element) for element in blueprint.group.generators}
    example = nursery.problem.example
    plain = fold(model, example)
    return mixed(
        plain, groups, example, output, blueprint.input_action, kind="pathway", check=False
    )


def _trained(
    model: nn.Module, nursery: Nursery, rules: Rules, rival: Rival, generations: int
) -> nn.Module:
    """A rival after all generations; one with a schedule is relaxed at random on the way."""
    course, data = nursery.course, nursery.problem.train
    optimizer = fresh_optimizer(model, course)
    moved = _augmentation(model, data) if rival.kind == AUGMENTED else None
    key = ("rival", rival.key)
    for generation in range(1, generations + 1):
        if rival.kind == SCHEDULE:
            step = _drawn_step(groups_of(model), nursery, rules, rival, generation)
            if step is not None:
                child = relax(model, step.layer, step.group)
                optimizer = carry_optimizer(optimizer, model, child)
                model = child
        for stage in range(len(course.ends)):
            course.train(model, optimizer, data, generation, stage, key, moved)
    return model


def _drawn_step(
    groups: LayerGroups, nursery: Nursery, rules: Rules, rival: Rival, generation: int
) -> Step | None:
    """One of the steps that the search could take, or none, all as likely."""
    steps = [None, *rules.steps(groups)]
    draws = stream(nursery.course.seed, "schedule", rival.number, generation)
    return steps[int(draws.integers(len(steps)))]


def _augmentation(model: nn.Module, data: DataSet) -> Augmentation:
    """The search's own group, moving samples and their targets as it does in the network."""
    blueprint = blueprint_of(model)
    assert blueprint is not None, "a rival was made of what iso.equivariant made"
    targets = blueprint.output_action if blueprint.output == "labels" else None
    return Augmentation(blueprint.input_action, targets, dense=data.task == "dense")
