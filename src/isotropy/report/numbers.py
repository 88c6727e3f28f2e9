"""Numbers as people read them: percent and points, intervals, chances, durations, sizes."""

from __future__ import annotations

from dataclasses import dataclass

from isotropy.report.charts.scale import Number

NONE = "–"

FRACTIONS = ("accuracy", "balanced_accuracy", "mean_iou", "error")
"""Metrics between 0 and 1, which are shown in percent."""

_NAMES = {
    "mse": "mean squared error",
    "mae": "mean absolute error",
    "nll": "negative log-likelihood",
    "mean_iou": "mean overlap",
    "r2": "share of variance explained",
}


@dataclass(frozen=True)
class Unit:
    """How the scores of one metric are written, and which way they are better."""

    metric: str = "accuracy"
    higher_is_better: bool = True

    @property
    def percent(self) -> bool:
        """Whether scores are fractions, to be shown in percent."""
        return self.metric in FRACTIONS

    @property
    def name(self) -> str:
        """The metric in words."""
        return _NAMES.get(self.metric, self.metric.replace("_", " "))

    @property
    def axis(self) -> str:
        """The metric in words, with its unit and its better end."""
        unit = ", %" if self.percent else ""
        return f"{self.name}{unit} ({'higher' if self.higher_is_better else 'lower'} is better)"

    @property
    def gain_axis(self) -> str:
        """What a chart of gains counts."""
        return f"gain in {self.name}" + (", percentage points" if self.percent else "")

    def shown(self, value: Number | None) -> Number | None:
        """The number as charts show it."""
        return value if value is None or not self.percent else 100 * value

    def score(self, value: Number | None) -> str:
        """A score.

        >>> Unit("accuracy").score(0.9694), Unit("mse").score(0.0123456)
        ('96.9%', '0.01235')
        """
        if value is None:
            return NONE
        return f"{100 * value:.1f}%" if self.percent else significant(value)

    def gain(self, value: Number | None, unit: bool = True) -> str:
        """A difference of scores, with its sign.

        >>> Unit("accuracy").gain(-0.0412), Unit("mse").gain(0.0012)
        ('−4.1 points', '+0.0012')
        """
        if value is None:
            return NONE
        if self.percent:
            return signed(round(100 * value, 1), 1) + (" points" if unit else "")
        return ("+" if value > 0 else "") + significant(value)

    def gains(self, low_high: tuple[Number, Number] | None, unit: bool = False) -> str:
        """An interval of differences."""
        if low_high is None:
            return NONE
        low, high = (self.gain(v, unit=False) for v in low_high)
        return f"{low} to {high}" + (" points" if unit and self.percent else "")

    def scores(self, low_high: tuple[Number, Number] | None) -> str:
        """An interval of scores."""
        return NONE if low_high is None else " to ".join(self.score(v) for v in low_high)


def signed(value: Number, decimals: int) -> str:
    """A number with its sign, a real minus; nothing has none."""
    written = f"{value:+.{decimals}f}".replace("-", "−")
    return written[1:] if float(written[1:]) == 0 else written


def significant(value: Number, digits: int = 4) -> str:
    """A number with so many digits that mean something."""
    written = f"{value:.{digits}g}"
    if "e" in written:
        digit, exponent = written.split("e")
        written = f"{digit}e{int(exponent)}"
    return written.replace("-", "−")


def count(value: Number | None) -> str:
    """A whole number with its thousands apart.

    >>> count(20100), count(None)
    ('20,100', '–')
    """
    return NONE if value is None else f"{value:,.0f}".replace("-", "−")


def chance(p: Number | None) -> str:
    """A p-value.

    >>> chance(0.00012), chance(0.0432), chance(1.0)
    ('< 0.001', '0.043', '1')
    """
    if p is None:
        return NONE
    if p < 0.001:
        return "< 0.001"
    return f"{p:.2g}" if p < 0.0995 else f"{p:.2f}".rstrip("0").rstrip(".")


def duration(seconds: Number | None) -> str:
    """A time.

    >>> duration(41.23), duration(192), duration(0.5), duration(7300)
    ('41 s', '3 min 12 s', '0.5 s', '2 h 2 min')
    """
    if seconds is None:
        return NONE
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min" + (f" {whole % 60} s" if whole % 60 else "")
    minutes = round(seconds / 60)
    return f"{minutes // 60} h" + (f" {minutes % 60} min" if minutes % 60 else "")


def times(count_: int, one: str, many: str = "") -> str:
    """A number of things.

    >>> times(1, "network"), times(3, "network")
    ('1 network', '3 networks')
    """
    return f"{count_:,} {one if count_ == 1 else many or one + 's'}"
