"""What the estimators find and say: the same as discover, of samples however they are laid out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import isotropy as iso
from isotropy.estimators.layout import Layout
from isotropy.nn.export import TOLERANCE
from tests.estimators.fitted import (
    QUICK,
    SHAPE,
    SWAP,
    exchanged_digits,
    exchanging_classifier,
    product_regressor,
    turned_classifier,
    turned_digits,
    vectors,
)


def pictures(rows: np.ndarray) -> np.ndarray:
    return rows.reshape(len(rows), *SHAPE)


# -- what is found -----------------------------------------------------------------------------


def test_finds_what_discover_finds() -> None:
    X, y = turned_digits()
    found = iso.discover(pictures(X), y, candidates=["C4"], plan=QUICK, workers=1)
    fitted = turned_classifier()
    assert fitted.report_.result["candidates"] == found.result["candidates"]
    assert (str(fitted.symmetry_), fitted.verdicts_) == (str(found.recommended), found.verdicts)
    assert fitted.classes_.tolist() == ["class 0", "class 1", "class 7"]


def test_what_is_built_in_is_exact() -> None:
    X, y = turned_digits()
    fitted = turned_classifier()
    assert str(fitted.symmetry_) == "C4"
    turned = np.rot90(pictures(X), axes=(2, 3))
    assert np.allclose(fitted.predict_proba(turned), fitted.predict_proba(X), atol=1e-10)
    assert fitted.score(X, y) > 0.9


def test_exchanged_classes() -> None:
    X, y = exchanged_digits()
    fitted = exchanging_classifier()
    assert (str(fitted.symmetry_), fitted.label_permutations_) == ("D1", {"s": SWAP})
    mirrored = fitted.predict_proba(pictures(X)[..., ::-1])
    assert np.allclose(mirrored, fitted.predict_proba(X)[:, SWAP], atol=1e-10)
    assert fitted.score(X, y) > 0.9


def test_regression() -> None:
    X = vectors(400)
    fitted = product_regressor()
    assert str(fitted.symmetry_) == "x0~x1"
    assert np.allclose(fitted.predict(X), fitted.predict(X[:, [1, 0, 2, 3]]))
    assert fitted.predict(X).shape == (400,)


def test_regression_of_several_columns_that_change_sign() -> None:
    X = vectors(400)
    y = np.stack([X[:, 0] + X[:, 1], X[:, 2] - X[:, 3]], axis=1)
    fitted = iso.SymmetryRegressor(candidates=["sign"], plan=QUICK).fit(X, y)
    assert fitted.label_permutations_ == {"n": [-1, -2]}
    assert np.allclose(fitted.predict(-X), -fitted.predict(X))
    assert fitted.score(X, y) > 0.9


def test_same_seed_same_result() -> None:
    X, y = vectors(60), np.arange(60) % 2
    asked = iso.SymmetryClassifier(candidates=["sign"], plan=QUICK)
    first, second, other = (
        asked.set_params(random_state=s).fit(X, y).predict_proba(X) for s in (1, 1, 2)
    )
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (vectors(20), np.arange(20) % 2),
        (vectors(60), np.array([0, 1, 2] * 19 + [0, 1, 3])),
        (vectors(20).reshape(20, 2, 2), np.arange(20) % 2),
    ],
    ids=["few samples", "a small class", "pictures"],
)
def test_too_few_samples(X: np.ndarray, y: np.ndarray) -> None:
    with pytest.warns(iso.IsotropyWarning, match=r"samples.*; no symmetry is built in"):
        fitted = iso.SymmetryClassifier(plan=QUICK).fit(X, y)
    assert str(fitted.symmetry_) == "C1"
    assert fitted.report_ is None
    assert set(fitted.verdicts_.values()) == {"cannot_tell"}
    assert fitted.label_permutations_ == {}
    assert set(fitted.predict(X)) <= set(y)


# -- how samples are laid out --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("axes", "shape", "expected"),
    [
        ((6,), None, (6,)),
        ((6,), (6,), (6,)),
        ((12,), (2, 6), (2, 6)),
        ((2, 6), (2, 6), (2, 6)),
        ((4, 4), None, (1, 4, 4)),
        ((4, 4), (1, 4, 4), (1, 4, 4)),
        ((16,), (1, 4, 4), (1, 4, 4)),
        ((3, 4, 4), None, (3, 4, 4)),
        ((4, 4, 3), None, (3, 4, 4)),
        ((64,), (1, 4, 4, 4), (1, 4, 4, 4)),
    ],
)
def test_layouts(
    axes: tuple[int, ...], shape: tuple[int, ...] | None, expected: tuple[int, ...]
) -> None:
    X = np.arange(5 * np.prod(axes), dtype=float).reshape(5, *axes)
    layout = Layout.of(X, shape)
    samples = layout.samples(layout.rows(X).reshape(5, -1)).take(np.arange(5))
    assert samples.shape[1:] == expected
    channels_last = expected != axes and sorted(expected) == sorted(axes)
    same = np.moveaxis(X, -1, 1) if channels_last else X
    assert np.array_equal(samples.numpy().ravel(), same.ravel())


@pytest.mark.parametrize(
    "form",
    [
        lambda X: X.tolist(),
        lambda X: pictures(X),
        lambda X: torch.from_numpy(pictures(X)),
        lambda X: X.astype(np.uint8),
    ],
    ids=["lists", "pictures", "tensor", "bytes"],
)
def test_predicts_samples_of_any_form(form: Any) -> None:
    X = turned_digits()[0][:20]
    fitted = turned_classifier()
    assert np.array_equal(fitted.predict_proba(form(X)), fitted.predict_proba(X))


# -- files ---------------------------------------------------------------------------------------


def test_export(tmp_path: Path) -> None:
    X = turned_digits()[0][:20]
    fitted = turned_classifier()
    for name in ("model.pt2", "model.onnx"):
        assert fitted.export(tmp_path / name) < TOLERANCE
    program = torch.export.load(tmp_path / "model.pt2").module()
    scores = program(torch.from_numpy(pictures(X)))
    assert np.allclose(scores.softmax(1).numpy(), fitted.predict_proba(X), atol=1e-5)


def test_page(tmp_path: Path) -> None:
    page = turned_classifier().report_.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "quarter turns" in page


# -- what does not fit -----------------------------------------------------------------------------

ROWS, HALVES = vectors(40), np.arange(40) % 2


@pytest.mark.parametrize(
    ("parameters", "X", "y", "message"),
    [
        ({"shape": (1, 2, 3)}, ROWS, HALVES, r"shape: is \(1, 2, 3\), 6 values, but samples of X"),
        ({"shape": 4}, ROWS, HALVES, "shape must be that of one sample, channels first"),
        ({"shape": (0, 4)}, ROWS, HALVES, "shape must be that of one sample"),
        ({"shape": (2, 2, 1)}, ROWS.reshape(40, 2, 2), HALVES, r"shape: is \(2, 2, 1\)"),
        ({"candidates": ["C4"]}, ROWS, HALVES, "C4 is none that is known for vectors"),
        ({"candidates": {"swap": [1, 0]}}, ROWS, HALVES, "swap permutes 2 entries"),
        ({"blocks": 3}, ROWS, HALVES, "blocks of 3 columns do not divide the 4"),
        ({"budget": "soon"}, ROWS, HALVES, "budget must be a time"),
        ({"random_state": -1}, ROWS, HALVES, "random_state must be 0 or more, not -1"),
        ({"workers": 0}, ROWS, HALVES, "workers must be at least 1"),
        ({}, ROWS, np.zeros(40), "y must have two classes or more, not one class"),
        ({}, ROWS, ROWS[:, 0], "Unknown label type: continuous"),
        ({}, ROWS, HALVES[:39], "inconsistent numbers of samples"),
        ({}, np.full((40, 4), np.nan), HALVES, "contains NaN"),
        ({}, np.ones((40, 4)), HALVES, "all 40 samples are the same"),
        ({}, 1e300 * ROWS, HALVES, "NaN, infinite or too large"),
    ],
)
def test_refusals(parameters: dict[str, Any], X: Any, y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        iso.SymmetryClassifier(**{"plan": QUICK, **parameters}).fit(X, y)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((3, 63)), "X has 63 features"),
        (np.ones((3, 8, 8, 1)), "dim 4"),
        (np.ones(64), "Expected 2D array, got 1D"),
    ],
)
def test_predict_refuses_other_samples(X: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        turned_classifier().predict(X)
