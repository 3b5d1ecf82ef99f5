#!/usr/bin/env python3
"""Cycles of our model files beside those of TPU-MLIR's, both on the same timing simulator.

usage: compare.py BUILD [--models DIR] [--vendor DIR] [--opt N] [--by-layer] [--svg DIR]
                  [NETWORK ...] [MODE ...]

DIR of --models (default: TPUC_MODELS) holds NETWORK.onnx; each is transformed and deployed for
bm1684x in this run, without validation. DIR of --vendor (default: TPUC_VENDOR_BMODELS) holds
NETWORK/MODE/NETWORK_MODE.bmodel, as TPU-MLIR wrote them for the same network; those that are not
there are shown as "-". NETWORKs are names of files; MODEs F32, F16, BF16, INT8
(symmetric) or INT8_ASYM (default: F32 F16). Integers need NETWORK_in.npz beside the network. Open dimensions are bound as in model_transform's
benchmark.

Per network and mode: cycles of both with the vendor's and the conservative parameters, ours divided
by theirs, how busy our engines are, and how many times longer than its bound the network takes;
at the end the geometric means. What the host computes is in no cycles: such a file is said so, and is
in no mean. The bound of a network is the longer of its products at the peak of
their types, and of the transfers of all weights, inputs and outputs, once.

With --by-layer the slowest layers of both follow side by side, each with the cycles of compute and
transfers and with its bound: its products at peak, or the bytes that we move for it at the rate of
loads. Layers that only one of both has, as the other divides or joins ops in another way, show "-".
With --svg DIR the time lines of both go to DIR/NETWORK_MODE.svg, with the names of layers as tooltips.
TPU-MLIR's layers are known where NETWORK_MODE.bmodel.json stands beside its file, as it wrote it. A network that we cannot compile is
shown with the reason. What each heuristic of the code generator brings says heuristics.py beside this
file.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

import timeline
import vendor_layers

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../test/conformance"))
from vendor_compiler import MODES  # noqa: E402

# Inputs of networks that leave some of their extents open, by the name of the file.
SHAPES = {"det": "[[1,3,640,640]]", "rec": "[[1,3,48,320]]", "cls": "[[1,3,48,192]]",
          "pnet": "[[1,40,40,3]]", "rnet": "[[1,24,24,3]]", "onet": "[[1,48,48,3]]",
          "magika": "[[1,2048]]"}
PARAMETERS = ("vendor", "conservative")
SLOWEST = 16
# Bytes per cycle of the BM1684X, of the vendor's parameters.
LOAD_RATE, STORE_RATE = 58, 44


class Failed(Exception):
    """A tool's last line where it failed."""


