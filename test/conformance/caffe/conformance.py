#!/usr/bin/env python3
"""Runs Caffe networks of a generator of our own through model_transform and model_runner.

Each case is written as text and as weights, of both generations where the first one has its layers,
and run on inputs between -1 and 1. All outputs must be those of Caffe's documented formulas in numpy
(formulas.py), within 1e-5 of the largest element; so must OpenCV's be, but where the case says why
not. Whole networks are compared with OpenCV, tensor by tensor. The exit status is 0 if all cases agree and at least 300 were compared, with OpenCV 200 of them.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

import numpy as np

import anchor_formulas  # noqa: F401, adds its layers to the formulas
import cases
import detection_formulas  # noqa: F401, adds its layers to the formulas
import formulas
import network as writer
import networks

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from apart import answer_of, run_tool  # noqa: E402

PAGE = HERE.parents[2] / "docs" / "caffe-conformance.md"
TOLERANCE = 1e-5
LEAST_CASES = 300
LEAST_OPENCV = 200

NETWORK_TOLERANCE = "0.99999,0.999"

# Detectors are deployed, too.
CHIP = "bm1684x"
MODES = {"F32": ("--quantize", "F32"), "F16": ("--quantize", "F16"), "BF16": ("--quantize", "BF16"),
         "INT8": ("--quantize", "INT8"), "INT8, asymmetric": ("--quantize", "INT8", "--asymmetric")}

NetworkResult = collections.namedtuple("NetworkResult", "name layers tensors reference boxes least")
Deployed = collections.namedtuple("Deployed", "name mode cosine euclid found")
Result = collections.namedtuple("Result", "name generation outcome reason opencv")


def inputs_of(net):
    random = np.random.default_rng(len(net.layers) + sum(map(sum, net.inputs.values())))
    return {name: random.uniform(-1, 1, shape).astype(np.float32) for name, shape in net.inputs.items()}


def difference(found, wanted):
    """What is wrong with `found`, or nothing."""
    if found is None:
        return "is missing"
    if tuple(found.shape) != tuple(wanted.shape):
        return f"has the shape {list(found.shape)}, expected {list(wanted.shape)}"
    if not np.isfinite(found).all():
        return "is not finite"
    far = np.abs(found - wanted).max(initial=0)
    limit = TOLERANCE * max(1, np.abs(wanted).max(initial=0))
    return f"differs by {far:.2e}, allowed {limit:.2e}" if far > limit else ""


def in_order(value):
    """Boxes in Caffe's order: OpenCV gives them by score where it has to choose."""
    if value.ndim != 4 or value.shape[3] != 7:
        return value
    rows = value[0, 0]
    return rows[np.lexsort((-rows[:, 2], rows[:, 1], rows[:, 0]))]


def run_opencv(net, text, weights, inputs, names, pipe):
    """In a process of its own: what OpenCV cannot read may stop it."""
    try:
        import cv2
        cv2.setNumThreads(1)
        read = cv2.dnn.readNetFromCaffe(text, weights)
        read.enableFusion(False)
        for name, value in inputs.items():
            read.setInput(value, name)
        makers = {}
        known = set(read.getLayerNames())
        for layer in net.layers:
            for index, top in enumerate(layer.tops):
                if top in names:
                    # Convolutions are called after what they make.
                    makers[top] = (layer.name if layer.name in known else top, index)
        if not all(maker in known for maker, _ in makers.values()):
            pipe.send("layers were left out")
            return
        wanted = list(dict.fromkeys(maker for maker, _ in makers.values()))
        values = dict(zip(wanted, read.forwardAndRetrieve(wanted), strict=True))
        pipe.send({top: np.asarray(values[maker][index]) for top, (maker, index) in makers.items()})
    except Exception as error:  # whatever it is: OpenCV has no result
        pipe.send(re.sub(r"\s+", " ", str(error).replace(f"{pathlib.Path(text).parent}/", ""))[-160:])


def judge(tools, folder, name, generation, weights_generation, net, note, opencv):
    inputs = inputs_of(net)
    tensors, outputs = formulas.evaluate(net, inputs)
    wanted = {each: tensors[each] for each in outputs}
    text, weights, data, module, result = (folder / f"net{end}" for end in (
        ".prototxt", ".caffemodel", "_in.npz", ".mlir", "_out.npz"))
    text.write_text(writer.text_of(net, generation))
    weights.write_bytes(writer.weights_of(net, weights_generation))
    np.savez(data, **inputs)
    command = [tools / "model_transform", "--model_name", "net", "--model_def", text, "--model_data", weights,
               "--mlir", module]
    status, message = run_tool(command)
    if status:
        return Result(name, generation, "refused" if status == 1 else "failed", message.splitlines()[-1], "")
    status, message = run_tool([tools / "model_runner", "--input", data, "--model", module, "--output", result])
    if status:
        return Result(name, generation, "failed", message, "")
    with np.load(result) as arrays:
        found = {each: arrays[each] for each in arrays.files}
    if not wanted:
        return Result(name, generation, "failed", "has no outputs", "")
    for each, value in wanted.items():
        if wrong := difference(found.get(each), value):
            return Result(name, generation, "differs", f"{each} {wrong}", "")
    if set(found) != set(wanted):
        return Result(name, generation, "differs", f"outputs {sorted(found)}, expected {sorted(wanted)}", "")
    said = ""
    if opencv:
        theirs = answer_of(run_opencv, net, str(text), str(weights), inputs, outputs)
        said = theirs if isinstance(theirs, str) else "equal"
        for each, value in wanted.items() if said == "equal" else ():
            if wrong := difference(in_order(theirs[each]), in_order(value)):
                said = f"{each} {wrong}"
    return Result(name, generation, "pass", note, said)


