"""The page of a discovery: which symmetries the data has, and how sure that is.

The format isotropy-discovery-1, a JSON object. What is missing is left out of the page; scores and
gains are in the unit of the metric, shares between 0 and 1.

    format       "isotropy-discovery-1"
    metric       what scores are: "accuracy" (the default), "balanced_accuracy", "r2", "mse", …
    alpha        1 − the level of all intervals; 0.05 by default
    margin       a difference in score that does not matter
    title        of the page, instead of the one it has by default
    data         {name, kind: "image" | "volume" | "signal" | "vector" | "set", task, n, n_train,
                 n_validation, n_test, shape, classes: [names], fingerprint, notes: [sentences]}
    recommended  {candidate: its name, group, order, meaning, elements, verdict, labels,
                 words: [sentences],
                 test: {score, interval: [low, high], n, baseline_score}}; group "C1" is none
    candidates   [{name, group, order, meaning, elements: [names], verdict, reason, needed,
                 seen: [moves of it that can be seen in the inputs], dropped_after: pairs,
                 labels: {element: [label that each becomes, −1 − it if its sign changes]},
                 parameters, score, interval: [low, high] (tied, at equally many parameters),
                 gain: GAIN over no symmetry at equally many parameters,
                 gain_width: {…GAIN, parameters} over no symmetry at the same width,
                 gain_augmented: GAIN over an untied network on moved training data,
                 augmented: {score, interval, parameters} of that network}]
    baseline     {score, interval, parameters}: of the network without symmetry
    inputs       [{name: of the element, words, statistic: share told apart, p, p_holm, n,
                 rejected, reported_only, note}]
    layers       {order: [layers], weights: {layer: {group: share}}, words}
    audit        [{layer, kind, free, total, error, note}], of the recommended network
    samples      [{label, turned: [{element, words}]}], the labels and twins of the pictures
    undecided    [sentences]
    time         {seconds, budget, kept: was the budget, networks, planned, per_network}
    run          {command, seed, started, machine: {…}, versions: {…}, resume, deterministic}
    model        {usage: {python, onnx, command, torch: lines}, files: [path, …]}
    version      of isotropy

A GAIN is {mean, low, high, pairs, differences: [one for each pair]}.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isotropy.report.context import Context, check_format, context_of
from isotropy.report.evidence import audit_table, inputs_table, layers_figure
from isotropy.report.facts import (
    codes,
    data_facts,
    model_files,
    repeat_words,
    run_facts,
    time_facts,
)
from isotropy.report.gains import gains_figure, scores_figure
from isotropy.report.headline import headline
from isotropy.report.page import render
from isotropy.report.read import Result, part, texts, words
from isotropy.report.samples import sample_rows
from isotropy.report.terms import discovery_terms
from isotropy.report.verdicts import cards, meanings_of

FORMAT = "isotropy-discovery-1"


def discovery_page(result: Mapping[str, Any], images: Mapping[str, Any] | None = None) -> str:
    """The page of a discovery as HTML that needs no other file and no network.

    Args:
        result: what the run found, in the format isotropy-discovery-1; parts that are missing
            are left out of the page.
        images: samples of the data and their transformed twins, {"samples": array (k, …),
            "turned": {element: array (k, …)}} with values from 0 to 1.

    >>> page = discovery_page({"recommended": {"group": "C4", "meaning": "quarter turns"}})
    >>> "Build in quarter turns" in page
    True
    """
    check_format(result, FORMAT)
    context = context_of(result)
    name = words(part(result, "data").get("name"), "the data")
    sections = _sections(result, context, images)
    return render(
        "discovery.html",
        title=words(result.get("title")) or f"Which symmetries does {name} have?",
        context=context,
        headline=headline(result, context),
        meanings=meanings_of(sections["cards"]),
        layers_words=words(part(result, "layers").get("words")),
        repeat=repeat_words(result),
        terms=discovery_terms(result, context),
        contents=[(place, title) for place, name, title in CONTENTS if sections[name]],
        version=words(result.get("version")),
        **sections,
    )


CONTENTS = (
    ("verdicts", "cards", "Verdicts"),
    ("undecided", "undecided", "Left open"),
    ("samples", "samples", "Samples"),
    ("inputs", "inputs", "Moved data"),
    ("gains", "gains", "Gains"),
    ("scores", "scores", "Scores and sizes"),
    ("layers", "layers", "Layers"),
    ("audit", "audit", "Exactness"),
    ("use", "codes", "Use the model"),
    ("run", "facts", "What was run"),
)
"""Sections that may be missing: where they are on the page, what they show, and their title."""


def _sections(result: Result, context: Context, images: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the sections show; what is empty is left out of the page."""
    facts = [data_facts(result), time_facts(result), run_facts(result)]
    return {
        "cards": cards(result, context),
        "undecided": texts(result, "undecided"),
        "samples": sample_rows(result, images),
        "inputs": inputs_table(context),
        "gains": gains_figure(result, context),
        "scores": scores_figure(result, context),
        "layers": layers_figure(result),
        "audit": audit_table(result),
        "codes": codes(result),
        "files": model_files(result),
        "facts": [listed for listed in facts if listed],
    }
