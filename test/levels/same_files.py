#===- same_files.py - The same bytes with every set of instructions -------===#
#
# Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
"""Imports, calibrates, compiles and runs a network at each level of instructions, and compares all files.

usage: same_files.py BUILD LEVEL...

LEVELs come lowest first. The network has every form of float sum: convolutions with and without groups, in three
dimensions and transposed, products, a recurrent cell, normalizations, and functions. From avx2 on every file has the
same bytes. Below, sums round twice in each step: there files that hold no such sum are the same (EXACT), and outputs
and thresholds are near. Exit status 0 if so, 1 if not.
"""

import ast
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

FUSED = ["avx2", "avx512", "avx512_vnni", "avx512_bf16"]
# What the lowest level must write in the same way: what model_transform writes, and 16-bit models.
EXACT = re.compile(r"net\.mlir|(?!.*int8).*_weight\.npz|net_f16\.bmodel|net_bf16\.bmodel")
# The largest difference of outputs and thresholds there, in parts of the largest value of a tensor.
NEAR = 1e-4


def initializer(rng, name, dims):
    """A tensor of small random numbers in protobuf's text form."""
    count = 1
    for extent in dims:
        count *= extent
    values = struct.pack(f"<{count}f", *(rng.uniform(-1, 1) / max(1, count / dims[0]) ** 0.5 for _ in range(count)))
    raw = "".join(f"\\{byte:03o}" for byte in values)
    extents = " ".join(f"dims: {extent}" for extent in dims)
    return f'initializer {{ name: "{name}" {extents} data_type: 1 raw_data: "{raw}" }}\n'


def attribute(name, value):
    if isinstance(value, list):
        return f'attribute {{ name: "{name}" type: 7 ' + " ".join(f"ints: {v}" for v in value) + " }"
    return f'attribute {{ name: "{name}" type: 2 i: {value} }}'


def node(op, inputs, outputs, **attributes):
    ins = " ".join(f'input: "{name}"' for name in inputs)
    outs = " ".join(f'output: "{name}"' for name in outputs)
    return f'node {{ op_type: "{op}" {ins} {outs} ' + " ".join(attribute(*item) for item in attributes.items()) + " }\n"


def shape_tensor(name, values):
    return f'initializer {{ name: "{name}" dims: {len(values)} data_type: 7 ' + \
        " ".join(f"int64_data: {v}" for v in values) + " }\n"


