"""What all sections of a discovery's page share: its unit, its classes, its level of confidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from isotropy.errors import InputError
from isotropy.report.numbers import Unit
from isotropy.report.read import Result, number, part, rows, texts, words

LOWER_IS_BETTER = ("error", "mse", "mae", "nll")


@dataclass(frozen=True)
class Context:
    """What the sections of one page share."""

    unit: Unit
    kind: str
    classes: list[str]
    inputs: list[Result]
    alpha: float

    @property
    def level(self) -> str:
        """The level of the intervals, as in "95% interval"."""
        return f"{100 * (1 - self.alpha):.3g}%"


def context_of(result: Result, metric: str = "accuracy") -> Context:
    """What a result says about how to read it; `metric` is what scores are by default."""
    metric = words(result.get("metric"), metric)
    alpha = number(result.get("alpha"))
    return Context(
        unit=Unit(metric, metric not in LOWER_IS_BETTER),
        kind=words(part(result, "data").get("kind"), "image"),
        classes=texts(part(result, "data"), "classes"),
        inputs=rows(result, "inputs"),
        alpha=alpha if alpha is not None and 0 < alpha < 1 else 0.05,
    )


def check_format(result: object, expected: str) -> None:
    """Refuse what no page can be made of: no mapping, or the result of something else."""
    if not isinstance(result, Mapping):
        raise InputError(f"result must be a mapping ({expected}), not {type(result).__name__}")
    found = result.get("format", expected)
    if found != expected:
        raise InputError(f"result is of format {found!r}, this page shows {expected}")
