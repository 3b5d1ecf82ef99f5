#!/usr/bin/env python3
"""Runs TFLite models of a generator of our own through model_transform and model_runner.

Each case is a model of one op. Its outputs must be those of LiteRT's reference kernels: integers and
booleans equal, floats within 1e-5 of the largest element.
The exit status is 0 if all cases agree that LiteRT runs, and at least 600 do.

With --chip, networks of integers go on through model_deploy, and their model files are run, too. Their integers are
compared with LiteRT's in a page of its own. The exit status is 0 if all of them are run, and none of 8 bits is more
than two away.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import sys
import tempfile
import zlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import apart  # noqa: E402
import cases  # noqa: E402
import cases_hybrid  # noqa: E402, F401
import cases_int16  # noqa: E402, F401
import cases_int8  # noqa: E402, F401
import cases_integer_lstm  # noqa: E402, F401
import cases_recurrent  # noqa: E402, F401
import cases_scatter  # noqa: E402, F401
from ai_edge_litert import schema_py_generated as schema  # noqa: E402

PAGE = HERE.parents[2] / "docs" / "tflite-conformance.md"
CHIP_PAGE = HERE.parents[2] / "docs" / "tflite-chip.md"
TOLERANCE = 1e-5
LEAST_CASES = 600

Result = collections.namedtuple("Result", "name outcome reason")
# Elements of a model file's outputs, those that are LiteRT's, and how far the others are away at most.
# `wide`: they hold 16-bit integers.
ChipResult = collections.namedtuple("ChipResult", "name elements equal far where reason wide")


def run_litert(path, inputs, names, pipe):
    """In a process of its own: what LiteRT does not expect may stop it."""
    try:
        from ai_edge_litert import interpreter as litert
        kinds = litert.OpResolverType
        try:
            model = litert.Interpreter(str(path), num_threads=1, experimental_op_resolver_type=kinds.BUILTIN_REF)
            model.allocate_tensors()
        except ValueError as error:  # some ops have no reference kernel
            if "Didn't find op" not in str(error):
                raise
            model = litert.Interpreter(str(path), num_threads=1,
                                       experimental_op_resolver_type=kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
            model.allocate_tensors()
        for each in model.get_input_details():
            model.set_tensor(each["index"], inputs[each["name"]])
        model.invoke()
        details = {each["name"]: each["index"] for each in model.get_output_details()}
        pipe.send({name: np.array(model.get_tensor(details[name])) for name in names})
    except Exception as error:  # whatever it is: LiteRT has no result
        pipe.send(re.sub(r"\s+", " ", str(error))[-160:])


def difference(found, wanted):
    """What is wrong with `found`, or nothing."""
    if found is None:
        return "is missing"
    if found.shape != wanted.shape:
        return f"has the shape {list(found.shape)}, expected {list(wanted.shape)}"
    if found.dtype != wanted.dtype:
        return f"holds {found.dtype}, expected {wanted.dtype}"
    if found.dtype.kind != "f":
        far = int((found != wanted).sum())
        return f"differs in {far} of {found.size} elements" if far else ""
    same = (found == wanted) | np.isnan(found) & np.isnan(wanted)
    far = np.where(same, 0, np.abs(found - wanted)).max(initial=0)
    limit = TOLERANCE * max(1, np.abs(np.where(np.isfinite(wanted), wanted, 0)).max(initial=0))
    return "" if far <= limit else f"differs by {far:.2e}, allowed {limit:.2e}"


def run_tool(command):
    """The exit status of a tool, and the last line that it says."""
    status, message = apart.run_tool(command)
    return status, (message.splitlines() or [""])[-1]


def prepared(folder, name, net, ranges):
    """Writes model and inputs; the names of the outputs and what LiteRT makes of them, or what it says instead."""
    model, data = folder / "net.tflite", folder / "net_in.npz"
    model.write_bytes(net.bytes())
    random = np.random.default_rng(zlib.crc32(name.encode()))
    inputs = {each: ranges[each].values(random) for each in ranges}
    np.savez(data, **inputs)
    names = [net.graph.tensors[index].name for index in net.graph.outputs]
    return model, data, names, apart.answer_of(run_litert, model, inputs, names)


def judge(tools, folder, name, net, ranges):
    module, result = folder / "net.mlir", folder / "net_out.npz"
    model, data, names, wanted = prepared(folder, name, net, ranges)
    status, message = run_tool([tools / "model_transform", "--model_name", "net", "--model_def", model, "--mlir", module,
                                *(["--hybrid"] if net.hybrid else [])])
    if isinstance(wanted, str):
        return Result(name, "no reference", f"LiteRT: {wanted}; tpuc: {message if status else 'imports it'}")
    if status:
        return Result(name, "refused" if status == 1 else "failed", message.replace(str(folder) + "/", ""))
    status, message = run_tool([tools / "model_runner", "--input", data, "--model", module, "--output", result,
                                "--out_fixed"])
    if status:
        return Result(name, "failed", message.replace(str(folder) + "/", ""))
    with np.load(result) as arrays:
        found = {each: arrays[each] for each in arrays.files}
    for each in names:
        if wrong := difference(found.get(each), wanted[each]):
            return Result(name, "differs", f"{each} {wrong}")
    return Result(name, "pass", "")


def is_on_integers(net, *kinds):
    """Whether all inputs and outputs are such integers that stand for numbers."""
    types = [getattr(schema.TensorType, each) for each in kinds]
    tensors = [net.graph.tensors[index] for index in net.graph.inputs + net.graph.outputs]
    return all(each.quantization is not None and each.type in types for each in tensors)


def is_wide(net):
    return not is_on_integers(net, "INT8", "UINT8")


def numbers_of(integers, tensor):
    scale, zero = np.float32(tensor.quantization.scale[0]), int(tensor.quantization.zeroPoint[0])
    return (scale * (integers.astype(np.int32) - zero).astype(np.float32)).astype(np.float32)


def integers_of(found, tensor):
    if found.dtype.kind != "f":
        return found.astype(int)
    return np.rint(found.astype(float) / tensor.quantization.scale[0]).astype(int) + int(tensor.quantization.zeroPoint[0])


def judge_on_chip(tools, chip, folder, name, net, ranges):
    """Nothing where LiteRT has no result."""
    module, file, result = folder / "net.mlir", folder / "net.file", folder / "net_out.npz"
    model, data, names, wanted = prepared(folder, name, net, ranges)
    if isinstance(wanted, str):
        return None
    tensors = {each.name: each for each in net.graph.tensors}
    # Files of layers on floats take numbers, and give them.
    with np.load(data) as arrays:
        np.savez(data, **{each: numbers_of(arrays[each], tensors[each]) for each in arrays.files})
    for command in (
            ["model_transform", "--model_name", "net", "--model_def", model, "--mlir", module],
            ["model_deploy", "--mlir", module, "--quantize", "INT8", "--asymmetric", "--chip", chip, "--quant_input",
             "--quant_output", "--model", file],
            ["model_runner", "--input", data, "--model", file, "--output", result, "--out_fixed"]):
        status, message = run_tool([tools / command[0], *command[1:]])
        if status:
            return ChipResult(name, 0, 0, 0, "", f"{command[0]}: " + message.replace(str(folder) + "/", ""), is_wide(net))
    lowered = next(folder.glob("net_*_tpu.mlir")).read_text()
    ops = re.findall(r'"tpu\.(\w+)"', lowered)
    with np.load(result) as arrays:
        far = np.concatenate([np.abs(integers_of(arrays[each], tensors[each]) - wanted[each].astype(int)).ravel()
                              for each in names])
    return ChipResult(name, far.size, int((far == 0).sum()), int(far.max(initial=0)), ", ".join(dict.fromkeys(ops)), "",
                      is_wide(net))


def chip_table(results):
    by_op = collections.defaultdict(list)
    for each in results:
        by_op[each.name.split(".")[0].upper()].append(each)
    lines = ["| op | cases | as LiteRT | elements | equal | farthest | ops of the lowered network |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    for op, of in sorted(by_op.items()):
        elements, equal = (sum(getattr(each, field) for each in of) for field in ("elements", "equal"))
        where = ", ".join(dict.fromkeys(name for each in of for name in each.where.split(", ")))
        lines.append(f"| {op} | {len(of)} | {sum(each.equal == each.elements for each in of)} | {elements} | "
                     f"{100 * equal / max(elements, 1):.3f} % | {max(each.far for each in of)} | {where} |")
    return lines


def write_chip_page(results, version, chip):
    narrow, wide = ([each for each in results if each.wide == kind] for kind in (False, True))
    alike = sum(each.equal == each.elements for each in narrow)
    lines = [f"# Integers of LiteRT on {chip}", "",
             f"Generated by `./dev conformance tflite --chip {chip}` with ai-edge-litert {version}; do not edit.", "",
             "The cases of [tflite-conformance.md](tflite-conformance.md) on 8-bit integers, as model files "
             "(`model_deploy --quantize INT8 --asymmetric --quant_input --quant_output`). `model_runner` runs the "
             "commands of a file. Its integers are compared with those of LiteRT's reference kernels.", "",
             f"{len(narrow)} cases, {alike} of them with LiteRT's integers alone.", "", *chip_table(narrow), "",
             "## Integers of 16 bits", "",
             "Floats stand for these, rounded to the steps of the source ([why](tflite.md#networks-of-integers)). "
             "A step of 16 bits is 1/256 of one of 8 bits.", "", *chip_table(wide)]
    CHIP_PAGE.write_text("\n".join(lines) + "\n")


def write_page(results, version):
    by_op = collections.defaultdict(list)
    for each in results:
        by_op[each.name.split(".")[0].upper()].append(each)
    passed = sum(each.outcome == "pass" for each in results)
    lines = ["# Conformance with LiteRT", "",
             f"Generated by `./dev conformance tflite` with ai-edge-litert {version}; do not edit.", "",
             "Each case is a model of one op, written by our generator. `model_transform` imports it and `model_runner` "
             "runs it. The outputs are those of LiteRT's reference kernels: integers and booleans equal, floats within "
             f"{TOLERANCE:g} of the largest element. Cases whose input has four dimensions run once more behind a pool, "
             "so that the tensor has its channels in front. Those with integer weights beside floats are imported with "
             "`--hybrid`.", "",
             f"{len(results)} cases, {passed} as LiteRT. The quotients of uint8 leave one thing out: LiteRT shifts some by more "
             "than 31 bits, which C++ leaves open. They are near 0, and are 0 here.", "",
             "| op | cases | as LiteRT | LiteRT refuses | others |", "| --- | --- | --- | --- | --- |"]
    for op, of in sorted(by_op.items()):
        count = collections.Counter(each.outcome for each in of)
        others = len(of) - count["pass"] - count["no reference"]
        lines.append(f"| {op} | {len(of)} | {count['pass']} | {count['no reference']} | {others} |")
    for title, outcomes in (("Where LiteRT has no result", ("no reference",)),
                            ("Cases that do not agree", ("refused", "failed", "differs"))):
        chosen = [each for each in results if each.outcome in outcomes]
        if chosen:
            lines += ["", f"## {title}", "", "| case | what is said |", "| --- | --- |"]
            lines += [f"| {each.name} | {each.reason.replace('|', '/')} |" for each in chosen]
    PAGE.write_text("\n".join(lines) + "\n")


def sum_up_chip(arguments, results):
    for each in results:
        if each.equal < each.elements or each.reason:
            print(f"{each.name}: {each.elements - each.equal} of {each.elements} differ, by {each.far} at most "
                  f"({each.where}) {each.reason}")
    failed = sum(bool(each.reason) for each in results)
    print(f"{len(results)} cases: {sum(each.equal == each.elements > 0 for each in results)} as LiteRT, {failed} failed; "
          f"{sum(each.equal for each in results)} of {sum(each.elements for each in results)} integers equal")
    if not arguments.filter and arguments.every == 1:
        import importlib.metadata
        write_chip_page(results, importlib.metadata.version("ai-edge-litert"), arguments.chip)
    return 1 if failed or not results or any(each.far > 2 for each in results if not each.wide) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--filter", default="")
    parser.add_argument("--every", type=int, default=1, help="take only every N-th case")
    parser.add_argument("--chip", help="compare model files for this chip instead of the imported networks")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    work = [each for each in cases.CASES if re.search(arguments.filter, each[0])]
    if arguments.chip:
        work = [each for each in work if is_on_integers(each[1], "INT8", "UINT8", "INT16")]
    work = work[::arguments.every]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        def run(item):
            number, case = item
            place = pathlib.Path(folder) / str(number)
            place.mkdir()
            if arguments.chip:
                return judge_on_chip(arguments.tools, arguments.chip, place, *case)
            return judge(arguments.tools, place, *case)
        results = list(pool.map(run, enumerate(work)))
    if arguments.chip:
        return sum_up_chip(arguments, [each for each in results if each])
    bad = [each for each in results if each.outcome not in ("pass", "no reference")]
    for each in results:
        if each.outcome != "pass":
            print(f"{each.name}: {each.outcome}: {each.reason}")
    passed = sum(each.outcome == "pass" for each in results)
    print(f"{len(results)} cases: {passed} as LiteRT, {len(bad)} others, "
          f"{len(results) - passed - len(bad)} without reference")
    if arguments.filter or arguments.every > 1:
        return 1 if bad or not passed else 0
    import importlib.metadata
    write_page(results, importlib.metadata.version("ai-edge-litert"))
    return 1 if bad or passed < LEAST_CASES else 0


if __name__ == "__main__":
    sys.exit(main())
