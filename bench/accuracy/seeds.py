#!/usr/bin/env python3
"""How networks answer as in float, on model files and in the interpreter, with several seeds of data.

usage: seeds.py BUILD [--network NAME ...] [--samples N] [--seeds N] [--modes MODE ...] [--chip NAME] [--json FILE]
For each seed prepare.py makes 100 samples to calibrate with and others to measure on: of fonts, words
and photographs that other seeds do not have. The network NAME.onnx (rec) of the folder TPUC_MODELS is
calibrated and deployed for a chip (bm1684x, of which alone something is demanded) in each MODE with default options. N of the samples (100) are read by
the network in float, by the lowered network in the interpreter and by the model file on the simulator.
Prints for each MODE, of the file and of the interpreter, the mean over the seeds, and in brackets the
least and the most. For rec these are in how many percent of the lines the text is as in float, and in
how many all steps are. For classifiers they are in how many percent of the samples the class is as in
float, and the mean cosine of the scores in percent. For detectors they are how many percent of the boxes
of float are found at an IoU of 0.5 and of 0.9: of det those around lines of text, of the others objects.
silu_detector is made where it is not there; ssd_network.py writes ssd_mobilenet_v2. --json writes the same numbers.
A line of rec takes a tenth of a second in each mode: all 900 lines in six modes some ten minutes.
With --no-interpreter only the file is run. With --vendor DIR, where DIR/venv/bin has TPU-MLIR's programs, its
own calibration (kl) on the same samples and its file stand beside ours in the modes INT8 and INT8_ASYM, for the
first seed. Its file is run on our simulator, which computes what its functional model does. With --onnxruntime
the network as ONNX Runtime's static quantizer makes it of the same samples, with products on integers and all
else in float, stands beside ours in these modes, for the first seed.
Needs what prepare.py needs, and onnx and onnxruntime to make silu_detector.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import boxes
import prepare

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{HERE}/../../test/conformance")
from vendor_compiler import Compiler, Failure  # noqa: E402

# The chip of which NETWORKS demands something.
DEMANDING = "bm1684x"
QTABLE = f"{HERE}/rec.quantize_table"
# mode: options of model_deploy.
MODES = {
    "F32": ["--quantize", "F32"],
    "F16": ["--quantize", "F16"],
    "BF16": ["--quantize", "BF16"],
    "INT8": ["--quantize", "INT8"],
    "INT8_ASYM": ["--quantize", "INT8", "--asymmetric"],
    "INT8+F16": ["--quantize", "INT8", "--quantize_table", QTABLE],
    "INT8_ASYM+F16": ["--quantize", "INT8", "--asymmetric", "--quantize_table", QTABLE],
}


def classes(scores):
    """The class of every step."""
    return scores.reshape(-1, scores.shape[-1]).argmax(axis=1)


def text(steps):
    """Repetitions count once, and 0 stands for no character (CTC)."""
    first = np.concatenate(([True], steps[1:] != steps[:-1]))
    return steps[first & (steps != 0)].tolist()


def reading(found, wanted):
    """(text, all steps) in percent of the lines, of the classes of their steps."""
    return (100 * np.mean([text(a) == text(b) for a, b in zip(found, wanted)]),
            100 * np.mean([np.array_equal(a, b) for a, b in zip(found, wanted)]))


def deciding(found, wanted):
    """(class, cosine) in percent, of the scores of all samples."""
    def cosine(a, b):
        return np.dot(a, b) / np.sqrt(np.dot(a, a) * np.dot(b, b))
    return (100 * np.mean([a.argmax() == b.argmax() for a, b in zip(found, wanted)]),
            100 * np.mean([cosine(a, b) for a, b in zip(found, wanted)]))


def flat(scores):
    return scores.ravel().astype(np.float64)


# network: shape and name of the input, what is kept of scores and how it is compared, the names of both
# figures, and mode: what is demanded of both of a file, in the mean of the seeds.
NETWORKS = {
    "rec": ("[[1,3,48,320]]", "x", classes, reading, ("text", "all steps"), {
        "F16": (None, 97), "BF16": (None, 85), "INT8": (None, None), "INT8_ASYM": (None, None),
        "INT8+F16": (96, 85), "INT8_ASYM+F16": (96, 85)}),
    "cls": ("[[1,3,48,192]]", "x", flat, deciding, ("class", "cosine"), {
        "F16": (None, None), "BF16": (None, None), "INT8": (None, None), "INT8_ASYM": (None, None)}),
    "efficientnet_lite0": ("[[1,3,224,224]]", "input", flat, deciding, ("class", "cosine"), {
        "F16": (None, None), "BF16": (None, None), "INT8": (95, None), "INT8_ASYM": (95, None)}),
    "mnist-conv": ("[[1,1,28,28]]", "Input3", flat, deciding, ("class", "cosine"), {
        "F16": (None, None), "BF16": (None, None), "INT8": (None, None), "INT8_ASYM": (None, None)}),
    "det": ("[[1,3,640,640]]", "x", boxes.lines_of_text, boxes.shares, ("IoU 0.5", "IoU 0.9"), {
        "F16": (None, None), "BF16": (None, None), "INT8": (95, 85), "INT8_ASYM": (95, 85)}),
    "silu_detector": ("[[1,3,320,320]]", "images", lambda output: boxes.objects([output]), boxes.shares,
                      ("IoU 0.5", "IoU 0.9"), {
        # Its weights are random: half a step of noise in the pictures loses a quarter of its boxes.
        "F16": (None, None), "BF16": (None, None), "INT8": (None, None), "INT8_ASYM": (None, None)}),
    # The network that ssd_network.py writes.
    "ssd_mobilenet_v2": ("[[1,3,300,300]]", "images", boxes.anchored, boxes.shares, ("IoU 0.5", "IoU 0.9"), {
        "F32": (None, None), "F16": (None, None), "BF16": (None, None), "INT8": (95, 85), "INT8_ASYM": (95, 85)}),
}


def call(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"bench accuracy: {' '.join(command)}:\n{done.stdout}")


def model_name(chip):
    """A file of the chip's container."""
    return "m.cvimodel" if chip.startswith("cv") else "m.bmodel"


