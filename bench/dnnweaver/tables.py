#!/usr/bin/env python3
"""Whole networks on the array: cycles, compile time, and what the patent's tables state beside ours.

usage: tables.py --tools BIN --work FOLDER

The networks are those of networks.py, with ranges of two samples of noise. Needs onnx and numpy.
"""

import argparse
import pathlib
import re
import resource
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
# name: rows and columns of the input.
NETWORKS = {"yolov2_tiny": (416, 416), "yolov3_tiny": (416, 416), "yolov4_tiny": (352, 480)}
KINDS = ("INT8 --asymmetric", "INT8", "INT16 --asymmetric", "INT16")
MEGAHERTZ = 100
MEGA = 2**20
# Table 4.2: megabytes of parameters and frames each second on the board.
STATED = {"INT8 --asymmetric": (5.653, 39), "INT8": (5.653, 39), "INT16": (11.308, 21)}


class Tools:
    def __init__(self, folder, work):
        self.folder, self.work = folder, work

    def call(self, tool, *arguments):
        """What the tool prints, and the seconds of processor time that it took."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([self.folder / tool, *map(str, arguments)], cwd=self.work, capture_output=True,
                              text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            sys.exit(f"{tool} {' '.join(map(str, arguments))}: {done.stderr}{done.stdout}")
        return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def prepare(self, name, size):
        rng = np.random.default_rng(1)
        samples = self.work / f"{name}_samples"
        samples.mkdir(exist_ok=True)
        for i in range(2):
            np.save(samples / f"{i}.npy", rng.random((1, 3, *size), np.float32))
        self.call("model_transform", "--model_name", name, "--model_def", f"{name}.onnx", "--mlir", f"{name}.mlir")
        self.call("run_calibration", f"{name}.mlir", "--dataset", samples, "--cali_method", "max",
                  "-o", f"{name}.table")

    def deploy(self, name, kind, without=(), to="model.tpum"):
        """Cycles of a run, and seconds of the compiler."""
        arguments = ["--without", ",".join(without)] if without else []
        text, seconds = self.call("model_deploy", "--mlir", f"{name}.mlir", "--chip", "dnnweaver", "--quantize",
                                  *kind.split(), "--calibration_table", f"{name}.table", "--model", to, *arguments)
        return int(re.search(r"(\d+) cycles", text).group(1)), seconds


def print_networks(tools):
    """Cycles of all kinds; the file of YOLOv4-tiny in INT8 is left for the tables."""
    print(f"{'network':<13}{'kind':<20}{'cycles':>10}{'frames/s':>10}{'8x8 tiles':>10}{'search':>8}{'seconds':>9}  same bytes")
    holds = True
    for name in NETWORKS:
        found = {}
        for kind in KINDS:
            cycles, seconds = tools.deploy(name, kind)
            first = (tools.work / "model.tpum").read_bytes()
            tools.deploy(name, kind)
            same = (tools.work / "model.tpum").read_bytes() == first
            plain, _ = tools.deploy(name, kind, ("search-loops",), "plain.tpum")
            found[kind] = cycles
            print(f"{name:<13}{kind:<20}{cycles:>10}{1e6 * MEGAHERTZ / cycles:>10.1f}{plain:>10}{plain / cycles:>8.3f}"
                  f"{seconds:>9.2f}  {'yes' if same else 'NO'}", flush=True)
            holds = holds and same and seconds < 5
        for kind in KINDS[:2]:
            ratio = found["INT16"] / found[kind]
            print(f"{name:<13}{kind} over INT16: {ratio:.3f} times fewer cycles")
            holds = holds and ratio >= 1.8
    return holds


def print_sizes(tools):
    print("\nTable 4.2: parameters of YOLOv4-tiny at 480 x 352 in MB of 2^20 bytes, and frames/s at 100 MHz")
    weights = np.load(tools.work / "yolov4_tiny_top_f32_all_weight.npz")
    arrays = [weights[name] for name in weights.files]
    for kind, (megabytes, frames) in STATED.items():
        cycles, _ = tools.deploy("yolov4_tiny", kind)
        size = int(kind[3:5].strip()) // 8
        plain = sum(a.size * (4 if a.ndim == 1 else size) for a in arrays) / MEGA
        info, _ = tools.call("model_tool", "--info", "model.tpum")
        stored = int(re.search(r"(\d+) bytes of constants", info).group(1)) / MEGA
        print(f"  {kind:<20}patent {megabytes:6.3f} and {frames}, ours {plain:6.3f} ({stored:.3f} with padding) and "
              f"{1e6 * MEGAHERTZ / cycles:.1f}")


def blocks_of(tools, model):
    """For each layer the lines of its commands."""
    text, _ = tools.call("model_tool", "--dump_commands", model)
    layers, current = {}, None
    for line in text.splitlines():
        if line.startswith("# layer "):
            current = layers.setdefault(line[8:], [])
        elif current is not None and not line.startswith("#"):
            current.append(line)
    return layers


def field(line, name):
    found = re.search(rf"\b{name}=(\w+)", line)
    return int(found.group(1)) if found else 0


def print_first_layer(tools):
    """Without packed inputs and searched loops, as the patent has it."""
    tools.deploy("yolov4_tiny", "INT8 --asymmetric", ("pack-input", "search-loops"), "plain.tpum")
    lines = blocks_of(tools, "plain.tpum")["leakyrelu2"]
    # In front of it is the block that uses both tags of sums once.
    lines = lines[len(lines) - 1 - lines[::-1].index("setup spec=27"):]
    count = lambda start, *parts: sum(line.split()[0] == start and all(p in line.split() for p in parts) for line in lines)
    tiles = [field(line, "imm") for line in lines if line.startswith("loop ") and "group=16" in line]
    inner = [line for line in lines if line.split()[0] == "loop" and "group" not in line]
    print("\nParagraphs 0361 to 0364: the first layer, 480 x 352 to 240 x 176 in rows of two halves")
    for what, patent, ours in (
            ("immediates of the loops over tiles, for 11 x 8 rows and 30 x 8 columns", "10, 29",
             ", ".join(str(i) for i in sorted(tiles))),
            ("words with base addresses of input, weight and bias", 6,
             count("base") - count("base", "buffer=output")),
            ("words with the base address of sums, which the patent does not name", 0, count("base", "buffer=output")),
            ("words with the distance of inputs that share a multiplier", 2,
             count("mode") - count("mode", "buffer=output")),
            ("words with the distance of their results, which it does not name", 0, count("mode", "buffer=output")),
            ("loops of the array (those of one trip are left out)", "of 6", len(inner)),
            ("words of the block", "not stated", len(lines))):
        print(f"  {what:<76}{patent!s:>10}, ours {ours}")


def print_region(tools):
    layers = blocks_of(tools, "plain.tpum")
    print("\nTable 5.2: two pooled maps of 64 channels in one region of 128 (the table prints 88 x 120, before the pool)")
    patent = (0x41157800, 0x41157840)
    bases = []
    for name, stated in zip(("maxpool21/leakyrelu8", "maxpool21/leakyrelu19"), patent):
        lines = layers[name]
        base = 0
        for line in lines:
            if line.startswith("alu.base") and field(line, "stream") == 1:
                base += (field(line, "high") << 16 | field(line, "imm")) << 21 * field(line, "part")
        strides = [field(line, "imm") * 32 for line in lines if line.startswith("alu.stride stage=store") or
                   (line.startswith("alu.stride ") and "stage=store" in line and "stream" not in line)]
        bases.append(base)
        print(f"  {name:<24}patent {stated:#x}, + {stated - patent[0]:#x}; ours {base:#x}, + {base - bases[0]:#x}; "
              f"{strides[0]} bytes from pixel to pixel, {strides[1]} from row to row")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    tools = Tools(options.tools.resolve(), options.work.resolve())
    subprocess.run([sys.executable, HERE / "networks.py", tools.work], check=True)
    for name, size in NETWORKS.items():
        tools.prepare(name, size)
    holds = print_networks(tools)
    print_sizes(tools)
    print_first_layer(tools)
    print_region(tools)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
