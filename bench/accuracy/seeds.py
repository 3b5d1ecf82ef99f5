#!/usr/bin/env python3
"""How PP-OCR rec reads as in float, on model files and in the interpreter, with several seeds of data.

usage: seeds.py BUILD [--lines N] [--seeds N] [--modes MODE ...] [--json FILE]
For each seed prepare.py makes 100 lines of text to calibrate with and 300 to measure on, of fonts,
words and photographs that other seeds do not have. The network rec.onnx of the folder TPUC_MODELS is
calibrated and deployed for BM1684X in each MODE with default options. N of the lines (100) are read by
the network in float, by the lowered network in the interpreter and by the model file on the simulator.
Prints for each MODE, of the file and of the interpreter, the mean over the seeds, and in brackets the
least and the most: in how many percent of the lines the text is as in float, and in how many all steps
are. --json writes the same numbers. A line takes a tenth of a second in each mode: all 900 lines in
six modes some ten minutes. Needs what prepare.py needs.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import prepare

HERE = os.path.dirname(os.path.abspath(__file__))
QTABLE = f"{HERE}/rec.quantize_table"
SHAPE = "[[1,3,48,320]]"
# mode: options of model_deploy, and what is demanded of files: (text, all steps), in the mean.
MODES = {
    "F16": (["--quantize", "F16"], (None, 97)),
    "BF16": (["--quantize", "BF16"], (None, 85)),
    "INT8": (["--quantize", "INT8"], (None, None)),
    "INT8_ASYM": (["--quantize", "INT8", "--asymmetric"], (None, None)),
    "INT8+F16": (["--quantize", "INT8", "--quantize_table", QTABLE], (None, None)),
    "INT8_ASYM+F16": (["--quantize", "INT8", "--asymmetric", "--quantize_table", QTABLE], (96, 85)),
}


def call(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"bench accuracy: {' '.join(command)}:\n{done.stdout}")


def read_lines(build, folder, model):
    """For each line of the folder `lines` the class of every step."""
    call([f"{build}/bin/model_runner", "--model", model, "--input", "lines", "--output", "read"], folder)
    steps = []
    for name in sorted(os.listdir(f"{folder}/read")):
        with np.load(f"{folder}/read/{name}") as arrays:
            (scores,) = (arrays[key] for key in arrays.files)
            steps.append(scores.reshape(-1, scores.shape[-1]).argmax(axis=1))
    shutil.rmtree(f"{folder}/read")
    return steps


def text(steps):
    """Repetitions count once, and 0 stands for no character (CTC)."""
    first = np.concatenate(([True], steps[1:] != steps[:-1]))
    return steps[first & (steps != 0)].tolist()


def agreement(found, wanted):
    """(text, all steps) in percent of the lines."""
    return (100 * np.mean([text(a) == text(b) for a, b in zip(found, wanted)]),
            100 * np.mean([np.array_equal(a, b) for a, b in zip(found, wanted)]))


def measure(build, data, lines, modes):
    """mode: (of the file, of the interpreter), for the samples of one seed."""
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/lines")
        with np.load(f"{data}/samples.npz") as samples:
            for i, line in enumerate(samples["x"][:lines]):
                np.savez(f"{folder}/lines/{i:03}.npz", x=line[None])
        call([f"{build}/bin/model_transform", "--model_name", "rec", "--model_def",
              os.path.abspath(f"{os.environ['TPUC_MODELS']}/rec.onnx"), "--input_shapes", SHAPE, "--mlir",
              "rec.mlir"], folder)
        call([f"{build}/bin/run_calibration", "rec.mlir", "--dataset", f"{data}/calibration", "-o", "table"], folder)
        wanted = read_lines(build, folder, "rec.mlir")
        for mode in modes:
            os.mkdir(f"{folder}/{mode}")
            call([f"{build}/bin/model_deploy", "--mlir", "rec.mlir", "--chip", "bm1684x", "--calibration_table",
                  "table", "--model", f"{mode}/rec.bmodel", *MODES[mode][0]], folder)
            (lowered,) = (name for name in os.listdir(f"{folder}/{mode}") if name.endswith("_tpu.mlir"))
            rows[mode] = [agreement(read_lines(build, folder, f"{mode}/{name}"), wanted)
                          for name in ("rec.bmodel", lowered)]
            shutil.rmtree(f"{folder}/{mode}")
    return rows


def verdict(file, demanded):
    """Of the means (text, all steps) of a file."""
    if demanded == (None, None):
        return ""
    met = all(least is None or value >= least for value, least in zip(file, demanded))
    wanted = ", ".join(f"{what} {least}" for what, least in zip(("text", "steps"), demanded) if least)
    return f"  at least {wanted}: {'met' if met else 'NOT MET'}"


def report(rows, lines):
    """Prints the table of {mode: [seed][file, interpreter][text, steps]}; its cells."""
    titles = ["file: text", "all steps", "interpreter: text", "all steps"]
    print(f"rec, {lines} lines of each of {len(next(iter(rows.values())))} seeds, in percent\n{'mode':14}"
          + "".join(f"{title:>24}" for title in titles))
    table = []
    for mode, seeds in rows.items():
        values = np.array(seeds).reshape(len(seeds), 4)
        cells = [f"{column.mean():.1f} ({column.min():.1f} to {column.max():.1f})" for column in values.T]
        table.append([mode, *cells])
        print(f"{mode:14}" + "".join(f"{cell:>24}" for cell in cells)
              + verdict(values.mean(axis=0)[:2], MODES[mode][1]), flush=True)
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--lines", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=len(prepare.SOURCES), choices=range(1, len(prepare.SOURCES) + 1))
    parser.add_argument("--modes", nargs="+", choices=MODES, default=list(MODES))
    parser.add_argument("--json")
    options = parser.parse_args()
    if not os.path.exists(f"{os.environ.get('TPUC_MODELS', '')}/rec.onnx"):
        print("skipped: TPUC_MODELS names no folder with rec.onnx")
        return
    build = os.path.abspath(options.build)
    data = os.path.abspath(os.environ.get("TPUC_ACCURACY_DATA", f"{build}/accuracy"))
    rows = {mode: [] for mode in options.modes}
    for seed in range(options.seeds):
        subprocess.run([sys.executable, f"{HERE}/prepare.py", data, "--seed", str(seed), "rec"], check=True)
        found = measure(build, f"{data}/seed{seed}/rec" if seed else f"{data}/rec", options.lines, options.modes)
        for mode, values in found.items():
            rows[mode].append(values)
    table = report(rows, options.lines)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"lines": options.lines, "rows": table, "seeds": rows}, file, indent=2)


if __name__ == "__main__":
    main()
