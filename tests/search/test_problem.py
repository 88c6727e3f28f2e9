"""What a search works on: parts that share nothing, scaled alike, the same in a file."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import isotropy as iso
from isotropy.errors import InputError
from isotropy.search.mapped import MappedSamples, mapped
from isotropy.search.problem import make_problem
from tests.search.searches import digits, network

X = np.random.default_rng(0).normal(3, 2, size=(40, 1, 8, 8)).astype(np.float32)
Y = np.arange(40) % 4


def test_arrays_are_divided() -> None:
    problem = make_problem(X, Y, validation=0.25, seed=3)
    assert (len(problem.train), len(problem.validation)) == (32, 8)
    both = [tuple(x.flatten().tolist()) for part in (problem.train, problem.validation)
            for x in part.batch(range(len(part)))[0]]  # fmt: skip
    assert sorted(both) == sorted(tuple(x.flatten().tolist()) for x in X)
    again = make_problem(X, Y, validation=0.25, seed=3)
    assert torch.equal(again.train.batch([0])[0], problem.train.batch([0])[0])


def test_scaled_by_what_is_learnt_from() -> None:
    problem = make_problem(X, Y, validation=0.25).scaled(network())
    x, _ = problem.train.batch(range(32))
    assert float(x.mean()) == pytest.approx(0, abs=1e-5)
    assert float(x.std()) == pytest.approx(1, abs=1e-3)
    assert problem.validation.scaling == problem.train.scaling
    assert problem.scaled(network()).train.scaling == problem.train.scaling


def test_the_same_from_a_file(tmp_path: Path) -> None:
    problem = make_problem(digits(), validation=0.25).scaled(network())
    found = mapped(problem, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["inputs-1.npy"]  # of both parts
    for ours, theirs in ((found.train, problem.train), (found.validation, problem.validation)):
        indices = range(len(theirs))
        for a, b in zip(ours.batch(indices), theirs.batch(indices), strict=True):
            assert torch.equal(a, b)
        assert ours.fingerprint() == theirs.fingerprint()


def test_what_is_sent_is_the_path(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros((1000, 8, 8), dtype=np.float32))
    sent = pickle.dumps(MappedSamples(tmp_path / "x.npy", "none"))
    assert len(sent) < 1000
    assert pickle.loads(sent).shape == (1, 8, 8)


def test_samples_that_are_read_lazily_stay_so(tmp_path: Path) -> None:
    problem = make_problem(digits(), validation=0.25)
    once = mapped(problem, tmp_path)
    assert mapped(once, tmp_path / "nowhere").train.samples is not None


BAD: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
    ((X,), {}, "y: give the targets of X"),
    ((digits(), Y), {}, "y: the targets are in the data set already"),
    ((X, Y), {"validation": 0.0}, "validation must be a part between 0 and 1"),
    ((X, Y[:3]), {}, "40"),
    ((X, Y), {"validation": digits()}, "validation: its classes"),
]


@pytest.mark.parametrize(("data", "options", "message"), BAD)
def test_bad_input(data: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_problem(*data, **options)


def test_it_is_the_package_s_own_scaling() -> None:
    train = iso.training.standardised(digits(), network())
    assert make_problem(digits(), validation=digits()).scaled(network()).train.scaling == (
        train.scaling
    )
