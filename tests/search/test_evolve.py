"""Evolution: Algorithm 1 as it stands, the same result however it is carried out."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import isotropy as iso
from isotropy.data import DataSet
from isotropy.errors import InputError, IsotropyError
from isotropy.search import Evolution, Generation, breed, grow
from isotropy.search.grow import MorphismError, morphism_error
from isotropy.search.lineage import Individual
from isotropy.training import Settings
from tests.search.searches import SMALL, digits, network, numbers, require_same, rows, small
from tests.turns import SUBGROUPS

PAPER = ("C1", "D1", "C2", "D2", "C4", "D4")


@pytest.fixture(scope="module")
def found() -> Evolution:
    return small()


def of_generation(found: Evolution, number: int) -> list[Individual]:
    return [one for one in found.population if one.generation == number]


# -- Algorithm 1 ------------------------------------------------------------------------------


def below(name: str) -> list[str]:
    """The paper's groups one step down, from their elements alone."""
    inside = [n for n in PAPER if n != name and set(SUBGROUPS[n]) < set(SUBGROUPS[name])]
    return [n for n in inside if not any(set(SUBGROUPS[n]) < set(SUBGROUPS[m]) for m in inside)]


def offspring(groups: list[str]) -> set[tuple[str, ...]]:
    """All that 001 lets come of a network: itself, and one layer less symmetric."""
    found = {tuple(groups)}
    found |= {(*groups[:-1], smaller) for smaller in below(groups[-1])}
    for place, (name, after) in enumerate(pairwise(groups)):
        if set(SUBGROUPS[after]) < set(SUBGROUPS[name]):
            found.add((*groups[:place], after, *groups[place + 1 :]))
    return found


def dominates(one: Individual, other: Individual) -> bool:
    a, b = (one.val_error, one.parameters), (other.val_error, other.parameters)
    return a != b and a[0] <= b[0] and a[1] <= b[1]


def survivors(children: list[Individual], size: int) -> set[int]:
    """The front, filled up by accuracy, straight from the definition."""
    kept = {a.id for a in children if not any(dominates(b, a) for b in children)}
    for one in sorted(children, key=lambda c: (c.val_error, c.parameters, c.id)):
        if len(kept) < size:
            kept.add(one.id)
    return kept


def test_it_begins_with_one_fully_equivariant_network(found: Evolution) -> None:
    first = found.population[0]
    assert (first.id, first.parent, first.generation) == (0, None, 0)
    assert set(first.groups.values()) == {"D4"}
    assert [one.id for one in found.population] == list(range(len(found.population)))


def test_children_are_those_of_the_paper(found: Evolution) -> None:
    for number in range(1, 4):
        parents = [one for one in of_generation(found, number - 1) if one.selected]
        for parent in parents:
            mine = [c for c in of_generation(found, number) if c.parent == parent.id]
            groups = [tuple(c.groups.values()) for c in mine]
            assert len(set(groups)) == len(groups)
            assert set(groups) == offspring(list(parent.groups.values()))
        assert {c.parent for c in of_generation(found, number)} == {p.id for p in parents}


def test_selection_is_that_of_the_paper(found: Evolution) -> None:
    for number in range(1, 4):
        children = of_generation(found, number)
        assert {c.id for c in children if c.selected} == survivors(children, 3)
    assert [one.id for one in found.last] == [c.id for c in children if c.selected]
    assert found.best == min(found.last, key=lambda c: (c.val_error, c.parameters))
    assert all(one in found.last for one in found.front)


def test_it_learns(found: Evolution) -> None:
    assert found.population[0].val_error > 0.85
    assert found.best.val_error < 0.75


def test_every_network_is_what_its_row_says(found: Evolution) -> None:
    for one in (found.population[0], *found.last):
        model = found.network(one.id)
        assert {k: str(g) for k, g in iso.groups_of(model).items()} == one.groups
        assert sum(p.numel() for p in model.parameters()) == one.parameters
    assert torch.equal(numbers(found.network(found.best.id)), numbers(found.model))
    assert not found.model.training


# -- inheritance ------------------------------------------------------------------------------


