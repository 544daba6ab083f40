# SPDX-License-Identifier: GPL-2.0
"""Where discs and their names stand in a graph, so that none hides another. All lengths are points of a printer (1/72
inch). The same input gives the same places."""
import numpy as np

ROUNDS = 80
EM = .62  # mean width of a letter, in sizes of the font
SIDES = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1))  # of its disc, the best first


def in_box(at, width, height, margin):
    """Stretches the places to a box."""
    low, size = at.min(0), np.ptp(at, 0)
    size[size == 0] = 1
    return margin + (at - low) / size * (np.array([width, height]) - 2 * margin)


def spread(at, least):
    """Moves discs apart whose middles are nearer than `least`."""
    at = at + np.stack([np.cos(np.arange(len(at))), np.sin(np.arange(len(at)))], 1) * .01
    for _ in range(ROUNDS):
        away = at[:, None] - at
        distance = np.sqrt((away ** 2).sum(2)) + 1e-9
        push = np.maximum(least - distance, 0) / distance / 4
        np.fill_diagonal(push, 0)
        at = at + (away * push[:, :, None]).sum(1)
    return at


def box(at, radius, side, width, height):
    """Left, bottom, right, top of a name beside a disc."""
    off = radius * (1 if 0 in side else .7) + 1
    x = at[0] + side[0] * (off + width / 2)
    y = at[1] + side[1] * (off + height / 2)
    return np.array([x - width / 2, y - height / 2, x + width / 2, y + height / 2])


def free(one, others):
    return not len(others) or not ((one[:2] < others[:, 2:]) & (others[:, :2] < one[2:])).all(1).any()


def names(at, radii, texts, size):
    """The middle of each name, or None if there is no room for it. Those of large discs choose first."""
    discs = np.concatenate([at - radii[:, None], at + radii[:, None]], 1)
    taken, found = np.zeros((0, 4)), [None] * len(at)
    for n in np.argsort(-radii, kind="stable").tolist():
        for side in SIDES:
            one = box(at[n], radii[n], side, EM * size * len(texts[n]), 1.1 * size)
            if free(one, np.delete(discs, n, 0)) and free(one, taken):
                taken = np.append(taken, one[None], 0)
                found[n] = (one[:2] + one[2:]) / 2
                break
    return found
