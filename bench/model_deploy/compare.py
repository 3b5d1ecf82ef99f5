#!/usr/bin/env python3
"""What model_deploy costs, without validation, beside TPU-MLIR's.

usage: compare.py BUILD [--models DIR] [--vendor DIR] [--work DIR] [--opt N] [NETWORK ...] [MODE ...]

DIR of --models (default: TPUC_MODELS) holds NETWORK.onnx. DIR of --vendor (default: TPUC_VENDOR_DIR)
is a Python environment with TPU-MLIR, below `venv`; its module of the network is made once in --work
(default: a folder that goes away). Both programs make a model file for bm1684x, one after the other in
this run. Integers need NETWORK_in.npz beside the network, from which our table is made; theirs has the
same range for every tensor.

Per network and mode: CPU seconds, peak memory, and the global memory of a run (what the container
calls context and io); ours, theirs, ours divided by theirs; the most memory that is asked for (1.3
times the weights and 200 MB); whether our file has the same bytes with one thread and with all.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "test/conformance"))
from vendor_compiler import MODES, Compiler, Failure  # noqa: E402


def bench(name):
    """The module of another benchmark, which finds those beside it."""
    sys.path.append(str(HERE.parent / name))
    spec = importlib.util.spec_from_file_location(name, HERE.parent / name / "compare.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


cycles = bench("cycles")
measure = bench("model_transform").measure
RUNS = 3


def stage_of(tools, model):
    shown = subprocess.run([tools.path("model_tool"), "--print", model], check=True, capture_output=True,
                           text=True).stdout
    return json.loads(shown)["nets"][0]["stages"][0]


def memory_of(stage):
    """Bytes of global memory of a run, weights apart."""
    return stage["context_bytes"] + stage["io_bytes"]


class Comparison:
    def __init__(self, options, work):
        self.tools = cycles.Tools(os.path.abspath(options.build))
        self.options = options
        self.work = work
        self.compiler = None
        if options.vendor:
            self.compiler = Compiler(options.vendor, pathlib.Path(options.work or work) / "vendor")
        self.ratios = []

    def ours(self, name, top, mode):
        """(CPU seconds, peak MB, stage, whether every run gives the same bytes)."""
        quantization = self.tools.quantization(top, mode, cycles.sample_of(self.options, name))
        files, runs = [], []
        for i in range(RUNS):
            file = f"{name}_{mode}_{i}.bmodel"
            made = measure([self.tools.path("model_deploy"), "--mlir", top, "--chip", "bm1684x",
                            "--model", file, "--opt", str(self.options.opt),
                            "--num_threads", str(i % 2), *quantization], self.work, os.environ["PATH"])
            if made[2]:
                raise Failure(made[2])
            runs.append(made)
            files.append((self.work / file).read_bytes())
        return (statistics.median(run[0] for run in runs), max(run[1] for run in runs),
                stage_of(self.tools, self.work / file), len(set(files)) == 1)

    def theirs(self, name, onnx, mode):
        """(CPU seconds, peak MB, stage)."""
        base = self.compiler.transform(name, onnx, cycles.SHAPES.get(name))
        folder = base / f"bench-{mode}"
        command = self.compiler.deploy_command(base, name, mode, folder)
        made = measure([str(self.compiler.bin / command[0]), *command[1:]], folder,
                       self.compiler.environment["PATH"])
        if made[2]:
            raise Failure(made[2])
        return made[0], made[1], stage_of(self.tools, folder / f"{name}_{mode}.bmodel")

    def line(self, name, onnx, top, mode):
        seconds, memory, stage, is_same = self.ours(name, top, mode)
        most = 1.3 * stage["coefficients"]["bytes"] / 2**20 + 200
        fields = [f"{seconds:6.2f}", f"{memory:5.0f}", f"{memory_of(stage) / 1024:8.0f}"]
        peer = ["-"] * 3
        ratios = ["-"] * 3
        if self.compiler:
            cost = self.theirs(name, onnx, mode)
            peer = [f"{cost[0]:6.2f}", f"{cost[1]:5.0f}", f"{memory_of(cost[2]) / 1024:8.0f}"]
            self.ratios.append(seconds / cost[0])
            ratios = [f"{seconds / cost[0]:.3f}", f"{memory / cost[1]:.3f}",
                      f"{memory_of(stage) / memory_of(cost[2]):.3f}"]
        verdict = "met" if memory <= most else "NOT MET"
        print(f"{name:20} {mode:9}" + "".join(f"{a:>8} {b:>8} {r:>7}" for a, b, r in
                                              zip(fields, peer, ratios))
              + f"  {most:5.0f} {verdict}, {'same bytes' if is_same else 'OTHER BYTES'}", flush=True)

    def network(self, name, modes):
        onnx = pathlib.Path(self.options.models).resolve() / f"{name}.onnx"
        try:
            top = self.tools.transform(str(onnx), str(self.work))
        except cycles.Failed as reason:
            print(f"{name:20} {reason}")
            return
        for mode in modes:
            try:
                self.line(name, onnx, top, mode)
            except (Failure, cycles.Failed) as reason:
                print(f"{name:20} {mode:9} {reason}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    cycles.add_arguments(parser)
    parser.add_argument("--vendor", default=os.environ.get("TPUC_VENDOR_DIR"))
    parser.add_argument("--work")
    options = parser.parse_intermixed_args()
    if not options.models or not os.path.isdir(options.models):
        print("bench/model_deploy: no networks; expected --models or TPUC_MODELS to name a folder")
        return 0
    names, modes = cycles.chosen(options, MODES)
    print(f"{'':30}{'CPU seconds':>25}{'peak MB':>25}{'global memory, KiB':>25}  most")
    print(f"{'network':20} {'mode':9}" + f"{'ours':>8} {'theirs':>8} {'ratio':>7}" * 3 + "     MB")
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(options, pathlib.Path(folder))
        for name in names:
            comparison.network(name, modes)
    ratios = comparison.ratios
    if ratios:
        print(f"CPU seconds, ours divided by theirs: geometric mean {cycles.geometric_mean(ratios):.3f}, "
              f"largest {max(ratios):.3f} (asked: 0.5)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