def test_children_are_what_their_parents_were(found: Evolution) -> None:
    assert found.max_morphism_error == max(one.morphism_error for one in found.population)
    assert found.max_morphism_error <= 1e-5
    nursery = found.nursery
    child = next(c for c in found.children.values() if c.generation == 3 and c.step is not None)
    parent = found.network(child.parent)
    born = nursery.born(child, found.groups_of(child.parent))
    x, _ = nursery.problem.validation.batch(range(8))
    assert morphism_error(parent, born.model, x) <= 1e-5
    assert numbers(born.model).numel() > numbers(parent).numel()


def test_a_child_that_differs_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(model: nn.Module, layer: str, group: Any) -> nn.Module:
        child = iso.relax(model, layer, group)
        with torch.no_grad():
            next(child.parameters()).mul_(1.01)
        return child

    monkeypatch.setattr(grow, "relax", careless)
    with pytest.raises(MorphismError, match="differs from its parent 0 by"):
        small()


def test_training_is_that_of_a_plain_loop(found: Evolution) -> None:
    """Relax, carry the optimiser over, train on the generation's samples: nothing else."""
    child = next(c for c in found.children.values() if c.generation == 2 and c.step is not None)
    nursery, groups = found.nursery, found.groups_of(child.parent)
    parent = nursery._read(child.parent, groups)
    model = iso.relax(parent.model, child.step.layer, child.step.group)
    optimizer = iso.carry_optimizer(parent.optimizer, parent.model, model)
    momentum = [state["momentum_buffer"].abs().sum() for state in optimizer.state.values()]
    assert sum(momentum) > 0
    data, course = nursery.problem.train, nursery.course
    course.train(model, optimizer, data, 2, 0, ("child", child.id))
    assert torch.equal(numbers(model), numbers(found.network(child.id)))


@pytest.mark.parametrize("size", [7, 60])
@pytest.mark.parametrize(("epochs", "halvings"), [(0.5, 0), (0.3, 2), (1.0, 1), (2.5, 0)])
def test_samples_come_in_turn(size: int, epochs: float, halvings: int) -> None:
    """One stage after the other takes up where the last one ended, pass by pass."""
    course = iso.search.course.Course(10, epochs, halvings=halvings)
    stages = [(g, s) for g in range(1, 11) for s in range(halvings + 1)]
    taken = np.concatenate([course.samples(size, g, s) for g, s in stages])
    assert len(taken) == round(10 * epochs * size)
    for start in range(0, len(taken) - size + 1, size):
        assert sorted(taken[start : start + size]) == list(range(size))
    if len(taken) >= 2 * size:
        assert not np.array_equal(taken[:size], taken[size : 2 * size])


