#===- lowered_examples.py - Each example of the top dialect, lowered ------===#
#
# Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
"""Runs the examples of docs/dialects/top.md as they are and lowered to floats.

usage: lowered_examples.py SOURCE TPUC_OPT MODEL_RUNNER

All examples are one module, each on inputs of its own. In F32 every output has the same bits. In F16
and BF16 floats differ by one rounding and all others not at all: inputs are multiples of 1/16, which
both formats hold. Every op of the top dialect that has a twin in the tpu dialect must be among the
examples. Exit status 0 if all agree, 1 if not, 77 (skipped) if numpy is missing.
"""

import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i1": np.bool_, "i8": np.int8,
          "ui8": np.uint8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "ui16": np.uint16,
          "ui32": np.uint32, "ui64": np.uint64}
# What operands must hold for the op to make sense, by op and number of the operand.
VALUES = {
    ("AffineGrid", 1): [1, 1, 5, 6],
    ("BitShift", 1): [0, 1, 3],
    ("Col2Im", 1): [5, 5],
    ("Col2Im", 2): [1, 5],
    ("CosineWindow", 0): 10,
    ("DequantizeLinear", 1): [0.5, 0.25, 2],
    ("If", 0): True,
    ("Loop", 0): 3,
    ("MaxUnpool", 1): [1, 6, 8, 15],
    ("MelWeightMatrix", 0): 8,
    ("MelWeightMatrix", 1): 16,
    ("MelWeightMatrix", 2): 8000,
    ("MelWeightMatrix", 3): 0,
    ("MelWeightMatrix", 4): 4000,
    ("Nms", 2): [2],
    ("Nms", 3): [0.5],
    ("OneHot", 1): 3,
    ("Proposal", 2): [64, 96, 1],
    ("QLinearConv", 1): 0.5,
    ("QLinearConv", 4): [0.5, 0.25, 1, 0.125],
    ("QLinearConv", 6): 8,
    ("QLinearMatMul", 1): 0.5,
    ("QLinearMatMul", 4): 0.25,
    ("QLinearMatMul", 6): 4,
    ("QuantizeLinear", 1): [0.5, 0.25, 2],
    ("Range", 0): 1,
    ("Range", 1): 8,
    ("Range", 2): 2,
    ("ReverseSequence", 1): [2, 4],
    ("RoiAlign", 1): [[0, 0, 4, 4], [1, 2, 8, 6], [2, 2, 9, 9]],
    ("RoiAlign", 2): 0,
    ("RoiPool", 1): [[0, 0, 0, 7, 7], [0, 2, 4, 12, 9], [0, 3, 3, 3, 3], [0, 6, 1, 15, 15]],
    ("ScatterND", 1): [[0], [3]],
    ("STFT", 1): 8,
    ("TensorScatter", 2): [0, 4],
}
# No ops on tensors.
STRUCTURE = {"None", "Weight", "Input", "Yield"}
# What only a library of the user computes.
OF_USERS = {"Custom"}
# What is lowered to ops with weights, which these modules have no file for.
WITH_WEIGHTS = {"Preprocess"}
# One rounding, as a part of the largest magnitude.
TOLERANCES = {"F16": 2.0**-11, "BF16": 2.0**-8}


class Network:
    """The examples as one module."""

    def __init__(self, doc_examples):
        self.doc_examples = doc_examples
        self.rng = np.random.default_rng(11)
        self.arguments, self.body, self.results, self.types = [], [], [], []
        self.inputs, self.texts, self.ops = {}, {}, set()

    def add(self, function):
        head = re.search(r"func\.func @[\w$]+\((.*)\) \{\n", function)
        number = len(self.texts)
        prefix = f"e{number}_"
        body = function[head.end():function.rindex("  return")]
        body = re.sub(r"%(\w+)", rf"%{prefix}\1", re.sub(r' loc\(".*?"\)', "", body))
        ops = re.findall(r'"top\.(\w+)"', body)
        if set(ops) <= STRUCTURE or (OF_USERS | WITH_WEIGHTS) & set(ops):
            return
        self.ops.update(ops)
        name = f"e{number}"
        self.texts[name] = body.strip()
        for argument in self.doc_examples.split_list(head.group(1)):
            self.add_argument(prefix, *re.match(r"%(\w+): (.*)", argument).groups(), body)
        # One op begins at each line that is indented by two.
        statements = re.split(r"\n(?=  %)", body.rstrip("\n"))
        for index, statement in enumerate(statements):
            label = name if index == len(statements) - 1 else f"{name}_step{index}"
            self.body.append(f'{statement} loc("{label}")')
        self.add_results(name, statements[-1])

    def add_argument(self, prefix, name, kind, body):
        value = f"%{prefix}{name}"
        if kind == "none":
            self.body.append(f'  {value} = "top.None"() : () -> none')
            return
        label = f"{prefix}{name}"
        self.arguments.append(f"{value}_in: {kind}")
        self.body.append(f'  {value} = "top.Input"({value}_in) : ({kind}) -> {kind} loc("{label}")')
        self.inputs[label] = self.array(kind, self.stated(value, body))

    def stated(self, value, body):
        """What an operand must hold; None: anything."""
        for op, operands in re.findall(r'"top\.(\w+)"\(([^)]*)\)', body):
            for index, operand in enumerate(operands.split(", ")):
                if operand == value and (op, index) in VALUES:
                    return VALUES[op, index]
        return None

    def array(self, kind, stated):
        shape, element = re.fullmatch(r"tensor<((?:[\d?]+x)*)(\w+)>", kind).groups()
        shape = tuple(3 if extent == "?" else int(extent) for extent in shape.split("x")[:-1])
        dtype = DTYPES[element]
        if stated is not None:
            return np.resize(np.array(stated, dtype), shape)
        if np.issubdtype(dtype, np.floating):
            return (self.rng.integers(-32, 33, shape) / 16).astype(dtype)
        return self.rng.integers(0, 2, shape).astype(dtype)

    def add_results(self, name, statement):
        names = re.match(r"  (.*?) =", statement).group(1)
        types = statement[statement.rindex("->") + 2:].strip()
        types = self.doc_examples.split_list(
            self.doc_examples.balanced(types) if types.startswith("(") else types)
        counted = re.fullmatch(r"(%\w+):(\d+)", names)
        values = [f"{counted.group(1)}#{i}" for i in range(int(counted.group(2)))] if counted \
            else names.split(", ")
        for value, type_ in zip(values, types, strict=True):
            if type_ != "none":
                self.results.append(value)
                self.types.append(type_)

    def text(self):
        types = ", ".join(self.types)
        return "\n".join([
            'module attributes {module.name = "examples", module.chip = "bm1684x"} {',
            f"func.func @main({', '.join(self.arguments)}) -> ({types}) {{", *self.body,
            f"  return {', '.join(self.results)} : {types}", "}", "}", ""])


