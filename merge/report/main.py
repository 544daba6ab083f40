# SPDX-License-Identifier: GPL-2.0
"""saluki-merge-report: makes one page with figures of what `saluki-merge stats --json` prints.

In: JSON, untrusted. Out: a page of HTML that needs no other file, and with --figures a file for each figure."""
import pathlib
import sys

import options


def fail(text):
    print(f"{options.PROGRAM}: {text}", file=sys.stderr)
    return 1


def save(figures, folder, kind):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for number, figure in enumerate(figures, 1):
        figure.picture.savefig(folder / f"{number}-{figure.name}.{kind}", dpi=200)


def main():
    o = options.parse()
    if o.completion:
        print(options.completion(), end="")
        return 0
    try:
        import drawing  # noqa: F401 (matplotlib is there)
    except ModuleNotFoundError as e:
        return fail(f"needs {e.name}: apt install python3-matplotlib")
    import figures
    import page
    import trace_stats
    try:
        with open(0 if o.json == "-" else o.json, "rb") as f:
            stats = trace_stats.read(f)
        drawn = figures.draw(stats)
        if o.figures:
            save(drawn, o.figures, o.format)
        with open(1 if o.write == "-" else o.write, "w", encoding="utf-8") as f:
            f.write(page.html_of(stats, drawn, o.title))
    except trace_stats.Malformed as e:
        return fail(f"{o.json}: {e}; give the output of saluki-merge stats --json")
    except OSError as e:
        return fail(f"{e.filename}: {e.strerror}")
    return 0