def test_the_rate_follows_its_schedule_over_all_generations(tmp_path: Path) -> None:
    settings = Settings(schedule="linear", warmup=0.0, lr=0.1, optimizer="adam", weight_decay=0.0)
    run = small(settings=settings, generations=2, out=tmp_path)
    rates = []
    for number in (1, 2):
        one = of_generation(run, number)[0]
        grown = run.nursery._read(one.id, run.groups_of(one.id))
        rates.append(grown.optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx([0.1, 0.05])


# -- the same whatever happens ------------------------------------------------------------------


def test_the_same_with_two_workers(found: Evolution) -> None:
    require_same(small(backend="loky", workers=2), found)


def test_another_seed_is_another_search(found: Evolution) -> None:
    assert rows(small(seed=1)) != rows(found)


def workers_of_mine() -> list[int]:
    """The processes that loky has begun for this one."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == os.getpid() and b"popen_loky" in (path / "cmdline").read_bytes():
                found.append(int(path.name))
    return found


def test_a_killed_worker_changes_nothing(found: Evolution) -> None:
    def kill_one(_: Generation) -> None:
        os.kill(workers_of_mine()[0], signal.SIGKILL)

    require_same(small(backend="loky", workers=2, watch=kill_one), found)


def failing(ids: set[int], error: Exception) -> Callable[[Any], Any]:
    def sometimes(job: Any) -> Any:
        if job[1].id in ids:
            raise error
        return grow.grow(job)

    return sometimes


def test_a_child_that_cannot_be_made_is_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(breed, "grow", failing({2}, OSError("no memory")))
    run = small(out=tmp_path)
    assert run.failed == {2: "no memory"}
    assert 2 not in {one.id for one in run.population}
    told = run.to_json()["population"]
    assert [row["id"] for row in told] == list(range(len(run.population) + 1))
    assert [row["id"] for row in told if row.get("failed")] == [2]
    monkeypatch.undo()
    again = small(out=tmp_path, resume=True)  # what failed then has failed in this search
    assert again.failed == run.failed
    require_same(again, run)


def test_nobody_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breed, "grow", failing({1, 2, 3}, OSError("no memory")))
    with pytest.raises(IsotropyError, match="no network could be trained: no memory"):
        small()


def test_it_tells_how_it_goes(found: Evolution) -> None:
    told: list[Generation] = []
    small(watch=told.append)
    assert [(g.number, g.of) for g in told] == [(1, 3), (2, 3), (3, 3)]
    assert [g.tried for g in told] == [len(of_generation(found, n)) for n in (1, 2, 3)]
    assert told[-1].best.id == found.best.id


# -- less work ----------------------------------------------------------------------------------


def test_halving_gives_up_the_worse_half(found: Evolution) -> None:
    run = small(halvings=2)
    for number in range(1, 4):
        children = of_generation(run, number)
        least = [max(3, -(-len(children) // 2**stage)) for stage in range(3)]
        reached = [sum(c.stages > stage for c in children) for stage in range(3)]
        assert reached[0] == len(children)
        assert all(have >= want for have, want in zip(reached[1:], least[1:], strict=True))
        assert all(c.stages == 3 for c in children if c.selected)
    assert any(one.stages < 3 for one in run.population[1:])
    lengths = {1: 0.25, 2: 0.5, 3: 1.0}
    assert run.passes == pytest.approx(sum(lengths[one.stages] for one in run.population[1:]) * 2)
    assert found.passes == pytest.approx(2.0 * (len(found.population) - 1))


def test_a_guide_says_what_is_worth_trying() -> None:
    layers = list(iso.groups_of(iso.equivariant(network(), "D4", torch.zeros(2, 1, 8, 8))))
    towards = {"C1": 0.0, "D1": 0.0, "C2": 0.2, "D2": 0.0, "C4": 0.8, "D4": 0.0}
    away = {"C1": 0.0, "D1": 0.0, "C2": 0.0, "D2": 0.0, "C4": 0.0, "D4": 1.0}
    run = small(guide=dict.fromkeys(layers, towards))
    assert {g for one in run.population for g in one.groups.values()} <= {"D4", "C4", "C2"}
    assert any("C4" in one.groups.values() for one in run.population)
    run = small(guide=dict.fromkeys(layers, away))
    assert {g for one in run.population for g in one.groups.values()} == {"D4"}


# -- what it takes --------------------------------------------------------------------------------


def test_only_some_layers() -> None:
    layers = list(iso.groups_of(iso.equivariant(network(), "D4", torch.zeros(2, 1, 8, 8))))
    run = small(layers=layers[:2], generations=2)
    relaxed = {c.step.layer for c in run.children.values() if c.step is not None}
    assert relaxed <= set(layers[:2])
    for one in run.population:
        assert one.groups[layers[2]] == one.groups[layers[1]]  # cannot keep more than it gets


def test_a_tied_network_and_arrays(found: Evolution) -> None:
    x, y = digits().batch(range(len(digits())))
    with torch.random.fork_rng():
        tied = iso.equivariant(network(), "C4", x)
    options = {k: v for k, v in SMALL.items() if k != "group"}
    run = iso.search.evolve(tied, x.numpy(), y.numpy(), **options)
    assert {g for one in run.population for g in one.groups.values()} <= {"C4", "C2", "C1"}


def test_regression() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1, 7, 7)).astype(np.float32)
    y = X.mean((1, 2, 3)) * 10
    net = nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 1)
    )
    options = {**SMALL, "group": "C4", "generations": 2, "settings": Settings(lr=0.01)}
    run = iso.search.evolve(net, X, y, **options)
    assert run.metric == "mse"
    assert run.best.val_error < run.population[0].val_error


def test_a_name_for_a_model() -> None:
    layers = ["block8.conv"]
    with pytest.raises(InputError, match="layers must be some of"):
        small_by_name("cnn", layers=layers)
    run = small_by_name("cnn", generations=1, layers=["stage2.block2.conv"])
    assert len(run.population) == 4


def small_by_name(name: str, **changes: Any) -> Evolution:
    return iso.search.evolve(name, digits(), **{**SMALL, **changes})


BAD: list[tuple[dict[str, Any], str]] = [
    ({"generations": 0}, "generations must be at least 1, not 0"),
    ({"parents": 0}, "parents must be at least 1, not 0"),
    ({"epochs": 0.0}, "epochs must be above 0"),
    ({"halvings": -1}, "halvings must be from 0 to 10"),
    ({"group": "D5"}, "D5"),
    ({"groups": ["C3"]}, "C3 is no subgroup of D4"),
    ({"groups": ["D4"]}, "nothing can be relaxed"),
    ({"layers": []}, "layers must be some of .* at least one"),
    ({"layers": ["head.linear", "stage1.block1.conv"]}, "in order of execution"),
    ({"validation": 1.5}, "validation must be a part between 0 and 1"),
    ({"workers": 0}, "workers must be at least 1"),
    ({"storage": "nonsense"}, "no database URL"),
]


@pytest.mark.parametrize(("changes", "message"), BAD)
def test_bad_input(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        small(**changes)


class Odd(nn.Module):
    """What cannot be tied."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.flatten(1).cumsum(1)[:, :10]


def test_models_that_cannot_be_searched() -> None:
    with pytest.raises(IsotropyError):
        iso.search.evolve(Odd(), digits(), **SMALL)
    tied = iso.equivariant(network(), "C4", torch.zeros(2, 1, 8, 8))
    with pytest.raises(InputError, match="tied to C4 already"):
        iso.search.evolve(tied, digits(), **SMALL)


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_a_bias_that_the_symmetry_forbids_is_trained_once_it_is_relaxed(optimizer: str) -> None:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(60, 1, 9, 9)).astype(np.float32)
    y = (X[:, 0, 0, 0] - X[:, 0, 8, 8])[:, None]  # changes its sign under a half turn
    found = iso.search.evolve(
        iso.models.make("cnn", (1, 9, 9), 1, width=8, stages=1),
        X,
        y,
        group="C2",
        output={"r2": np.array([[-1.0]])},
        generations=2,
        epochs=1.0,
        settings=Settings(
            batch_size=20, optimizer=optimizer, lr=0.01, schedule="constant", warmup=0.0
        ),
        backend="here",
    )
    assert not found.failed
    assert max(one.generation for one in found.population) == 2