def run(program, path, inputs, folder):
    output = os.path.join(folder, "out.npz")
    subprocess.run([program, "--model", path, "--input", inputs, "--output", output,
                    "--num_threads", "1"], check=True)
    with np.load(output) as arrays:
        return {name: arrays[name] for name in arrays.files}


def difference(found, wanted, tolerance):
    """What is wrong with `found`, or None."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return f"{found.dtype} {found.shape}; expected {wanted.dtype} {wanted.shape}"
    if found.tobytes() == wanted.tobytes():
        return None
    if not tolerance or wanted.dtype.kind != "f":
        return f"{np.count_nonzero(found != wanted)} of {wanted.size} elements differ"
    finite = np.isfinite(wanted)
    if not np.array_equal(found[~finite], wanted[~finite], equal_nan=True):
        return "other elements are infinite or no numbers"
    bound = tolerance * float(np.abs(wanted[finite]).max(initial=0))
    most = float(np.abs(found[finite].astype(float) - wanted[finite]).max(initial=0))
    return f"differs by {most}; expected {bound} at most" if not most <= bound else None


def twins(source):
    """The ops of top for which the tpu dialect has one, by its page."""
    with open(os.path.join(source, "docs", "dialects", "tpu.md"), encoding="utf-8") as page:
        names = set(re.findall(r"^### `tpu\.(\w+)`", page.read(), re.MULTILINE))
    names -= {"Cast", "RoundTo", "RequantInt", "Lut", "ScaleLut"}
    names -= STRUCTURE | OF_USERS | WITH_WEIGHTS
    names -= {"Group", "Load", "Store", "Unpack", "PackRows", "UnpackRows", "Transpose"}  # what the code generator makes
    return {"Cast" if name == "DtypeCast" else name for name in names}


def main(source, opt, runner):
    sys.path.insert(0, os.path.join(source, "utils"))
    import doc_examples

    pieces = subprocess.run(
        [sys.executable, doc_examples.__file__, os.path.join(source, "docs", "dialects", "top.md")],
        check=True, capture_output=True, text=True).stdout
    network = Network(doc_examples)
    for piece in pieces.split("// -----\n"):
        network.add(piece)
    failures = sorted(twins(source) - network.ops)
    for op in failures:
        print(f"tpu.{op}: no example in docs/dialects/top.md")
    with tempfile.TemporaryDirectory() as folder:
        top = os.path.join(folder, "top.mlir")
        with open(top, "w", encoding="utf-8") as file:
            file.write(network.text())
        inputs = os.path.join(folder, "in.npz")
        np.savez(inputs, **network.inputs)
        wanted = run(runner, top, inputs, folder)
        for mode in ("F32", "F16", "BF16"):
            lowered = os.path.join(folder, f"{mode}.mlir")
            subprocess.run([opt, top, f"--convert-top-to-tpu=mode={mode}", "--canonicalize",
                            "--strip-io-quant", "--chip-tpu-optimize", "--mlir-print-debuginfo",
                            "-o", lowered], check=True)
            # There are no weights.
            with open(lowered, encoding="utf-8") as file:
                text = re.sub(r', module\.weight_file = "[^"]*"', "", file.read())
            with open(lowered, "w", encoding="utf-8") as file:
                file.write(text)
            found = run(runner, lowered, inputs, folder)
            for name in wanted:
                text = network.texts[name.split('_')[0]]
                if why := difference(found[name], wanted[name], TOLERANCES.get(mode, 0)):
                    failures.append(name)
                    print(f"{mode}: {name}: {why}\n  {text}")
    print(f"{len(network.texts)} examples, {len(wanted)} outputs, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
