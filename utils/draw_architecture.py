#!/usr/bin/env python3
"""draw_architecture.py [--check | --output FILE]: docs/architecture.svg, drawn from the sources.

Components are folders. An arrow goes from a component to one whose headers it includes; an arrow that
follows from others is left out. What a box lists, and whether a component knows MLIR, is read from
the folders, too; the states of the phases at the top must stand in the sources. So the picture depends
on nothing but the sources. With --check nothing is written; a stale picture is an error.
"""

import argparse
import html
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PICTURE = os.path.join("docs", "architecture.svg")

SOURCE = re.compile(r"\.(h|cpp|c|td)$")
INCLUDE = re.compile(r"^\s*#?\s*include\s+[\"<]([^\">]+)[\">]", re.M)
MLIR = re.compile(r"(mlir|llvm)/")

# Where a component stands in its row, from left to right, and what it is for.
PURPOSE = {
    "tools": "the programs",
    "Driver": "phases, back ends of the tools",
    "Frontend": "source formats to Top",
    "Transforms": "Top to Top",
    "Conversion": "Top to Tpu",
    "Calibration": "thresholds from samples",
    "Codegen": "tiles, groups, addresses",
    "Target/<Chip>/Codegen": "back ends",
    "Target/<Chip>/Runtime": "device drivers",
    "runtime": "runs model files, C interface",
    "Interpreter": "adapters from MLIR, memory plan",
    "Target/<Chip>": "tables, machines, kernels",
    "Preprocess": "pictures to inputs",
    "Dialect": "ops, types, verifiers",
    "Interpreter/Kernels, Ops": "what an op means",
    "Model": "model files",
    "Target": "what a chip is, registry",
    "Support": "tensors, npz, numerics, allocator, errors",
}
ORDER = {name: place for place, name in enumerate([
    "tools", "Driver", "Preprocess", "Frontend", "Transforms", "Calibration", "Dialect", "Interpreter", "Conversion",
    "Interpreter/Kernels, Ops", "Codegen", "Model", "Target/<Chip>/Codegen", "Target", "Target/<Chip>",
    "Target/<Chip>/Runtime", "runtime", "Support"])}
# Phase, `module.state` behind it, and whose work it is. The sources have each state as a string.
PHASES = [("import", "TOP_F32", "Frontend"), ("optimize", "TOP_F32", "Transforms"),
          ("calibrate", "TOP_CALIBRATED", "Calibration"), ("lower", "TPU_LOWERED", "Conversion"),
          ("divide", "TPU_DIVIDED", "Codegen"), ("group", "TPU_GROUPED", "Codegen"),
          ("address", "TPU_ADDRESSED", "Codegen"), ("encode", "", "Codegen, Target/<Chip>")]

WIDTH = 1240
MARGIN = 24
BOX_HEIGHT = 62
ROW_GAP = 54
BOX_GAP = 34
TOP = 150
COLOURS = {True: ("#dbe7f6", "#3f6fa8"), False: ("#e2f0dc", "#5b8f46")}
FONT = "font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\""


@dataclass
class Component:
    name: str
    parts: set = field(default_factory=set)
    knows_mlir: bool = False
    uses: set = field(default_factory=set)
    rank: int = 0
    x: float = 0
    y: float = 0
    width: float = 0

    @property
    def centre(self):
        return self.x + self.width / 2


def fail(message):
    sys.exit(f"draw_architecture.py: error: {message}")


def component_of(path):
    """(component, part that its box lists or None) of a source file."""
    steps = path.split("/")
    if steps[0] == "runtime":
        return "runtime", None
    if steps[0] == "tools":
        return "tools", steps[1] if len(steps) > 2 and steps[1] != "common" else None
    # A program that stands beside what it serves.
    if steps[1] != "Support" and "Tool" in steps[2:-1]:
        return "tools", os.path.splitext(steps[-1])[0]
    room, folder = steps[1], steps[2] if len(steps) > 3 else None
    if room == "Interpreter" and folder in ("Kernels", "Ops"):
        return "Interpreter/Kernels, Ops", None
    if room == "Target" and folder and folder not in ("Common",):
        if len(steps) > 4 and steps[3] in ("Codegen", "Runtime"):
            return f"Target/<Chip>/{steps[3]}", folder
        return "Target/<Chip>", folder
    return room, None if room == "Codegen" else folder


def read_sources():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", "tpuc", "runtime", "tools"],
                            cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.split("\n")
    for path in sorted(set(filter(SOURCE.search, listed))):
        full = os.path.join(ROOT, path)
        # Files directly in tpuc/ belong to no component.
        if os.path.isfile(full) and (path.count("/") > 1 or not path.startswith("tpuc/")):
            with open(full, encoding="utf-8") as file:
                yield path, file.read()


