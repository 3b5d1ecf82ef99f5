#!/usr/bin/env python3
"""Networks that nobody tuned for, in all modes: what our model files cost, alone or beside TPU-MLIR's.

usage: zoo_bench.py BUILD [--models DIR] [--vendor DIR] [--cache DIR] [--chip NAME] [--opt N] [--half open|held-out]
                    [--measured FILE] [--no-run] [--cached] [--time-limit S] [--report FILE] [NETWORK ...] [MODE ...]

DIR of --models (default: TPUC_ZOO) holds NETWORK.onnx, as test/models/zoo/export.py writes them, and NETWORK_in.npz
where there is one; without it the sample is random. Each network is transformed and deployed for --chip (bm1684x, or
bm1684), by default in all its modes of F32, F16, BF16, INT8 and INT8_ASYM with --opt 2, without validation. Tables of
INT8 hold the largest numbers of the one sample. With --vendor (default: TPUC_VENDOR_DIR) TPU-MLIR compiles the same
ONNX file in the same run.

A cell is one network in one mode. It has the cycles of both parameter sets, the commands, the bound (the longer of
the products at peak and of all weights, inputs and outputs transferred once), processor seconds and peak memory of
model_deploy. The file is run on the sample, unless --no-run: the smallest cosine of an output against the network in
float and against the lowered network, and the host's seconds where layers are on the host. Such a layer is never free:
its time counts as cycles of the chip, and the cell is lost where TPU-MLIR has no layer on its host.

--measured FILE (default: theirs.json here) holds what TPU-MLIR's files took when they were last compiled. Without
--vendor, ours are compared with these, but for seconds; with it, what TPU-MLIR makes in this run is written there.
--measured '' compares with nothing.

--cache DIR keeps every cell by the hash of the network and of our programs, so that a run that was cut off goes on;
TPU-MLIR's cells do not depend on our programs but for model_tool. --cached makes nothing new, and only reports.
--report FILE (default: standard output) is markdown. Half of the networks, by a hash of their names, is held out: its
layers are not shown, it only says whether what was done for the other half generalizes. What is refused is listed by
name with the message, and a run that compared nothing fails: no cell that both compile or, alone, no cell of ours.
A program that takes longer than --time-limit (default: 900 seconds) has failed.
"""

import argparse
import os
import pathlib
import sys
import tempfile

import cells
import report
from cells import CHIPS, MODES, Cache, Network

sys.path.insert(0, str(cells.HERE.parents[1] / "test/models/zoo"))
import zoo  # noqa: E402

HALVES = {"open": False, "held-out": True}


