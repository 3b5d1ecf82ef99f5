"""The report of the zoo's cells, as markdown: both halves, what is refused, what the host computes."""

import collections
import math

from cells import PARAMETERS, cycles_with_host

# From the wider type to the narrower one, which should never take more cycles.
NARROWER = (("F32", "F16"), ("F16", "INT8"))
OURS, THEIRS = 0, 1


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def shown(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def table(columns, rows):
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in (columns, ["---"] * len(columns), *rows)]
    return "\n".join(lines) + "\n"


def is_made(cell):
    return cell is not None and "error" not in cell


def ratio(cells, parameters):
    """Ours divided by theirs, the host's time with it; none where one of both is missing."""
    ours, theirs = cells
    if not is_made(ours) or not is_made(theirs):
        return None
    return cycles_with_host(ours, parameters) / cycles_with_host(theirs, parameters)


def is_loss(cells):
    """More cycles than theirs by either set, or layers on the host where they have none."""
    if not is_made(cells[OURS]) or not is_made(cells[THEIRS]):
        return False
    return (any(ratio(cells, parameters) > 1 for parameters in PARAMETERS)
            or len(cells[OURS]["cpu_layers"]) > 0 and cells[THEIRS]["host_layers"] == 0)


def distance(cell):
    """How many times longer than its bound a file takes."""
    return cycles_with_host(cell, "vendor") / max(cell["bound"], 1)


def against_wider(cells, wide, narrow):
    """The ratios of cycles, narrow to wide, of all networks that have both."""
    both = [(each.get(wide, (None,))[OURS], each.get(narrow, (None,))[OURS]) for each in cells.values()]
    return [cycles_with_host(b, "vendor") / cycles_with_host(a, "vendor") for a, b in both if is_made(a) and is_made(b)]


def half_rows(halves):
    """A row for each figure, a column for each half. `halves`: name -> network -> mode -> (ours, theirs)."""
    def row(name, figure):
        return [name, *[figure(cells) for cells in halves.values()]]

    def every(cells):
        return [cell for modes in cells.values() for cell in modes.values()]

    def made(cells):
        return [cell for cell in every(cells) if is_made(cell[OURS])]

    rows = [row("networks", len), row("cells", lambda c: len(every(c))),
            row("compiled", lambda c: len(made(c))),
            row("with layers on the host", lambda c: sum(bool(cell[OURS]["cpu_layers"]) for cell in made(c))),
            row("layers on the host", lambda c: sum(len(cell[OURS]["cpu_layers"]) for cell in made(c))),
            row("distance from the bound, geometric mean",
                lambda c: shown(geometric_mean(distance(cell[OURS]) for cell in made(c))))]
    for parameters in PARAMETERS:
        rows.append(row(f"ours / theirs, {parameters} parameters, geometric mean", lambda c, p=parameters: shown(
            geometric_mean(filter(None, (ratio(cell, p) for cell in every(c)))), 3)))
    rows.append(row("cells that both compile", lambda c: sum(ratio(cell, "vendor") is not None for cell in every(c))))
    rows.append(row("lost", lambda c: sum(map(is_loss, every(c)))))
    rows.append(row("CPU seconds, ours / theirs, geometric mean", lambda c: shown(geometric_mean(
        cell[OURS]["seconds"] / cell[THEIRS]["seconds"] for cell in every(c)
        if ratio(cell, "vendor") is not None and "seconds" in cell[THEIRS]), 3)))
    rows.append(row("commands, ours / theirs, geometric mean", lambda c: shown(geometric_mean(
        cell[OURS]["commands"] / cell[THEIRS]["commands"] for cell in every(c) if ratio(cell, "vendor") is not None), 3)))
    for wide, narrow in NARROWER:
        rows.append(row(f"{narrow} slower than {wide}", lambda c, w=wide, n=narrow: (
            lambda ratios: f"{sum(r > 1 for r in ratios)} of {len(ratios)}")(against_wider(c, w, n))))
    return rows


def network_rows(cells):
    rows = []
    for name, modes in cells.items():
        for mode, both in modes.items():
            ours = both[OURS]
            if not is_made(ours):
                rows.append([name, mode, "refused", *["-"] * 9])
                continue
            host = len(ours["cpu_layers"])
            rows.append([name, mode, f"{ours['vendor']:,}" + (f" + {host} on the host" if host else ""),
                         *[shown(ratio(both, parameters)) for parameters in PARAMETERS], "lost" if is_loss(both) else "",
                         shown(distance(ours), 1), f"{ours['commands']:,}", shown(ours["seconds"], 1),
                         f"{ours['memory']:.0f}", shown(ours.get("cosine"), 4), shown(ours.get("lowered_cosine"), 7)])
    return rows


def count_rows(cells, reasons):
    """What happens in how many cells, the most frequent first."""
    counted = collections.Counter(reason for modes in cells.values() for cell in modes.values()
                                  for reason in reasons(cell[OURS]))
    return [[*reason, count] for reason, count in counted.most_common()]


def refused_rows(halves):
    """Each cell without a file of ours or, where theirs was asked for, of theirs: by name, with the message."""
    return [[name, mode, who, cell["error"].replace("|", "/")] for cells in halves.values()
            for name, modes in cells.items() for mode, both in modes.items()
            for who, cell in zip(("ours", "theirs"), both) if cell is not None and "error" in cell]


def num_compared(halves, with_vendor):
    """The cells that both compile or, without the vendor's files, that we compile."""
    return sum(ratio(cell, "vendor") is not None if with_vendor else is_made(cell[OURS])
               for cells in halves.values() for modes in cells.values() for cell in modes.values())


def report(halves, opt, chip):
    """`halves` as half_rows takes them, "open" and "held-out". Of the other one no layer is shown; what is refused
    is named in both."""
    parts = ["# The zoo\n", f"Files of `--opt {opt}` for {chip}. Ratios divide our cycles by those of TPU-MLIR's file; "
             "a layer on the host counts with the host's time, as cycles of the chip.\n",
             table(["", *halves], half_rows(halves))]
    opened = halves.get("open", {})
    parts += ["## Layers on the host, open half\n", table(["op", "reason", "layers"], count_rows(
        opened, lambda cell: [tuple(layer) for layer in cell["cpu_layers"]] if is_made(cell) else []))]
    parts += ["## Refused\n", table(["network", "mode", "file", "message"], refused_rows(halves))]
    for name, cells in halves.items():
        parts += [f"## Networks, {name} half\n",
                  table(["network", "mode", "cycles", *[f"ratio, {p}" for p in PARAMETERS], "", "times the bound",
                         "commands", "CPU s", "MB", "cosine", "to the lowered network"], network_rows(cells))]
    return "\n".join(parts)
