#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Draws a picture as SVG from lines of text: python3 pipeline.py < pipeline.txt > pipeline.svg

The text's first lines explain its words. The picture has a background and two sets of colours, one for
readers who prefer dark pages, so it can be read on both.
"""
import html
import sys

WIDE, HIGH = 112, 46  # a stage
STEP_X, STEP_Y = 134, 96  # from one stage to the next
GAP = 58  # between the machines
LEFT, TOP = 32, 84  # of the first stage
TITLE = "A frame's way from the sensor's interface to the collector's files"
STYLE = """
.page{fill:#ffffff}.machine{fill:#f3f5f8;stroke:#c9d1da}.lane{fill:#e6ebf1}
.stage{fill:#ffffff;stroke:#5b6b7d}text{fill:#1c2733;font-family:Helvetica,Arial,"DejaVu Sans",sans-serif}
.title{font-size:18px;font-weight:bold}.name{font-size:15px;font-weight:bold}.note,.label{font-size:13px;fill:#4a5968}
.name,.note{text-anchor:middle}.line{fill:none;stroke:#5b6b7d;stroke-width:1.6}.head{fill:#5b6b7d}
.far{stroke:#1a66c2;stroke-width:2.2}.back{stroke-dasharray:6 4}.far-head{fill:#1a66c2}
.word{font-size:14px;fill:#1a66c2;text-anchor:middle}
@media (prefers-color-scheme:dark){.page{fill:#0d1117}.machine{fill:#161c24;stroke:#37424e}.lane{fill:#212a34}
.stage{fill:#0d1117;stroke:#8797a8}text{fill:#e4eaf0}.note,.label{fill:#a9b6c3}.line{stroke:#8797a8}.head{fill:#8797a8}
.far{stroke:#6cb0ff}.far-head{fill:#6cb0ff}.word{fill:#6cb0ff}}
"""


class Picture:
    def __init__(self):
        self.stages, self.cut, self.below, self.lines = {}, 99, 0, []

    def corner(self, column, row):
        return LEFT + column * STEP_X + (GAP if column >= self.cut else 0), TOP + row * STEP_Y

    def text(self, kind, x, y, words):
        self.lines.append(f'<text class="{kind}" x="{x}" y="{y}">{html.escape(words)}</text>')

    def box(self, kind, numbers, words, margin, above):
        """A frame around stages, `margin` away from them and `above` more at the top, with its words there."""
        first, last, top, bottom = numbers
        (x, y), (right, low) = self.corner(first, top), self.corner(last, bottom)
        x, y, right, low = x - margin, y - margin - above, right + WIDE + margin, low + HIGH + margin
        self.lines.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{right - x}" height="{low - y}" rx="8"/>')
        self.text("title" if kind == "machine" else "label", x + 10, y + (24 if kind == "machine" else 17), words)
        self.below = max(self.below, low)

    def stage(self, column, row, name, note):
        x, y = self.stages[name] = self.corner(column, row)
        self.lines.append(f'<rect class="stage" x="{x}" y="{y}" width="{WIDE}" height="{HIGH}" rx="6"/>')
        self.text("name", x + WIDE // 2, y + 20, name)
        self.text("note", x + WIDE // 2, y + 37, note)

    def arrow(self, path, kind=""):
        head = "far-head" if kind else "head"
        self.lines.append(f'<path class="line {kind}" marker-end="url(#{head})" d="M' +
                          "L".join(f"{x} {y}" for x, y in path) + '"/>')

    def flow(self, a, b):
        """From a's right to b's left where there is nothing between, else around what is."""
        (ax, ay), (bx, by) = self.stages[a], self.stages[b]
        middle_a, middle_b = ay + HIGH // 2, by + HIGH // 2
        out, before = (ax + WIDE, middle_a), (bx - 4, middle_b)
        if ay == by:
            self.arrow([out, before])
        elif bx > ax and b == "ring":
            self.arrow([out, (bx + WIDE // 2, middle_a), (bx + WIDE // 2, by + HIGH + 4)])
        elif bx > ax:
            self.arrow([(ax + WIDE // 2, ay + HIGH if by > ay else ay), (ax + WIDE // 2, middle_b), before])
        else:
            level = by - 32 if by > ay else by + HIGH + 16
            self.arrow([out, (out[0] + 15, middle_a), (out[0] + 15, level), (bx - 15, level), (bx - 15, middle_b), before])

    def send(self, a, b, words):
        (ax, y), (bx, _) = self.stages[a], self.stages[b]
        self.arrow([(ax + WIDE, y + HIGH // 2), (bx - 5, y + HIGH // 2)], "far")
        self.text("word", (ax + WIDE + bx) // 2, y + HIGH // 2 - 8, words)

    def back(self, a, b, words):
        (ax, y), (bx, _) = self.stages[a], self.stages[b]
        ax, bx, low = ax + WIDE // 2, bx + WIDE // 2, self.below + 18
        self.arrow([(ax, y + HIGH), (ax, low), (bx, low), (bx, y + HIGH + 5)], "far back")
        self.text("word", (ax + bx) // 2, low + 17, words)


def draw(lines):
    p = Picture()
    rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    p.cut = max(int(r[1]) for r in rows if r[0] == "machine")
    for kind, *words in rows:
        if kind in ("machine", "lane"):
            p.box(kind, map(int, words[:4]), " ".join(words[4:]), *((20, 42) if kind == "machine" else (10, 16)))
        elif kind == "stage":
            p.stage(int(words[0]), int(words[1]), words[2], " ".join(words[3:]))
        elif kind == "flow":
            for a, b in zip(words, words[1:]):
                p.flow(a, b)
        else:
            {"send": p.send, "back": p.back}[kind](*words[:2], " ".join(words[2:]))
    wide, high = max(x for x, _ in p.stages.values()) + WIDE + LEFT, p.below + 46
    heads = (f'<marker id="{h}" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="8" markerHeight="8" '
             f'markerUnits="userSpaceOnUse" orient="auto"><path class="{h}" d="M0 0L8 4L0 8z"/></marker>'
             for h in ("head", "far-head"))
    size = f'width="{wide}" height="{high}"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" {size} role="img">',
                      f"<title>{TITLE}</title><style>{STYLE}</style><defs>", *heads, "</defs>",
                      f'<rect class="page" {size} rx="10"/>', *p.lines, "</svg>\n"])


if __name__ == "__main__":
    sys.stdout.write(draw(sys.stdin.read().splitlines()))
