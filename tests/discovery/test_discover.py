"""Discoveries from beginning to end, on small data of every kind."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import isotropy as iso
from isotropy.data import DataSet, from_arrays, symmetrised
from isotropy.errors import InputError
from isotropy.groups.permutation import PermutationGroup
from isotropy.report import discovery_page
from tests.discovery.studies import crosses
from tests.report.documents import Document

VERDICTS = {"build_in", "build_in_permuted", "harmless", "hurts", "cannot_tell"}
QUICK = iso.DiscoveryPlan(
    rounds=2, more_rounds=2, first_rounds=2, shown_rounds=2, settling_rounds=2, epochs=4
)


def waves(count: int = 200) -> DataSet:
    """Signals whose number turns its sign as they are reversed: how much more there is at the
    end than at the beginning."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(count, 1, 24))
    slope = X[:, 0, 12:].mean(1) - X[:, 0, :12].mean(1)
    return from_arrays(X.astype(np.float32), 3 * slope, layout="ncl", name="waves")


def sums(count: int = 200) -> DataSet:
    """Vectors whose number does not ask which column is which."""
    X = np.random.default_rng(0).normal(size=(count, 6))
    return from_arrays(X.astype(np.float32), np.abs(X).sum(1), name="sums")


def boxes(count: int = 80) -> DataSet:
    """Volumes, bright in one half or not."""
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(count, 1, 5, 5, 5)), np.arange(count) % 2
    X[y == 1, :, :2] += 1.0
    return from_arrays(X.astype(np.float32), y, layout="ncdhw", name="boxes")


CASES: dict[str, tuple[Any, Any]] = {
    "pictures": (lambda: crosses(160), ["C4", "D1"]),
    "signals": (waves, ["reversal", "shift"]),
    "vectors": (sums, ["sign", "permute all"]),
    "volumes": (boxes, ["mirror depth", "C2 row"]),
    "entries": (sums, {"cycle": [1, 2, 3, 4, 5, 0]}),
}


@cache
def found(case: str) -> iso.Discovery:
    data, candidates = CASES[case]
    return iso.discover(data(), candidates=candidates, plan=QUICK, seed=1, workers=1)


@pytest.mark.parametrize("case", CASES)
def test_everything_that_was_asked_is_answered(case: str) -> None:
    result = found(case)
    asked = CASES[case][1]
    assert set(asked) <= set(result.verdicts)
    assert set(result.verdicts.values()) <= VERDICTS
    for name, verdict in result.verdicts.items():
        assert name in result.table
        assert verdict in result.table
    assert str(result).startswith("recommended: ")
    chosen = result.to_json()["recommended"]
    assert (chosen["group"] == "C1") == (str(result.recommended) == "C1")
    assert result.label_permutations == chosen.get("labels", {})


@pytest.mark.parametrize("case", CASES)
def test_the_model_takes_data_as_they_are_and_has_the_symmetry(case: str) -> None:
    result, data = found(case), CASES[case][0]()
    x = data.samples.take(np.arange(6))
    y = result.model(x)
    assert y.shape == (6, data.outputs)
    symmetry = result.symmetry
    if symmetry is None:
        return
    for element in symmetry.group.generators:
        expected = y if symmetry.labels is None else symmetry.labels.apply(element, y, 1)
        torch.testing.assert_close(
            result.model(symmetry.move(x, element)), expected, atol=1e-4, rtol=1e-4
        )


@pytest.mark.parametrize("case", CASES)
def test_the_result_is_json_that_the_page_reads(case: str, tmp_path: Path) -> None:
    result = found(case).to_json()
    again = json.loads(json.dumps(result, allow_nan=False))
    assert again["format"] == "isotropy-discovery-1"
    document = Document(discovery_page(again, found(case).images))
    for row in again["candidates"]:
        assert row["meaning"] in document.text
        for number in (row["score"], row["gain"]["mean"], row["gain"]["low"]):
            assert math.isfinite(number)
        assert row["gain"]["low"] <= row["gain"]["mean"] <= row["gain"]["high"]
        assert len(row["gain"]["differences"]) == row["gain"]["pairs"]
    path = found(case).report(tmp_path / "report.html")
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_what_the_result_says_of_the_run() -> None:
    result = found("pictures").to_json()
    data, time, run = result["data"], result["time"], result["run"]
    assert (data["kind"], data["task"], data["n"]) == ("image", "classification", 160)
    assert data["n_train"] + data["n_validation"] + data["n_test"] == 160
    assert result["recommended"]["test"]["n"] == data["n_test"]
    assert (run["seed"], run["deterministic"], time["budget"]) == (1, True, None)
    assert time["networks"] == time["planned"] > 8
    moves = {row["name"]: row for row in result["inputs"]}
    assert {"r", "r2", "s", "turn by 15°", "shift by 1 pixel"} <= set(moves)
    assert moves["turn by 15°"]["reported_only"]
    assert not moves["r"]["reported_only"]
    assert all(row["p"] <= row["p_holm"] <= 1 for row in moves.values())