def call(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Failed((done.stderr.strip() or "no message").splitlines()[-1])
    return done.stdout


class Tools:
    def __init__(self, build):
        self.bin = os.path.join(build, "bin")

    def path(self, name):
        return os.path.join(self.bin, name)

    def profile(self, file):
        """What the timing simulator says about the only stage of a model file."""
        return json.loads(call(self.path("model_tool"), "--profile", "--json", file))[0]

    def commands(self, file, folder):
        """All commands of a model file with their times, and the total cycles."""
        table = os.path.join(folder, "commands.csv")
        call(self.path("model_tool"), "--profile", "--csv", table, file)
        return timeline.read_commands(table)

    def transfer_bound(self, file, load_rate=LOAD_RATE, store_rate=STORE_RATE):
        """The cycles of loading weights and inputs and of storing outputs, once; rates in bytes per cycle."""
        stage = json.loads(call(self.path("model_tool"), "--info", "--json", file))
        stage = stage["nets"][0]["stages"][0]
        loaded = sum(each["bytes"] for each in stage["inputs"])
        loaded += (stage.get("coefficients") or {"bytes": 0})["bytes"]
        return loaded / load_rate + sum(each["bytes"] for each in stage["outputs"]) / store_rate

    def transform(self, onnx, folder):
        name = os.path.splitext(os.path.basename(onnx))[0]
        top = os.path.join(folder, name + ".mlir")
        shapes = ["--input_shapes", SHAPES[name]] if name in SHAPES else []
        call(self.path("model_transform"), "--model_def", onnx, "--mlir", top, "--model_name", name,
             *shapes)
        return top

    def calibrate(self, top, sample):
        """A table from one sample, made once: thresholds do not change the commands."""
        stem = os.path.splitext(top)[0]
        if os.path.exists(stem + ".table"):
            return stem + ".table"
        with open(stem + ".list", "w", encoding="utf-8") as samples:
            samples.write(sample + "\n")
        call(self.path("run_calibration"), top, "--data_list", stem + ".list", "-o", stem + ".table")
        return stem + ".table"

    def quantization(self, top, mode, sample):
        """model_deploy's options for a mode."""
        is_integer = mode.startswith("INT8")
        return MODES[mode] + (["--calibration_table", self.calibrate(top, sample)] if is_integer else [])

    def deploy(self, top, mode, opt, sample, options=(), folder=None):
        """The model file, in the folder of the network or in another one: what stands beside it can
        be made once at a time."""
        model = os.path.join(folder or os.path.dirname(top),
                             f"{os.path.splitext(os.path.basename(top))[0]}_{mode}.bmodel")
        call(self.path("model_deploy"), "--mlir", top, "--chip", "bm1684x", "--model", model,
             "--opt", str(opt), *self.quantization(top, mode, sample), *options)
        return model


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def add_arguments(parser):
    """What every benchmark of compiled networks asks for."""
    parser.add_argument("build")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--models", default=os.environ.get("TPUC_MODELS"))
    parser.add_argument("--opt", type=int, default=1)


def chosen(options, modes):
    """(networks, modes) that the names ask for; by default all that there are, and `modes`."""
    return ([name for name in options.names if name not in MODES] or sorted(
        file[:-len(".onnx")] for file in os.listdir(options.models) if file.endswith(".onnx")),
            [name for name in options.names if name in MODES] or modes)


def sample_of(options, name):
    """The input from which the table of a network is made."""
    return os.path.abspath(os.path.join(options.models, name + "_in.npz"))


def print_layers(profile, theirs):
    """The slowest layers: of ours the profile, of theirs the cycles of both engines, if known."""
    rows = {layer["name"]: ([layer["vendor"]["tiu_cycles"], layer["vendor"]["gdma_cycles"]],
                            max(layer["mac_cycles"], layer["bytes"] / LOAD_RATE))
            for layer in profile["layers"]}
    names = sorted(rows.keys() | (theirs or {}).keys(), reverse=True,
                   key=lambda name: max(rows.get(name, ([0],))[0] + (theirs or {}).get(name, [0])))

    def line(label, ours, other, bound):
        cells = [f"{cycles:>11}" for cycles in (ours or ["-", "-"]) + (other or ["-", "-"])]
        print("    " + "".join(cells) + f"{bound:>11}  {label}")

    print(f"    {'ours':>22}{'theirs':>22}")
    line("layer", ["TIU", "DMA"], ["TIU", "DMA"], "bound")
    for name in names[:SLOWEST]:
        ours, bound = rows.get(name, (None, None))
        line(name, ours, (theirs or {}).get(name), "-" if bound is None else f"{bound:.0f}")
    rest = names[SLOWEST:]
    ours = [rows[name] for name in rest if name in rows]
    other = [theirs[name] for name in rest if name in (theirs or {})]
    line(f"{len(ours)} other layers" + f", {len(other)} of theirs" * bool(theirs),
         [sum(cycles[engine] for cycles, _ in ours) for engine in range(2)],
         [sum(cycles[engine] for cycles in other) for engine in range(2)] if theirs else None,
         f"{sum(bound for _, bound in ours):.0f}")


class Comparison:
    def __init__(self, tools, options):
        self.tools = tools
        self.options = options
        self.ratios = {parameters: [] for parameters in PARAMETERS}

    def draw(self, name, mode, lines):
        """The time lines of files: of each its name, its commands and the total cycles."""
        os.makedirs(self.options.svg, exist_ok=True)
        path = os.path.join(self.options.svg, f"{name}_{mode}.svg")
        with open(path, "w", encoding="utf-8") as out:
            out.write(timeline.picture(f"{name} {mode}", lines))

    def look_inside(self, name, mode, profile, ours, theirs):
        """What is asked for of the model files `ours` and, if there is one, `theirs`."""
        with tempfile.TemporaryDirectory() as folder:
            lines = [("ours", *self.tools.commands(ours, folder))]
            if theirs:
                lines.append(("TPU-MLIR", *self.tools.commands(theirs, folder)))
        named = theirs and vendor_layers.name_commands(lines[1][1], theirs)
        if self.options.svg:
            self.draw(name, mode, lines)
        if self.options.by_layer:
            print_layers(profile, vendor_layers.cycles_of_layers(lines[1][1]) if named else None)
            if theirs and not named:
                print("    theirs: no file says which commands belong to which layer")

    def compare(self, top, name, mode):
        vendor = os.path.join(self.options.vendor or "", name, mode)
        theirs = None
        file = os.path.join(vendor, f"{name}_{mode}.bmodel")
        if self.options.vendor and os.path.exists(file):
            theirs = self.tools.profile(file)
        deployed = self.tools.deploy(top, mode, self.options.opt, sample_of(self.options, name))
        ours = self.tools.profile(deployed)
        on_host = len(ours.get("cpu_layers", []))
        fields = []
        for parameters in PARAMETERS:
            cycles = ours[parameters]["cycles"]
            if theirs is None:
                fields.append(f"{cycles:11} {'-':>11} {'-':>6}")
                continue
            ratio = cycles / theirs[parameters]["cycles"]
            if not on_host:
                self.ratios[parameters].append(ratio)
            fields.append(f"{cycles:11} {theirs[parameters]['cycles']:11} {ratio:6.3f}")
        mine = ours["vendor"]
        busy = [100 * mine[engine] / mine["cycles"] for engine in ("tiu_cycles", "gdma_cycles")]
        bound = max(mine["mac_cycles"], self.tools.transfer_bound(deployed))
        print(f"{name:20} {mode:9}" + "".join(fields)
              + f"  {busy[0]:3.0f} {busy[1]:3.0f} {mine['cycles'] / bound:6.2f}"
              + f"  without {on_host} layers of the host" * bool(on_host))
        if self.options.svg or self.options.by_layer:
            self.look_inside(name, mode, ours, deployed, file if theirs else None)

    def network(self, name, modes):
        onnx = os.path.join(self.options.models, name + ".onnx")
        with tempfile.TemporaryDirectory() as folder:
            try:
                top = self.tools.transform(onnx, folder)
            except Failed as reason:
                print(f"{name:20} {reason}")
                return
            for mode in modes:
                try:
                    self.compare(top, name, mode)
                except Failed as reason:
                    print(f"{name:20} {mode:9} {reason}")
                sys.stdout.flush()

    def finish(self):
        for parameters, ratios in self.ratios.items():
            if ratios:
                print(f"geometric mean of {len(ratios)}, {parameters} parameters: "
                      f"{geometric_mean(ratios):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("--vendor", default=os.environ.get("TPUC_VENDOR_BMODELS"))
    parser.add_argument("--by-layer", action="store_true")
    parser.add_argument("--svg", metavar="DIR")
    options = parser.parse_intermixed_args()
    if not options.models or not os.path.isdir(options.models):
        print("bench/cycles: no networks; expected --models or TPUC_MODELS to name a folder")
        return 0
    names, modes = chosen(options, ["F32", "F16"])
    comparison = Comparison(Tools(options.build), options)
    print(f"{'':30}{'vendor parameters':>30}{'conservative parameters':>30}   busy %  times")
    print(f"{'network':20} {'mode':9}" + f"{'ours':>11} {'theirs':>11} {'ratio':>6}" * 2 + "  TIU DMA  bound")
    for name in names:
        comparison.network(name, modes)
    comparison.finish()
    return 0


if __name__ == "__main__":
    sys.exit(main())
