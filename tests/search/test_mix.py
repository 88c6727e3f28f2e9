"""EquiNAS_D: against a plain loop of two Adams, killed and resumed, and what it tells."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import isotropy as iso
from isotropy.errors import InputError
from isotropy.schemes.mixture import MixtureScheme
from isotropy.search import Mixing
from isotropy.search.problem import make_problem
from isotropy.search.steps import allowed_groups, guided_steps, possible_steps
from isotropy.training import Batches, torch_seed

GROUPS = ("C1", "C4", "D4")


def pictures(samples: int = 60) -> tuple[np.ndarray, np.ndarray]:
    draws = np.random.default_rng(0)
    return draws.normal(size=(samples, 1, 7, 7)).astype(np.float32), np.arange(samples) % 2


def network(outputs: int = 2) -> nn.Module:
    """With dropout, so that random numbers of training matter."""
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1, bias=False),  # Adam makes much of a gradient of 0 ± rounding
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Conv2d(8, 8, 3),
        nn.ReLU(),
        nn.Dropout2d(0.1),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, outputs),
    )


def search(**options: object) -> Mixing:
    given: dict[str, object] = {"groups": GROUPS, "epochs": 3, "validation": 0.2, **options}
    return iso.search.mix(network(), *pictures(), **given)  # type: ignore[arg-type]


def alphas(model: nn.Module) -> list[nn.Parameter]:
    schemes = [m for m in model.modules() if isinstance(m, MixtureScheme)]
    return list({id(s.alpha): s.alpha for s in schemes}.values())


# -- Algorithm 2 ---------------------------------------------------------------------------------


def by_hand(gradients: str) -> nn.Module:
    """Z by ∇_Z on one batch, then Ψ by ∇_Ψ on another: two Adams, in torch alone."""
    problem, plain = make_problem(*pictures(), validation=0.2), network()
    torch.manual_seed(torch_seed(0, "root"))
    model = iso.mixed(plain, GROUPS, problem.example)
    train = problem.scaled(model).train
    own = alphas(model)
    rest = [p for p in model.parameters() if all(p is not a for a in own)]
    adams = [torch.optim.Adam(own, lr=0.01), torch.optim.Adam(rest, lr=0.01)]
    seed = torch_seed(0, "mixture")
    turns = 2 if gradients == "two" else 1
    batches = Batches(train, 64, seed, torch.device("cpu"), turns=turns)
    torch.manual_seed(torch_seed(seed, "training", 0))
    for epoch in range(3):
        for step, (_, x, y) in enumerate(batches.epoch(epoch)):
            model.train().zero_grad()
            F.cross_entropy(model(x), y).backward()
            for adam in [adams[step % 2]] if gradients == "two" else adams:
                adam.step()
    return model.eval()


@pytest.mark.parametrize("gradients", ["two", "one"])
def test_is_two_adams_that_alternate_each_on_batches_of_its_own(gradients: str) -> None:
    found, expected = search(gradients=gradients), by_hand(gradients)
    for mine, theirs in zip(found.mixture.parameters(), expected.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)


# -- what it tells -------------------------------------------------------------------------------


def test_weights_over_time_scores_and_json() -> None:
    found = search()
    assert found.times == [0, 1, 2, 3]
    assert list(found.weights) == ["0", "3", "8"]
    for own in found.weights.values():
        assert list(own) == list(GROUPS)
        assert np.allclose(np.sum(list(own.values()), 0), 1, atol=1e-6)
        assert [z[0] for z in own.values()] == pytest.approx([1 / 3] * 3)
    assert {layer: {g: z[-1] for g, z in own.items()} for layer, own in found.weights.items()} == (
        found.final
    )
    assert found.scores["accuracy"] == 1 - found.val_error
    assert found.seconds > 0
    told = json.loads(json.dumps(found.to_json()))
    assert (told["format"], told["method"], told["group"]) == ("isotropy-search-1", "mix", "D4")
    assert told["weights"] == found.weights
    assert told["times"] == found.times
    assert told["found"]["val_error"] == found.val_error
    assert told["settings"]["gradients"] == "two"
    plain = sum(p.numel() for p in network().parameters())
    assert told["found"]["parameters"] == plain


def test_begins_at_a_prior() -> None:
    found = search(prior={"C1": 1.0, "C4": 1.0, "D4": 2.0}, epochs=1)
    assert [z[0] for z in found.weights["3"].values()] == pytest.approx([0.25, 0.25, 0.5])


def test_guides_an_evolution() -> None:
    found = search(epochs=1)
    d4 = iso.group("D4")
    groups = dict.fromkeys(found.final, d4)
    steps = possible_steps(groups, allowed_groups(d4))
    assert set(guided_steps(steps, groups, found.final)) <= set(steps)
    sure = {layer: {"C1": 0.98, "C4": 0.01, "D4": 0.01} for layer in found.final}
    assert [str(s.group) for s in guided_steps(steps, groups, sure)] == ["D2", "C4"]


def test_regression_and_data_set_apart() -> None:
    x, y = pictures()
    train = iso.data.from_arrays(x, y.astype(np.float32))
    found = iso.search.mix(network(1), train, validation=train, groups=GROUPS, epochs=1)
    assert found.val_error == found.scores["mse"]
    assert found.to_json()["metric"] == "mse"


# -- the same again ------------------------------------------------------------------------------


def equal(found: Mixing, other: Mixing) -> bool:
    mine, theirs = found.mixture.state_dict(), other.mixture.state_dict()
    return found.weights == other.weights and all(
        torch.equal(value, theirs[name]) for name, value in mine.items()
    )


def test_the_same_seed_gives_the_same_and_another_does_not() -> None:
    first = search(epochs=2)
    assert equal(search(epochs=2), first)
    assert not equal(search(epochs=2, seed=1), first)


PROGRAM = """
import sys
sys.path.insert(0, {root!r})
from tests.search.test_mix import search
found = search(epochs=6, out=sys.argv[1], resume=True, minutes=1e-5)
"""


def test_killed_at_any_moment_it_goes_on_to_the_same_end(tmp_path: Path) -> None:
    """kill -9, again and again, at random moments after the first step was kept."""
    root = str(Path(__file__).parents[2])
    whole = search(epochs=6)
    moments, kept = random.Random(0), tmp_path / "checkpoint.safetensors"
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ISOTROPY_TYPECHECK": "0"}
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM.format(root=root), str(tmp_path)], env=environment
        )
        began = kept.stat().st_mtime_ns if kept.exists() else 0
        while process.poll() is None and (not kept.exists() or kept.stat().st_mtime_ns == began):
            time.sleep(0.002)
        time.sleep(moments.random() * 0.1)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert equal(search(epochs=6, out=tmp_path, resume=True), whole)
    # once more: nothing is left to do, and the end is the same
    assert equal(search(epochs=6, out=tmp_path, resume=True), whole)


# -- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"gradients": "three"}, "gradients must be one of"),
        ({"groups": ["C4", "O"]}, "not subgroups of one known group"),
        ({"groups": []}, "at least one"),
        ({"epochs": 0}, "epochs must be at least 1"),
        ({"resume": True}, "resume: say in which folder"),
        ({"prior": {"C1": 1.0}}, "prior must give"),
        ({"validation": 1.0}, "validation must be a part"),
    ],
)
def test_bad_input(options: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        search(**options)


def test_a_checkpoint_of_another_search_is_refused(tmp_path: Path) -> None:
    search(epochs=1, out=tmp_path)
    with pytest.raises(InputError, match="groups"):
        search(epochs=1, out=tmp_path, resume=True, groups=["C1", "D4"])
    with pytest.raises(InputError, match="gradients = 'two'"):
        search(epochs=1, out=tmp_path, resume=True, gradients="one")
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(InputError, match="out: cannot make the folder"):
        search(out=file)
