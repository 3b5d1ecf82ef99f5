#!/usr/bin/env python3
"""What each heuristic of the code generator brings: cycles without it, divided by cycles with all.

usage: heuristics.py BUILD [--models DIR] [--opt N] [--jobs N] [NETWORK ...] [MODE ...]

Networks, modes and --models as in compare.py; by default F16 and INT8. Each network is transformed
and calibrated once, deployed with everything, and once for each heuristic without that one, as many
as --jobs side by side (default: the processors of the machine); cycles are those of the timing
simulator with the vendor's parameters. "groups" is --opt 0 instead of 1, "search" --opt 1 instead of
2: the groups that are best by estimate instead of those that the simulator finds.

The table is that of bench/results/heuristics.json: a line for each network, in each column a number for each mode;
"=" where the file has the same bytes, "-" where there is none; above 1 the heuristic saves cycles.
The last line holds the geometric means.
"""

import argparse
import concurrent.futures
import hashlib
import os
import sys
import tempfile

from compare import Failed, Tools, add_arguments, chosen, geometric_mean, sample_of

# The level, and what is left out.
VARIANTS = {"groups": ("0", []), "search": ("1", [])} | {
    name: (None, ["--without", name])
    for name in ("resident-constants", "early-constants", "overlap", "least-work", "urgent-transfers",
                 "in-place-concat", "narrow-concat", "column-gather", "fold-depths", "late-permutes", "op-reorder", "merge-groups",
                 "pack-rows", "lut-to-arith", "transpose-in-groups", "fold-transpose-into-store",
                 "gather-rows", "permute-by-transposes", "hoist-outputs", "fold-head-reshapes",
                 "join-convolutions", "split-convolutions")}
SAME = "="


class Table:
    def __init__(self, tools, options, modes, pool):
        self.tools = tools
        self.options = options
        self.modes = modes
        self.pool = pool
        self.variants = [name for name in VARIANTS if name != "search" or options.opt > 1]
        self.ratios = {(variant, mode): [] for variant in self.variants for mode in modes}

    def deploy(self, top, name, mode, variant, complete=None):
        """(the bytes' hash, cycles) of the file of a variant, which goes away; None where it cannot
        be made. `complete`: the same of the file with everything, which need not be simulated again."""
        opt, without = VARIANTS.get(variant, (None, []))
        with tempfile.TemporaryDirectory(dir=os.path.dirname(top)) as folder:
            try:
                model = self.tools.deploy(
                    top, mode, opt or self.options.opt, sample_of(self.options, name),
                    [*without, "--num_threads", "1"], folder)
            except Failed:
                if complete is None:
                    raise
                return None
            with open(model, "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            if complete and digest == complete[0]:
                return complete
            return digest, self.tools.profile(model)["vendor"]["cycles"]

    def cell(self, made, complete, ratios):
        """What the table says of a variant."""
        if made is None:
            return "-"
        ratios.append(made[1] / complete[1])
        return SAME if made[0] == complete[0] else f"{ratios[-1]:.3f}"

    def cells(self, top, name):
        """For each mode the cycles with everything and the cell of each variant."""
        jobs = [self.pool.submit(self.deploy, top, name, mode, None) for mode in self.modes]
        concurrent.futures.wait(jobs)
        complete = [job.result() for job in jobs]
        jobs = {(mode, variant): self.pool.submit(self.deploy, top, name, mode, variant, every)
                for mode, every in zip(self.modes, complete) for variant in self.variants}
        concurrent.futures.wait(jobs.values())
        return [[f"{every[1]:,}"] + [
            self.cell(jobs[mode, variant].result(), every, self.ratios[variant, mode])
            for variant in self.variants] for mode, every in zip(self.modes, complete)]

    def row(self, name):
        onnx = os.path.join(self.options.models, name + ".onnx")
        with tempfile.TemporaryDirectory() as folder:
            try:
                top = self.tools.transform(onnx, folder)
                if any(mode.startswith("INT8") for mode in self.modes):
                    self.tools.calibrate(top, sample_of(self.options, name))
                cells = self.cells(top, name)
            except Failed as reason:
                self.line(name, [str(reason)])
                return
        self.line(name, [SAME if set(each) == {SAME} else "; ".join(each) for each in zip(*cells)])

    def line(self, first, cells):
        print(f"| {first} | " + " | ".join(cells) + " |", flush=True)

    def print(self, names):
        self.line("; ".join(self.modes), ["cycles", *self.variants])
        self.line("---", ["---"] * (len(self.variants) + 1))
        for name in names:
            self.row(name)
        self.line("geometric mean", [""] + [
            "; ".join(f"{geometric_mean(self.ratios[variant, mode] or [1]):.3f}" for mode in self.modes)
            for variant in self.variants])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_intermixed_args()
    if not options.models or not os.path.isdir(options.models):
        print("bench/cycles: no networks; expected --models or TPUC_MODELS to name a folder")
        return 0
    names, modes = chosen(options, ["F16", "INT8"])
    with concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool:
        Table(Tools(options.build), options, modes, pool).print(names)
    return 0


if __name__ == "__main__":
    sys.exit(main())
