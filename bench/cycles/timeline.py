#!/usr/bin/env python3
"""Time lines of model files as pictures: both engines of each, one below the other.

usage: timeline.py OUT.svg NAME=COMMANDS.csv ...

COMMANDS.csv is what `model_tool --profile --csv` writes for one stage.
"""

import csv
import html
import sys
from dataclasses import dataclass

WIDTH = 1600        # of the longest time line, in pixels
MARGIN = 110
HEIGHT = 34         # of an engine
GAP = 10
AXIS = 24
ENGINES = ("TIU", "GDMA")
# By the kind of a command, the direction of a transfer.
COLOURS = {"CONV": "#1f77b4", "MM": "#1f77b4", "MM2": "#1f77b4", "PorD": "#17becf",
           "AR": "#9467bd", "RQDQ": "#8c564b", "SFU": "#e377c2", "S2L": "#2ca02c",
           "L2S": "#ff7f0e", "S2S": "#d62728"}
OTHER = "#7f7f7f"
# What the colours mean.
LEGEND = {"products": "CONV", "pools, depthwise": "PorD", "elements": "AR", "requantization": "RQDQ",
          "functions": "SFU", "loads": "S2L", "stores": "L2S", "moves in global memory": "S2S",
          "other": None}


@dataclass
class Span:
    """Neighbouring commands of one layer and colour on one engine, in cycles."""
    engine: str
    layer: str
    colour: str
    begin: int
    end: int
    busy: int


def read_commands(file):
    """The rows of a CSV of `model_tool --profile`, and the total cycles."""
    with open(file, newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    commands = [row for row in rows if row["engine"] in ENGINES and int(row["cycles"]) > 0]
    return commands, int(rows[-1]["cycles"])


def spans_of(commands, resolution):
    """Joins commands of one layer and colour that are less than `resolution` cycles apart."""
    last = {}
    spans = []
    for command in commands:
        colour = COLOURS.get(command["direction"] or command["kind"], OTHER)
        begin = int(command["start"])
        cycles = int(command["cycles"])
        span = last.get(command["engine"])
        if (span and (span.layer, span.colour) == (command["layer"], colour)
                and begin - span.end < resolution):
            span.end = begin + cycles
            span.busy += cycles
            continue
        span = Span(command["engine"], command["layer"], colour, begin, begin + cycles, cycles)
        last[command["engine"]] = span
        spans.append(span)
    return spans


def engine_rows(name, commands, total, top, scale):
    """The picture of one file from `top` on: a row for each engine."""
    parts = [f'<text x="4" y="{top + HEIGHT / 2 + 4:.0f}" font-weight="bold">'
             f'{html.escape(name)}</text>',
             f'<text x="4" y="{top + HEIGHT / 2 + 20:.0f}">{total:,}</text>']
    for row, engine in enumerate(ENGINES):
        y = top + row * HEIGHT
        parts.append(f'<rect x="{MARGIN}" y="{y}" width="{total * scale:.1f}" '
                     f'height="{HEIGHT - 2}" fill="#eeeeee"/>')
        parts.append(f'<text x="{MARGIN - 40}" y="{y + HEIGHT / 2 + 4:.0f}">{engine}</text>')
    for span in spans_of(commands, 1 / scale):
        y = top + ENGINES.index(span.engine) * HEIGHT
        what = span.layer or "(no layer)"
        parts.append(
            f'<rect x="{MARGIN + span.begin * scale:.1f}" y="{y}" '
            f'width="{max((span.end - span.begin) * scale, 0.2):.1f}" height="{HEIGHT - 2}" '
            f'fill="{span.colour}"><title>{html.escape(what)}: {span.begin} to {span.end}, '
            f'{span.busy} busy</title></rect>')
    return parts


def legend(x):
    """What the colours mean, in the line of the title from `x` on."""
    parts = []
    for what, kind in LEGEND.items():
        parts.append(f'<rect x="{x}" y="7" width="10" height="10" fill="{COLOURS.get(kind, OTHER)}"/>')
        parts.append(f'<text x="{x + 14}" y="16">{what}</text>')
        x += 32 + 7 * len(what)
    return parts


def axis(top, longest, scale):
    """Cycles below the time lines, some ten marks at round numbers."""
    step = next(factor * 10 ** power for power in range(12) for factor in (1, 2, 5)
                if factor * 10 ** power * 12 >= longest)
    parts = []
    for cycles in range(0, longest + 1, step):
        x = MARGIN + cycles * scale
        parts.append(f'<line x1="{x:.1f}" y1="26" x2="{x:.1f}" y2="{top + 4}" stroke="#000000" '
                     'stroke-opacity="0.15"/>')
        parts.append(f'<text x="{x:.1f}" y="{top + 16}" text-anchor="middle">{cycles:,}</text>')
    return parts


def picture(title, lines):
    """The SVG of `lines`, each a name, commands and the total cycles."""
    longest = max(total for _, _, total in lines)
    scale = WIDTH / longest
    bottom = 30 + len(lines) * (2 * HEIGHT + GAP) - GAP
    width = WIDTH + MARGIN + 40
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
             f'height="{bottom + AXIS}" font-family="sans-serif" font-size="11">',
             f'<rect width="{width}" height="{bottom + AXIS}" fill="#ffffff"/>',
             f'<text x="4" y="16" font-size="14">{html.escape(title)}</text>']
    parts += legend(MARGIN + 160)
    for number, (name, commands, total) in enumerate(lines):
        parts += engine_rows(name, commands, total, 26 + number * (2 * HEIGHT + GAP), scale)
    return "\n".join(parts + axis(bottom, longest, scale) + ["</svg>"]) + "\n"


def main():
    if len(sys.argv) < 3 or not all("=" in argument for argument in sys.argv[2:]):
        sys.exit("usage: timeline.py OUT.svg NAME=COMMANDS.csv ...")
    named = [argument.split("=", 1) for argument in sys.argv[2:]]
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write(picture("", [(name, *read_commands(file)) for name, file in named]))


if __name__ == "__main__":
    main()
