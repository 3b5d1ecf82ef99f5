#!/usr/bin/env python3
"""How close networks stay to float after lowering, beside what is demanded of them.

usage: compare.py BUILD [--smoke | [MODEL ...] [METHOD ...] [--limit N]]
Every model of MODELS whose .onnx file is in the folder TPUC_MODELS is transformed, calibrated on 100
samples with every method, lowered in F32, F16, BF16, INT8 and INT8_ASYM, and run on other samples
(N of them at most). MODELs and METHODs that are named are the only ones.
The samples are in the folder TPUC_ACCURACY_DATA, by default BUILD/accuracy; prepare.py makes those
that are missing. A model that has a table MODEL.quantize_table here is also measured with it.
--smoke is the network of test/models on 20 of the digits there; nothing is demanded of it.
Needs what prepare.py needs (--smoke: numpy), and onnx and onnxruntime for the silu_detector.
"""

import json
import math
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = "100"
DEFAULT = "auto"
METHODS = ["kl", "max", "percentile", "mse", "cosine", "aciq_gauss", "aciq_laplace", DEFAULT]
INTEGER = ("INT8", "INT8_ASYM")
FLOAT = ("F32", "F16", "BF16")

# model: shape of its input.
MODELS = {
    "cls": "[[1,3,48,192]]",
    "mnist-conv": "[[1,1,28,28]]",
    "efficientnet_lite0": "[[1,3,224,224]]",
    "rec": "[[1,3,48,320]]",
    "det": "[[1,3,640,640]]",
    "silu_detector": "[[1,3,320,320]]",
}

# model: (column, modes of which the best one counts, limit), with the default method.
DEMANDED = {
    # Of a line that the network itself is not sure of, next to nothing tips the scores: the smallest
    # of the lines that it is sure of stands beside the smallest of all.
    "cls": [("mean_cos", INTEGER, 0.998), ("min_cos", INTEGER, 0.97), ("decided_min_cos", INTEGER, 0.97)],
    "mnist-conv": [("drop_points", ("INT8",), -0.3), ("drop_points", ("INT8_ASYM",), -0.3)],
    "efficientnet_lite0": [("rows_percent", ("INT8",), 89)],
    "rec": [("mean_cos", INTEGER, 0.97)],
    "det": [("mean_cos", INTEGER, 0.975)],
    # "Does not collapse".
    "silu_detector": [("mean_cos", ("INT8",), 0.99), ("mean_cos", ("INT8_ASYM",), 0.99)],
}
# model: the score from which on its result is used. PaddleOCR turns a line from 0.9 on (cls_thresh).
DECISIVE = {"cls": 0.9}
FLOAT_COSINES = {"F16": 0.9998, "BF16": 0.999}
BF16_EXCEPTIONS = {"efficientnet_lite0": 0.997}


def call(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"bench accuracy: {' '.join(command)}:\n{done.stdout}")


def measure(build, folder, model, data, modes, tables, limit, options=()):
    """Rows of bench-accuracy: a dictionary per mode, table and output."""
    command = [f"{build}/bin/bench-accuracy", "--mlir", "m.mlir", "--samples", f"{data}/samples.npz",
               "--modes", ",".join(modes), "--limit", str(limit), "--json", "report.json",
               "--decided", str(DECISIVE.get(model, 0)), *options]
    if tables:
        command += ["--table", ",".join(tables)]
    if os.path.exists(f"{data}/labels.npz"):
        command += ["--labels", f"{data}/labels.npz"]
    call(command, folder)
    with open(f"{folder}/report.json", encoding="utf-8") as file:
        return json.load(file)


def macs_of(op, shapes, line):
    """The multiplications of a top op that reads and makes tensors of these shapes."""
    if op == "ScaleDotProductAttention":
        # Each query with each key, and with each value.
        return (math.prod(shapes[0]) + math.prod(shapes[-1])) * shapes[1][-2]
    if op == "Conv":
        return math.prod(shapes[-1]) * math.prod(shapes[1][1:])
    return math.prod(shapes[-1]) * shapes[0][-2 if "left_transpose = true" in line else -1]


