# SPDX-License-Identifier: GPL-2.0
"""Limits of chance: tails of the distributions used by the tests of unlinkability."""
import math

import numpy as np


def chi_square_tail(x, df):
    """P(chi-square with df degrees of freedom >= x): the regularised incomplete gamma function Q,
    by its continued fraction (Numerical Recipes, 6.2), for x well above df."""
    a, x = df / 2, x / 2
    tiny = 1e-300
    b = x + 1 - a
    c = 1 / tiny
    d = 1 / b
    h = d
    for i in range(1, 10000):
        an = -i * (i - a)
        b += 2
        d = an * d + b
        d = 1 / (d if abs(d) > tiny else tiny)
        c = b + an / c
        c = c if abs(c) > tiny else tiny
        h *= d * c
        if abs(d * c - 1) < 1e-14:
            break
    return math.exp(-x + a * math.log(x) - math.lgamma(a)) * h


def chi_square_limit(df, p):
    """The x that a chi-square value reaches with probability p, a small one."""
    low, high = df + math.sqrt(2 * df), df * 20.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        if chi_square_tail(middle, df) > p:
            low = middle
        else:
            high = middle
    return high


def binomial_limit(n, p, tail):
    """The least k for which P(at least k successes of n, each with p) <= tail."""
    k = np.arange(n + 1)
    factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    logs = (factorial[n] - factorial[k] - factorial[n - k] + k * math.log(p) +
            (n - k) * math.log1p(-p))
    tails = np.cumsum(np.exp(logs)[::-1])[::-1]
    below = np.nonzero(tails <= tail)[0]
    return int(below[0]) if len(below) else n + 1


def poisson_limit(mean, tail):
    """The least k for which P(at least k events, `mean` expected) <= tail; for means below 1."""
    k = 1
    while sum(math.exp(-mean + i * math.log(mean) - math.lgamma(i + 1))
              for i in range(k, k + 30)) > tail:
        k += 1
    return k
