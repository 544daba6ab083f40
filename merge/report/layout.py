# SPDX-License-Identifier: GPL-2.0
"""The order and the places of sensors, by what they share. The same input gives the same places."""
import numpy as np

ROUNDS = 250
GAP = 1.6  # between groups that share nothing


def components_of(n, pairs):
    """The number of each one's connected group."""
    group = np.arange(n)
    for _ in range(n):
        before = group.copy()
        for a, b in pairs:
            group[a] = group[b] = min(group[a], group[b])
        if (group == before).all():
            break
    return np.unique(group, return_inverse=True)[1]


def components(n, pairs):
    return int(components_of(n, pairs).max(initial=-1)) + 1


def vectors(weights, count):
    """Of the normalized Laplacian, those with the lowest values (Fiedler's first)."""
    degree = np.maximum(weights.sum(1), 1e-9)
    root = 1 / np.sqrt(degree)
    laplacian = np.eye(len(weights)) - weights * root[:, None] * root
    return (np.linalg.eigh(laplacian)[1] * root[:, None])[:, 1:1 + count]


def seriate(together):
    """An order in which neighbours share much: by Fiedler's vector, group by group."""
    own = np.maximum(np.diag(together), 1)
    weights = together / np.sqrt(own[:, None] * own)
    np.fill_diagonal(weights, 0)
    n = len(weights)
    group = components_of(n, np.argwhere(np.triu(weights, 1) > 0))
    order = []
    for g in np.argsort(-np.bincount(group, minlength=1), kind="stable"):
        own = np.flatnonzero(group == g)
        if len(own) > 2:
            own = own[np.argsort(vectors(weights[np.ix_(own, own)], 1)[:, 0], kind="stable")]
        order += own.tolist()
    return np.array(order, int)


def spring(weights, pairs):
    """Places of a connected group (Fruchterman and Reingold), begun at the Laplacian's vectors."""
    n = len(weights)
    if n < 3:
        return np.array([[i, 0.0] for i in range(n)]) * .3
    begin = vectors(weights, 2)
    place = np.zeros((n, 2))
    place[:, :begin.shape[1]] = begin / (np.abs(begin).max(0) + 1e-9)
    place += np.stack([np.cos(np.arange(n)), np.sin(np.arange(n))], 1) * .01
    a, b = np.array(pairs).T
    pull = .3 + weights[a, b]
    k = 1.2 / np.sqrt(n)
    for heat in np.linspace(.08, .002, ROUNDS):
        away = place[:, None] - place
        square = (away ** 2).sum(2) + 1e-6
        force = (away * (k * k / square)[:, :, None]).sum(1)
        along = (place[a] - place[b]) * (np.sqrt(((place[a] - place[b]) ** 2).sum(1)) / k * pull)[:, None]
        np.add.at(force, a, -along)
        np.add.at(force, b, along)
        length = np.sqrt((force ** 2).sum(1, keepdims=True)) + 1e-9
        place += force / length * np.minimum(length, heat)
    return place - place.mean(0)


def places(weights, pairs):
    """The largest group left, the others in columns right of it."""
    n = len(weights)
    group, out, x = components_of(n, pairs), np.zeros((n, 2)), 0.0
    column = 0.0
    for g in np.argsort(-np.bincount(group), kind="stable"):
        own = np.flatnonzero(group == g)
        number = {v: i for i, v in enumerate(own.tolist())}
        local = spring(weights[np.ix_(own, own)], [(number[a], number[b]) for a, b in pairs if a in number])
        size = np.ptp(local, axis=0) if len(own) > 1 else np.zeros(2)
        if len(own) > 2:
            out[own] = local - local.min(0) + [x, -size[1] / 2]
            x += size[0] + GAP / 4
        else:
            out[own] = local + [x, .8 - column]
            column += .25
            if column > 1.6:
                x, column = x + .5, 0.0
    return out