def judge_network(tools, folder, name, net):
    """A whole network: model_transform has OpenCV compute every tensor that both have."""
    text, weights, data, module = (folder / f"net{end}" for end in (".prototxt", ".caffemodel", "_in.npz", ".mlir"))
    text.write_text(writer.text_of(net, 2))
    weights.write_bytes(writer.weights_of(net, 2))
    np.savez(data, **inputs_of(net))
    report = folder / "report.json"
    status, message = run_tool([
        tools / "model_transform", "--model_def", text, "--model_data", weights, "--mlir", module, "--test_input", data,
        "--python", sys.executable, "--tolerance", NETWORK_TOLERANCE, "--json", report])
    if status:
        return NetworkResult(name, len(net.layers), 0, "", 0, message.splitlines()[-1])
    report = json.loads(report.read_text())
    told = report["comparison"]
    worst = min(told["tensors"], key=lambda each: each["cosine"])
    with np.load(folder / "net_top_outputs.npz") as arrays:
        boxes = int((arrays["detection"][0, 0, :, 2] > 0).sum()) if "detection" in arrays.files else 0
    return NetworkResult(name, len(net.layers), len(told["tensors"]), report["reference"], boxes,
                         f"{worst['cosine']:.6f}")


def deploy_detector(tools, folder, name):
    """The network that judge_network imported, as model files for a chip: what the file on the simulator finds,
    beside the lowered network. A row for each mode."""
    rows = []
    (folder / "samples").mkdir()
    shutil.copy(folder / "net_in.npz", folder / "samples" / "0.npz")
    status, message = run_tool([tools / "run_calibration", folder / "net.mlir", "--dataset", folder / "samples",
                                "--input_num", "1", "-o", folder / "table"])
    for mode, options in MODES.items():
        if not status:
            status, message = run_tool([
                tools / "model_deploy", "--mlir", folder / "net.mlir", "--chip", CHIP, *options, "--calibration_table",
                folder / "table", "--model", folder / "net.bmodel", "--test_input", folder / "net_in.npz", "--json",
                folder / "deploy.json"])
        if status:
            rows.append(Deployed(name, mode, "", "", message.splitlines()[-1]))
            status = 0
            continue
        checked = json.loads((folder / "deploy.json").read_text())["model_file"]
        (tensor,) = checked["comparison"]["tensors"]
        remark = next(iter(checked["remarks"]), "rows in the same places")
        rows.append(Deployed(name, mode, f"{tensor['cosine']:.6f}", f"{tensor['euclid']:.6f}",
                             remark.partition(": ")[2] or remark))
    return rows