def mac_share(mlir, table):
    """The percentage of a network's multiplications that are in the layers of a quantize table."""
    with open(table, encoding="utf-8") as file:
        named = {line.split()[0] for line in file if line.strip() and not line.startswith("#")}
    total = part = 0
    with open(mlir, encoding="utf-8") as file:
        for line in file:
            op = re.search(r'"top\.(Conv|MatMul|ScaleDotProductAttention)"', line)
            if not op:
                continue
            types = line[line.rindex(" : ("):]
            shapes = [[int(extent) for extent in dims.split("x")[:-1]]
                      for dims in re.findall(r"tensor<((?:\d+x)+)f32>", types)]
            macs = macs_of(op[1], shapes, line)
            total += macs
            part += macs * (re.search(r'loc\("([^"]+)"\)\s*$', line)[1] in named)
    return 100 * part / total


def mixed_rows(folder, build, model, data, limit):
    """(what, found, limit) of what the model's quantize table, if it has one here, makes of it."""
    table = f"{HERE}/{model}.quantize_table"
    if not os.path.exists(table):
        return []
    row = measure(build, folder, model, data, ["INT8_ASYM"], [DEFAULT], limit, ["--qtable", table])[0]
    name = "INT8_ASYM, quantize table:"
    return [(f"{name} MACs_percent in INT8", 100 - mac_share(f"{folder}/m.mlir", table), 90),
            (f"{name} lines_percent", row["lines_percent"], 90),
            (f"{name} samples_percent", row["samples_percent"], 90)]


def demands(model, rows):
    """(what, found, limit) of everything demanded that was measured."""
    found = []
    for row in rows:
        if row["mode"] == "F32":
            found.append(("F32 bit for bit", float(row["equal"]), 1))
        if row["mode"] in FLOAT_COSINES:
            least = BF16_EXCEPTIONS.get(model, 0.999) if row["mode"] == "BF16" else FLOAT_COSINES["F16"]
            found.append((f"{row['mode']} mean_cos", row["mean_cos"], least))
    right = next(row["right_percent"] for row in rows if row["mode"] == "F32")
    for column, modes, limit in DEMANDED[model]:
        values = [row["right_percent"] - right if column == "drop_points" else row[column]
                  for row in rows if row["mode"] in modes and row["table"] == DEFAULT]
        if values:
            found.append((f"{'/'.join(modes)} {DEFAULT} {column}", max(values), limit))
    return found


def transform_and_calibrate(build, folder, model, onnx, methods, data):
    """m.mlir in `folder`, and beside it a table per method, named like it."""
    call([f"{build}/bin/model_transform", "--model_name", model, "--model_def", onnx, "--input_shapes",
          MODELS[model], "--mlir", "m.mlir"], folder)
    for method in methods:
        call([f"{build}/bin/run_calibration", "m.mlir", "--dataset", f"{data}/calibration",
              "--input_num", SAMPLES, "--cali_method", method, "-o", method], folder)


def print_rows(model, rows):
    print(f"\n{model}\n{'mode':10} {'method':13} {'output':24} {'mean cos':>9} {'min cos':>9} {'euclid':>8} "
          f"{'rows %':>8} {'samples %':>9} {'lines %':>8} {'right %':>8}"
          + (f" {'sure of':>8} {'min cos':>9}" if model in DECISIVE else ""))
    for row in rows:
        print(f"{row['mode']:10} {row['table'] or '-':13} {row['output'][-24:]:24} {row['mean_cos']:9.5f} "
              f"{row['min_cos']:9.5f} {row['mean_euclid']:8.4f} {row['rows_percent']:8.2f} "
              f"{row['samples_percent']:9.2f} {row['lines_percent']:8.2f} {row['right_percent']:8.2f}"
              + (f" {row['decided_percent']:8.2f} {row['decided_min_cos']:9.5f}" if model in DECISIVE else ""))