def read_components():
    components = {}
    for path, text in read_sources():
        name, part = component_of(path)
        component = components.setdefault(name, Component(name))
        if part:
            component.parts.add(part)
        for included in INCLUDE.findall(text):
            if MLIR.match(included):
                component.knows_mlir = True
            elif included.startswith(("tpuc/", "runtime/", "tools/")):
                component.uses.add(component_of(included)[0])
        component.uses.discard(name)
    for component in components.values():
        if component.name not in PURPOSE:
            fail(f"tpuc/{component.name}: a new component; expected its place and purpose in PURPOSE and ORDER")
        component.uses &= components.keys()
    return components


def reach(components, start, seen=None):
    """Everything that `start` uses, by others too."""
    seen = set() if seen is None else seen
    for name in components[start].uses:
        if name not in seen:
            seen.add(name)
            reach(components, name, seen)
    return seen


def rank_all(components):
    """Puts a component above everything that it uses."""
    for name in components:
        if name in reach(components, name):
            fail(f"{name}: uses itself through {', '.join(sorted(components[name].uses))}; expected no cycle")
    for _ in components:
        for component in components.values():
            component.rank = max((components[used].rank + 1 for used in component.uses), default=0)
    # Then as far up as what uses it allows, so that phases stand side by side.
    users = {name: [user for user in components.values() if name in user.uses] for name in components}
    for component in sorted(components.values(), key=lambda component: (-component.rank, component.name)):
        if users[component.name]:
            component.rank = min(user.rank for user in users[component.name]) - 1


def direct_uses(components):
    """The uses that do not follow from others."""
    for component in components.values():
        for used in sorted(component.uses):
            if not any(used in reach(components, other) for other in component.uses - {used}):
                yield component, components[used]


def caption(component):
    """The third line of a box."""
    return ", ".join(sorted(component.parts))


def place_all(components):
    rows = {}
    for component in components.values():
        rows.setdefault(component.rank, []).append(component)
    highest = max(rows)
    for rank, row in rows.items():
        row.sort(key=lambda component: ORDER[component.name])
        widths = [max(150, 22 + 6.6 * max(len(PURPOSE[c.name]), 0.92 * len(caption(c)), 1.5 * len(c.name))) for c in row]
        free = WIDTH - 2 * MARGIN - sum(widths)
        gap = min(free / (len(row) + 1), 150) if len(row) > 1 else 0
        x = (WIDTH - sum(widths) - gap * (len(row) - 1)) / 2
        for component, width in zip(row, widths):
            component.width = width
            component.x = x
            component.y = TOP + (highest - rank) * (BOX_HEIGHT + ROW_GAP)
            x += width + gap
        if len(row) == 1 and rank == 0:
            row[0].x, row[0].width = MARGIN, WIDTH - 2 * MARGIN
    return rows


def ports(edges):
    """Where on its boxes each edge begins and ends: spread over the borders, in the order of the other
    ends, so that edges of one box do not cross."""
    begins, ends = {}, {}
    for side, key, other, places in ((0, "out", 1, begins), (1, "in", 0, ends)):
        by_box = {}
        for edge in edges:
            by_box.setdefault(edge[side].name, []).append(edge)
        for group in by_box.values():
            group.sort(key=lambda edge: (edge[other].centre, edge[other].name))
            box = group[0][side]
            wide = box.width > 700
            for number, edge in enumerate(group):
                spread = box.x + box.width * (number + 1) / (len(group) + 1)
                # A box over the whole width is met right below the one that uses it.
                places[edge[0].name, edge[1].name] = edge[other].centre if wide and side == 1 else spread
    return begins, ends


def gaps_of(row):
    """The spaces between the boxes of a row, and beside them."""
    row = sorted(row, key=lambda component: component.x)
    places = [(min(10, row[0].x - 8), row[0].x - 8)]
    places += [(left.x + left.width + 8, right.x - 8) for left, right in zip(row, row[1:])]
    end = row[-1].x + row[-1].width + 8
    places.append((end, max(end, WIDTH - 10)))
    return places


def route(edge, begin, end, rows, taken):
    """The points of an edge: through the gap of each row in between that is nearest to where it is."""
    source, target = edge
    points = [(begin, source.y + BOX_HEIGHT)]
    for rank in range(source.rank - 1, target.rank, -1):
        share = (source.rank - rank) / (source.rank - target.rank)
        wanted = points[-1][0] + (end - points[-1][0]) * share
        low, high = min(gaps_of(rows[rank]), key=lambda gap: max(gap[0] - wanted, wanted - gap[1], 0))
        x = min(max(wanted, low), high)
        while any(abs(x - other) < 7 for other in taken.setdefault(rank, [])):
            x += 7
        taken[rank].append(x)
        y = rows[rank][0].y
        points += [(x, y - 6), (x, y + BOX_HEIGHT + 6)]
    points.append((end, target.y - 5))
    return points


