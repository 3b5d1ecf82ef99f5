#!/usr/bin/env python3
"""Boxes of --add_postprocess against formulas in numpy.

usage: detection.py --tools BIN --work FOLDER [--only TEXT] [--every N] [--chip NAME] [--cycles VERSION FILE.onnx]
                    [--modes VERSION FILE.onnx CALIBRATION SAMPLES]

Each case is a detector of random weights in one form of export (networks.py), with the picture and options of one
situation: usual ones, no box, more than 10,000 candidates, ties, other thresholds and rules. ONNX Runtime computes
the raw maps, formulas.py the boxes. Boxes of the same class must overlap by 0.999 of their union, and scores agree
within 1e-4. With --chip, the usual cases are compiled in F32 too, and their files are run on the simulator.
With --modes, files of a trained network are compared in all modes with the module in F32: how many of its boxes they
find with their class, on the .npz files of a folder SAMPLES, with tables of those of another folder.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys

import formulas
import networks
import numpy as np
import onnxruntime

# name, bias of scores, further arguments of build(), options
SITUATIONS = (
    ("usual", -2.0, {}, {}),
    ("none", -40.0, {}, {}),
    ("ties", 1.0, {"flat": True}, {"nms_threshold": 0.3}),
    ("strict", -1.0, {}, {"score_threshold": 0.6, "nms_threshold": 0.2, "keep": 7}),
    ("loose", -2.0, {"seed": 3}, {"score_threshold": 0.01, "nms_threshold": 0.9, "keep": 500}),
    ("classes", -1.0, {"seed": 4}, {"classes": [0, 2, 5], "agnostic": True}),
    ("labels", -1.0, {"seed": 5}, {"multi_label": True, "top_k": 20, "score_threshold": 0.1}),
    ("items", -2.0, {"seed": 6, "items": 2}, {}),
    # The ends of both thresholds.
    ("all", -2.0, {"seed": 7}, {"score_threshold": 0, "nms_threshold": 1, "keep": 300}),
    ("disjoint", -2.0, {"seed": 8}, {"score_threshold": 0, "nms_threshold": 0, "keep": 400}),
    ("certain", 1.0, {"seed": 9}, {"score_threshold": 1}),
)
MANY = ("many", 3.0, {"height": 832, "width": 832, "classes": 3}, {"score_threshold": 0.001, "keep": 300})


def picture(net, seed):
    """Noise of several sizes, so that means over cells differ."""
    random = np.random.default_rng(seed)
    image = np.zeros((net.items, 3, net.height, net.width), np.float32)
    for size in (1, 4, 8, 16, 32):
        shape = (net.items, 3, net.height // size, net.width // size)
        image += np.kron(random.standard_normal(shape), np.ones((size, size))).astype(np.float32)
    return image


class Bench:
    def __init__(self, arguments):
        self.tools, self.work, self.chip = arguments.tools, arguments.work, arguments.chip
        self.failed = self.passed = 0

    def run(self, tool, *arguments):
        done = subprocess.run([str(self.tools / tool), *map(str, arguments)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{tool}: {done.stdout.strip().splitlines()[-1]}")
        return done.stdout

    def case(self, version, form, situation):
        name, bias, changes, options = situation
        folder = self.work / f"{version}_{form}_{name}"
        folder.mkdir(parents=True, exist_ok=True)
        if version == "ssd" and changes.get("flat"):
            bias = 3.0
        net, outputs = networks.build(version, form, folder / "net.onnx", bias=bias, **changes)
        options = dict(options)
        if "classes" in options:
            options["classes"] = [each for each in options["classes"] if each < net.classes]
        image = picture(net, changes.get("seed", 1))
        np.savez(folder / "in.npz", x=image)
        maps, raw = self.raw_maps(net, folder, image)
        if version.endswith("pose"):
            options["num_classes"] = net.classes
        if net.protos and name == "loose":
            options["crop_masks"] = False
        text = ",".join(f"{key}={str(value).lower()}" for key, value in options.items())
        said = self.run("model_transform", "--model_def", folder / "net.onnx", "--mlir", folder / "net.mlir",
                        "--add_postprocess", version, *(["--postprocess_options", text] if text else []))
        made = self.outputs(folder / "net.mlir", folder)
        candidates = self.compare(net, form, maps, raw, options, made)
        if self.chip and name == "usual":
            self.run("model_deploy", "--mlir", folder / "net.mlir", "--chip", self.chip, "--quantize", "F32", "--model",
                     folder / "net.bmodel")
            self.compare(net, form, maps, raw, options, self.outputs(folder / "net.bmodel", folder))
        return candidates, said.splitlines()[0].partition("heads: ")[2].partition(" at ")[0]

    def cycles(self, version, network):
        """Cycles of the network with its own outputs, with its maps only, and with boxes."""
        self.work.mkdir(parents=True, exist_ok=True)
        kinds = {"plain": [], "boxes, decoded on the host": ["--postprocess_options", "decode=host"], "boxes": []}
        for mode in ("F32", "F16", "BF16"):
            found = {}
            for kind, options in kinds.items():
                post = [] if kind == "plain" else ["--add_postprocess", version, *options]
                self.run("model_transform", "--model_def", network, "--mlir", self.work / "net.mlir", "--model_name",
                         "net", *post)
                self.run("model_deploy", "--mlir", self.work / "net.mlir", "--quantize", mode, "--chip",
                         self.chip or "bm1684x", "--model", self.work / "net.bmodel")
                text = self.run("model_tool", "--profile", self.work / "net.bmodel")
                line = next(each for each in text.splitlines() if each.startswith("total cycles"))
                found[kind] = [int(each) for each in line.split()[2:]]
            for kind, numbers in found.items():
                ratios = ", ".join(f"{one / two:.3f}" for one, two in zip(numbers, found["plain"]))
                print(f"{mode}: {kind}: {numbers}, over plain {ratios}")
        return 0

    def modes(self, version, network, calibration, samples):
        """Boxes of files in 16 and 8 bits beside those of the module; 1 where nothing was compared."""
        self.work.mkdir(parents=True, exist_ok=True)
        module, table, model = (self.work / name for name in ("net.mlir", "net.table", "net.bmodel"))
        print(self.run("model_transform", "--model_def", network, "--mlir", module, "--model_name", "net",
                       "--add_postprocess", version).splitlines()[0])
        count = len(list(pathlib.Path(calibration).glob("*.npz")))
        self.run("run_calibration", module, "--dataset", calibration, "--input_num", count, "-o", table)
        wanted = self.boxes(module, samples)
        integers = ["--calibration_table", table]
        for mode, options in (("F16", []), ("BF16", []), ("INT8", integers), ("INT8", ["--strict_int8", *integers]),
                              ("INT8", ["--asymmetric", *integers])):
            self.run("model_deploy", "--mlir", module, "--chip", self.chip or "bm1684x", "--quantize", mode, "--model",
                     model, *options)
            made = self.boxes(model, samples)
            found = [sum(formulas.matched(a, b, least) for a, b in zip(wanted, made)) for least in (0.5, 0.9)]
            back = sum(formulas.matched(b, a, 0.5) for a, b in zip(wanted, made))
            total, ours = sum(map(len, wanted)), sum(map(len, made))
            text = " ".join([mode, *(each for each in options if each in ("--strict_int8", "--asymmetric"))])
            print(f"{text}: of {total} boxes in F32 {found[0]} are found at IoU 0.5 ({100 * found[0] / max(total, 1):.1f} "
                  f"%), {found[1]} at 0.9; of {ours} boxes F32 has not {ours - back}", flush=True)
        return total == 0

    def boxes(self, model, samples):
        """Rows (class, score, x1, y1, x2, y2) for each sample."""
        made = self.work / "made"
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir()
        self.run("model_runner", "--model", model, "--input", samples, "--output", made)
        answers = []
        for name in sorted(made.iterdir()):
            with np.load(name) as arrays:
                rows = arrays["detections"].reshape(-1, 7).astype(float)
            rows = rows[rows[:, 2] > 0]
            answers.append(np.concatenate([rows[:, 1:3], formulas.corners(*rows[:, 3:].T)], axis=1))
        return answers

    @staticmethod
    def raw_maps(net, folder, image):
        wanted = [name for level in net.raw for name in level] + ([net.protos] if net.protos else [])
        graph = b"".join(networks_field(0x62, networks_field(0x0A, each.encode())) for each in wanted)
        model = (folder / "net.onnx").read_bytes() + networks_field(0x3A, graph)
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        values = dict(zip(wanted, session.run(wanted, {"x": image})))
        return [[values[name] for name in level] for level in net.raw], values

    def outputs(self, model, folder):
        self.run("model_runner", "--model", model, "--input", folder / "in.npz", "--output", folder / "out.npz")
        with np.load(folder / "out.npz") as arrays:
            return {key: arrays[key] for key in arrays.files}

    def compare(self, net, form, maps, raw, options, made):
        rows = next(value for key, value in made.items() if key.startswith("detections")).reshape(-1, 7)
        more = [value for key, value in made.items() if not key.startswith("detections")]
        begin = candidates = 0
        if form == "chosen":
            options = {"keep": networks.CHOSEN, **options}
        for item in range(net.items):
            expected, count = formulas.detect(net, maps, item, options)
            candidates += count
            found = rows[begin:begin + len(expected)]
            if len(found) < len(expected) or (found[:, 0] != item).any() or (found[:, 2] <= 0).any():
                raise RuntimeError(f"{(rows[:, 2] > 0).sum()} boxes, expected {len(expected)} of item {item}")
            order = self.compare_rows(found, expected)
            extras = formulas.extras(net, maps, item)
            if extras is not None:
                self.compare_extras(net, raw, item, options, more[0][begin:], expected[order],
                                    extras[expected[order, 6].astype(int)])
            begin += len(expected)
        if (rows[begin:] != 0).any():
            raise RuntimeError(f"{(rows[:, 2] > 0).sum()} boxes, expected {begin}")
        return candidates

    @staticmethod
    def compare_rows(found, expected):
        """For each row of `found` the row of `expected` that it is."""
        order = []
        if len(expected) == 0:
            return order
        if (np.diff(found[:, 2]) > 0).any():
            raise RuntimeError("scores are not in descending order")
        boxes = formulas.corners(*found[:, 3:].astype(float).T)
        left = set(range(len(expected)))
        for index, (row, box) in enumerate(zip(found, boxes)):
            # Those of nearly equal scores may have changed places.
            near = [each for each in left if abs(expected[each, 1] - row[2]) <= 1e-4 and expected[each, 0] == row[1]]
            shares = formulas.overlaps(box, expected[near][:, 2:6]) if near else np.zeros(1)
            if shares.max() < 0.999:
                raise RuntimeError(f"row {index}, {row}, is none of the reference; it has {expected[index]}")
            # The order of exact ties is that of the places.
            exact = expected[:, 1] == expected[index, 1]
            if exact.sum() > 1 and index in near and formulas.overlaps(box, expected[[index], 2:6])[0] >= 0.999:
                order.append(index)
            else:
                order.append(near[int(shares.argmax())])
            left.discard(order[-1])
        return order

    @staticmethod
    def compare_extras(net, raw, item, options, found, boxes, expected):
        found = found[:len(expected)].astype(float)
        free = np.zeros(found.shape, bool)
        if net.protos:
            expected, free = formulas.masks(net, expected, raw[net.protos][item].astype(float), boxes[:, 2:6],
                                            options.get("crop_masks", True))
        tolerance = 2e-3 if "pose" in net.version else 1e-3
        differs = np.where(free, 0, np.abs(found - expected))
        if len(expected) and differs.max() > tolerance:
            raise RuntimeError(f"extras differ by {differs.max():.2g}")


def networks_field(tag, payload):
    import onnx_file
    return bytes([tag]) + onnx_file.varint(len(payload)) + payload


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="", help="cases whose names hold this")
    parser.add_argument("--every", type=int, default=1, help="one case of so many")
    parser.add_argument("--cycles", nargs=2, metavar=("VERSION", "FILE.onnx"),
                        help="print what boxes add to the cycles of a network instead")
    parser.add_argument("--modes", nargs=4, metavar=("VERSION", "FILE.onnx", "CALIBRATION", "SAMPLES"),
                        help="print how many boxes of F32 files in other modes find instead")
    parser.add_argument("--chip", help="compile usual cases for this chip, too")
    arguments = parser.parse_args()
    bench = Bench(arguments)
    if arguments.cycles:
        return bench.cycles(*arguments.cycles)
    if arguments.modes:
        return bench.modes(*arguments.modes)
    most = number = 0
    for version, (_, forms) in networks.FORMS.items():
        for form in forms:
            for situation in (*SITUATIONS, *((MANY,) if form in ("maps", "boxes", "apart", "logits") else ())):
                name = f"{version} {form} {situation[0]}"
                if arguments.only not in name:
                    continue
                # The network has chosen by its own rules before.
                if form == "chosen" and situation[0] not in ("usual", "none", "strict", "items"):
                    continue
                number += 1
                if number % arguments.every:
                    continue
                try:
                    candidates, heads = bench.case(version, form, situation)
                except RuntimeError as error:
                    bench.failed += 1
                    print(f"{name}: {error}")
                    continue
                bench.passed += 1
                most = max(most, candidates)
                print(f"{name}: same, {candidates} candidates, {heads}")
    print(f"{bench.passed} cases as the formulas, {bench.failed} not; {most} candidates at most")
    return bench.failed > 0 or bench.passed == 0


if __name__ == "__main__":
    sys.exit(main())