def run_model(build, folder, model, keep):
    """What is kept of the scores of each sample of the folder `samples`."""
    call([f"{build}/bin/model_runner", "--model", model, "--input", "samples", "--output", "read"], folder)
    kept = []
    for name in sorted(os.listdir(f"{folder}/read")):
        with np.load(f"{folder}/read/{name}") as arrays:
            (scores,) = (arrays[key] for key in arrays.files)
            kept.append(keep(scores))
    shutil.rmtree(f"{folder}/read")
    return kept


def model_file(network, data):
    """The network's .onnx file; where there is none, that file does not exist."""
    onnx = os.path.abspath(f"{os.environ.get('TPUC_MODELS', '')}/{network}.onnx")
    if network != "silu_detector" or os.path.exists(onnx):
        return onnx
    onnx = f"{data}/{network}/{network}.onnx"
    if not os.path.exists(onnx):
        subprocess.run([sys.executable, f"{HERE}/prepare.py", data, network], check=True)
        subprocess.run([sys.executable, f"{HERE}/silu_detector.py", f"{data}/{network}/calibration", onnx], check=True)
    return onnx


def float_scores(build, folder, network, onnx, shape, keep):
    """What is kept of the scores of the network in float, whose module is m.mlir afterwards."""
    call([f"{build}/bin/model_transform", "--model_name", network, "--model_def", onnx, "--input_shapes", shape,
          "--mlir", "m.mlir"], folder)
    return run_model(build, folder, "m.mlir", keep)