def write_page(results, whole, deployed, version):
    cases_compared = len({each.name for each in results})
    lines = ["# Conformance with Caffe", "",
             f"Generated by `./dev conformance caffe` with OpenCV {version}; do not edit.", "",
             "Each case is a network of our generator. Its text is of the second generation (`layer`), and once more "
             "of the first (`layers`) where that has the layer. Weights of both generations take turns. The outputs of `model_runner` are compared with Caffe's "
             f"documented formulas in numpy, and with OpenCV's dnn, within {TOLERANCE:g} of the largest element.", "",
             "| generation | cases | as the formula | as OpenCV, too | others |", "| --- | --- | --- | --- | --- |"]
    for generation in (2, 1):
        of = [each for each in results if each.generation == generation]
        passed = [each for each in of if each.outcome == "pass"]
        lines.append(f"| {'second' if generation == 2 else 'first'} | {len(of)} | {len(passed)} | "
                     f"{sum(each.opencv == 'equal' for each in passed)} | {len(of) - len(passed)} |")
    lines += ["", f"{cases_compared} networks.", "", "## Whole networks", "",
              "Random weights of the size of trained ones. `model_transform` has OpenCV compute every tensor that both "
              f"have, and holds them to {NETWORK_TOLERANCE} of cosine and euclidean similarity.", "",
              "| network | layers | compared with | tensors | boxes | least cosine |", "| --- | --- | --- | --- | --- | --- |"]
    lines += [f"| {each.name} | {each.layers} | {each.reference} | {each.tensors} | {each.boxes or '–'} | {each.least} |"
              for each in whole]
    lines += ["", "## Detectors as model files", "",
              f"`model_deploy` compiles them for {CHIP}, and compares what the file finds on the simulator with what the "
              "lowered network finds, as sets ([deploy.md](deploy.md)).", "",
              "| network | mode | cosine | euclid | detections |", "| --- | --- | --- | --- | --- |"]
    lines += [f"| {each.name} | {each.mode} | {each.cosine} | {each.euclid} | {each.found} |" for each in deployed]
    lines += ["", "## Where OpenCV has another result, or none", "",
              "| case | OpenCV | why |", "| --- | --- | --- |"]
    for each in results:
        if each.generation == 2 and each.outcome == "pass" and each.opencv != "equal":
            said = each.opencv.replace("|", "/") or "not asked"
            lines.append(f"| {each.name} | {said} | {each.reason or '–'} |")
    others = [each for each in results if each.outcome != "pass"]
    if others:
        lines += ["", "## Cases that do not agree", "", "| case | outcome | why |", "| --- | --- | --- |"]
        lines += [f"| {each.name} | {each.outcome} | {each.reason} |" for each in others]
    PAGE.write_text("\n".join(lines) + "\n")


def compare_networks(tools, folder, wanted):
    """The networks whose names `wanted` matches; those that OpenCV cannot run are compared with the formulas."""
    results, deployed = [], []
    for name, make in networks.NETWORKS.items():
        if not re.search(wanted, name):
            continue
        net = make()
        place = folder / name
        place.mkdir()
        known = not {layer.type for layer in net.layers} & cases.LACKS and name != "captioner"
        if known:
            results.append(judge_network(tools, place, name, net))
            if results[-1].boxes:
                deployed += deploy_detector(tools, place, name)
        else:
            judged = judge(tools, place, name, 2, 2, net, "", False)
            least = "within 1e-05" if judged.outcome == "pass" else judged.reason
            results.append(NetworkResult(name, len(net.layers), 1, "formulas", 0, least))
    return results, deployed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--filter", default="")
    parser.add_argument("--every", type=int, default=1, help="take only every N-th file")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--no-opencv", action="store_true", help="compare with the formulas only; writes no page")
    arguments = parser.parse_args()
    work = []
    for name, net in cases.all_cases():
        if re.search(arguments.filter, name):
            note = cases.why_opencv_differs(name, net)
            work.append((name, 2, net, note))
            if net.fits_first_generation():
                work.append((name, 1, net, note))
    work = work[::arguments.every]
    version = "none"
    if not arguments.no_opencv:
        import cv2
        version = cv2.__version__
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        def run(item):
            number, (name, generation, net, note) = item
            place = pathlib.Path(folder) / str(number)
            place.mkdir()
            # Every other text comes with weights of the other generation.
            weights = 3 - generation if number % 2 and net.fits_first_generation() else generation
            return judge(arguments.tools, place, name, generation, weights, net, note, not arguments.no_opencv)
        results = list(pool.map(run, enumerate(work)))
        whole, deployed = ([], []) if arguments.no_opencv or arguments.every > 1 else \
            compare_networks(arguments.tools, pathlib.Path(folder), arguments.filter)
    bad = [each for each in results if each.outcome != "pass"]
    for each in bad:
        print(f"{each.name} (generation {each.generation}): {each.outcome}: {each.reason}")
    unexplained = [each for each in results
                   if each.outcome == "pass" and each.opencv not in ("", "equal") and not each.reason]
    for each in unexplained:
        print(f"{each.name} (generation {each.generation}): OpenCV: {each.opencv}")
    for each in whole:
        print(f"{each.name}: {each.tensors} tensors as {each.reference}, {each.boxes} boxes, {each.least}")
    for each in deployed:
        print(f"{each.name} {each.mode}: {each.cosine} {each.euclid} {each.found}")
    lost = [each for each in deployed if not each.cosine]
    lost += [each for each in whole if each.reference not in ("OpenCV", "formulas") or not each.tensors
            or each.name.endswith("ssd") and not each.boxes or "error" in each.least]
    equal = sum(each.opencv == "equal" for each in results)
    names = len({each.name for each in results})
    print(f"{names} networks, {len(results)} files: {len(results) - len(bad)} as the formula, {equal} as OpenCV, too")
    if arguments.filter or arguments.every > 1 or arguments.no_opencv:
        return 1 if bad or lost or not results + whole else 0
    write_page(results, whole, deployed, version)
    return 1 if bad or lost or unexplained or names < LEAST_CASES or equal < LEAST_OPENCV else 0


if __name__ == "__main__":
    sys.exit(main())
