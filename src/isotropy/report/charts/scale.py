"""From numbers to pixels, and the round numbers to write along an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

Number = int | float

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def finite(value: Number | None) -> bool:
    """Whether there is a number to draw.

    >>> finite(1.0), finite(float("nan")), finite(None)
    (True, False, False)
    """
    return value is not None and math.isfinite(value)


@dataclass(frozen=True)
class Scale:
    """Numbers low..high laid along pixels start..stop, evenly or by their logarithms."""

    low: Number
    high: Number
    start: Number
    stop: Number
    log: bool = False

    def __call__(self, value: Number) -> float:
        low, high, at = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        return self.start + (at - low) / (high - low) * (self.stop - self.start)

    def ticks(self, count: int = 5) -> list[float]:
        """Round numbers within the range, about as many as asked for and never more than twice."""
        return log_ticks(self.low, self.high, count) if self.log else self._even(count)

    def _even(self, count: int) -> list[float]:
        step = nice_step(self.low, self.high, count)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [i * step for i in range(first, last + 1)]

    def labels(self, count: int = 5) -> list[tuple[float, str]]:
        """The ticks with what to write beside them."""
        ticks = self.ticks(count)
        decimals = 0 if self.log else decimals_of(nice_step(self.low, self.high, count))
        return [(tick, tick_text(tick, decimals)) for tick in ticks]


def fitted(
    values: Iterable[Number | None],
    start: Number,
    stop: Number,
    log: bool = False,
    include: Iterable[Number] = (),
    margin: Number = 0.06,
) -> Scale | None:
    """A scale that holds all finite values with a little space around; None if there is none."""
    kept = [float(v) for v in values if v is not None and math.isfinite(v) and (v > 0 or not log)]
    if not kept:
        return None
    kept += include
    low, high = min(kept), max(kept)
    if log:
        factor = max((high / low) ** margin, 1.1)
        return Scale(low / factor, high * factor, start, stop, True)
    room = margin * (high - low) if high > low else max(abs(high) * 0.1, 1e-9)
    return Scale(low - room, high + room, start, stop)


def nice_step(low: Number, high: Number, count: int) -> float:
    """The smallest round step of which `count` suffice.

    >>> nice_step(0, 1, 5), nice_step(-3, 7.5, 5)
    (0.2, 2.5)
    """
    rough = (high - low) / max(count, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    return next(s * power for s in _STEPS if s * power >= rough * (1 - 1e-9))


def log_ticks(low: Number, high: Number, count: int) -> list[float]:
    """Ones, twos and fives of the powers of ten within a range; even steps where there are none.

    >>> log_ticks(90, 2500, 5)
    [100.0, 200.0, 500.0, 1000.0, 2000.0]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        ticks = [d * 10.0**p for p in powers for d in digits if low <= d * 10.0**p <= high]
        if len(ticks) <= count:
            break
    if len(ticks) < 2:
        return Scale(low, high, 0, 1).ticks(count)
    return ticks[:: math.ceil(len(ticks) / (2 * count))]


def decimals_of(step: Number) -> int:
    """How many decimals the multiples of a round step need.

    >>> decimals_of(0.25), decimals_of(20)
    (2, 0)
    """
    for decimals in range(10):
        if abs(step * 10**decimals - round(step * 10**decimals)) < 1e-6:
            return decimals
    return 10


def tick_text(value: Number, decimals: int) -> str:
    """A number along an axis: thousands are k, millions M.

    >>> tick_text(20000.0, 0), tick_text(-0.5, 1), tick_text(1500000.0, 0)
    ('20k', '−0.5', '1.5M')
    """
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.4g}{unit}".replace("-", "−")
    written = f"{value:.{decimals}f}" if decimals or value == round(value) else f"{value:.2g}"
    return "0" if float(written) == 0 else written.replace("-", "−")