class Bench:
    def __init__(self, options):
        self.options = options
        self.tools = cells.Tools(os.path.abspath(options.build))
        self.cache = Cache(options.cache)
        self.measured = cells.Measured(options.measured) if options.measured else None
        self.build = cells.digest(*(self.tools.path(name) for name in ("model_transform", "model_deploy")))

    def key(self, onnx, mode):
        run = "plain" if self.options.no_run else "run"
        return (onnx.stem, self.options.chip, mode, f"opt{self.options.opt}", run, cells.digest(onnx), self.build)

    def kept(self, key, make):
        cell = self.cache.get(key)
        if cell is None and not self.options.cached:
            cell = make()
            self.cache.put(key, cell)
        return cell

    def network(self, onnx, modes):
        """mode -> (ours, theirs); modes of which nothing is known are missing."""
        made = {}
        with tempfile.TemporaryDirectory(dir=self.cache.folder) as folder:
            network = Network(self.tools, onnx, folder, self.options.time_limit, self.options.chip)
            for mode in modes:
                ours = self.kept(self.key(onnx, mode),
                                 lambda m=mode: network.ours(m, self.options.opt, not self.options.no_run))
                other = None
                if self.options.vendor:
                    other = self.kept((onnx.stem, self.options.chip, mode, "vendor", cells.digest(onnx)),
                                      lambda m=mode: cells.theirs(
                                          self.tools, self.options.vendor, self.cache.folder, onnx, m,
                                          self.options.time_limit, self.options.chip))
                if self.measured and other is not None:
                    self.measured.put(onnx, self.options.chip, mode, other)
                elif self.measured and not self.options.vendor:
                    other = self.measured.get(onnx, self.options.chip, mode)
                if ours is not None:
                    made[mode] = (ours, other)
                    self.line(onnx.stem, mode, ours, other)
        if self.measured and self.options.vendor:
            self.measured.write()
        return made

    def line(self, name, mode, ours, other):
        """A cell as it is made."""
        if not report.is_made(ours):
            print(f"{name:32} {mode:9} refused: {ours['error']}", file=sys.stderr, flush=True)
            return
        host = f", {len(ours['cpu_layers'])} on the host" if ours["cpu_layers"] else ""
        ratio = report.ratio((ours, other), "vendor")
        print(f"{name:32} {mode:9} {ours['vendor']:11} cycles{host}" + (f", {ratio:.3f} of theirs" if ratio else "")
              + f", {report.distance(ours):.1f} times the bound, {ours['seconds']:.1f} s", file=sys.stderr, flush=True)


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--models", default=os.environ.get("TPUC_ZOO"))
    parser.add_argument("--vendor", default=os.environ.get("TPUC_VENDOR_DIR"))
    parser.add_argument("--measured", default=str(cells.HERE / "theirs.json"))
    parser.add_argument("--cache")
    parser.add_argument("--chip", choices=CHIPS, default="bm1684x")
    parser.add_argument("--opt", type=int, default=2)
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--no-run", action="store_true")
    parser.add_argument("--cached", action="store_true")
    parser.add_argument("--time-limit", type=float, default=900)
    parser.add_argument("--report")
    return parser.parse_intermixed_args()


def main():
    options = parsed()
    if not options.models or not os.path.isdir(options.models):
        sys.exit("bench/zoo: no networks; expected --models or TPUC_ZOO to name a folder that test/models/zoo/export.py wrote")
    files = {file.stem: file.resolve() if file.is_symlink() else file.absolute()
             for file in sorted(pathlib.Path(options.models).glob("*.onnx"))}
    names = [name for name in options.names if name not in MODES] or list(files)
    unknown = [name for name in names if name not in files]
    if unknown:
        sys.exit(f"bench/zoo: no {unknown[0]}.onnx in {options.models}; expected names of files there, or modes: {', '.join(MODES)}")
    modes = [name for name in options.names if name in MODES] or list(CHIPS[options.chip].modes)
    foreign = [mode for mode in modes if mode not in CHIPS[options.chip].modes]
    if foreign:
        sys.exit(f"bench/zoo: {options.chip} has no {foreign[0]}; expected {', '.join(CHIPS[options.chip].modes)}")
    wanted = [half for half in HALVES if options.half in (None, half)]
    with tempfile.TemporaryDirectory() as folder:
        options.cache = os.path.abspath(options.cache or folder)
        try:
            bench = Bench(options)
        except cells.Failed as reason:
            sys.exit(f"bench/zoo: {reason}")
        halves = {half: {} for half in wanted}
        for name in names:
            half = "held-out" if zoo.is_held_out(name) else "open"
            if half in halves:
                made = bench.network(files[name], modes)
                if made:
                    halves[half][name] = made
    text = report.report(halves, options.opt, options.chip)
    if options.report:
        pathlib.Path(options.report).write_text(text + "\n", encoding="utf-8")
    else:
        print(text)
    with_theirs = bool(options.vendor) or any(
        theirs is not None for made in halves.values() for modes in made.values() for _, theirs in modes.values())
    if not report.num_compared(halves, with_theirs):
        sys.exit("bench/zoo: nothing was compared; expected a cell that " + ("both compile" if with_theirs else "compiles"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
