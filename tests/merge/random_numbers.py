# SPDX-License-Identifier: GPL-2.0
"""Random numbers for one purpose each: a parameter that changes one thing leaves all others as they were."""
import enum

import numpy as np


class Purpose(enum.IntEnum):
    PLACES = 1
    RADIOS = 2
    EVENTS = 3
    CLOCK = 4
    TSFT = 5
    HEARING = 6
    STAMPS = 7
    DAMAGE = 8
    DELAYS = 9
    READINGS = 10
    RUNS = 11


def generator(seed, purpose, number=0):
    return np.random.default_rng([seed, int(purpose), number])
