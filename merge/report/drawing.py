# SPDX-License-Identifier: GPL-2.0
"""How all figures look, and how they become SVG. Text stays text, and takes the page's colour, so that a figure fits a
light and a dark page. Needs matplotlib 3.6 or later."""
import dataclasses
import html
import io
import re

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LogNorm

INK, FAINT = "#161b22", "#7a828e"  # INK becomes the page's colour
# Told apart with any colour vision, on light and on dark.
COLOURS = ("#3b82c4", "#e0801a", "#2a9d6f", "#c7579a", "#b59a00", "#3aa6c9", "#d1495b", "#8a6fc0")
GREY = "#8a8f98"
GROUPS = {"beacon": ("beacons, management", COLOURS[0]), "management": ("beacons, management", COLOURS[0]),
          "data": ("data", COLOURS[2]), "retry": ("retransmissions", COLOURS[1]),
          "bad_fcs": ("wrong FCS", GREY)}
CONTROL = ("control", COLOURS[3])
ORDER = ("beacons, management", "data", "retransmissions", "control", "wrong FCS")
TIMES = ((3 * 86400, 3600, "h"), (3 * 3600, 3600, "h"), (300, 60, "min"), (0, 1, "s"))
WIDTH = 10  # inches
COLOUR_MAP = "viridis"
NAMES_MOST, NAMES_FEW = 60, 30

plt.rcParams.update({
    "text.parse_math": False,  # names are anyone's
    "svg.fonttype": "none", "svg.hashsalt": "saluki", "pdf.fonttype": 42, "figure.dpi": 100, "savefig.transparent": True,
    "font.size": 11, "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"], "axes.spines.top": False,
    "axes.spines.right": False, "axes.titlesize": 11, "axes.titlelocation": "left", "axes.grid": True,
    "grid.color": FAINT, "grid.alpha": .25, "grid.linewidth": .6, "legend.frameon": False, "axes.axisbelow": True,
    "axes.facecolor": "none", "figure.facecolor": "none", "text.color": INK, "axes.labelcolor": INK,
    "axes.edgecolor": INK, "xtick.color": INK, "ytick.color": INK, "axes.titlecolor": INK,
    "axes.prop_cycle": matplotlib.cycler(color=COLOURS)})


@dataclasses.dataclass
class Figure:
    name: str
    title: str
    caption: str  # how to read it
    says: str  # what it shows here, also for those who do not see it
    picture: matplotlib.figure.Figure


def part_colours(stats):
    """Parts, the largest first, and their colours, which are the same in all figures."""
    parts = [s.part for s in stats.busiest]
    return {part: COLOURS[n % len(COLOURS)] for n, part in enumerate(sorted(set(parts), key=lambda p: -parts.count(p)))}


def group(name):
    """A class of frames as figures show it: a word, and a colour."""
    return GROUPS.get(name, CONTROL)


def subplots(rows=1, columns=1, height=4.0, **more):
    return plt.subplots(rows, columns, figsize=(WIDTH, height), layout="constrained", **more)


def time_unit(seconds):
    """(seconds that the unit has, its sign)"""
    return next((size, sign) for least, size, sign in TIMES if seconds >= least)


def time_axis(axes, stats):
    size, sign = time_unit(stats.duration_s)
    axes.set_xlim(0, stats.duration_s / size)
    axes.set_xlabel(f"time since the begin ({sign})")


def times(stats):
    return stats.seconds / time_unit(stats.duration_s)[0]


def heat(axes, matrix, bar, extent=None, norm=None, **more):
    """An image of a matrix; cells without a value are clear."""
    image = axes.imshow(np.ma.masked_invalid(matrix), aspect="auto", interpolation="nearest", cmap=COLOUR_MAP,
                        extent=extent, norm=norm, **more)
    axes.grid(False)
    scale = axes.figure.colorbar(image, ax=axes, label=bar, pad=.01, aspect=25)
    scale.outline.set_visible(False)
    scale.ax.yaxis.set_major_formatter(lambda v, _: f"{v:g}")
    scale.ax.yaxis.set_minor_formatter("")
    return scale


def shares(axes, matrix, bar):
    """A heat map of shares from 0.1 to 100 %."""
    scale = heat(axes, np.where(matrix > 0, matrix, np.nan), bar, norm=LogNorm(1e-3, 1))
    scale.ax.yaxis.set_major_formatter(lambda v, _: f"{100 * v:g} %")


def named(names):
    """Places, texts and size of the names that fit beside a matrix: all, or each second, third ..."""
    at = range(0, len(names), -(-len(names) // NAMES_MOST))
    return at, [names[n] for n in at], 9 if len(names) <= NAMES_FEW else 7


def name_rows(axes, names):
    at, texts, size = named(names)
    axes.set_yticks(at, texts, fontsize=size)
    axes.set_ylabel(f"{len(names)} sensors")


def name_columns(axes, names):
    at, texts, size = named(names)
    axes.set_xticks(at, texts, fontsize=size, rotation=90)


def matrix_height(rows):
    """Inches in which the names of the rows do not touch."""
    return 2.5 + (.16 if rows <= NAMES_FEW else .13) * min(max(rows, 10), NAMES_MOST)


def legend_above(axes, columns=4, **more):
    """A legend that hides nothing."""
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, fontsize=9, borderaxespad=.2, **more)


def svg(figure, number):
    """Inline SVG, with its own ids."""
    out = io.StringIO()
    figure.picture.savefig(out, format="svg", bbox_inches="tight", pad_inches=.05,
                           metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    plt.close(figure.picture)
    text = out.getvalue()
    text = text[text.index("<svg"):]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>f{number}-", text)
    text = text.replace(INK, "currentColor")
    box = re.search(r'viewBox="[^"]*"', text).group()
    head = f'<svg {box} role="img" aria-labelledby="f{number}-title" xmlns:xlink="http://www.w3.org/1999/xlink">'
    title = f'<title id="f{number}-title">{html.escape(figure.title)}: {html.escape(figure.says)}</title>'
    return re.sub(r"^<svg[^>]*>", lambda _: head + title, text, count=1, flags=re.S)
