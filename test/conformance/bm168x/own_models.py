#!/usr/bin/env python3
"""Runs model files that our compiler makes on the vendor's runtime and functional model, and on ours.

usage: own_models.py --vendor DIR --models DIR [--tools DIR] [--processor bm1684x]
                     [--modes F32,F16,...] [--levels 1,2,3] [--replay]
                     [NAME=FILE.onnx[:INPUT.npz] ...]

--vendor      a folder with venv/bin/model_runner (the PyPI package tpu-mlir 1.30.2, installed there)
              and, for --replay, wheel/tpu_mlir/lib
--models      where the models go. They are made anew every time; what the vendor's runtime answered
              is kept and used again for a model that has the same bytes as before
--tools       our programs (default: build/bin)
--processor   the chip that the files are for: bm1684x (default) or bm1684
--modes       some of F32, F16, BF16, INT8_SYM, INT8_ASYM (default: all that the chip has)
--levels      some of the levels of optimization 0 to 3 (default: 1,2,3)
NAME=...      networks to compile; the input is also the one sample of the calibration, and random
              without INPUT.npz. Default: the network for handwritten digits of test/models

Every file must compute what the lowered network does (model_deploy --test_input). The vendor's
runtime must take it, and the outputs of both must have the same bytes. It knows
no layers on the host, so files that have some are said to be so and are not run. Prints one line per
model, with its cycles by the vendor's parameters. The status is 1 when any differs, when nothing was compared, and when the
vendor's programs are not there.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from vendor_compiler import Failure, parse_model  # noqa: E402
from vendor_models import INTEGERS, Conformance  # noqa: E402

DIGITS = pathlib.Path(__file__).resolve().parents[2] / "models" / "mnist-conv.onnx"
TABLE = ["--calibration_table", "calibration"]
MODES = {
    "F32": ["--quantize", "F32"],
    "F16": ["--quantize", "F16"],
    "BF16": ["--quantize", "BF16"],
    "INT8_SYM": ["--quantize", "INT8", *TABLE],
    "INT8_ASYM": ["--quantize", "INT8", "--asymmetric", *TABLE],
}

# What a chip has, if not all.
MODES_OF = {"bm1684": ["F32", "INT8_SYM"]}

RANDOM_INPUT = r"""
import sys, numpy, onnx
graph = onnx.load(sys.argv[1]).graph
weights = {w.name for w in graph.initializer}
random = numpy.random.default_rng(3)
def array(tensor):
    shape = [d.dim_value for d in tensor.type.tensor_type.shape.dim]
    if 0 in shape: sys.exit(f'{tensor.name}: expected known dimensions, or an INPUT.npz')
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.type.tensor_type.elem_type)
    if dtype == bool: return random.integers(0, 2, shape).astype(bool)
    if numpy.issubdtype(dtype, numpy.integer):
        return random.integers(0, int(sys.argv[3]), shape).astype(dtype)
    return random.uniform(-1, 1, shape).astype(dtype)
