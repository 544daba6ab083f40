# SPDX-License-Identifier: GPL-2.0
"""Figures of what each sensor hears."""
import numpy as np
from matplotlib.collections import LineCollection

import layout
import places
from drawing import (COLOURS, FAINT, ORDER, Figure, group, legend_above, matrix_height, name_columns, name_rows,
                     part_colours, shares, subplots)

EDGES_EACH = 4
ALONE_ROWS = 30
NAMES_MOST = 150  # in the graph
GRAPH = (680, 440)  # points
APART = 24


def common(stats):
    """Of what the row's sensor heard, the share that the column's sensor heard, too."""
    own = np.maximum(np.diag(stats.together), 1)
    return stats.together / own[:, None]


def together(stats):
    n = len(stats.series)
    if n < 2:
        return None
    order = layout.seriate(stats.together)
    matrix = common(stats)[np.ix_(order, order)]
    np.fill_diagonal(matrix, np.nan)
    figure, axes = subplots(height=matrix_height(n))
    shares(axes, matrix, "share that the other one heard, too")
    names = [stats.busiest[i].name for i in order]
    name_rows(axes, names)
    name_columns(axes, names)
    axes.set_xlabel("the same sensors in the same order")
    pairs = np.count_nonzero(np.triu(stats.together, 1))
    best = np.nanmax(matrix, 1)
    return Figure("together", "Who hears what others hear",
                  "Each cell: of the transmissions that the row's sensor heard, the share that the column's sensor heard, "
                  "too. Neighbours stand next to each other. A row without colour is a sensor that shares nothing: its "
                  "clock cannot be compared.",
                  f"{pairs:,} of {n * (n - 1) // 2:,} pairs of sensors share transmissions; the median sensor shares "
                  f"{100 * np.nanmedian(best):.0f} % with its best partner.", figure)


def edges(weights):
    """The strongest pairs of each sensor."""
    found = set()
    for n, row in enumerate(weights):
        for m in np.argsort(row)[::-1][:EDGES_EACH].tolist():
            if row[m] > 0:
                found.add((min(n, m), max(n, m)))
    return sorted(found)


def graph(stats):
    n = len(stats.series)
    if n < 2:
        return None
    weights = np.minimum(common(stats), common(stats).T)
    np.fill_diagonal(weights, 0)
    pairs = edges(weights)
    at = places.spread(places.in_box(layout.places(weights, pairs), *GRAPH, 15), APART * min(1, (60 / n) ** .5))
    figure, axes = subplots(height=6.5)
    strengths = np.array([weights[p] for p in pairs])
    axes.add_collection(LineCollection([at[list(p)] for p in pairs], linewidths=.4 + 3 * strengths, colors=FAINT,
                                       alpha=.55, zorder=1))
    heard = np.array([s.receptions for s in stats.busiest], float)
    area = 30 + 150 * heard / heard.max()
    parts = part_colours(stats)
    for number, (part, colour) in enumerate(parts.items()):
        own = [i for i, s in enumerate(stats.busiest) if s.part == part]
        label = f"part {part}: {len(own)} sensor{'s' * (len(own) > 1)}" if number < len(COLOURS) else None
        axes.scatter(*at[own].T, s=area[own], label=label, zorder=2, linewidths=0, color=colour)
    size = 8 if n <= 60 else 6.5
    names = [s.name for s in stats.busiest] if n <= NAMES_MOST else []
    middles = places.names(at, np.sqrt(area) / 2, names, size) if names else []
    for name, middle in zip(names, middles):
        if middle is not None:
            axes.text(*middle, name, fontsize=size, ha="center", va="center", zorder=3)
    low, high = at.min(0) - 15, at.max(0) + 15
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    axes.set_axis_off()
    legend_above(axes, markerscale=.7)
    components = layout.components(n, pairs)
    return Figure("graph", "The graph of parts",
                  "A line joins two sensors that share transmissions (the four strongest of each sensor), and is thicker "
                  "the more they share. Sensors of one colour are one part: they have one clock. A larger disc has more "
                  "receptions. The places follow from the lines, not from the building. Names without room are left out.",
                  f"{n} sensors, {len(parts)} part{'s' * (len(parts) > 1)}; the lines make {components} connected "
                  f"group{'s' * (components > 1)}.", figure)


def transmitters(stats):
    n, m = stats.heard.shape
    if not n or not m:
        return None
    sent = np.maximum([float(t.transmissions) for t in stats.transmitters], 1)
    share = np.minimum(stats.heard / sent, 1)
    rows = layout.seriate(stats.together) if n > 1 else np.arange(n)
    place = np.arange(n) @ share[rows] / np.maximum(share.sum(0), 1e-9)
    columns = np.argsort(place, kind="stable")
    matrix = share[np.ix_(rows, columns)]
    figure, axes = subplots(height=matrix_height(n))
    shares(axes, matrix, "share of its transmissions")
    name_rows(axes, [stats.busiest[i].name for i in rows])
    name_columns(axes, [stats.transmitters[i].label for i in columns])
    axes.set_xlabel(f"transmitter (end of its address; the busiest {m} of {stats.transmitters_count:,})")
    half = np.count_nonzero(share >= .5, 0)
    return Figure("transmitters", "Who hears whom",
                  "Each cell: of the transmissions of the column's transmitter that any sensor heard, the share that the "
                  "row's sensor heard. Sensors stand in the order of the figure above. A column without bright cells is a "
                  "transmitter that no sensor hears well.",
                  f"{np.count_nonzero(half >= 1)} of {m} transmitters have a sensor that hears at least half of their "
                  f"transmissions; {np.count_nonzero(half >= 3)} have three.", figure)


def alone(stats):
    everyone = [s for s in stats.sensors if s.receptions]
    total = lambda s: sum(v for k, v in s.alone.items() if k != "bad_fcs")
    if not everyone:
        return None
    shown = sorted(everyone, key=total)[-ALONE_ROWS:]
    figure, axes = subplots(height=1.6 + .2 * len(shown))
    left = np.zeros(len(shown))
    for word in ORDER[:-1]:
        width = np.array([sum(v for k, v in s.alone.items() if group(k)[0] == word) for s in shown], float)
        colour = next((group(k)[1] for k in ("beacon", "data", "retry", "ack") if group(k)[0] == word), FAINT)
        axes.barh(range(len(shown)), width, left=left, color=colour, label=word)
        left += width
    for n, s in enumerate(shown):
        axes.annotate(f"{100 * total(s) / s.receptions:.1f} %", (left[n], n), xytext=(4, 0), textcoords="offset points",
                      va="center", fontsize=8)
    axes.set_yticks(range(len(shown)), [s.name for s in shown], fontsize=9)
    axes.set(xlabel="transmissions that only this sensor heard", ylim=(-.6, len(shown) - .4))
    axes.margins(x=.08)
    axes.grid(axis="y", visible=False)
    legend_above(axes)
    rates = [100 * total(s) / s.receptions for s in everyone]
    return Figure("alone", "Frames that only one sensor heard",
                  f"The {len(shown)} sensors with most of them. Percentages: of all that the sensor heard. A sensor far "
                  "away from others hears much alone. Elsewhere, many lone frames of one class are a sign of merges that "
                  "were missed. Frames with a wrong FCS do not count here.",
                  f"the median of all {len(everyone)} sensors heard {np.median(rates):.1f} % alone, the largest share is "
                  f"{max(rates):.1f} %.", figure)