def test_a_sign_that_turns_is_found() -> None:
    names = found("signals").verdicts
    assert any(name.startswith("reversal [") for name in names)


def test_groups_too_large_to_list_can_be_recommended_and_used() -> None:
    plan = replace(QUICK, rounds=3, more_rounds=3, epochs=20)
    group = iso.discover(
        sums(400), candidates=["permute all"], plan=plan, seed=1, workers=1
    ).recommended
    assert isinstance(group, PermutationGroup)
    assert group.name == "permute all"


# -- a planted symmetry -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def turned_digits() -> DataSet:
    digits = iso.data.load("digits").train.subset(range(450))
    return symmetrised(digits, "C4", seed=0)


def test_planted_quarter_turns_are_found_the_same_with_two_workers(
    turned_digits: DataSet,
) -> None:
    plan = replace(QUICK, more_rounds=3, epochs=10)
    one, two = (
        iso.discover(turned_digits, candidates=["C4", "D1"], plan=plan, seed=0, workers=workers)
        for workers in (1, 2)
    )
    assert str(one.recommended) == "C4"
    assert one.verdicts["C4"] == "build_in"
    assert one.verdicts["D1"] != "build_in"
    assert timeless(two.to_json()) == timeless(one.to_json())
    for a, b in zip(one.model.parameters(), two.model.parameters(), strict=True):
        assert torch.equal(a, b)


def timeless(result: dict[str, Any]) -> dict[str, Any]:
    """What does not depend on when and where it was found."""
    return {key: value for key, value in result.items() if key not in ("time", "run")}


def test_layers_may_be_asked_too() -> None:
    data = crosses(300)
    plan = replace(QUICK, rounds=3, more_rounds=3, epochs=8)
    options: dict[str, Any] = {"candidates": ["C4"], "plan": plan, "seed": 0, "workers": 1}
    result = iso.discover(data, method="mix", width=8, **options)
    assert str(result.recommended) == "C4"
    layers = result.to_json()["layers"]
    assert list(layers["weights"]) == layers["order"]
    for shares in layers["weights"].values():
        assert set(shares) == {"C1", "C2", "C4"}
        assert sum(shares.values()) == pytest.approx(1, abs=1e-5)
    assert "takes the most of C4" in layers["words"]


# -- runs that are kept -------------------------------------------------------------------------


