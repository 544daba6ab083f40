# SPDX-License-Identifier: GPL-2.0
"""Figures of the air: channels, hearers, retransmissions."""
import numpy as np

from drawing import COLOURS, ORDER, Figure, group, heat, legend_above, subplots, time_axis, time_unit, times

TRANSMITTERS = 25
CHANNEL_LINES = 8
WORDS = {"retry": "retransmission", "ack": "ACK", "cts": "CTS", "rts": "RTS", "block_ack": "block ACK",
         "bad_fcs": "wrong FCS"}
CONFIDENCE = 1.96  # of a normal distribution: 95 %


def divided(a, b):
    return np.divide(a, b, out=np.full(len(a), np.nan), where=b > 0)


def busiest(stats):
    return sorted(stats.channels, key=lambda c: -c.transmissions.sum())[:CHANNEL_LINES]


def channels(stats):
    if not stats.channels:
        return None
    shown = stats.channels
    share = np.array([c.airtime_us for c in shown]) / (stats.step_s * 1e6) * 100
    heights = (max(1.2, min(3.5, .4 * len(shown))), 1.4, 1.4)
    figure, (air, listening, several) = subplots(3, height=sum(heights) + 1.6, sharex=True, height_ratios=heights)
    end = stats.duration_s / time_unit(stats.duration_s)[0]
    heat(air, share, "air time (%)", (0, end, len(shown) - .5, -.5), vmin=0)
    air.set_yticks(range(len(shown)), [c.name for c in shown], fontsize=9)
    for n, c in enumerate(busiest(stats)):
        colour = COLOURS[n % len(COLOURS)]
        listening.step(times(stats), c.listening, where="mid", color=colour, lw=1.2, label=c.name)
        several.plot(times(stats), 100 * divided(c.several, c.transmissions), color=colour, lw=1.2)
    listening.set_ylabel("sensors\nthat hear it")
    listening.set_ylim(bottom=0)
    legend_above(listening, 8)
    several.set_ylabel("heard by two\nor more (%)")
    several.set_ylim(0, 101)
    time_axis(several, stats)
    parts = ", ".join(f"{c.name} {100 * c.airtime_us.sum() / stats.duration_s / 1e6:.0f} %" for c in busiest(stats))
    unknown = sum(stats.without_rate.values())
    note = f" {unknown:,} transmissions have no rate in their headers and no air time here." if unknown else ""
    return Figure("channels", "Air time and coverage of the channels",
                  "Above: the share of time that all heard transmissions of a channel take, with their preambles. Cells out "
                  "of each other's reach can send at the same time, so that the sum can be more than 100 %. Below: the "
                  "sensors that heard anything of the channel, and the share of transmissions that more than one of them "
                  "heard: where the share falls, coverage is thin.",
                  f"mean air time: {parts}.{note}", figure)


