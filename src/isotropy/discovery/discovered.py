"""What a discovery found, for Python."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import nn

from isotropy.evidence.symmetry import Symmetry
from isotropy.groups.action import Group
from isotropy.groups.named import group
from isotropy.report import discovery_page, write
from isotropy.report.numbers import Unit


class Discovery:
    """Which symmetries data have.

    Args:
        result: all that was found, as JSON in the format isotropy-discovery-1.
        model: the recommended network, trained; it takes inputs as they are.
        symmetry: what is recommended; None for no symmetry.
        images: samples and their moved twins, for the report.
    """

    def __init__(
        self,
        result: Mapping[str, Any],
        model: nn.Module,
        symmetry: Symmetry | None,
        images: Mapping[str, Any] | None = None,
    ) -> None:
        self.result = dict(result)
        self.model = model
        self.symmetry = symmetry
        self.images = images

    @property
    def recommended(self) -> Group:
        """The group to build in; the trivial group C1 if none."""
        return group("C1") if self.symmetry is None else self.symmetry.group

    @property
    def label_permutations(self) -> dict[str, list[int]]:
        """By element, the label that each label becomes; empty if labels stay."""
        return dict(self.result["recommended"].get("labels", {}))

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict on every candidate by name."""
        return {row["name"]: row["verdict"] for row in self.result["candidates"]}

    @cached_property
    def table(self) -> str:
        """The candidates with verdicts and gains, as text."""
        unit = Unit(self.result["metric"])
        level = f"{1 - self.result['alpha']:.0%} interval"
        head = ("candidate", "verdict", "gain", level, "moved data", "what it is")
        rows = [head, *(_cells(row, unit) for row in self.result["candidates"])]
        widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
        return "\n".join(
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )

    def to_json(self) -> dict[str, Any]:
        """All that was found."""
        return self.result

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the page that shows it; one file that needs no other.

        Args:
            path: where to.
        """
        where = Path(path)
        write(where, discovery_page(self.result, self.images))
        return where

    def __str__(self) -> str:
        chosen = self.result["recommended"]
        said = " ".join(chosen["words"])
        return f"recommended: {chosen['candidate']} ({chosen['meaning']})\n{said}\n\n{self.table}"

    def __repr__(self) -> str:
        return f"Discovery(recommended={self.result['recommended']['candidate']!r})"


def _cells(row: Mapping[str, Any], unit: Unit) -> tuple[str, ...]:
    gain = row.get("gain") or {}
    told = unit.gain(gain.get("mean"), unit=False)
    between = unit.gains((gain["low"], gain["high"]) if gain else None)
    looks = "different" if row["seen"] else "the same"
    return (row["name"], row["verdict"], told, between, looks, row["meaning"])
