"""From numbers to pixels, and the round numbers to write along an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

Number = int | float

LARGEST = 1e100
MOST_DECIMALS = 15
_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def finite(value: Number | None) -> bool:
    """Whether there is a number to draw: none that overflows when it is reckoned with.

    >>> finite(1.0), finite(float("nan")), finite(None)
    (True, False, False)
    """
    return value is not None and math.isfinite(value) and abs(value) < LARGEST


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
        return self._powers(count) or self._even(count)

    def _powers(self, count: int) -> list[float]:
        """Ticks by powers of ten; none for even scales, and for ranges that are too narrow."""
        found = log_ticks(self.low, self.high, count) if self.log else []
        return found if len(found) > 1 else []

    def _even(self, count: int) -> list[float]:
        step = nice_step(self.low, self.high, count)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [i * step for i in range(first, last + 1)]

    def labels(self, count: int = 5) -> list[tuple[float, str]]:
        """The ticks with what to write beside them."""
        powers = self._powers(count)
        if powers:
            return [(tick, tick_text(tick)) for tick in powers]
        step = nice_step(self.low, self.high, count)
        return [(tick, tick_text(tick, step)) for tick in self._even(count)]


def fitted(
    values: Iterable[Number | None],
    start: Number,
    stop: Number,
    log: bool = False,
    include: Iterable[Number] = (),
    margin: Number = 0.06,
) -> Scale | None:
    """A scale that holds all finite values with a little space around; None if there is none."""
    least = 1 / LARGEST if log else -LARGEST
    kept = [float(v) for v in values if v is not None and finite(v) and v > least]
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
    """Ones, twos and fives of the powers of ten within a range, as many as are wanted.

    >>> log_ticks(90, 2500, 5)
    [100.0, 200.0, 500.0, 1000.0, 2000.0]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        ticks = [d * 10.0**p for p in powers for d in digits if low <= d * 10.0**p <= high]
        if len(ticks) <= count:
            break
    return ticks[:: max(1, math.ceil(len(ticks) / (2 * count)))]


def decimals_of(step: Number) -> int:
    """How many decimals the multiples of a round step need.

    >>> decimals_of(0.25), decimals_of(20)
    (2, 0)
    """
    for decimals in range(MOST_DECIMALS):
        whole = step * 10**decimals
        if round(whole) and abs(whole - round(whole)) < 1e-6 * whole:
            return decimals
    return MOST_DECIMALS


def tick_text(value: Number, step: Number | None = None) -> str:
    """A number along an axis: thousands are k, millions M.

    Args:
        value: the number.
        step: to the next one, which says how exact it must be; by default four digits are enough.

    >>> tick_text(20000.0), tick_text(-0.5, 0.5), tick_text(52105.0, 5.0)
    ('20k', '−0.5', '52.105k')
    """
    if value == 0 or (step is not None and abs(value) < 1e-6 * step):
        return "0"
    if abs(value) >= 1e12 or abs(value) < 1e-4:
        return _with_power(value, step)
    size, unit = next((pair for pair in _UNITS if abs(value) >= pair[0]), (1.0, ""))
    if step is None:
        written = f"{value / size:.4g}"
    else:
        written = f"{value / size:.{decimals_of(step / size)}f}"
    if unit and "." in written:
        written = written.rstrip("0").rstrip(".")
    return "0" if float(written) == 0 else f"{written}{unit}".replace("-", "−")


def _with_power(value: Number, step: Number | None) -> str:
    """A very large or small number, by its power of ten.

    >>> _with_power(2.5e-5, 5e-6), _with_power(-1e15, None)
    ('2.5e−5', '−1e15')
    """
    digits = 3 if step is None else max(math.ceil(math.log10(abs(value) / step)) + 1, 0)
    digit, power = f"{value:.{min(digits, MOST_DECIMALS)}e}".split("e")
    if "." in digit:
        digit = digit.rstrip("0").rstrip(".")
    return f"{digit}e{int(power)}".replace("-", "−")