def test_a_child_whose_answers_are_no_numbers_is_lost_and_the_search_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judge, calls = grow.error_of, []

    def third_fails(model: nn.Module, data: DataSet) -> float:
        calls.append(1)
        if len(calls) == 3:
            raise InputError("scores holds NaN")
        return judge(model, data)

    monkeypatch.setattr(grow, "error_of", third_fails)
    found = small(generations=2)
    assert list(found.failed.values()) == ["its answers cannot be judged: scores holds NaN"]
    assert max(one.generation for one in found.population) == 2


def test_what_is_refused_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="C3"):
        small(groups=["C3"], out=tmp_path / "run")
    with pytest.raises(InputError, match="budget must be above 0"):
        small(budget=float("nan"), out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_slower_process_does_not_take_back_what_is_further_on(tmp_path: Path) -> None:
    found = small(generations=1, halvings=1, out=tmp_path / "run")
    nursery = found.nursery
    child = next(c for c in found.children.values() if c.generation == 1 and c.id == found.best.id)
    whole = nursery.kept(child)
    assert whole is not None
    early = replace(whole, growth=replace(whole.growth, errors=whole.growth.errors[:1]))
    nursery.write(child, early)
    kept = nursery.kept(child)
    assert kept is not None
    assert kept.growth.errors == whole.growth.errors
