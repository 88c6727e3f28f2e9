"""What the page of a search says."""

from __future__ import annotations

import re
from typing import Any

import pytest

from isotropy.report import search_page
from isotropy.report.evolution import groups_in_words
from tests.report import examples
from tests.report.documents import Document

Json = dict[str, Any]


def text_of(result: Json) -> str:
    return Document(search_page(result)).text


def test_all_parts_of_an_evolution() -> None:
    page = Document(search_page(examples.evolve_result()))
    assert page.headings == [
        "rotmnist: Which group should each layer have?",
        "Against other ways to the network",
        "The group of every layer",
        "Who came from whom",
        "What error is to be had at what size",
        "How it came there",
        "Use the model",
        "What was run",
        "Words used here",
    ]


def test_all_parts_of_a_mixture() -> None:
    page = Document(search_page(examples.mix_result()))
    assert page.headings[2:3] == ["How much of each group each layer uses"]
    assert "Who came from whom" not in page.headings
    assert "Mixture" in page.text
    assert "Relaxing" not in page.text


@pytest.mark.parametrize(
    ("low", "mean", "high", "answer", "sentence"),
    [
        (0.001, 0.002, 0.003, "The search helped", "smaller than that of C4 by 0.2 points"),
        (-0.003, -0.002, -0.001, "The search did not help", "larger than that of C4 by 0.2 points"),
        (-0.001, 0.002, 0.005, "Whether the search helped cannot be told", "−0.1 to +0.5"),
    ],
)
def test_the_answer_rests_on_an_interval_over_seeds(
    low: float, mean: float, high: float, answer: str, sentence: str
) -> None:
    result = examples.evolve_result(2)
    result["helped"]["gain"] = {"mean": mean, "low": low, "high": high, "runs": 3}
    said = text_of(result)
    assert answer in said
    assert sentence in said


@pytest.mark.parametrize("gain", [{}, {"mean": 0.1}, {"mean": 0.1, "low": 0.05, "high": None}])
def test_without_an_interval_nothing_is_said_of_help(gain: Json) -> None:
    result = examples.evolve_result(2)
    result["helped"]["gain"] = gain
    said = text_of(result)
    assert "helped" not in said
    assert "Of the baselines" not in said
    assert re.search(r"Found: validation error [\d.]+% with [\d,]+ parameters", said)


def test_one_run_is_told_beside_the_strongest_baseline() -> None:
    result = examples.evolve_result(2)
    del result["helped"]
    first = result["baselines"][0]
    result["strongest"] = first["name"]
    first["test_error"] = {"mean": 0.0512, "runs": 1}
    result["found"]["test_error"] = {"mean": 0.2, "runs": 1}
    said = text_of(result)
    assert f"Of the baselines {first['name']} had the smallest validation error" in said
    assert "its test error is 5.1%, that of the search 20.0%" in said


def marks(page: str, kind: str) -> list[str]:
    """What the marks of the wide chart of a kind say."""
    (chart,) = re.findall(rf'<svg class="chart {kind}" viewBox="0 0 880.*?</svg>', page, re.DOTALL)
    return re.findall(r'<g class="mark"><title>(.*?)</title>', chart)


def test_every_network_is_in_the_lineage_and_the_last_ones_in_the_front() -> None:
    result = examples.evolve_result(4)
    page = search_page(result)
    last = [row for row in result["population"] if row["generation"] == 4]
    assert len(marks(page, "lineage")) == len(result["population"])
    assert len(marks(page, "scatter")) == len(last)
    told = next(row for row in result["population"] if row["id"] == result["best"])
    said = f"network {told['id']} of generation 4, from {told['parent']}: error "
    assert any(mark.startswith(said) for mark in marks(page, "lineage"))


def test_networks_that_failed_are_counted_and_not_drawn() -> None:
    result = examples.evolve_result(4) | {"passes": 96.5}
    result["population"][1]["stopped_early"] = True
    for row in result["population"][-3:]:
        row |= {"val_error": None, "failed": True}
    page = search_page(result)
    assert f"{len(result['population'])} networks trained, 1 stopped early, 3 failed" in page
    assert "96.5" in page
    assert len(marks(page, "lineage")) == len(result["population"]) - 3


def test_the_search_stands_first_among_the_ways_and_the_others_by_error() -> None:
    said = marks(search_page(examples.evolve_result()), "intervals")
    names = [mark.split(", over")[0] for mark in said]
    assert names[:2] == ["search by evolution"] * 2
    ranked = sorted(examples.baselines(), key=lambda row: row["test_error"]["mean"])
    assert names[2:] == [row["name"] for row in ranked]


def test_each_layer_has_a_panel_of_all_groups() -> None:
    result = examples.mix_result(5)
    said = marks(search_page(result), "areas")
    assert len(said) == 8 * 6
    first, last = (result["weights"]["conv0"]["C1"][place] for place in (0, -1))
    assert said[0] == f"conv0, C1: {first:.0%} at first, {last:.0%} at last"


def test_the_course_tells_what_each_forebear_let_go() -> None:
    result = examples.evolve_result()
    named = {row["id"]: row for row in result["population"]}
    page, at = text_of(result), named[result["best"]]
    course = page[page.rindex("How it came there") : page.rindex("Use the model")]
    told = 0
    while at["parent"] is not None:
        before = named[at["parent"]]
        changed = {k: f"{before['groups'][k]} → {g}" for k, g in at["groups"].items()
                   if g != before["groups"][k]}  # fmt: skip
        said = f"{at['generation']} {groups_in_words(changed) or 'nothing more'} "
        assert (said in course) == (bool(changed) or at["id"] == result["best"])
        at, told = before, told + bool(changed)
    assert told > 3
    assert "0 the first one 40.0% 40,000 0 " in course


def test_a_lineage_that_runs_in_a_circle_ends() -> None:
    result = examples.evolve_result(2)
    result["population"][0]["parent"] = result["best"]
    assert "How it came there" in text_of(result)
