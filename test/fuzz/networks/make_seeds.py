#!/usr/bin/env python3
"""Writes seeds.txt beside this file: small networks, one a line, in protobuf's text form of Onnx.proto.

  make_seeds.py

They are the cases of the ONNX project's backend tests that are numeric and small: a few for each
operator, of other sets of attributes each, and some of several operators. Small integers, and what
stands behind the first input where the first one is data, become constants, as in trained networks.
Made with onnx 1.23.2 (Apache-2.0), by the Python that ./dev conformance onnx sets up, and protoc.
"""

import collections
import pathlib
import re
import subprocess
import sys

import numpy as np
from onnx import helper, numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "test" / "conformance" / "onnx"))
import conformance  # noqa: E402

SCHEMA = ROOT / "tpuc" / "Frontend" / "Onnx"
NUMBERS = ("float_data", "int64_data", "int32_data", "double_data", "uint64_data", "ints", "floats", "dims")
PER_OPERATOR, SEVERAL = 3, 40
MOST_BYTES, MOST_ELEMENTS, MOST_CONSTANTS = 3000, 4096, 128
INTEGERS = {np.dtype(name) for name in ("int64", "int32", "uint8", "int8")}


def tensor_of(name, array):
    """A constant in numbers that are short as text."""
    if array.dtype.kind == "f":
        array = np.round(array.astype(np.float64), 1).astype(array.dtype)
    return helper.make_tensor(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape, array.ravel().tolist())


def becomes_constant(index, array, first):
    if index == 0 or array.size > MOST_CONSTANTS or array.dtype.name not in conformance.STANDARD_TYPES:
        return False
    return array.dtype in INTEGERS or array.dtype.kind == "f" and array.shape != first.shape


def simplified(case):
    """The case with constants, without what no tool reads; None if it is too large."""
    model = type(case.model)()
    model.CopyFrom(case.model)
    arrays = [conformance.archived(array) for array in case.arrays[0]]
    if any(array is None for array in arrays) or sum(array.size for array in arrays) > MOST_ELEMENTS:
        return None
    graph = model.graph
    known = {tensor.name for tensor in graph.initializer}
    for tensor in graph.initializer:
        array = numpy_helper.to_array(tensor)
        if array.dtype.name in conformance.STANDARD_TYPES:
            tensor.CopyFrom(tensor_of(tensor.name, array))
    inputs = [info for info in graph.input if info.name not in known]
    if not inputs or len(inputs) != len(arrays):
        return None
    kept = []
    for index, (info, array) in enumerate(zip(inputs, arrays)):
        if becomes_constant(index, array, arrays[0]) and info.type.tensor_type.elem_type == \
                helper.np_dtype_to_tensor_dtype(array.dtype):
            graph.initializer.append(tensor_of(info.name, array))
        else:
            kept.append(info)
    del graph.input[:]
    graph.input.extend(kept)
    del graph.value_info[:]
    for node in graph.node:
        node.ClearField("name")
        node.ClearField("doc_string")
    for field in ("producer_name", "producer_version", "doc_string", "metadata_props"):
        model.ClearField(field)
    return model if model.ByteSize() <= MOST_BYTES else None


def as_list(field, text):
    """Numbers of one field, one after the other, as one list."""
    return f"{field}: [" + ",".join(text.split()[1::2]) + "] "


def text_of(model):
    done = subprocess.run(["protoc", "--decode=tpuc.onnx.proto.Model", f"--proto_path={SCHEMA}", "Onnx.proto"],
                          input=model.SerializeToString(), capture_output=True, check=True)
    text = " ".join(line.strip() for line in done.stdout.decode().splitlines() if not re.match(r" *\d+[:{ ]", line))
    for field in NUMBERS:
        text = re.sub(rf"(?:\b{field}: \S+ ?){{2,}}", lambda found: as_list(field, found[0]), text)
    return text.strip()


def main():
    taken = collections.defaultdict(list)
    lines = []
    for case in conformance.all_cases():
        if not conformance.is_eligible(case.model) or len(lines) > 2000:
            continue
        operators = [node.op_type for node in case.model.graph.node]
        key = operators[0] if len(operators) == 1 else "several operators"
        attributes = (tuple(operators), tuple(sorted(a.name for node in case.model.graph.node for a in node.attribute)))
        most = SEVERAL if key == "several operators" else PER_OPERATOR
        if len(taken[key]) >= most or attributes in taken[key]:
            continue
        model = simplified(case)
        if model is None:
            continue
        taken[key].append(attributes)
        lines.append(f"{case.name.removeprefix('test_')} {text_of(model)}")
    (HERE / "seeds.txt").write_text("".join(line + "\n" for line in sorted(lines)), encoding="utf-8")
    print(f"{len(lines)} networks of {len(taken)} operators")


if __name__ == "__main__":
    main()
