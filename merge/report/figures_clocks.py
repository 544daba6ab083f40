# SPDX-License-Identifier: GPL-2.0
"""Figures of the sensors' clocks."""
import numpy as np
from matplotlib.colors import LogNorm

from drawing import (COLOURS, INK, Figure, heat, legend_above, name_rows, part_colours, subplots, time_axis, times,
                     time_unit)

LABELS, LABEL_APART = 12, .05  # names beside the lines; of the axis' height
FOUND_S = 3
WORDS = {"step": "step", "part": "own part", "part_join": "parts united"}
FAR = 20  # times more than nine tenths of the sensors
ROWS_MOST = 200


def wander(drift, seconds):
    """What is left when a straight line is taken out."""
    known = np.isfinite(drift)
    if np.count_nonzero(known) < 3:
        return np.full_like(drift, np.nan)
    return drift - np.polyval(np.polyfit(seconds[known], drift[known], 1), seconds)


def rate(drift, seconds):
    known = np.isfinite(drift)
    return np.polyfit(seconds[known], drift[known], 1)[0] if np.count_nonzero(known) > 2 else np.nan


def scaled(us):
    """(divisor, unit) for the largest of these."""
    largest = np.nanmax(np.abs(us)) if np.isfinite(us).any() else 0
    return next((d, unit) for least, d, unit in ((1e6, 1e6, "s"), (1e3, 1e3, "ms"), (0, 1, "µs")) if largest >= least)


def far_off(rows):
    """Which clocks move so much that all others would become one line. They have no line."""
    ends = np.nanmax(np.abs(rows), 1, initial=0, where=np.isfinite(rows))
    return np.flatnonzero(ends > FAR * max(np.percentile(ends, 90), 1e-3)).tolist()


def lines(axes, stats, rows, label):
    """Returns the divisor of the axis, and the sensors without a line."""
    far = far_off(rows)
    near = np.delete(rows, far, 0)
    divisor, unit = scaled(near)
    colours = part_colours(stats)
    for n, row in enumerate(rows):
        if n in far:
            continue
        axes.plot(times(stats), row / divisor, lw=.9, alpha=.75, color=colours[stats.busiest[n].part])
    axes.set_ylabel(f"{label} ({unit})")
    return divisor, far


def label_ends(axes, stats, rows, bent, divisor):
    """Names the sensors whose clocks move most beside their rates, if there is room where their lines end."""
    ends = np.array([row[np.isfinite(row)][-1] if np.isfinite(row).any() else np.nan for row in rows]) / divisor
    low, high = axes.get_ylim()
    used = []
    for n in np.argsort(-np.nanmax(np.abs(bent), 1, initial=0, where=np.isfinite(bent)), kind="stable").tolist():
        if not low <= ends[n] <= high or any(abs(ends[n] - u) < LABEL_APART * (high - low) for u in used):
            continue
        used.append(ends[n])
        axes.annotate(stats.busiest[n].name, (1, ends[n]), xycoords=("axes fraction", "data"), fontsize=8,
                      va="center", xytext=(4, 0), textcoords="offset points", annotation_clip=False)
        if len(used) == LABELS:
            break


def mark_events(axes, stats):
    """Events after the first seconds, in which all clocks are found."""
    size, found = time_unit(stats.duration_s)[0], {}
    for at_ns, _, event in stats.events:
        second = (at_ns - stats.begin_ns) / 1e9
        if second > FOUND_S and event in WORDS:
            found.setdefault(event, []).append(second / size)
    for n, (event, at) in enumerate(sorted(found.items())):
        axes.plot(at, np.full(len(at), 1.0), "v", ms=7, clip_on=False, transform=axes.get_xaxis_transform(),
                  color=COLOURS[-1 - n], label=WORDS[event])


def mark_parts(axes, stats):
    """A colour for each of the largest parts."""
    colours = part_colours(stats)
    for part in list(colours)[:len(COLOURS)] if len(colours) > 1 else ():
        axes.plot([], [], color=colours[part], label=f"part {part}")


