#!/usr/bin/env python3
"""What each heuristic of the code generator brings: cycles without it, divided by cycles with all.

usage: heuristics.py BUILD [--models DIR] [--opt N] [NETWORK ...] [MODE ...]

Networks, modes and --models as in compare.py. Each network is deployed with everything, and once for
each heuristic without that one; cycles are those of the timing simulator with the vendor's
parameters. "groups" is --opt 0 instead of 1, "search" --opt 1 instead of 2: the groups that are best
by estimate instead of those that the simulator finds. 1.000: it brings nothing here; below 1: it
costs. A line that cannot be deployed shows "-".
"""

import argparse
import os
import sys
import tempfile

from compare import Failed, Tools, add_arguments, chosen, geometric_mean, sample_of

# The level, and what is left out.
VARIANTS = {"groups": ("0", []), "search": ("1", [])} | {
    name: (None, ["--without", name])
    for name in ("attention-rows", "merge-groups", "stack-rows", "op-reorder", "constant-pool",
                 "joins", "early-constants", "overlap")}


class Table:
    def __init__(self, tools, options):
        self.tools = tools
        self.options = options
        self.names = [name for name in VARIANTS if name != "search" or options.opt > 1]
        self.ratios = {name: [] for name in self.names}

    def cycles(self, top, name, mode, variant):
        opt, without = VARIANTS.get(variant, (None, []))
        model = self.tools.deploy(top, mode, opt or self.options.opt, sample_of(self.options, name),
                                  without)
        return self.tools.profile(model)["vendor"]["cycles"]

    def row(self, top, name, mode):
        every = self.cycles(top, name, mode, None)
        fields = []
        for variant in self.names:
            try:
                ratio = self.cycles(top, name, mode, variant) / every
            except Failed:
                fields.append(f"{'-':>16}")
                continue
            self.ratios[variant].append(ratio)
            fields.append(f"{ratio:16.3f}")
        print(f"{name:20} {mode:5}{every:11}" + "".join(fields), flush=True)

    def print(self, names, modes):
        print(f"{'':26}{'with all':>11}" + "".join(f"{name:>16}" for name in self.names))
        for name in names:
            onnx = os.path.join(self.options.models, name + ".onnx")
            with tempfile.TemporaryDirectory() as folder:
                try:
                    top = self.tools.transform(onnx, folder)
                    for mode in modes:
                        self.row(top, name, mode)
                except Failed as reason:
                    print(f"{name:20} {reason}")
        print(f"{'geometric mean':37}" +
              "".join(f"{geometric_mean(each) if each else 1:16.3f}" for each in self.ratios.values()))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    options = parser.parse_intermixed_args()
    if not options.models or not os.path.isdir(options.models):
        print("bench/cycles: no networks; expected --models or TPUC_MODELS to name a folder")
        return 0
    names, modes = chosen(options, ["F32", "F16"])
    Table(Tools(options.build), options).print(names, modes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
