# SPDX-License-Identifier: GPL-2.0
"""The page: one file, without scripts, that asks for nothing else."""
import datetime
import html
import sys

from drawing import svg

STYLE = """
:root { color-scheme: light dark; --back: #fff; --ink: #161b22; --soft: #57606a; --line: #d0d7de; }
@media (prefers-color-scheme: dark) { :root { --back: #0d1117; --ink: #e6edf3; --soft: #9aa4af; --line: #30363d; } }
body { background: var(--back); color: var(--ink); font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; margin: 0 auto;
  max-width: 68rem; padding: 1.5rem; }
h1 { font-size: 1.7rem; margin: 0 0 .3rem; } h2 { font-size: 1.25rem; margin: 0; }
p { margin: .3rem 0; } .soft, figcaption { color: var(--soft); }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .8rem; margin: 1.2rem 0; }
dl div { border-top: 2px solid var(--line); padding-top: .4rem; } dt { color: var(--soft); font-size: .85rem; }
dd { margin: 0; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
nav { columns: 2; margin: 1rem 0; } nav a { color: inherit; display: block; }
figure { border-top: 1px solid var(--line); margin: 2rem 0 0; padding-top: 1rem; break-inside: avoid; }
figcaption { font-size: .92rem; max-width: 52rem; } .says { max-width: 52rem; }
svg { color: var(--ink); display: block; height: auto; margin: .6rem 0; width: 100%; }
.notice { border-left: 3px solid #e0801a; padding-left: .8rem; }
"""
LEFT_OUT = {
    "transmissions_elsewhere": "transmissions are left out: other sensors heard them strongest",
    "malformed_frames": "frames are malformed",
    "packets_without_receptions": "packets have no receptions",
    "receptions_of_further_sensors": "receptions are of sensors beyond the first 16,384",
    "transmissions_of_further_channels": "transmissions are on channels beyond the first 64",
    "transmissions_outside_the_time": "transmissions are outside the time of the largest part",
}


def count(n):
    return f"{n:,}"


def duration(seconds):
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def facts(stats):
    merged = stats.receptions / max(stats.transmissions, 1)
    parts = sum(p["sensors"] > 0 for p in stats.parts)
    return (("transmissions", count(stats.transmissions)), ("receptions", count(stats.receptions)),
            ("receptions each", f"{merged:.2f}"), ("sensors", count(len(stats.sensors))), ("parts", count(parts)),
            ("channels", count(len(stats.channels))), ("transmitters", count(stats.transmitters_count)),
            ("duration", duration(stats.duration_s)))


def notices(stats):
    lines = [f"{count(n)} {LEFT_OUT[key]}." for key, n in stats.left_out.items() if n and key in LEFT_OUT]
    united = sum(p["receptions"] for p in stats.parts if not p["sensors"])
    if united:
        lines.append(f"{count(united)} receptions are of parts that were united with others later.")
    if len(stats.sensors) > len(stats.series):
        lines.append(f"Figures over time and matrices show the {len(stats.series)} sensors with the most receptions.")
    return lines


def section(figure, number):
    return (f'<figure id="{figure.name}"><h2>{html.escape(figure.title)}</h2>'
            f'<p class="says">Here: {html.escape(figure.says)}</p>{svg(figure, number)}'
            f"<figcaption>{html.escape(figure.caption)}</figcaption></figure>")


def begin(stats):
    try:
        at = datetime.datetime.fromtimestamp(stats.begin_ns / 1e9, datetime.UTC)
        return f"Begins {at:%Y-%m-%d %H:%M:%S} UTC."
    except (ValueError, OverflowError, OSError) as e:
        print(f"saluki-merge-report: the begin is no date: {e}", file=sys.stderr)
        return ""


def html_page(title, body):
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<link rel="icon" href="data:,">'
            f"<title>{html.escape(title)}</title><style>{STYLE}</style></head>\n<body>{body}</body></html>\n")


def page_body(stats, figures, title):
    yield f'<h1>{html.escape(title)}</h1><p class="soft">{begin(stats)}</p><dl>'
    yield "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts(stats))
    yield "</dl>"
    yield "".join(f'<p class="notice">{html.escape(line)}</p>' for line in notices(stats))
    yield "<nav>" + "".join(f'<a href="#{f.name}">{html.escape(f.title)}</a>' for f in figures) + "</nav>"
    for number, figure in enumerate(figures, 1):
        yield section(figure, number)


def html_of(stats, figures, title):
    return html_page(title, "\n".join(page_body(stats, figures, title)))