def network():
    """The network in protobuf's text form; its input is x, [1, 24, 12, 10]."""
    rng = random.Random(7)
    text = 'ir_version: 8\nopset_import { version: 17 }\ngraph {\nname: "forms"\n'
    for name, dims in {"w0": [40, 24, 3, 3], "b0": [40], "w1": [40, 1, 3, 3], "w2": [20, 8, 3, 3], "w3": [20, 12, 4, 4],
                       "b3": [12], "w4": [5, 6, 3, 3, 3], "w6": [24, 24], "w7": [200, 40], "lw": [1, 64, 40],
                       "lr": [1, 64, 16], "lb": [1, 128], "scale": [40], "shift": [40]}.items():
        text += initializer(rng, name, dims)
    text += shape_tensor("cube", [1, 6, 4, 12, 20]) + shape_tensor("rows", [24, 1, 40]) + shape_tensor("flat", [24, 200])
    text += node("Conv", ["x", "w0", "b0"], ["c0"], pads=[1, 1, 1, 1])
    text += node("Sigmoid", ["c0"], ["s0"])
    text += node("Conv", ["s0", "w1"], ["c1"], pads=[1, 1, 1, 1], group=40)
    text += node("Conv", ["c1", "w2"], ["c2"], pads=[1, 1, 1, 1], strides=[2, 2], group=5)
    text += node("Tanh", ["c2"], ["t2"])
    text += node("ConvTranspose", ["t2", "w3", "b3"], ["c3"], pads=[1, 1, 1, 1], strides=[2, 2])
    text += node("AveragePool", ["c3"], ["a3"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=0)
    text += node("Concat", ["c3", "a3", "c3", "a3"], ["k3"], axis=1)
    text += node("Reshape", ["k3", "cube"], ["r3"])
    text += node("Conv", ["r3", "w4"], ["c4"], pads=[1, 1, 1, 1, 1, 1])
    text += node("Reshape", ["c4", "flat"], ["r4"])
    text += node("MatMul", ["r4", "w7"], ["m4"])
    text += node("LayerNormalization", ["m4", "scale", "shift"], ["n4"], axis=-1)
    text += node("Reshape", ["n4", "rows"], ["r5"])
    text += node("LSTM", ["r5", "lw", "lr", "lb"], ["l5"], hidden_size=16)
    text += node("Softmax", ["n4"], ["p4"], axis=-1)
    text += node("Gemm", ["n4", "w6"], ["g5"], transA=1)
    for output, dims in {"l5": [24, 1, 1, 16], "p4": [24, 40], "g5": [40, 24]}.items():
        text += f'output {{ name: "{output}" type {{ tensor_type {{ elem_type: 1 shape {{ ' + \
            " ".join(f"dim {{ dim_value: {extent} }}" for extent in dims) + " } } } }\n"
    text += 'input { name: "x" type { tensor_type { elem_type: 1 shape { ' + \
        " ".join(f"dim {{ dim_value: {extent} }}" for extent in [1, 24, 12, 10]) + " } } } }\n}\n"
    return text


def write_npy(path, dims, values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(dims)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
                   struct.pack(f"<{len(values)}f", *values))


def read_npz(path):
    """The f32 tensors of an npz file, by name."""
    tensors = {}
    with zipfile.ZipFile(path) as archive:
        for entry in archive.namelist():
            data = archive.read(entry)
            size = struct.unpack("<H", data[8:10])[0]
            descr = ast.literal_eval(data[10:10 + size].decode())["descr"]
            if descr == "<f4":
                count = (len(data) - 10 - size) // 4
                tensors[entry] = struct.unpack(f"<{count}f", data[10 + size:])
    return tensors


def read_table(path):
    with open(path) as file:
        return {line.split()[0]: tuple(float(v) for v in line.split()[1:4]) for line in file if line[0] != "#"}


def run(folder, level, build, *command):
    program = os.path.join(build, "bin", command[0])
    done = subprocess.run([program, *command[1:]], cwd=folder, env=dict(os.environ, TPUC_CPU=level),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{level}: {' '.join(command)}\n{done.stdout}")


def write_files(folder, level, build, sample):
    run(folder, level, build, "model_transform", "--model_def", "../net.onnx", "--mlir", "net.mlir", "--model_name", "net")
    run(folder, level, build, "run_calibration", "net.mlir", "--data_list", "../list", "-o", "net.table")
    run(folder, level, build, "model_runner", "--model", "net.mlir", "--input", sample, "--output", "out.npz",
        "--dump_all_tensors")
    for mode in ["f16", "bf16", "int8"]:
        table = ["--calibration_table", "net.table"] if mode == "int8" else []
        run(folder, level, build, "model_deploy", "--mlir", "net.mlir", "--quantize", mode.upper(), "--chip", "bm1684x",
            "--model", f"net_{mode}.bmodel", *table)
    run(folder, level, build, "model_runner", "--model", "net_int8.bmodel", "--input", sample, "--output", "int8.npz")


def content(path):
    with open(path, "rb") as file:
        data = file.read()
    return re.sub(rb"# generated time:[^\n]*\n", b"", data) if path.endswith(".table") else data


def far(name, path, other):
    """The tensors of two files that are not near."""
    read = read_table if name.endswith(".table") else read_npz
    ours, theirs = read(path), read(other)
    if ours.keys() != theirs.keys() or not ours:
        return ["other names"]
    return [key for key, values in ours.items()
            if any(not abs(a - b) <= NEAR * max(abs(v) for v in values) for a, b in zip(values, theirs[key]))]


def main():
    build, levels = os.path.abspath(sys.argv[1]), sys.argv[2:]
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with tempfile.TemporaryDirectory() as work:
        onnx = subprocess.run(["protoc", "--encode=tpuc.onnx.proto.Model", f"--proto_path={source}/tpuc/Frontend/Onnx",
                               "Onnx.proto"], input=network().encode(), stdout=subprocess.PIPE, check=True).stdout
        with open(os.path.join(work, "net.onnx"), "wb") as file:
            file.write(onnx)
        rng = random.Random(8)
        sample = os.path.join(work, "x.npz")
        array = os.path.join(work, "x.npy")
        write_npy(array, [1, 24, 12, 10], [rng.uniform(-1, 1) for _ in range(24 * 12 * 10)])
        with zipfile.ZipFile(sample, "w") as archive:
            archive.write(array, "x.npy")
        with open(os.path.join(work, "list"), "w") as file:
            file.write(sample + "\n")
        for level in levels:
            os.makedirs(os.path.join(work, level))
            write_files(os.path.join(work, level), level, build, sample)
        wrong = compared = 0
        base = next((level for level in levels if level in FUSED), levels[0])
        names = sorted(os.listdir(os.path.join(work, base)))
        for level in levels:
            if sorted(os.listdir(os.path.join(work, level))) != names:
                print(f"{level}: other files than {base}")
                wrong += 1
                continue
            for name in names:
                path, other = (os.path.join(work, folder, name) for folder in (level, base))
                compared += level != base
                if content(path) == content(other):
                    continue
                if level in FUSED or EXACT.fullmatch(name):
                    print(f"{level}: {name} differs from {base}")
                    wrong += 1
                elif name in ("out.npz", "net.table") and (tensors := far(name, path, other)):
                    print(f"{level}: {name} is far from {base}: {', '.join(tensors)}")
                    wrong += 1
        print(f"{len(levels)} levels, {len(names)} files each, {compared} compared, {wrong} wrong")
        sys.exit(1 if wrong or not names else 0)


main()