def bench(build, model, onnx, methods, data, limit):
    """Prints the table of a model; the number of demands that are not met."""
    with tempfile.TemporaryDirectory() as folder:
        transform_and_calibrate(build, folder, model, onnx, methods, data)
        rows = measure(build, folder, model, data, FLOAT + INTEGER, methods, limit)
        mixed = mixed_rows(folder, build, model, data, limit) if DEFAULT in methods else []
    print_rows(model, rows)
    missed = 0
    for what, value, least in demands(model, rows) + mixed:
        missed += value < least
        print(f"  {what:44} {value:9.5f}  at least {least:8}  {'met' if value >= least else 'NOT MET'}")
    sys.stdout.flush()
    return missed


def smoke(build):
    """Prints the table of few digits in seconds."""
    import numpy as np

    sys.path.insert(0, f"{HERE}/../../examples/digits")
    import digits

    pictures = digits.read_digits()
    # Two of each digit to measure on, one of each to calibrate with.
    numbers = list(range(0, len(pictures), len(pictures) // 20))
    tensors = {number: np.frombuffer(digits.padded(pictures[number]), np.uint8).reshape(1, 1, digits.SIDE, digits.SIDE)
               for each in numbers for number in (each, each + 1)}
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/calibration")
        for number in numbers[::2]:
            np.savez(f"{folder}/calibration/{number}.npz", **{digits.INPUT: tensors[number + 1].astype(np.float32)})
        np.savez(f"{folder}/samples.npz", **{digits.INPUT: np.concatenate([tensors[n] for n in numbers]).astype(np.float32)})
        np.savez(f"{folder}/labels.npz", labels=np.array([digits.label(n) for n in numbers], np.int64))
        transform_and_calibrate(build, folder, "mnist-conv", str(digits.MODELS / "mnist-conv.onnx"), [DEFAULT], folder)
        print_rows("mnist-conv", measure(build, folder, "mnist-conv", folder, FLOAT + INTEGER, [DEFAULT], 0))


def model_file(model, data):
    """The network's .onnx file; where there is none, that file does not exist."""
    if model != "silu_detector":
        return os.path.abspath(os.path.join(os.environ["TPUC_MODELS"], f"{model}.onnx"))
    onnx = f"{data}/{model}.onnx"
    if not os.path.exists(onnx):
        subprocess.run([sys.executable, f"{HERE}/silu_detector.py", f"{data}/calibration", onnx], check=True)
    return onnx


def chosen(arguments):
    """(models, methods, limit) of the command line."""
    limit = 0
    if "--limit" in arguments:
        at = arguments.index("--limit")
        limit = int(arguments[at + 1])
        arguments = arguments[:at] + arguments[at + 2:]
    if unknown := [each for each in arguments if each not in MODELS and each not in METHODS]:
        sys.exit(f"bench accuracy: {', '.join(unknown)}: neither a model nor a method; there are: "
                 f"{', '.join([*MODELS, *METHODS])}")
    return ([each for each in arguments if each in MODELS] or list(MODELS),
            [each for each in arguments if each in METHODS] or METHODS, limit)


def main():
    if sys.argv[2:] == ["--smoke"]:
        smoke(os.path.abspath(sys.argv[1]))
        return
    if not os.environ.get("TPUC_MODELS"):
        print("skipped: TPUC_MODELS names no folder of .onnx files")
        return
    build = os.path.abspath(sys.argv[1])
    models, methods, limit = chosen(sys.argv[2:])
    data = os.path.abspath(os.environ.get("TPUC_ACCURACY_DATA", f"{build}/accuracy"))
    subprocess.run([sys.executable, f"{HERE}/prepare.py", data, *models], check=True)
    missed = 0
    for model in models:
        onnx = model_file(model, f"{data}/{model}")
        if os.path.exists(onnx):
            missed += bench(build, model, onnx, methods, f"{data}/{model}", limit)
        else:
            print(f"\n{model}\n  skipped: no {onnx}")
    print(f"\n{missed} not met")


if __name__ == "__main__":
    main()
