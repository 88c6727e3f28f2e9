"""The page of a discovery: which symmetries the data has, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isotropy.report.context import check_format, context_of
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
from isotropy.report.read import part, texts, words
from isotropy.report.samples import sample_rows
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
    shown = cards(result, context)
    name = words(part(result, "data").get("name"), "the data")
    return render(
        "discovery.html",
        title=words(result.get("title")) or f"Which symmetries does {name} have?",
        context=context,
        headline=headline(result, context),
        cards=shown,
        meanings=meanings_of(shown),
        undecided=texts(result, "undecided"),
        samples=sample_rows(result, images),
        inputs=inputs_table(context),
        gains=gains_figure(result, context),
        scores=scores_figure(result, context),
        layers=layers_figure(result),
        layers_words=words(part(result, "layers").get("words"))
        or " ".join(texts(part(result, "layers"), "words")),
        audit=audit_table(result),
        codes=codes(result),
        files=model_files(result),
        facts=[data_facts(result), time_facts(result), run_facts(result)],
        repeat=repeat_words(result),
        version=words(result.get("version")),
    )
