"""What networks of a run share: samples, splits, scalings; trials, moves, the last networks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from isotropy.data import DataSet, from_arrays
from isotropy.discovery import study as module
from isotropy.discovery.enough import FEWEST_PER_CLASS
from isotropy.discovery.inputs import InputTest, judged, moves_of, run_move
from isotropy.discovery.last import network_for
from isotropy.discovery.settle import compared
from isotropy.discovery.study import is_unbalanced
from isotropy.discovery.trial import AUGMENTED, TIED, UNTIED, Trial, asked_indices, run_trial
from isotropy.errors import InputError
from isotropy.evidence import Symmetry, candidates_for
from isotropy.evidence.small_moves import SMALL_MOVES
from isotropy.groups.action import permuting
from tests.discovery.studies import crosses, study_of
from tests.evidence.kinds import data_of


def everything(data: DataSet) -> torch.Tensor:
    return data.samples.take(np.arange(len(data)))


# -- samples ------------------------------------------------------------------------------------


def test_samples_are_read_as_they_were_written(tmp_path: Path) -> None:
    data = crosses(70)
    study = study_of(tmp_path, data)
    torch.testing.assert_close(everything(study.data), everything(data))
    assert study.data.targets.tolist() == data.targets.tolist()


def test_bytes_stay_bytes(tmp_path: Path) -> None:
    X = np.random.default_rng(0).integers(0, 255, size=(40, 8, 8), dtype=np.uint8)
    study_of(tmp_path, from_arrays(X, np.arange(40) % 2))
    assert np.load(tmp_path / "data/inputs.npy", mmap_mode="r").dtype == np.uint8


def test_what_is_written_again_is_read_again(tmp_path: Path) -> None:
    first, second = crosses(70, seed=1), crosses(70, seed=2)
    before = study_of(tmp_path, first).data
    after = study_of(tmp_path, second).data
    torch.testing.assert_close(everything(after), everything(second))
    torch.testing.assert_close(everything(before), everything(first))  # still open, still whole


def test_samples_that_are_too_large_are_refused_with_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 1000)
    with pytest.raises(InputError, match=r"--resize 64"):
        study_of(tmp_path, crosses())


def test_rounds_split_anew_and_classes_alike(tmp_path: Path) -> None:
    study = study_of(tmp_path, crosses(120))
    parts = [study.parts(number) for number in (0, 1, 0)]
    for train, validation in parts:
        assert (len(train), len(validation)) == study.sizes == (90, 30)
        assert np.bincount(validation.targets).tolist() == [15, 15]
    first, second, again = (everything(validation) for _, validation in parts)
    assert not torch.equal(first, second)
    torch.testing.assert_close(first, again)


SIZES = {(30, 30): False, (60, 30): False, (100, 30): True, (100, 0, 100): False}


@pytest.mark.parametrize(("sizes", "unbalanced"), SIZES.items(), ids=str)
def test_unbalanced_classes(sizes: tuple[int, ...], unbalanced: bool) -> None:
    y = np.repeat(np.arange(len(sizes)), sizes)
    data = from_arrays(np.random.default_rng(0).normal(size=(len(y), 3)).astype(np.float32), y)
    assert is_unbalanced(data) is unbalanced


@pytest.mark.parametrize(("kind", "name"), [("signal", "sign"), ("vector", "permute all")])
def test_a_scaling_leaves_the_symmetry_as_it_is(kind: str, name: str, tmp_path: Path) -> None:
    data = data_of(kind)
    (symmetry,) = candidates_for(data, [name])
    study = study_of(tmp_path, data, view=symmetry.view)
    scaling = study.scaled(study.data, symmetry).scaling
    assert scaling is not None
    x = everything(data)
    for element in symmetry.tested:
        moved = symmetry.move(x, element)
        torch.testing.assert_close(scaling.apply(moved), symmetry.move(scaling.apply(x), element))


# -- networks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("arm", [UNTIED, TIED, AUGMENTED])
def test_a_trial_is_a_function_of_its_argument(arm: str, tmp_path: Path) -> None:
    data = crosses()
    study = study_of(tmp_path, data)
    (symmetry,) = candidates_for(data, ["C4"])
    asked = (symmetry,) if arm == UNTIED else ()
    given = None if arm == UNTIED else symmetry
    trial = Trial(arm, "" if arm == UNTIED else "C4", 0, given, 4, asked)
    torch.manual_seed(1)
    state = torch.get_rng_state()
    first = run_trial((study, trial))
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(2)
    second = run_trial((study, trial))
    assert (first.score, first.answers) == (second.score, second.answers)
    assert 0 <= first.score <= 1
    if arm == UNTIED:
        validation = study.parts(0)[1]
        assert set(first.answers) == {"", "r"}
        assert len(first.answers["r"]) == len(asked_indices(validation)) == len(validation)
        right = np.mean(np.array(first.answers[""]) == validation.targets)
        assert right == pytest.approx(first.score)


def test_answers_about_numbers_keep_their_digits(tmp_path: Path) -> None:
    """Targets of a millionth would be lost to a fixed number of decimal places."""
    data = data_of("signal", 80)
    tiny = from_arrays(everything(data).numpy(), 1e-6 * np.arange(80.0), layout="ncl")
    (symmetry,) = candidates_for(tiny, ["reversal"])
    trial = Trial(UNTIED, "", 0, asked=(symmetry,))
    outcome = run_trial((study_of(tmp_path, tiny), trial))
    said = np.array(outcome.answers["f"])
    assert said.shape == (20, 1)
    assert len(np.unique(said)) > 10
    assert np.abs(said).max() < 1e-3


def shipped_cases() -> list[tuple[str, str]]:
    return [
        ("square picture", "D4"),
        ("signal", "reversal"),
        ("signal", "sign"),
        ("signal", "shift"),
        ("vector", "sign"),
        ("vector", "permute all"),
    ]


@pytest.mark.parametrize("task", ["classes", "numbers"])
@pytest.mark.parametrize(("kind", "name"), shipped_cases())
def test_shipped_networks_take_data_as_they_are(
    kind: str, name: str, task: str, tmp_path: Path
) -> None:
    """Far from zero and of a scale of their own; the symmetry holds in those units."""
    data = data_of(kind)
    x = 5 * everything(data) + (0 if name == "sign" else 20)
    y = data.targets if task == "classes" else 1000 + 50 * x.flatten(1).mean(1).numpy()
    layout = {"signal": "ncl", "vector": None}.get(kind, "nchw")
    data = from_arrays(x.numpy(), y, layout=layout)
    (symmetry,) = candidates_for(data, [name])
    study = study_of(tmp_path, data, view=symmetry.view)
    width = study.probe.equal_width(symmetry)
    for own, wide in ((symmetry, width), (None, 0)):
        net = network_for(study, data, own, wide)
        said = net(x).detach()
        if task == "numbers":
            assert float((said.mean() - float(np.mean(y))).abs()) < 6 * float(np.std(y))
        if own is not None:
            for element in own.tested:
                moved = net(own.move(x, element)).detach()
                torch.testing.assert_close(moved, said, rtol=1e-3, atol=1e-3)


def test_shipped_networks_turn_signs(tmp_path: Path) -> None:
    data = data_of("signal")
    x = everything(data)
    y = x[:, 0, 20:].mean(1) - x[:, 0, :20].mean(1)
    data = from_arrays(x.numpy(), 40 * y.numpy(), layout="ncl")
    (reversal,) = candidates_for(data, ["reversal"])
    turning: Symmetry = reversal.permuting(
        permuting(reversal.group, {"f": -np.eye(1, dtype=int)}, "targets", 1)
    )
    net = network_for(study_of(tmp_path, data), data, turning, 4)
    torch.testing.assert_close(net(x.flip(-1)), -net(x), rtol=1e-3, atol=1e-3)


# -- moves of inputs ----------------------------------------------------------------------------


def test_every_move_is_tested_once() -> None:
    data = crosses()
    moves = moves_of(candidates_for(data, ["C2", "C4", "D1", "D4"]), "image", data.shape)
    names = [move.name for move in moves]
    assert names[:-4] == ["r2", "s", "r", "sr", "sr2", "sr3"]
    assert names[-4:] == [small.name for small in SMALL_MOVES]
    assert [m.name for m in moves_of(candidates_for(data, ["C4"]), "image", (1, 5, 5))] == [
        "r",
        "r2",
    ]


def test_both_sides_are_samples_of_their_own(tmp_path: Path) -> None:
    data = crosses(100, turned=False)
    study = study_of(tmp_path, data)
    tests = {
        move.name: run_move((study, move, 199))
        for move in moves_of(candidates_for(data, ["D1", "C4"]), "image", data.shape)[:3]
    }
    for found in tests.values():
        assert found.samples == 100
        assert found.p == pytest.approx(1 / 200)  # bars at the upper left are seen everywhere
    turned = study_of(tmp_path / "turned", crosses(100))
    (still,) = moves_of(candidates_for(data, ["C2"]), "image", (1, 5, 5))
    assert run_move((turned, still, 199)).p > 0.01
    assert run_move((turned, still, 199)).p == run_move((turned, still, 199)).p


def test_only_moves_that_decide_something_are_corrected_for() -> None:
    data = crosses()
    moves = moves_of(candidates_for(data, ["C4"]), "image", data.shape)
    p = {"r": 0.003, "r2": 0.004, **{small.name: 0.004 for small in SMALL_MOVES}}
    tests: list[Any] = [InputTest(f"inputs/{n}", n, v, 0.6, 100, 0.1) for n, v in p.items()]
    found = {test.name: test for test in judged(tests, moves, alpha=0.005)}
    assert list(found) == [move.name for move in moves]
    assert (found["r"].p_holm, found["r2"].p_holm) == (0.006, 0.006)
    assert not found["r"].rejected
    for small in SMALL_MOVES:
        assert found[small.name].p_holm == 0.004
        assert found[small.name].rejected
        assert found[small.name].reported_only
        assert found[small.name].note == small.note


def test_of_a_rare_class_enough_are_drawn_to_be_split_again_and_again() -> None:
    draw = np.random.default_rng(0)
    y = np.r_[np.arange(4000) % 2, np.full(10, 2)]
    data = from_arrays(draw.normal(size=(len(y), 3)).astype(np.float32), y, name="rare")
    few = compared(data, 400, seed=1)
    counts = np.bincount(few.targets)
    assert counts[2] == FEWEST_PER_CLASS
    assert abs(len(few) - 400) <= FEWEST_PER_CLASS
