#!/usr/bin/env python3
"""Runs the cases of the ONNX project's backend tests through model_transform and model_runner.

Each case is imported as it is, every input of its graph an input of the network, run on its first
set of data and compared: each output must have the expected shape and kind of element, and values
within rtol 1e-3 and atol 1e-5. A case passes, is refused by model_transform (a message of one line
that begins with the tool's name, and an exit status of 1), differs, or fails (anything else).

A case counts as eligible unless it needs what a network of numeric tensors does not have: strings,
sequences, optionals, 2-bit integers, f4E2M1, f8E8M0, operators of other domains, random numbers,
training, pictures. The exit status is 0 if at least 97 % of the eligible cases pass and nothing
fails or differs that known.txt does not explain.

With --deploy CHIP:MODE, what passes is compiled, too, and the model file is run on the chip's
simulator. Where the file is refused or wrong, it is tried again with integers of one dimension as
constants: shapes, axes and lengths, which compiled networks do not take as data. The exit status is
0 if at least 95 % pass as they are or with constants, and no tool fails. In INT8 the ranges of tensors are those of
the case itself, values may be off by a sixteenth of the largest one expected, and the share does not count.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import numpy
import onnx
from onnx import numpy_helper
from onnx.backend.test import loader

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[2] / "docs" / "onnx-conformance.md"
KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")
STANDARD_TYPES = {"float16", "float32", "float64", "bool", "int8", "int16", "int32", "int64", "uint8",
                  "uint16", "uint32", "uint64"}
UNFIT_OPERATORS = re.compile(
    r".*Sequence.*|.*Optional.*|String.*|Regex.*|TfIdf.*|Random.*|Bernoulli|Multinomial|ImageDecoder"
    r"|Adam|Adagrad|Momentum")
UNFIT_TYPES = {getattr(onnx.TensorProto, name)
               for name in ("STRING", "INT2", "UINT2", "FLOAT4E2M1", "FLOAT8E8M0")
               if hasattr(onnx.TensorProto, name)}

# Modes that need a calibration table.
CALIBRATED = ("INT8", "INT16")

Case = collections.namedtuple("Case", "suite name model arrays")
Result = collections.namedtuple("Result", "suite name opset eligible outcome reason")


def graph_fits(graph, functions):
    for value in (*graph.input, *graph.output):
        kind = value.type.WhichOneof("value")
        if kind is not None and (kind != "tensor_type" or value.type.tensor_type.elem_type in UNFIT_TYPES):
            return False
    for node in graph.node:
        standard = node.domain in ("", "ai.onnx")
        if UNFIT_OPERATORS.fullmatch(node.op_type) or not standard and (node.domain, node.op_type) not in functions:
            return False
        for attribute in node.attribute:
            if attribute.name in ("to", "dtype", "output_dtype") and attribute.i in UNFIT_TYPES:
                return False
            if attribute.HasField("t") and attribute.t.data_type in UNFIT_TYPES:
                return False
            if attribute.HasField("g") and not graph_fits(attribute.g, functions):
                return False
    return True


def is_eligible(model):
    return graph_fits(model.graph, {(function.domain, function.name) for function in model.functions})


def archived(array):
    """The array in a type that .npz files have: 4-bit integers as 8-bit ones, bf16 and f8 as f32.
    None for strings, sequences and complex numbers."""
    if isinstance(array, onnx.TensorProto):
        array = numpy_helper.to_array(array)
    if not isinstance(array, (numpy.ndarray, numpy.generic)):
        return None
    array = numpy.asarray(array)
    if array.dtype.name in STANDARD_TYPES:
        return array
    if array.dtype.kind in "OSUc":
        return None
    if "int" in array.dtype.name:
        return array.astype(numpy.uint8 if array.dtype.name.startswith("u") else numpy.int8)
    return array.astype(numpy.float32)


def read_folder(folder):
    """The model of a folder and its first set of data."""
    model = onnx.load(os.path.join(folder, "model.onnx"))
    arrays = []
    for prefix in ("input", "output"):
        row = []
        while os.path.exists(path := os.path.join(folder, "test_data_set_0", f"{prefix}_{len(row)}.pb")):
            row.append(onnx.load_tensor(path))
        arrays.append(row)
    return model, arrays


def all_cases():
    for suite in KINDS:
        for case in loader.load_model_tests(kind=suite):
            if case.model is not None:
                yield Case(suite, case.name, case.model, case.data_sets[0])
            else:
                yield Case(suite, case.name, *read_folder(case.model_dir))


def compare(found, wanted, share=0):
    """What differs; empty if nothing does. Values may be off by a share of the largest finite one."""
    for name, expected in wanted:
        if name not in found.files:
            return f"no output {name}"
        actual = found[name]
        if actual.shape != expected.shape or actual.dtype.kind != expected.dtype.kind:
            return f"{name} is {actual.dtype} {actual.shape}, expected {expected.dtype} {expected.shape}"
        finite = numpy.abs(expected[numpy.isfinite(expected)].astype(float))
        most = max(1e-5, share * finite.max(initial=0))
        if not numpy.allclose(actual, expected, rtol=1e-3, atol=most, equal_nan=True):
            error = numpy.nanmax(numpy.abs(actual.astype(float) - expected.astype(float)))
            return f"{name} differs by up to {error:.3g}"
    return ""


def run_tool(tool, arguments, folder):
    """(outcome, reason) of a tool: "" if it succeeded."""
    try:
        done = subprocess.run([tool, *arguments], cwd=folder, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "fails", "no answer within 120 s"
    lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    if done.returncode == 0:
        return "", ""
    message = f"{tool.name}: error: "
    if done.returncode == 1 and len(lines) == 1 and lines[0].startswith(message):
        return "refused", lines[0].removeprefix(message).removeprefix("m.onnx: ")
    return "fails", f"exit status {done.returncode}: {lines[-1] if lines else 'no message'}"


def without_shapes(model, inputs, given):
    """The model with its inputs of shapes and axes as constants, and the arrays of the others."""
    constant = onnx.ModelProto()
    constant.CopyFrom(model)
    kept = {}
    for name, array in zip(inputs, given):
        if array.dtype.kind in "iu" and array.ndim <= 1 and array.dtype.itemsize >= 4:
            constant.graph.initializer.append(numpy_helper.from_array(array, name))
        else:
            kept[name] = array
    values = [value for value in constant.graph.input if value.name in kept]
    del constant.graph.input[:]
    constant.graph.input.extend(values)
    return constant, kept


def run_file(mode, tools, folder, expected):
    """Compiles m.mlir for a (chip, mode), and compares what the file gives of in.npz."""
    chip, precision = mode
    options = ["--mlir", "m.mlir", "--chip", chip, "--quantize", precision, "--model", "m.bin"]
    if precision in CALIBRATED:
        (folder / "samples").write_text("in.npz\n")
        outcome = run_tool(tools / "run_calibration", ["m.mlir", "--data_list", "samples", "--cali_method", "max",
                                                       "-o", "table"], folder)
        if outcome[0]:
            return outcome
        options += ["--calibration_table", "table"]
    outcome = run_tool(tools / "model_deploy", options, folder)
    if outcome[0]:
        return outcome
    outcome = run_tool(tools / "model_runner", ["--model", "m.bin", "--input", "in.npz", "--output", "out.npz"], folder)
    if outcome[0]:
        return "fails", outcome[1]
    with numpy.load(folder / "out.npz") as found:
        difference = compare(found, expected, 1 / 16 if precision in CALIBRATED else 0)
    return ("differs", difference) if difference else ("passes", "")


def deploy_case(case, tools, folder, mode):
    """As run_case, of the model file; "constants" where shapes and axes must be."""
    outcome = run_case(case, tools, folder)
    if outcome[0] != "passes":
        return "not imported", outcome[1]
    weights = {weight.name for weight in case.model.graph.initializer}
    inputs = [value.name for value in case.model.graph.input if value.name not in weights]
    given, expected = ([archived(array) for array in row] for row in case.arrays)
    wanted = [pair for pair in zip([value.name for value in case.model.graph.output], expected) if pair[0]]
    outcome = run_file(mode, tools, folder, wanted)
    model, kept = without_shapes(case.model, inputs, given)
    if outcome[0] == "passes" or len(kept) in (0, len(inputs)):
        return outcome
    onnx.save(model, folder / "m.onnx")
    numpy.savez(folder / "in.npz", **kept)
    again = run_tool(tools / "model_transform", ["--model_def", "m.onnx", "--mlir", "m.mlir"], folder)
    if not again[0]:
        again = run_file(mode, tools, folder, wanted)
    return ("constants", outcome[1]) if again[0] == "passes" else outcome


def run_case(case, tools, folder):
    onnx.save(case.model, folder / "m.onnx")
    outcome = run_tool(tools / "model_transform", ["--model_def", "m.onnx", "--mlir", "m.mlir"], folder)
    if outcome[0]:
        return outcome
    weights = {weight.name for weight in case.model.graph.initializer}
    inputs = [value.name for value in case.model.graph.input if value.name not in weights]
    given, expected = ([archived(array) for array in row] for row in case.arrays)
    if any(array is None for array in (*given, *expected)):
        return "differs", "imports a network whose data are no tensors"
    numpy.savez(folder / "in.npz", **dict(zip(inputs, given)))
    outcome = run_tool(tools / "model_runner",
                       ["--model", "m.mlir", "--input", "in.npz", "--output", "out.npz"], folder)
    if outcome[0]:
        # What is imported must run.
        return "fails", outcome[1]
    outputs = [value.name for value in case.model.graph.output]
    with numpy.load(folder / "out.npz") as found:
        difference = compare(found, [pair for pair in zip(outputs, expected) if pair[0]])
    return ("differs", difference) if difference else ("passes", "")


def evaluate(case, tools, mode=None):
    opset = max((each.version for each in case.model.opset_import if each.domain in ("", "ai.onnx")), default=0)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        outcome, reason = deploy_case(case, tools, folder, mode) if mode else run_case(case, tools, folder)
    return Result(case.suite, case.name, opset, is_eligible(case.model), outcome, reason)


def read_known():
    known = {}
    for line in (HERE / "known.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, reason = line.partition(": ")
            known[name] = reason
    return known


def table(results, known):
    lines = ["| case | opset | why |", "| --- | --- | --- |"]
    for result in sorted(results):
        reason = known.get(result.name, result.reason).replace("|", "\\|")
        lines.append(f"| {result.name} | {result.opset or '–'} | {reason} |")
    return lines


def page(results, known):
    eligible = [result for result in results if result.eligible]
    others = [result for result in results if not result.eligible]
    count = collections.Counter((result.eligible, result.outcome) for result in results)
    lines = [
        "# Conformance with ONNX", "",
        f"Generated by `./dev conformance onnx` from the backend tests of onnx {onnx.__version__}; do not edit.", "",
        "Each case is imported and run as it is; shapes and kinds of element must be those expected, values within "
        "rtol 1e-3 and atol 1e-5. Eligible are the cases of numeric tensors: no strings, sequences, optionals, 2-bit "
        "integers, f4E2M1, f8E8M0, operators of other domains, random numbers, training or pictures.", "",
        "| cases | number | pass | refused with one line | differ | fail |", "| --- | --- | --- | --- | --- | --- |"]
    for name, flag, rows in (("eligible", True, eligible), ("others", False, others)):
        numbers = " | ".join(str(count[flag, outcome]) for outcome in ("passes", "refused", "differs", "fails"))
        lines.append(f"| {name} | {len(rows)} | {numbers} |")
    share = 100 * count[True, "passes"] / max(1, len(eligible))
    lines += ["", f"{share:.2f} % of the eligible cases pass."]
    for title, flag, outcome in (("Eligible cases that are refused", True, "refused"),
                                 ("Cases that differ", None, "differs"), ("Cases that fail", None, "fails"),
                                 ("Other cases that are refused", False, "refused")):
        part = [r for r in results if r.outcome == outcome and flag in (None, r.eligible)]
        if part:
            lines += ["", f"## {title}", "", *table(part, known)]
    return "\n".join(lines) + "\n", share


def report_files(results, counts_share):
    """Prints what became of the model files; the exit status."""
    count = collections.Counter(result.outcome for result in results)
    taken = len(results) - count["not imported"]
    if not taken:
        sys.exit("no network was imported; expected a --filter that leaves some")
    for result in sorted(results):
        if result.outcome in ("refused", "differs", "fails"):
            print(f"{result.name}: {result.outcome}: {result.reason}")
    share = [100 * number / taken for number in (count["passes"], count["passes"] + count["constants"])]
    print(f"{taken} networks: {count['passes']} pass as they are ({share[0]:.1f} %), {count['constants']} more with "
          f"constants, in all {share[1]:.1f} %; {count['refused']} are refused, {count['differs']} differ, "
          f"{count['fails']} fail")
    return 0 if (share[1] >= 95 or not counts_share) and not count["fails"] else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=pathlib.Path, required=True, help="the folder of the programs")
    parser.add_argument("--filter", default="", help="only cases whose name matches this regular expression")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--result", help="a file for one line per case")
    parser.add_argument("--deploy", metavar="CHIP:MODE", help="compile each network, such as bm1684x:F32; "
                        "the page is not written")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    tools = arguments.tools.resolve()
    mode = tuple(arguments.deploy.split(":")) if arguments.deploy else None
    if mode and len(mode) != 2:
        sys.exit(f"--deploy: is '{arguments.deploy}'; expected a chip and a mode, such as bm1684x:F32")
    cases = [case for case in all_cases() if re.search(arguments.filter, case.name)]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(lambda case: evaluate(case, tools, mode), cases))
    if arguments.result:
        with open(arguments.result, "w") as file:
            file.writelines("\t".join(map(str, result)) + "\n" for result in results)
    if mode:
        return report_files(results, mode[1] not in CALIBRATED)
    known = read_known()
    text, share = page(results, known)
    bad = [r for r in results if r.outcome == "fails" or r.outcome == "differs" and r.name not in known]
    for result in bad:
        print(f"{result.name}: {result.outcome}: {result.reason}")
    print("\n".join(line for line in text.splitlines()[6:12] if line))
    if not arguments.filter:
        PAGE.write_text(text)
    return 0 if share >= 97 and not bad else 1


if __name__ == "__main__":
    sys.exit(main())
