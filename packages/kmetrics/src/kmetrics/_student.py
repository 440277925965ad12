"""Student's t distribution, for intervals of a mean."""

from __future__ import annotations

import math
import statistics


def t_quantile(p: float, df: float) -> float:
    """The number below which a t distributed number lies with probability `p`.

    Args:
      p: in [0.5, 1).
      df: the degrees of freedom, above 0.
    """
    low, high = 0.0, 1.0
    while _cdf(high, df) < p:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _cdf(middle, df) < p else (low, middle)
    return (low + high) / 2


def _cdf(t: float, df: float) -> float:
    """The probability of a number below `t`, for `t` of 0 and more."""
    if df > 1e8:
        return statistics.NormalDist().cdf(t)
    square = t * t
    if square < df:
        return 0.5 + _beta(0.5, df / 2, square / (df + square)) / 2
    return 1 - _beta(df / 2, 0.5, df / (df + square)) / 2


def _beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function.

    Reference: M. Abramowitz, I. A. Stegun, Handbook of mathematical functions (1964),
    26.5.8 for the continued fraction and 26.5.2 for the symmetry.
    """
    if x == 0:
        return 0.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(b, a, 1 - x)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(log_front + a * math.log(x) + b * math.log1p(-x)) / a
    # Convergents p / q of the fraction, scaled so that q stays 1.
    before, now, q_before = 0.0, 1.0, 1.0
    for i in range(1, 1000):
        m = i // 2
        if i % 2:
            part = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            part = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        q = 1 + part * q_before
        before, now, q_before = now / q, (now + part * before) / q, 1 / q
        if abs(now - before * q) < 1e-15 * abs(now):
            break
    return front * now