@pytest.fixture
def without_onnx(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the extra is not installed; to write one takes seconds."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)


def test_a_run_in_a_folder_is_resumed_to_the_same(tmp_path: Path) -> None:
    data, options = crosses(100), {"candidates": ["C4"], "plan": QUICK, "workers": 1}
    first = iso.discover(data, out=tmp_path / "run", **options)
    ledger = tmp_path / "run" / "trials.jsonl"
    whole = ledger.read_text()
    ledger.write_text("".join(whole.splitlines(keepends=True)[:3]) + '{"key"')
    again = iso.discover(data, out=tmp_path / "run", resume=True, **options)
    assert timeless(again.to_json()) == timeless(first.to_json())
    assert [json.loads(line)["key"] for line in ledger.read_text().splitlines()] == [
        json.loads(line)["key"] for line in whole.splitlines()
    ]
    for name in first.to_json()["model"]["files"]:
        assert (tmp_path / "run" / name).stat().st_size


def test_another_run_in_the_same_place_sees_its_own_samples(
    tmp_path: Path, without_onnx: None
) -> None:
    """Workers keep what they have opened; what lies there now is something else."""
    import shutil

    sizes = []
    for count in (100, 140):
        result = iso.discover(
            crosses(count), candidates=["C4"], plan=QUICK, workers=1, out=tmp_path / "run"
        ).to_json()
        sizes.append(result["data"]["n_train"] + result["data"]["n_validation"])
        shutil.rmtree(tmp_path / "run")
    assert sizes[1] > sizes[0]


def test_a_budget_is_kept_and_what_it_cost_is_said(tmp_path: Path, without_onnx: None) -> None:
    """Timings on a busy machine are rough, so the case is generous: far less than it asks for."""
    result = iso.discover(
        crosses(600), candidates=["C4", "D4"], budget=10.0, workers=1, out=tmp_path / "run"
    ).to_json()
    time = result["time"]
    assert time["budget"] == 10
    assert time["kept"] == (time["seconds"] <= 11)
    assert time["seconds"] < 20
    assert not result["run"]["deterministic"]
    assert json.loads((tmp_path / "run" / "plan.json").read_text())["epochs"]


def test_a_run_is_not_gone_on_with_another_model_or_other_moves(tmp_path: Path) -> None:
    data = crosses(80)

    def small(width: int) -> nn.Module:
        return iso.models.make("cnn", (1, 8, 8), 2, width=width, stages=1)

    def large(width: int) -> nn.Module:
        return iso.models.make("cnn", (1, 8, 8), 2, width=width, stages=2)

    iso.discover(data, candidates=["C2"], model=small, plan=QUICK, workers=1, out=tmp_path / "run")
    with pytest.raises(InputError, match="was begun with model"):
        iso.discover(
            data,
            candidates=["C2"],
            model=large,
            plan=QUICK,
            workers=1,
            out=tmp_path / "run",
            resume=True,
        )
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    y = (X.sum(1) > 0).astype(int)
    options: dict[str, Any] = {"plan": QUICK, "workers": 1, "out": tmp_path / "other"}
    iso.discover(X, y, candidates={"swap": [1, 0, 2]}, **options)
    with pytest.raises(InputError, match="was begun with candidates"):
        iso.discover(X, y, candidates={"swap": [0, 2, 1]}, resume=True, **options)


def test_few_rounds_are_enough_to_see_that_networks_have_learned() -> None:
    digits = iso.data.load("digits").train.subset(range(300))
    plan = replace(QUICK, epochs=10)
    found = iso.discover(digits, plan=plan, workers=1).to_json()
    assert found["baseline"]["score"] > 0.7
    assert "better than chance" not in " ".join(found["recommended"]["words"])
    assert all(0 <= end <= 1 for end in found["baseline"]["interval"])


# -- bad input ----------------------------------------------------------------------------------


def maps() -> DataSet:
    X = np.random.default_rng(0).normal(size=(40, 8, 8)).astype(np.float32)
    return from_arrays(X, (X > 0).astype(np.int64), name="maps")


def lonely() -> DataSet:
    data = crosses(60)
    y = np.arange(60) % 2
    y[:5] = 2
    return from_arrays(data.samples.take(np.arange(60)).numpy(), y, layout="nchw", name="lonely")


BAD: list[tuple[Any, dict[str, Any], str]] = [
    (maps, {}, "needs one label or some numbers for each sample, not maps"),
    (lonely, {}, "lonely: class '2' has 5 samples, but every class needs 6"),
    (lambda: crosses(20), {}, "20 samples are too few to compare networks on"),
    (crosses, {"candidates": ["D5"]}, "D5 is none that is known for images"),
    (crosses, {"budget": "soon"}, "budget must be a time"),
    (crosses, {"budget": 1e-3}, "budget: .* too little to compare 9 candidates.*--resize 32"),
    (crosses, {"method": "guess"}, "method must be one of"),
    (waves, {"method": "mix"}, "method: mix needs symmetries whose elements are listed, and shift"),
    (crosses, {"resume": True}, "resume: say with out which run to go on with"),
    (crosses, {"workers": 0}, "workers must be at least 1"),
    (crosses, {"blocks": 2}, "blocks: are of columns"),
    (
        crosses,
        {
            "candidates": [
                *iso.evidence.candidates_for(crosses(), {"p": [1, 0, *range(2, 64)]}),
                "C4",
            ]
        },
        "permutations of entries need another network",
    ),
]


@pytest.mark.parametrize(("data", "options", "words"), BAD, ids=[case[2] for case in BAD])
def test_bad_input(data: Any, options: dict[str, Any], words: str, tmp_path: Path) -> None:
    out = {} if "resume" in options else {"out": tmp_path / "run"}
    with pytest.raises(InputError, match=words) as error:
        iso.discover(data(), **{"workers": 1, **options}, **out)
    assert "\n" not in str(error.value)
