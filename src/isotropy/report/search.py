"""The page of a search: which group every layer got, how it came there, and what it is worth.

The format isotropy-search-1, a JSON object. What is missing is left out of the page; an error is a
number where less is better, as `metric` says.

    format      "isotropy-search-1"
    method      "evolve" (EquiNAS_E) or "mix" (EquiNAS_D)
    metric      what errors are: "error" (the default, a share between 0 and 1), "mse", "mae", "nll"
    alpha       1 − the level of all intervals; 0.05 by default
    title       of the page, instead of the one it has by default
    data        {name, kind, task, n, n_train, n_validation, n_test, shape, classes, fingerprint,
                notes}, as in isotropy-discovery-1
    model       {name: of the backbone, layers: [names in order of execution],
                usage: {python: lines, command: lines, …}, files: [path, …]}
    group       the group that the network was tied to at the beginning
    groups      [names of the groups that a layer may have], smallest first
    settings    {name: value}: what the search was asked to do, each a text, number or truth value
    population  evolve: [{id, parent: id or null, generation, selected: was it kept as a parent,
                groups: {layer: group}, val_error, parameters, seconds, stopped_early: true if
                it was not trained to the end, failed: true if it could not be made}], parents
                before children. A network that stays unchanged for several generations has a row
                for each, whose parent is the row before.
    front       evolve: [ids] that no other betters in both error and parameters
    best        evolve: the id with the smallest val_error
    max_morphism_error   evolve: the largest difference, relative, between a child's and its
                parent's outputs at birth
    times       mix: [numbers], one for every entry of the lists in weights
    time_axis   mix: what times count; "epoch" by default
    weights     mix: {layer: {group: [z at each time]}}, layers in order of execution
    found       the network that the search came to: {groups: {layer: group} (evolve),
                parameters, val_error, test_error: ERRORS of the method over seeds,
                individuals: ERRORS over the last population of this run, as the paper gives it}
    baselines   [{name, test_error: ERRORS over seeds, parameters}]
    strongest   the name of the baseline with the smallest validation error
    helped      {over: name of a baseline, gain: ERRORS}: by how much the error is smaller than
                that baseline's, paired over seeds
    seconds     the time of the search itself; baseline_seconds that of all baselines
    trials      the number of networks that it trained
    passes      over the training data, of all networks together
    run         {command, seed, started, machine: {…}, versions: {…}, resume, deterministic}
    version     of isotropy

ERRORS are {mean, low, high, runs: how many, single: [one for each]}; low and high are absent where
there is one run only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isotropy.report.baselines import baselines_figure
from isotropy.report.context import Context, check_format, context_of
from isotropy.report.evolution import course_table, front_figure, lineage_figure
from isotropy.report.facts import codes, data_facts, model_files, repeat_words, run_facts
from isotropy.report.found import layers_table, search_facts, search_headline
from isotropy.report.mixing import weights_figure
from isotropy.report.page import render
from isotropy.report.read import Result, part, words
from isotropy.report.terms import search_terms

FORMAT = "isotropy-search-1"

CONTENTS = (
    ("baselines", "baselines", "Against other ways"),
    ("layers", "groups", "Layers"),
    ("weights", "weights", "Weights over time"),
    ("lineage", "lineage", "Lineage"),
    ("front", "front", "Errors and sizes"),
    ("course", "course", "How it came there"),
    ("use", "codes", "Use the model"),
    ("run", "facts", "What was run"),
)
"""Sections that may be missing: where they are on the page, what they show, and their title."""


def search_page(result: Mapping[str, Any]) -> str:
    """The page of a search as HTML that needs no other file and no network.

    Args:
        result: what the search found, in the format isotropy-search-1; parts that are missing are
            left out of the page.

    >>> page = search_page({"method": "evolve", "data": {"name": "digits"}})
    >>> "Which group should each layer have?" in page
    True
    """
    check_format(result, FORMAT)
    context = context_of(result, "error")
    name = words(part(result, "data").get("name"))
    sections = _sections(result, context)
    return render(
        "search.html",
        title=words(result.get("title"))
        or f"{name + ': ' if name else ''}Which group should each layer have?",
        context=context,
        method=words(result.get("method")),
        headline=search_headline(result, context),
        repeat=repeat_words(result),
        terms=search_terms(result, context),
        contents=[(place, title) for place, name, title in CONTENTS if sections[name]],
        version=words(result.get("version")),
        **sections,
    )


def _sections(result: Result, context: Context) -> dict[str, Any]:
    """What the sections show; what is empty is left out of the page."""
    facts = [data_facts(result), search_facts(result), run_facts(result)]
    return {
        "baselines": baselines_figure(result, context),
        "groups": layers_table(result),
        "weights": weights_figure(result),
        "lineage": lineage_figure(result, context),
        "front": front_figure(result, context),
        "course": course_table(result, context),
        "codes": codes(result),
        "files": model_files(result),
        "facts": [listed for listed in facts if listed],
    }
