"""Plans: what is refused, how networks are trained, and what a budget makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotropy.data import from_arrays
from isotropy.discovery.inputs import permutations_for
from isotropy.discovery.plan import Plan
from isotropy.discovery.settle import FEWEST_SEEN, RACING_SHARE, compared, fitted, pace
from isotropy.errors import InputError
from isotropy.evidence.probe import Probe
from tests.evidence.kinds import SHAPES, data_of

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"first_rounds": 1}, "rounds must be at least 2"),
    ({"rounds": 1}, "first_rounds ≤ rounds ≤ more_rounds, not 2, 1, 8"),
    ({"more_rounds": 4}, "rounds"),
    ({"validation": 0.0}, "validation must be between 0 and 1, not 0.0"),
    ({"test": 1.0}, "test must be between 0 and 1"),
    ({"alpha": float("nan")}, "alpha must be between 0 and 1, not nan"),
    ({"alpha": 1e-9}, "alpha must be at least 0.001"),
    ({"confidence": 2.0}, "confidence must be between 0 and 1"),
    ({"shown_rounds": 1}, "shown_rounds must be at least 2"),
    ({"settling_rounds": 0}, "settling_rounds must be at least 2"),
    ({"margin": 0.0}, "margin must be above 0"),
    ({"margin": float("nan")}, "margin must be above 0, not nan"),
    ({"tolerated": -1.0}, "tolerated must be above 0"),
    ({"epochs": 0}, "epochs must be at least 1"),
    ({"samples": 19}, "samples must be at least 20"),
]


@pytest.mark.parametrize(("given", "words"), REFUSED, ids=lambda value: str(value)[:30])
def test_what_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Plan(**given)


@given(st.integers(10, 100_000))
def test_networks_see_about_as_many_samples(samples: int) -> None:
    settings = Plan().settings(samples)
    assert 4 <= settings.epochs <= 40
    assert 1 <= settings.batch_size <= 64
    if 500 <= samples <= 5000:
        assert abs(settings.epochs * samples - 20_000) <= samples / 2


@pytest.mark.parametrize("moves", [1, 9, 40])
@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.001])
def test_the_least_p_value_is_significant_after_correction(moves: int, alpha: float) -> None:
    assert moves / (permutations_for(moves, alpha) + 1) < alpha


# -- a budget -----------------------------------------------------------------------------------

COSTS = (1.0, 0.8, 1.4)


@given(st.floats(1e-6, 1e-2), st.floats(1.01, 1000), st.integers(200, 6000), st.integers(1, 8))
def test_a_plan_fits_its_budget(pace: float, share: float, samples: int, workers: int) -> None:
    """Whole epochs, at least one, of 20 batches at least: small budgets are met roughly."""
    plan = Plan()
    one = pace * sum(COSTS) * plan.first_rounds / workers  # seconds for each sample that is seen
    seconds = share * one * FEWEST_SEEN / RACING_SHARE
    found = fitted(plan, samples, COSTS, pace, seconds, workers)
    used = round(min(found.samples, samples) * (1 - plan.validation))
    first = one * found.settings(used).epochs * used
    if found is not plan:
        assert 20 <= found.samples <= samples
        assert first <= RACING_SHARE * seconds * 1.5 + one * 20 * 64


@given(st.floats(1e-6, 1e-2), st.floats(0.01, 0.99), st.integers(1, 8))
def test_a_budget_for_less_than_anything_is_refused(
    pace: float, share: float, workers: int
) -> None:
    plan = Plan()
    one = pace * sum(COSTS) * plan.first_rounds / workers
    with pytest.raises(InputError, match=r"too little to compare 2 candidates.*--resize 32"):
        fitted(plan, 6000, COSTS, pace, share * one * FEWEST_SEEN / RACING_SHARE, workers)


def test_time_enough_leaves_the_plan_as_it_is() -> None:
    plan = Plan()
    assert fitted(plan, 1000, COSTS, 1e-6, 1000.0, 2) is plan


def test_less_time_never_buys_more() -> None:
    seen = []
    for seconds in (1000.0, 300.0, 100.0, 30.0, 20.0):
        found = fitted(Plan(), 6000, COSTS, 2e-4, seconds, 1)
        used = round(min(found.samples, 6000) * 0.75)
        seen.append(used * found.settings(used).epochs)
    assert seen == sorted(seen, reverse=True)
    assert seen[0] > 2 * seen[-1]


@pytest.mark.parametrize("kind", ["square picture", "signal", "vector"])
def test_pace_is_some_time(kind: str) -> None:
    shape, _ = SHAPES[kind]
    view = "entries" if kind == "vector" else "grid"
    assert 0 < pace(data_of(kind), Probe(shape, 2, view, width=4)) < 1


def test_samples_that_are_compared_are_some_of_every_class() -> None:
    X = np.arange(900, dtype=np.float32)[:, None]
    data = from_arrays(X, np.repeat([0, 1, 2], [600, 200, 100]))
    few = compared(data, 90, seed=0)
    assert np.bincount(few.targets).tolist() == [60, 20, 10]
    assert compared(data, 900, seed=0) is data
    again, other = compared(data, 90, seed=0), compared(data, 90, seed=1)
    assert again.fingerprint() == few.fingerprint() != other.fingerprint()
