#!/usr/bin/env python3
"""Compiles the .tflite files of a folder for a chip, and prints what that takes and how near the files are.

usage: chip.py --tools build/bin [--modes F32,F16,...] [--vendor DIR] [--theirs NET=FILE.bmodel]...
               [--filter REGEX] [--chip NAME] FOLDER

A row for each network: seconds of processor time and memory of the import without validation, beside the size of the file
(asked: 0.5 s, and at most twice the file and 120 MB). A row for each network and mode: cycles, layers of the
host, moves in global memory that are no loads or stores of groups, those of them that are inside, the least
cosine of an output beside LiteRT's reference kernels, and whether the vendor's runtime (a folder with venv/bin/model_runner, the PyPI package
tpu-mlir 1.30.2) gives the same bytes. INT8 of a network of floats takes ranges from the input alone.
--theirs names files that the vendor's compiler made of a network, whose cycles are printed beside.
A move is inside unless nothing is computed between it and the inputs, or between it and the outputs: casts do
not count as such. Inputs are noise, as networks.py has it. Needs ai-edge-litert and numpy. The exit status is 0 if all compile,
no import takes more, all outputs are near (0.999, INT8 and BF16 0.98), and no bytes differ.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

import numpy as np
from ai_edge_litert import interpreter as litert
from networks import inputs_of

SECONDS = .5
LEAST = {"INT8": .98, "BF16": .98}
# Ops of the lowered network, with their operands; the body of a group is indented further.
OP = re.compile(r'^ {4}(%\w+)\S* = "(?:tpu|top)\.(\w+)"\(([^)]*)\)(.*)$')
INNER = re.compile(r'^ {6,}.*?"tpu\.(\w+)"')
MOVES = {"Concat", "Gather", "GatherElements", "GatherND", "Pad", "Permute", "Slice", "Split", "Tile"}
# What neither computes nor moves elements to other places.
PLAIN = {"Cast", "Copy", "DtypeCast", "Input", "Load", "PackRows", "RequantInt", "Reshape", "Squeeze", "Store", "Unpack",
         "Unsqueeze", "Yield"}


class Op:
    def __init__(self, name, kind, operands, is_timed):
        self.name, self.operands, self.is_timed = name, operands, is_timed
        self.kinds = {kind}

    def moves(self):
        """What it moves in global memory; of groups only those that compute nothing."""
        if not self.is_timed or not self.kinds <= MOVES | PLAIN:
            return []
        return sorted(self.kinds & MOVES)


def ops_of(final):
    """The ops of a compiled network, in their order."""
    ops, group = [], None
    for line in final.splitlines():
        found = OP.match(line)
        if found and found[2] not in ("None", "Weight"):
            operands = [each.split("#")[0] for each in re.findall(r"%[\w#]+", found[3])]
            ops.append(Op(found[1], found[2], operands, " time = " in found[4]))
            group = ops[-1] if found[2] == "Group" else None
            if group:
                group.kinds.clear()
        elif group and (inner := INNER.match(line)):
            group.kinds.add(inner[1])
        elif group and line.startswith("    })"):
            group.is_timed, group = True, None
    return ops


def moves_of(final):
    """The kinds of all moves in global memory, and of those that are inside."""
    ops = ops_of(final)
    makers = {each.name for each in ops}
    computed, read = set(), set()
    for each in ops:
        if not each.kinds <= MOVES | PLAIN or computed & set(each.operands):
            computed.add(each.name)
    for each in reversed(ops):
        if not each.kinds <= MOVES | PLAIN or each.name in read:
            read.update(makers & set(each.operands))
    inside = [kind for each in ops if each.name in computed & read for kind in each.moves()]
    return [kind for each in ops for kind in each.moves()], inside


def run(*command, **options):
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, check=False, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip() or done.stdout[-300:]}")
    return done.stdout


def measured_import(tools, path, place):
    """Seconds of processor time, of the best of three imports, and the peak of memory in bytes."""
    seconds = []
    for _ in range(3):
        child = subprocess.Popen([tools / "model_transform", "--model_name", "net", "--model_def", path, "--mlir",
                                  place / "net.mlir"], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        seconds.append(usage.ru_utime + usage.ru_stime)
        child.returncode = status
        if status:
            raise RuntimeError(f"model_transform of {path} ends with {status}")
    return min(seconds), usage.ru_maxrss * 1024


def reference(path, place):
    """What LiteRT makes of noise, by the outputs' names; inputs are written beside the network, as their
    numbers for it and as they are for the import."""
    model = litert.Interpreter(str(path), experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF)
    model.allocate_tensors()
    given = dict(inputs_of(model))
    numbers = {}
    for each in model.get_input_details():
        model.set_tensor(each["index"], given[each["name"]])
        scale, zero = each["quantization"]
        plain = given[each["name"]].astype(np.float32)
        numbers[each["name"]] = (plain - zero) * np.float32(scale) if scale else given[each["name"]]
    model.invoke()
    np.savez(place / "in.npz", **numbers)
    wanted = []
    for each in model.get_output_details():
        scale, zero = each["quantization"]
        made = model.get_tensor(each["index"]).astype(np.float64)
        wanted.append((made - zero) * scale if scale else made)
    return wanted


def arrays(file):
    with np.load(file) as archive:
        return {name: archive[name] for name in archive.files}


def least_cosine(found, wanted):
    least = 1.
    for a, b in zip(found, wanted):
        a, b = a.astype(np.float64).ravel(), b.ravel()
        norm = np.sqrt((a @ a) * (b @ b))
        least = min(least, float(a @ b / norm) if norm else float(np.array_equal(a, b)))
    return least


def deploy(arguments, place, mode, is_quantized):
    options = ["--quantize", mode]
    if mode == "INT8":
        options.append("--asymmetric")
        if not is_quantized:
            run(arguments.tools / "run_calibration", place / "net.mlir", "--dataset", place / "data", "--input_num", 1,
                "-o", place / "table")
            options += ["--calibration_table", place / "table"]
    run(arguments.tools / "model_deploy", "--mlir", place / "net.mlir", *options, "--chip", arguments.chip, "--model",
        place / f"{mode}.bmodel", "--opt", 2)


def compared(arguments, place, mode, wanted):
    """One row's figures, and whether they are as asked."""
    file = place / f"{mode}.bmodel"
    profile = json.loads(run(arguments.tools / "model_tool", "--profile", "--json", file))[0]
    final = next(place.glob(f"net_*_{mode.lower()}*_final.mlir")).read_text()
    moves = moves_of(final)
    run(arguments.tools / "model_runner", "--model", file, "--input", place / "in.npz", "--output", place / "ours.npz")
    ours = arrays(place / "ours.npz")
    cosine = least_cosine(ours.values(), wanted)
    same = "–"
    if arguments.vendor:
        bin_folder = arguments.vendor.resolve() / "venv" / "bin"
        run(bin_folder / "model_runner", "--model", file, "--input", place / "in.npz", "--output", place / "theirs.npz",
            cwd=place, env=dict(os.environ, PATH=f"{bin_folder}:{os.environ['PATH']}"))
        theirs = arrays(place / "theirs.npz")
        same = "same" if {name: each.tobytes() for name, each in ours.items()} == {
            name: each.tobytes() for name, each in theirs.items()} else "OTHER"
    good = cosine >= LEAST.get(mode, .999) and same != "OTHER"
    return profile["vendor"]["cycles"], len(profile.get("cpu_layers", [])), moves, cosine, same, good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--modes", default="F32,F16,BF16,INT8")
    parser.add_argument("--vendor", type=pathlib.Path)
    parser.add_argument("--theirs", action="append", default=[], metavar="NET=FILE")
    parser.add_argument("--filter", default="")
    parser.add_argument("--chip", default="BM1684X")
    arguments = parser.parse_args()
    theirs = dict(each.split("=", 1) for each in arguments.theirs)
    good = True
    imports = []
    print("| network | mode | cycles | of the vendor's | host layers | moves | inside | least cosine | vendor's bytes |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for path in sorted(arguments.folder.glob("*.tflite")):
        if not re.search(arguments.filter, path.stem):
            continue
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            seconds, memory = measured_import(arguments.tools, path, place)
            size = path.stat().st_size
            good &= seconds < SECONDS and memory <= 2 * size + 120e6
            imports.append(f"| {path.stem} | {size / 1e6:.1f} | {seconds:.3f} | {memory / 1e6:.0f} |")
            is_quantized = 'TOP_QUANTIZED' in (place / "net.mlir").read_text(errors="replace")
            wanted = reference(path, place)
            (place / "data").mkdir()
            (place / "data" / "in.npz").write_bytes((place / "in.npz").read_bytes())
            for mode in arguments.modes.split(","):
                try:
                    deploy(arguments, place, mode, is_quantized)
                    cycles, hosts, moves, cosine, same, isGood = compared(arguments, place, mode, wanted)
                except RuntimeError as failure:
                    print(f"| {path.stem} | {mode} | {failure} |", flush=True)
                    good = False
                    continue
                good &= isGood
                ratio = "–"
                if path.stem in theirs and mode == "INT8":
                    profile = json.loads(run(arguments.tools / "model_tool", "--profile", "--json", theirs[path.stem]))[0]
                    ratio = f"{cycles / profile['vendor']['cycles']:.3f}"
                all_moves, inside = (f"{len(each)}" + (f" ({', '.join(sorted(set(each)))})" if each else "")
                                     for each in moves)
                print(f"| {path.stem} | {mode} | {cycles:,} | {ratio} | {hosts} | {all_moves} | {inside} | {cosine:.6f} | "
                      f"{same} |", flush=True)
    print("\n| network | file, MB | import, s | memory, MB |\n| --- | --- | --- | --- |", *imports, sep="\n")
    return 0 if good else 1


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.exit(main())
