#!/usr/bin/env python3
"""Einsums of random equations, imported and compared with ONNX Runtime.

usage: einsum.py --tools DIR [--networks N] [--seed N] [--deploy]

Each network has forty equations of one to four operands: batches, sums, outer products, diagonals, `...`, extents of
one that others repeat, no arrow, constant operands. Of a network, no `top.Einsum` may be left, and all outputs agree
within 1e-4 of ONNX Runtime's. With --deploy, its files for the bm1684x in F16 have no layer on the host, and their
outputs a cosine of 0.999 at least. So have those of equations that attention, relative positions and graph networks
have, also in INT8, where 0.98 is enough.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from apart import answer_of  # noqa: E402

PER_NETWORK = 40
LETTERS = "abcdefgh"
# (equation, shapes); a shape of a constant is a list.
KNOWN = [
    ("bhid,bhjd->bhij", (1, 2, 12, 8), (1, 2, 20, 8)),
    ("bhij,bhjd->bhid", (2, 2, 12, 20), (2, 2, 20, 8)),
    ("bqhd,bkhd->bhqk", (1, 12, 3, 8), (1, 20, 3, 8)),
    ("bhqk,bkhd->bqhd", (2, 3, 12, 20), (2, 20, 3, 8)),
    ("bnhid,bnhjd->bnhij", (1, 4, 2, 9, 8), (1, 4, 2, 9, 8)),
    ("bythwc,hkc->bythwk", (1, 2, 2, 6, 5, 8), [6, 4, 8]),
    ("bythwc,wkc->bythwk", (1, 2, 2, 6, 5, 8), [5, 4, 8]),
    ("bhwc,hkc->bhwk", (4, 6, 5, 8), [6, 7, 8]),
    ("bhwqc,qkc->bhwqk", (1, 4, 3, 5, 8), (5, 6, 8)),
    ("nctv,vw->nctw", (2, 6, 7, 5), [5, 5]),
    ("nkctv,kvw->nctw", (1, 3, 6, 7, 5), [3, 5, 5]),
    ("...ij,jk->...ik", (2, 3, 4, 5), [5, 6]),
    ("ij,bjk->bik", [6, 8], (2, 8, 5)),
    ("nhw,ixh->nixw", (2, 5, 4), [3, 6, 5]),
    ("bchw,bc->bhw", (2, 8, 4, 5), (2, 8)),
    ("bij,bij->bi", (2, 6, 9), (2, 6, 9)),
    ("i,j->ij", (9,), (9,)),
    ("bii->bi", (2, 6, 6)),
    ("bijk->bkj", (2, 3, 4, 5)),
    ("bld,dn,bln->bld", (2, 5, 4), [4, 3], (2, 5, 3)),
]


def random_case(drawn):
    """An equation and the shapes of its operands."""
    count = drawn.choice([1, 2, 2, 2, 2, 2, 3, 4])
    letters = LETTERS[:drawn.randint(2, 6 if count < 4 else 5)]
    extents = {letter: drawn.choice([1, 2, 3, 4, 5]) for letter in letters}
    dots = [drawn.choice([1, 2, 3]) for _ in range(drawn.choice([0, 0, 0, 1, 2]))]
    terms, shapes = [], []
    for _ in range(count):
        own = drawn.sample(letters, drawn.randint(1, min(4, len(letters))))
        if drawn.random() < 0.15:
            own.insert(drawn.randrange(len(own) + 1), drawn.choice(own))
        # An extent of one stands for any, but not in a diagonal.
        shape = [1 if own.count(each) == 1 and drawn.random() < 0.1 else extents[each] for each in own]
        if dots and drawn.random() < 0.8:
            place = drawn.randrange(len(own) + 1)
            kept = dots[drawn.randrange(len(dots)):]
            own.insert(place, "...")
            shape[place:place] = [1 if drawn.random() < 0.1 else each for each in kept]
        terms.append("".join(own))
        shapes.append(tuple(shape))
    has_dots = any("..." in term for term in terms)
    equation = ",".join(terms)
    if drawn.random() < 0.85:
        known = sorted(set(equation) - set(",."))
        kept = drawn.sample(known, drawn.randint(0, len(known)))
        if has_dots:
            kept.insert(drawn.randrange(len(kept) + 1), "...")
        equation += "->" + "".join(kept)
    # Constants alone are computed at import.
    constant = drawn.randrange(count) if count > 1 and drawn.random() < 0.3 else None
    return (equation, *(list(shape) if index == constant else shape for index, shape in enumerate(shapes)))


def network(cases, numbers):
    """The model of all cases, its inputs, and these with its constants."""
    nodes, inputs, weights, outputs, values, every = [], [], [], [], {}, {}
    for index, (equation, *shapes) in enumerate(cases):
        names = []
        for place, shape in enumerate(shapes):
            names.append(f"x{index}_{place}")
            array = numbers.uniform(-1, 1, shape).astype(np.float32)
            if isinstance(shape, list):
                weights.append(numpy_helper.from_array(array, names[-1]))
            else:
                inputs.append(helper.make_tensor_value_info(names[-1], TensorProto.FLOAT, shape))
                values[names[-1]] = array
            every[names[-1]] = array
        nodes.append(helper.make_node("Einsum", names, [f"y{index}"], equation=equation))
        outputs.append(helper.make_tensor_value_info(f"y{index}", TensorProto.FLOAT, None))
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model, values, every


def run_runtime(equation, arrays, pipe):
    """Sends what ONNX Runtime computes, or a text where it refuses an equation that it should know."""
    names = [f"x{place}" for place in range(len(arrays))]
    graph = helper.make_graph(
        [helper.make_node("Einsum", names, ["y"], equation=equation)], "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape) for name, array in zip(names, arrays)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        pipe.send(session.run(None, dict(zip(names, arrays)))[0])
    except Exception as reason:  # ONNX Runtime's exceptions have no common class of their own
        pipe.send(str(reason))


def cosine(found, expected):
    a, b = found.astype(np.float64).ravel(), expected.astype(np.float64).ravel()
    length = np.linalg.norm(a) * np.linalg.norm(b)
    return a @ b / length if length > 0 else float(np.allclose(a, b, atol=1e-3))


class Tools:
    """Our programs on one network in a folder."""

    def __init__(self, tools, folder):
        self.tools, self.folder = pathlib.Path(tools).resolve(), pathlib.Path(folder)
        self.wrong = 0

    def call(self, program, *options):
        subprocess.run([self.tools / program, *map(str, options)], cwd=self.folder, check=True,
                       stdout=subprocess.DEVNULL)

    def say(self, what):
        self.wrong += 1
        print(what)

    def transform(self, model, values):
        onnx.save(model, self.folder / "net.onnx")
        np.savez(self.folder / "in.npz", **values)
        self.call("model_transform", "--model_def", "net.onnx", "--mlir", "top.mlir", "--model_name", "top")

    def outputs(self, model):
        self.call("model_runner", "--model", model, "--input", "in.npz", "--output", "out.npz")
        return dict(np.load(self.folder / "out.npz"))

    def compiled(self, mode):
        """The outputs of the file for the bm1684x, which should have no layer on the host."""
        table = []
        if mode == "INT8":
            (self.folder / "list").write_text("in.npz\n", encoding="utf-8")
            self.call("run_calibration", "top.mlir", "--data_list", "list", "--cali_method", "max", "-o", "table")
            table = ["--calibration_table", "table"]
        self.call("model_deploy", "--mlir", "top.mlir", "--chip", "bm1684x", "--quantize", mode, *table,
                  "--model", "out.bmodel", "--json", "deploy.json", "--skip_validation")
        for layer in json.loads((self.folder / "deploy.json").read_text(encoding="utf-8"))["cpu_layers"]:
            self.say(f"{mode}: {layer}")
        return self.outputs("out.bmodel")


class Checker(Tools):
    """Counts the equations that differ, and those that ONNX Runtime refuses."""

    refused = 0

    def load(self, cases, seed):
        """Imports the cases; gives what ONNX Runtime computes of them."""
        model, values, every = network(cases, np.random.default_rng(seed))
        self.transform(model, values)
        expected = {}
        for index, (equation, *shapes) in enumerate(cases):
            arrays = [every[f"x{index}_{place}"] for place in range(len(shapes))]
            # Some end its process.
            answer = answer_of(run_runtime, equation, arrays)
            if isinstance(answer, str):
                self.refused += 1
                answer = np.einsum(equation, *arrays)
            expected[f"y{index}"] = answer
        return expected

    def check_import(self, cases, expected):
        if "top.Einsum" in (self.folder / "top.mlir").read_text(encoding="utf-8"):
            self.say(f"an einsum is left of {cases}")
        found = self.outputs("top.mlir")
        for index, case in enumerate(cases):
            name = f"y{index}"
            if name not in found or found[name].size != expected[name].size or not np.allclose(
                    found[name].reshape(expected[name].shape), expected[name], rtol=1e-4, atol=1e-4):
                self.say(f"{case}: other numbers than ONNX Runtime's")

    def check_file(self, cases, expected, mode, least):
        found = self.compiled(mode)
        for index, case in enumerate(cases):
            likeness = cosine(found[f"y{index}"], expected[f"y{index}"])
            if likeness < least:
                self.say(f"{case} in {mode}: cosine {likeness:.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True)
    parser.add_argument("--networks", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--deploy", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(options.tools, folder)
        sets = [("known", KNOWN)]
        for number in range(options.networks):
            drawn = random.Random(options.seed * 1000 + number)
            sets.append((number, [random_case(drawn) for _ in range(PER_NETWORK)]))
        for number, cases in sets:
            expected = checker.load(cases, options.seed)
            checker.check_import(cases, expected)
            if options.deploy:
                checker.check_file(cases, expected, "F16", 0.999)
                if number == "known":
                    checker.check_file(cases, expected, "INT8", 0.98)
            print(f"{number}: {len(cases)} equations", flush=True)
    print(f"{checker.wrong} differ; ONNX Runtime refused {checker.refused}, which numpy computed")
    sys.exit(1 if checker.wrong else 0)


if __name__ == "__main__":
    main()