numpy.savez(sys.argv[2], **{t.name: array(t) for t in graph.input if t.name not in weights})
"""

SHAPES = "import sys, numpy; print([list(a.shape) for a in numpy.load(sys.argv[1]).values()])"


class OwnModels:
    def __init__(self, options):
        self.conformance = Conformance(options)
        self.compiler = self.conformance.compiler
        self.tools = self.conformance.tools
        self.processor = options.processor
        self.modes = options.precisions.split(",")
        self.levels = options.levels.split(",")

    def prepare(self, name, onnx, source):
        """The folder with the Top module, the input `sample/in.npz` and the calibration table."""
        folder = self.compiler.work / name
        (folder / "sample").mkdir(parents=True, exist_ok=True)
        sample = folder / "sample" / "in.npz"
        onnx = pathlib.Path(onnx).resolve()
        if source:
            shutil.copyfile(source, sample)
        elif not sample.exists():
            self.compiler.python(RANDOM_INPUT, folder, onnx, sample, INTEGERS)
        shapes = self.compiler.python(SHAPES, folder, sample).strip()
        self.compiler.run([self.tools / "model_transform", "--model_name", name, "--model_def", onnx,
                           "--input_shapes", shapes, "--mlir", f"{name}.mlir"], folder,
                          "transform.log")
        if any(mode.startswith("INT8") for mode in self.modes):
            self.compiler.run([self.tools / "run_calibration", f"{name}.mlir", "--dataset", "sample",
                               "--cali_method", "max", "-o", "calibration"], folder,
                              "calibration.log")
        return folder

    def deploy(self, folder, name, mode, level):
        """The model file, with its input beside it; without an old answer of the vendor's runtime
        if it has other bytes than the file that was there."""
        model = folder / f"{name}_{mode}_opt{level}.bmodel"
        before = model.read_bytes() if model.exists() else None
        self.compiler.run([self.tools / "model_deploy", "--mlir", f"{name}.mlir", "--chip",
                           self.processor, *MODES[mode], "--opt", level, "--model", model.name,
                           "--test_input", "sample/in.npz", "--tolerance", "0,0"], folder, f"deploy_{mode}_opt{level}.log")
        source, answer = (folder / f"{model.stem}_{part}.npz" for part in ("in", "theirs"))
        sample = (folder / "sample" / "in.npz").read_bytes()
        if model.read_bytes() != before or not source.exists() or source.read_bytes() != sample:
            answer.unlink(missing_ok=True)
        source.write_bytes(sample)
        return model

    def profile(self, model):
        """Cycles of a model file, and how many of its layers are on the host."""
        command = [self.tools / "model_tool", "--profile", "--json", model]
        profile = json.loads(subprocess.run(command, check=True, capture_output=True,
                                            text=True).stdout)[0]
        return profile["vendor"]["cycles"], len(profile.get("cpu_layers", []))

    def run_mode(self, folder, name, mode, level):
        """Whether the bytes are the same; None where the vendor's runtime cannot run the file."""
        try:
            model = self.deploy(folder, name, mode, level)
            cycles, on_host = self.profile(model)
            if on_host:
                print(f"{name} {mode} --opt {level}: {on_host} layers on the host, {cycles:,} cycles",
                      flush=True)
                return None
            different, seconds = self.conformance.compare(model)
        except Failure as failure:
            different, seconds, cycles = str(failure), 0, 0
        print(f"{name} {mode} --opt {level}: {different or 'the same bytes'} ({seconds:.2f} s), "
              f"{cycles:,} cycles", flush=True)
        return not different

    def run(self, networks):
        results = []
        for name, onnx, source in map(parse_model, networks):
            try:
                folder = self.prepare(name, onnx, source)
            except Failure as failure:
                print(f"{name}: {failure}", flush=True)
                results += [False] * (len(self.modes) * len(self.levels))
                continue
            results += [self.run_mode(folder, name, mode, level) for mode in self.modes
                        for level in self.levels]
        run = [result for result in results if result is not None]
        print(f"{sum(run)} of {len(run)} models give the same bytes on the vendor's runtime; "
              f"{len(results) - len(run)} have layers on the host")
        return 0 if run and all(run) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--vendor", required=True)
    parser.add_argument("--models", required=True)
    parser.add_argument("--tools", default="build/bin")
    parser.add_argument("--modes", dest="precisions")
    parser.add_argument("--levels", default="1,2,3")
    parser.add_argument("--replay", action="store_true",
                        help="also compare every command by itself, with the chip's program build/bin/bm1684x-replay or bm1684-replay")
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--processor", default="bm1684x", choices=["bm1684x", "bm1684"])
    options = parser.parse_args()
    known = MODES_OF.get(options.processor, list(MODES))
    options.precisions = options.precisions or ",".join(known)
    unknown = set(options.precisions.split(",")) - set(known)
    if unknown:
        parser.error(f"--modes: unknown {', '.join(sorted(unknown))}; expected {', '.join(known)}")
    if not set(options.levels.split(",")) <= set("0123"):
        parser.error(f"--levels: {options.levels}; expected some of 0,1,2,3")
    models = OwnModels(options)
    if not models.compiler.is_there():
        print(f"own_models: error: no vendor's programs in {options.vendor}; expected "
              "venv/bin/model_runner there")
        return 1
    return models.run(options.networks or [f"digits={DIGITS}"])


if __name__ == "__main__":
    sys.exit(main())