def curve(points):
    """A path through the points that leaves and enters boxes vertically."""
    path = f"M{points[0][0]:.1f},{points[0][1]:.1f}"
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if abs(x0 - x1) < 0.5:
            path += f" L{x1:.1f},{y1:.1f}"
        else:
            bend = (y1 - y0) * 0.55
            path += f" C{x0:.1f},{y0 + bend:.1f} {x1:.1f},{y1 - bend:.1f} {x1:.1f},{y1:.1f}"
    return path


def text(x, y, words, size=12, colour="#222222", anchor="middle", weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}" '
            f'font-weight="{weight}">{html.escape(words)}</text>')


def draw_phases():
    sources = "".join(text for path, text in read_sources() if path.endswith(".cpp"))
    for _, state, _ in PHASES:
        if state and f'"{state}"' not in sources:
            fail(f"tpuc: no \"{state}\"; expected the state in a source")
    width = (WIDTH - 2 * MARGIN) / len(PHASES)
    parts = [text(MARGIN, 30, "Phases, and the state of the module behind each", 15, weight="bold", anchor="start")]
    for number, (name, state, worker) in enumerate(PHASES):
        x, y, height, tip = MARGIN + number * width, 44, 44, 12
        shape = (f"M{x:.1f},{y} h{width - tip - 4:.1f} l{tip},{height / 2:.0f} l-{tip},{height / 2:.0f} "
                 f"h-{width - tip - 4:.1f}" + (f" l{tip},-{height / 2:.0f}" if number else "") + " z")
        parts.append(f'<path d="{shape}" fill="#f3e9d2" stroke="#b08d3c"/>')
        middle = x + width / 2
        parts.append(text(middle, y + 19, name, 13, weight="bold"))
        parts.append(text(middle, y + 35, state or "model file", 10, "#6b5a2a"))
        parts.append(text(middle, y + height + 15, worker, 10, "#666666"))
    return parts


def draw_box(component):
    fill, line = COLOURS[component.knows_mlir]
    parts = [f'<rect x="{component.x:.1f}" y="{component.y:.1f}" width="{component.width:.1f}" height="{BOX_HEIGHT}" '
             f'rx="6" fill="{fill}" stroke="{line}"/>',
             text(component.centre, component.y + 20, component.name, 14, weight="bold"),
             text(component.centre, component.y + 37, PURPOSE[component.name], 11)]
    if component.parts:
        parts.append(text(component.centre, component.y + 53, caption(component), 10, "#555555"))
    return parts


def draw():
    components = read_components()
    rank_all(components)
    rows = place_all(components)
    edges = sorted(direct_uses(components), key=lambda edge: (ORDER[edge[0].name], ORDER[edge[1].name]))
    begins, ends = ports(edges)
    height = max(component.y for component in components.values()) + BOX_HEIGHT + 56
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.0f}" '
             f'viewBox="0 0 {WIDTH} {height:.0f}" {FONT}>',
             '<title>Phases and components of tpuc</title>',
             '<defs><marker id="head" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
             '<path d="M0,0 L8,4 L0,8 z" fill="#777777"/></marker></defs>',
             f'<rect width="{WIDTH}" height="{height:.0f}" fill="#ffffff"/>']
    parts += draw_phases()
    parts.append(text(MARGIN, TOP - 14, "Components, and whose headers they include", 15, weight="bold", anchor="start"))
    taken = {}
    for edge in edges:
        key = edge[0].name, edge[1].name
        parts.append(f'<path d="{curve(route(edge, begins[key], ends[key], rows, taken))}" fill="none" '
                     'stroke="#777777" stroke-width="1.3" marker-end="url(#head)"/>')
    for rank in sorted(rows, reverse=True):
        for component in rows[rank]:
            parts += draw_box(component)
    y = height - 24
    for x, knows, words in ((MARGIN, True, "knows MLIR"), (MARGIN + 130, False, "includes no MLIR header")):
        fill, line = COLOURS[knows]
        parts.append(f'<rect x="{x}" y="{y - 12:.0f}" width="18" height="14" rx="3" fill="{fill}" stroke="{line}"/>')
        parts.append(text(x + 26, y, words, 11, anchor="start"))
    parts.append(text(MARGIN + 320, y, "An arrow that follows from others is left out. CMake finds chips, containers "
                      "and front ends, so no arrow leads to them.", 11, "#555555", anchor="start"))
    return "\n".join(parts) + "\n</svg>\n"


def main():
    parser = argparse.ArgumentParser(description="Draws the components of tpuc from its sources.")
    parser.add_argument("--check", action="store_true", help="write nothing; a stale picture is an error")
    parser.add_argument("--output", default=os.path.join(ROOT, PICTURE), help="where the picture goes")
    options = parser.parse_args()
    picture = draw()
    if options.check:
        with open(os.path.join(ROOT, PICTURE), encoding="utf-8") as file:
            if file.read() == picture:
                return 0
        print(f"{PICTURE}: is not what the sources say; ./dev docs draws it")
        return 1
    with open(options.output, "w", encoding="utf-8") as file:
        file.write(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
