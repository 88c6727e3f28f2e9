"""What searches are compared with: trained as long, tested once, told with intervals."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import isotropy as iso
from isotropy.errors import InputError
from isotropy.search import Comparison, Evolution, compare
from isotropy.search.compare import FOLDER, spread, table
from isotropy.search.rivals import KINDS, Finish, Rival, _begun, _drawn_step, drawn_anew, rivals
from tests.search.searches import digits, numbers, small

SHORT = {"generations": 2}


@pytest.fixture(scope="module")
def searches(tmp_path_factory: pytest.TempPathFactory) -> list[Evolution]:
    folder = tmp_path_factory.mktemp("searches")
    options = {**SHORT, "validation": digits().subset(range(120, 160))}
    return [small(**options, seed=seed, out=folder / str(seed)) for seed in (0, 1)]


@pytest.fixture(scope="module")
def test_data() -> iso.data.DataSet:
    return iso.data.load("digits").train.subset(range(200, 300))


@pytest.fixture(scope="module")
def compared(searches: list[Evolution], test_data: iso.data.DataSet) -> Comparison:
    return compare(searches, test_data, backend="here")


def test_all_rows_of_the_paper(compared: Comparison) -> None:
    paper = {"C1", "C4", "D4", "C4 (prior: D4)", "C1 (prior: D4)", "C1 (prior: C4)", "RPP"}
    ours = {"D1", "C2", "D2", "random schedules", "augmented"}
    assert paper | ours <= set(compared.baselines)
    assert all(len(finishes) == 2 for finishes in compared.baselines.values())
    assert {row["name"] for row in compared.rows} == set(compared.baselines)


def test_errors_are_those_of_the_networks(
    searches: list[Evolution], compared: Comparison, test_data: iso.data.DataSet
) -> None:
    scaled = test_data.scaled_like(searches[0].train)
    for search, error in zip(searches, compared.found, strict=True):
        accuracy = iso.training.evaluate(search.model, scaled)["accuracy"]
        assert error == pytest.approx(1 - accuracy)
    assert len(compared.individuals) == len(searches[0].last)


def test_it_is_not_done_again(
    searches: list[Evolution], compared: Comparison, test_data: iso.data.DataSet
) -> None:
    told: list[str] = []
    again = compare(searches, test_data, backend="here", watch=lambda one: told.append(one.name))
    assert not told
    assert again == compared


def test_baselines_are_counted_over_all_searches(
    searches: list[Evolution], test_data: iso.data.DataSet
) -> None:
    for search in searches:
        shutil.rmtree(search.nursery.folder / FOLDER, ignore_errors=True)
    told: list[tuple[str, int, int]] = []
    compare(
        searches,
        test_data,
        kinds=["fixed"],
        backend="here",
        watch=lambda one: told.append((one.name, one.number, one.of)),
    )
    each = len(told) // len(searches)
    assert [name for name, _, _ in told] == [name for name, _, _ in told[:each]] * len(searches)
    assert [(number, of) for _, number, of in told] == [
        (number, len(told)) for number in range(1, len(told) + 1)
    ]


def test_they_begin_as_they_should(searches: list[Evolution]) -> None:
    found = searches[0]
    x, _ = found.train.batch(range(4))
    for rival in rivals(found.rules, ["fixed", "prior", "schedule"], 1):
        model = _begun(found.nursery, found.rules, rival).eval()
        own = {str(group) for group in iso.groups_of(model).values()}
        assert own == {str(rival.group or "D4")}
        keeps = rival.prior or rival.group or "D4"  # a prior is a symmetry that is not asked for
        assert iso.equivariance_error(model, x.double(), keeps) < 1e-5
        if rival.group is not None and str(rival.group) == str(keeps) == "C1":
            assert iso.equivariance_error(model, x, "D4") > 1e-3


def test_new_weights_are_as_large_as_the_old(searches: list[Evolution]) -> None:
    model = searches[0].nursery.root()
    before = numbers(model)
    sizes = [
        m.weight.detach().square().mean().sqrt() for m in model.modules() if hasattr(m, "scheme")
    ]
    drawn_anew(model)
    after = [
        m.weight.detach().square().mean().sqrt() for m in model.modules() if hasattr(m, "scheme")
    ]
    assert not torch.equal(before, numbers(model))
    for a, b in zip(sizes, after, strict=True):
        assert float(b / a) == pytest.approx(1, rel=0.6)


def test_schedules_take_steps_of_the_search(searches: list[Evolution]) -> None:
    found = searches[0]
    groups = found.children[0].groups
    known = [None, *found.rules.steps(groups)]
    drawn = [
        _drawn_step(groups, found.nursery, found.rules, Rival("schedule", number=n), 1)
        for n in range(60)
    ]
    counts = [drawn.count(step) for step in known]
    assert sum(counts) == len(drawn)
    assert min(counts) > 60 / len(known) / 3


def finish(val: float, test: float) -> Finish:
    return Finish(val, test, 100, 1.0)


def test_the_strongest_is_chosen_by_validation_and_paired_by_seed() -> None:
    found = Comparison(
        (0.10, 0.20, 0.30),
        (0.1,),
        {
            "A": (finish(0.2, 0.15), finish(0.2, 0.26), finish(0.2, 0.34)),
            "B": (finish(0.3, 0.0), finish(0.3, 0.0), finish(0.3, 0.0)),
        },
        0.0,
    )
    assert found.strongest == "A"
    helped = found.helped
    assert helped is not None
    assert helped["over"] == "A"
    assert helped["gain"]["single"] == pytest.approx([0.05, 0.06, 0.04])
    assert helped["gain"]["low"] < 0.05 < helped["gain"]["high"]
    assert Comparison((0.1,), (0.1,), {"A": (finish(0.2, 0.2),)}, 0.0).helped is None
    assert "A " in table(found)
    assert json.loads(json.dumps(found.to_json()))["helped"]["over"] == "A"


def test_intervals_hold_as_often_as_they_say() -> None:
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(2000, 4))
    held = [(found := spread(list(row)))["low"] < 0 < found["high"] for row in draws]
    assert np.mean(held) == pytest.approx(0.95, abs=0.015)
    assert "low" not in spread([0.1])


def test_bad_input(searches: list[Evolution], test_data: iso.data.DataSet, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="baselines must be some of"):
        compare(searches, test_data, kinds=["best"])
    with pytest.raises(InputError, match="searches: give at least one"):
        compare([], test_data)
    assert set(KINDS) == {"fixed", "prior", "pathway", "schedule", "augmented"}


def test_baselines_of_other_test_data_are_not_taken_for_these(
    searches: list[Evolution], compared: Comparison
) -> None:
    other = iso.data.load("digits").train.subset(range(300, 420))
    again = compare(searches[:1], other, kinds=["fixed"], backend="here")
    model = searches[0].model
    assert (
        again.found[0]
        == 1 - iso.training.evaluate(model, other.scaled_like(searches[0].train))["accuracy"]
    )
    fixed = [name for name in again.baselines if name in compared.baselines]
    assert any(
        again.baselines[name][0].test_error != compared.baselines[name][0].test_error
        for name in fixed
    )
    for name in fixed:  # the same networks
        assert again.baselines[name][0].val_error == compared.baselines[name][0].val_error


def test_baselines_are_trained_as_long_as_a_search_that_a_budget_ended(
    tmp_path: Path, test_data: iso.data.DataSet
) -> None:
    options = {"validation": digits().subset(range(120, 160)), "seed": 0}
    short = small(generations=2, out=tmp_path / "short", **options)
    ended = small(generations=5, budget=short.passes, out=tmp_path / "ended", **options)
    assert ended.generations == short.generations == 2
    found = [
        compare([one], test_data, kinds=["fixed", "schedule"], backend="here").baselines
        for one in (short, ended)
    ]
    assert {n: f[0].val_error for n, f in found[0].items()} == {
        n: f[0].val_error for n, f in found[1].items()
    }


def test_a_baseline_that_cannot_be_made_is_named_and_left_out(
    searches: list[Evolution], test_data: iso.data.DataSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise InputError("6 channels are no fields")

    monkeypatch.setattr("isotropy.search.rivals._pathway", refused)
    shutil.rmtree(searches[0].nursery.folder / FOLDER, ignore_errors=True)
    with pytest.warns(iso.errors.IsotropyWarning, match="baseline RPP is left out: 6 channels"):
        found = compare(searches[:1], test_data, kinds=["pathway"], backend="here")
    assert not found.baselines


def test_errors_that_are_no_shares_are_told_as_they_are() -> None:
    told = Comparison((0.0512, 0.06), (), {}, 0.0, metric="mse")
    assert "0.0556" in table(told)