def offsets(stats):
    if not stats.series:
        return None
    drift = np.array([s.drift_us for s in stats.series])
    bent = np.array([wander(row, stats.seconds) for row in drift])
    figure, (above, below) = subplots(2, height=6, sharex=True)
    far = set()
    for axes, rows, label in ((above, drift, "drift since the begin"), (below, bent, "drift without its mean rate")):
        divisor, outside = lines(axes, stats, rows, label)
        far |= set(outside)
        if axes is above:
            label_ends(axes, stats, rows, bent, divisor)
    mark_parts(above, stats)
    mark_events(above, stats)
    if above.get_legend_handles_labels()[0]:
        legend_above(above, 6)
    time_axis(below, stats)
    rates = [rate(row, stats.seconds) for n, row in enumerate(drift) if n not in far]
    rates = [r for r in rates if np.isfinite(r)]
    says = (f"relative to the unified time, the clocks of {len(rates)} sensors run between {min(rates):+.0f} and "
            f"{max(rates):+.0f} ppm; without these rates, they move by {np.nanmedian(np.nanmax(np.abs(bent), 1)):.0f} µs "
            "(median of the sensors' largest values)." if rates else "too few receptions.")
    if far:
        names = ", ".join(stats.busiest[n].name for n in sorted(far)[:5])
        says += f" Without a line, because they move far more than the others: {names}."
    return Figure("offsets", "Clock offsets over time",
                  "Above: by how much each clock has moved against the unified time since its first reception. Below: the "
                  "same, minus a straight line through it. A jump is a step of the clock, a bend is a slew. A triangle is "
                  "an event in the table of clocks. A colour is a part: clocks of two parts cannot be compared.", says,
                  figure)


def residuals(stats):
    rows = [n for n, s in enumerate(stats.busiest) if "p90" in s.residual_us]
    if not rows:
        return None
    width = lambda n: stats.busiest[n].residual_us["p90"] - stats.busiest[n].residual_us["p10"]
    rows = sorted(rows, key=width)[-ROWS_MOST:]
    figure, (left, right) = subplots(1, 2, height=max(4, min(9.5, .2 * len(rows) + 1.5)), width_ratios=(2.2, 1))
    spread = np.array([stats.series[n].p90 - stats.series[n].p10 for n in rows]) / 2
    known = spread[np.isfinite(spread)]
    low, high = (np.percentile(known, 2), np.percentile(known, 99)) if len(known) else (1, 2)
    low = max(low, .05)
    heat(left, spread, "half of the range from p10 to p90 (µs)", (0, stats.duration_s / time_unit(stats.duration_s)[0],
         len(rows) - .5, -.5), LogNorm(low, max(high, 1.5 * low)))
    time_axis(left, stats)
    name_rows(left, [stats.busiest[n].name for n in rows])
    at = np.arange(len(rows))
    get = lambda key: np.array([stats.busiest[n].residual_us[key] for n in rows])
    thick = max(.8, min(5, 250 / len(rows)))
    right.hlines(at, get("p10"), get("p90"), lw=thick, color=COLOURS[0], label="p10 to p90")
    right.hlines(at, get("p25"), get("p75"), lw=thick, color=COLOURS[1], label="p25 to p75")
    right.plot(get("p50"), at, "|", ms=thick * 2, color=INK, label="median")
    reach = np.maximum(abs(get("p10")), abs(get("p90")))
    most = min(reach.max(), 2 * np.percentile(reach, 90)) * 1.05 + 1e-3
    right.set(ylim=(len(rows) - .5, -.5), xlim=(-most, most), xlabel="residual (µs)", yticks=[])
    right.legend(fontsize=8, loc="lower center", bbox_to_anchor=(.45, 1), ncols=3, handlelength=1.2, columnspacing=1)
    sizes = np.array([stats.busiest[n].residual_us["size_p50"] for n in rows])
    return Figure("residuals", "Residuals by sensor",
                  "A residual is a reception's time minus the median of all receptions of the same transmission. Only "
                  "beacons, management and first data frames count, with at least three receptions. The sensors stand in "
                  "the order of their range; the panels share the order. A row that turns brighter has late stamps or a "
                  "clock that changes. Cells without colour have too few receptions. Bars that reach the border go on.",
                  f"half of the residuals are smaller than {np.median(sizes):.1f} µs at the median sensor, and "
                  f"{sizes.max():.1f} µs at the worst.", figure)
