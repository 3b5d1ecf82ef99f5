#!/usr/bin/env python3
"""Compares our times of model files with the time lines that the vendor's compiler wrote with them.

usage: time_lines.py [--tools DIR] MODELS

MODELS holds NAME/MODE/NAME_MODE.bmodel with the time line _0.dat beside it, as
test/conformance/bm168x/vendor_models.py --processor bm1684 leaves them. Kinds, starts and cycles of
all commands and the totals must be equal. Prints one line per model; the status is 1 when any
differs, or when there is no model.
"""

import argparse
import csv
import pathlib
import re
import subprocess
import sys
import tempfile

COMMAND = re.compile(r"\|([A-Z_0-9]+)\|s:(\d+)\|b:(\d+)\|g:(\d+)\|e:\d+\|t:(\d+)(\|dr:)?")
TOTAL = re.compile(r"TCYC : (\d+)")


def vendor_times(path):
    """{(engine, id): (kind, start, cycles)} and the total."""
    text = path.read_text()
    times = {}
    for kind, start, tiu, dma, cycles, direction in COMMAND.findall(text):
        key = ("GDMA", int(dma)) if direction else ("TIU", int(tiu))
        times[key] = (kind, int(start), int(cycles))
    return times, int(TOTAL.findall(text)[0])


def our_times(tool, model):
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "commands.csv"
        subprocess.run([tool, "--profile", model, "--csv", table], check=True, capture_output=True)
        with open(table, newline="") as file:
            rows = list(csv.DictReader(file))
    times = {(row["engine"], int(row["id"])): (row["kind"], int(row["start"]), int(row["cycles"]))
             for row in rows if row["id"]}
    return times, max(start + cycles for _, start, cycles in times.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tools", default="build/bin")
    parser.add_argument("models")
    options = parser.parse_args()
    tool = pathlib.Path(options.tools) / "model_tool"
    commands = wrong = compared = 0
    for line in sorted(pathlib.Path(options.models).glob("*/*/_0.dat")):
        model = line.parent / f"{line.parent.parent.name}_{line.parent.name}.bmodel"
        if not model.exists():
            continue
        theirs, total = vendor_times(line)
        ours, our_total = our_times(tool, model)
        different = [key for key in theirs.keys() | ours.keys() if theirs.get(key) != ours.get(key)]
        is_same = not different and our_total == total
        print(f"{model.stem}: {len(theirs)} commands, {len(different)} differ, "
              f"{our_total} cycles, vendor {total}", flush=True)
        for key in sorted(different)[:3]:
            print(f"  {key}: {ours.get(key)}, vendor {theirs.get(key)}")
        commands += len(theirs)
        compared += 1
        wrong += not is_same
    print(f"{compared - wrong} of {compared} time lines are equal, {commands} commands")
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