def measure(build, chip, data, network, onnx, count, modes, file_only):
    """mode: (of the file, of the interpreter), for the samples of one seed."""
    shape, key, keep, compare, _, _ = NETWORKS[network]
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/samples")
        with np.load(f"{data}/samples.npz") as samples:
            for i, sample in enumerate(samples[key][:count]):
                np.savez(f"{folder}/samples/{i:04}.npz", **{key: sample[None]})
        wanted = float_scores(build, folder, network, onnx, shape, keep)
        call([f"{build}/bin/run_calibration", "m.mlir", "--dataset", f"{data}/calibration", "-o", "table"], folder)
        for mode in modes:
            os.mkdir(f"{folder}/{mode}")
            call([f"{build}/bin/model_deploy", "--mlir", "m.mlir", "--chip", chip, "--calibration_table",
                  "table", "--model", f"{mode}/{model_name(chip)}", *MODES[mode]], folder)
            (lowered,) = (name for name in os.listdir(f"{folder}/{mode}") if name.endswith("_tpu.mlir"))
            rows[mode] = [compare(run_model(build, folder, f"{mode}/{name}", keep), wanted)
                          for name in (model_name(chip), *([] if file_only else [lowered]))]
            shutil.rmtree(f"{folder}/{mode}")
    return rows


def measure_vendor(build, chip, vendor, data, network, onnx, count, modes):
    """mode: (of TPU-MLIR's file,), with tables that it makes itself of the same samples."""
    shape, key, keep, compare, _, _ = NETWORKS[network]
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(vendor, folder, chip)
        base = compiler.transform(network, onnx, shape)
        samples = sorted(os.listdir(f"{data}/calibration"))
        compiler.run(["run_calibration", f"{network}.mlir", "--dataset", f"{data}/calibration", "--input_num",
                      len(samples), "-o", "table"], base, "calibration.log")
        os.mkdir(f"{folder}/samples")
        with np.load(f"{data}/samples.npz") as arrays:
            for i, sample in enumerate(arrays[key][:count]):
                np.savez(f"{folder}/samples/{i:04}.npz", **{key: sample[None]})
        wanted = float_scores(build, folder, network, onnx, shape, keep)
        for mode in modes:
            model = f"{base}/{mode}_{model_name(chip)}"
            compiler.run(["model_deploy", "--mlir", f"{network}.mlir", *MODES[mode], "--processor", chip,
                          "--calibration_table", "table", "--skip_validation", "--model", model], base, "deploy.log")
            rows[mode] = [compare(run_model(build, folder, model, keep), wanted)]
    return rows


def measure_onnxruntime(data, network, onnx, count, modes):
    """mode: (of the network that ONNX Runtime quantizes,), with products on integers and all else in float."""
    import onnx as formats
    import onnxruntime
    from onnxruntime import quantization as quant
    _, key, keep, compare, _, _ = NETWORKS[network]

    class Samples(quant.CalibrationDataReader):
        """Every fourth of the samples to calibrate with: it holds all results of all of them."""

        def __init__(self):
            self.names = iter(sorted(os.listdir(f"{data}/calibration"))[::4])

        def get_next(self):
            name = next(self.names, None)
            return name and {key: np.load(f"{data}/calibration/{name}")[key]}

    def run(path):
        session = onnxruntime.InferenceSession(path)
        with np.load(f"{data}/samples.npz") as samples:
            return [keep(session.run(None, {key: sample[None]})[0]) for sample in samples[key][:count]]

    rows, wanted = {}, run(onnx)
    with tempfile.TemporaryDirectory() as folder:
        model = formats.load(onnx)
        # Scales of channels came with opset 13.
        if max(opset.version for opset in model.opset_import if opset.domain == "") < 13:
            model = formats.version_converter.convert_version(model, 13)
        formats.save(model, f"{folder}/float.onnx")
        for mode in modes:
            is_symmetric = mode == "INT8"
            quant.quantize_static(
                f"{folder}/float.onnx", f"{folder}/{mode}.onnx", Samples(),
                op_types_to_quantize=["Conv", "MatMul", "Gemm"], per_channel=True,
                weight_type=quant.QuantType.QInt8,
                activation_type=quant.QuantType.QInt8 if is_symmetric else quant.QuantType.QUInt8,
                extra_options={"ActivationSymmetric": is_symmetric})
            rows[mode] = [compare(run(f"{folder}/{mode}.onnx"), wanted)]
    return rows