def hearers(stats):
    if not stats.classes:
        return None
    most = max((int(np.flatnonzero(row).max(initial=1)) for row in stats.classes.values()), default=1)
    figure, (left, right) = subplots(1, 2, height=4, width_ratios=(1.7, 1))
    at, below = np.arange(1, most + 1), np.zeros(most)
    for word in ORDER:
        rows = [row for name, row in stats.classes.items() if group(name)[0] == word]
        if not rows:
            continue
        height = np.sum(rows, 0)[1:most + 1]
        colour = next(group(name)[1] for name in stats.classes if group(name)[0] == word)
        left.bar(at, height, bottom=below, width=.85, color=colour, label=word)
        below += height
    left.set(xlabel="sensors that heard it" + (" (64: or more)" if most == 64 else ""), ylabel="transmissions",
             xlim=(.4, most + .6))
    left.grid(axis="x", visible=False)
    left.xaxis.get_major_locator().set_params(integer=True)
    left.yaxis.set_major_formatter(lambda v, _: f"{v / 1e6:g} M" if v >= 1e6 else f"{v / 1e3:g} k" if v >= 1e4 else f"{v:g}")
    legend_above(left, 3)
    names = sorted(stats.classes, key=lambda name: ORDER.index(group(name)[0]), reverse=True)
    share = [100 * (1 - stats.classes[name][1] / max(stats.classes[name].sum(), 1)) for name in names]
    right.barh(range(len(names)), share, color=[group(name)[1] for name in names], height=.7)
    for n, value in enumerate(share):
        right.annotate(f"{value:.0f} %", (value, n), xytext=(3, 0), textcoords="offset points", va="center", fontsize=9)
    right.set_yticks(range(len(names)), [WORDS.get(name, name) for name in names])
    right.set(xlabel="heard by two or more sensors (%)", xlim=(0, 112))
    right.grid(axis="y", visible=False)
    counts = np.sum([row for name, row in stats.classes.items() if name != "bad_fcs"] or [np.zeros(65)], 0)
    mean = float(counts @ np.arange(65) / max(counts.sum(), 1))
    return Figure("hearers", "How many sensors hear a transmission",
                  "Left: transmissions by the number of sensors that heard them. Right: the share that at least two sensors "
                  "heard. Only these transmissions compare clocks, and give places by signal strength.",
                  f"a transmission with a correct FCS was heard by {mean:.1f} sensors on average.", figure)


def wilson(hits, of):
    """The 95 % interval of a share."""
    share, z2 = hits / of, CONFIDENCE ** 2
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    half = CONFIDENCE * np.sqrt(share * (1 - share) / of + z2 / (4 * of ** 2)) / (1 + z2 / of)
    return middle - half, middle + half


def binned(values, most=40):
    """Sums of neighbours, at most this many."""
    size = -(-len(values) // most)
    return np.add.reduceat(values, np.arange(0, len(values), size))


def retries(stats):
    sent = [t for t in stats.transmitters if t.attempts]
    sent = sorted(sent, key=lambda t: -t.attempts)[:TRANSMITTERS]
    if not sent:
        return None
    figure, (left, right) = subplots(1, 2, height=max(4, 1.2 + .2 * len(sent)), width_ratios=(1.3, 1))
    for n, c in enumerate(busiest(stats)):
        again, all_ = binned(c.retries), binned(c.attempts)
        at = (np.arange(len(all_)) + .5) * times(stats)[-1] / len(all_)
        left.plot(at, 100 * divided(again, all_), "o-", ms=3, lw=1.3, color=COLOURS[n % len(COLOURS)], label=c.name)
    left.set_ylabel("retransmissions (% of unicast frames)")
    left.set_ylim(0, max(1, left.get_ylim()[1]))
    legend_above(left, 4)
    time_axis(left, stats)
    sent = sorted(sent, key=lambda t: t.retries / t.attempts)
    of, hits = (np.array([float(getattr(t, k)) for t in sent]) for k in ("attempts", "retries"))
    low, high = wilson(hits, of)
    at = np.arange(len(sent))
    right.hlines(at, 100 * low, 100 * high, color=COLOURS[0], lw=2, alpha=.5)
    right.plot(100 * hits / of, at, "o", ms=5, color=COLOURS[0])
    right.set_yticks(at, [t.label for t in sent], fontsize=8)
    right.set(xlabel="retransmissions (%, with 95 % interval)", ylim=(-.6, len(sent) - .4))
    right.set_xlim(left=0)
    total, again = (sum(c.attempts.sum() for c in stats.channels), sum(c.retries.sum() for c in stats.channels))
    return Figure("retries", "Retransmissions",
                  "Unicast data and management frames with the retry bit, by channel over time, and by transmitter (the "
                  "busiest ones, by the ends of their addresses). A retransmission counts once, however many sensors heard "
                  "it.", f"{100 * again / max(total, 1):.1f} % of {total:,.0f} unicast frames were retransmissions.", figure)