def verdict(file, demanded, figures):
    """Of the means of both figures of a file."""
    if demanded == (None, None):
        return ""
    met = all(least is None or value >= least for value, least in zip(file, demanded))
    wanted = ", ".join(f"{what} {least}" for what, least in zip(figures, demanded) if least)
    return f"  at least {wanted}: {'met' if met else 'NOT MET'}"


def report(network, rows, count, is_demanded=False):
    """Prints the table of {mode: [seed][file, interpreter][figure]}; its cells."""
    figures, demanded = NETWORKS[network][4:]
    columns = np.array(next(iter(rows.values()))).size // len(next(iter(rows.values())))
    titles = [f"{where}: {figure}" for where in ("file", "interpreter") for figure in figures][:columns]
    print(f"{network}, {count} samples of each of {len(next(iter(rows.values())))} seeds, in percent\n{'mode':14}"
          + "".join(f"{title:>26}" for title in titles))
    table = []
    for mode, seeds in rows.items():
        values = np.array(seeds).reshape(len(seeds), columns)
        cells = [" ".join((f"{column.mean():.{digits}f}", f"({column.min():.{digits}f} to {column.max():.{digits}f})"))
                 for column, digits in zip(values.T, 2 * [1, 2 if figures[1] == "cosine" else 1])]
        table.append([mode, *cells])
        print(f"{mode:14}" + "".join(f"{cell:>26}" for cell in cells)
              + (verdict(values.mean(axis=0)[:2], demanded[mode], figures) if is_demanded else ""), flush=True)
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--network", nargs="+", choices=NETWORKS, default=["rec"])
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=len(prepare.SOURCES), choices=range(1, len(prepare.SOURCES) + 1))
    parser.add_argument("--modes", nargs="+", choices=MODES)
    parser.add_argument("--chip", default=DEMANDING)
    parser.add_argument("--no-interpreter", action="store_true")
    parser.add_argument("--vendor", metavar="DIR")
    parser.add_argument("--onnxruntime", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    data = os.path.abspath(os.environ.get("TPUC_ACCURACY_DATA", f"{build}/accuracy"))
    found = {}
    for network in options.network:
        onnx = model_file(network, data)
        if not os.path.exists(onnx):
            print(f"skipped: TPUC_MODELS names no folder with {network}.onnx")
            continue
        modes = [mode for mode in options.modes or MODES if mode in NETWORKS[network][5]]
        rows = {mode: [] for mode in modes}
        for seed in range(options.seeds):
            subprocess.run([sys.executable, f"{HERE}/prepare.py", data, "--seed", str(seed), network], check=True)
            folder = f"{data}/seed{seed}/{network}" if seed else f"{data}/{network}"
            for mode, values in measure(build, options.chip, folder, network, onnx, options.samples, modes,
                                        options.no_interpreter).items():
                rows[mode].append(values)
        found[network] = {"samples": options.samples, "rows": report(
            network, rows, options.samples, options.chip == DEMANDING), "seeds": rows}
        integers = [mode for mode in modes if mode in ("INT8", "INT8_ASYM")]
        if options.onnxruntime and integers:
            theirs = measure_onnxruntime(f"{data}/{network}", network, onnx, options.samples, integers)
            found[network]["onnxruntime"] = theirs
            print("ONNX Runtime's quantized network, first seed:")
            report(network, {mode: [values] for mode, values in theirs.items()}, options.samples)
        if options.vendor and integers:
            try:
                theirs = measure_vendor(build, options.chip, options.vendor, f"{data}/{network}", network, onnx, options.samples,
                                        integers)
                found[network]["vendor"] = theirs
                print("TPU-MLIR's files, first seed:")
                report(network, {mode: [values] for mode, values in theirs.items()}, options.samples)
            except Failure as reason:
                print(f"TPU-MLIR: {reason}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=2)


if __name__ == "__main__":
    main()
