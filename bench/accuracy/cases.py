#!/usr/bin/env python3
"""Repeats what was once wrong with networks as people have them, and says what was seen then.

usage: cases.py BUILD [--zoo DIR] [--samples N] [--seeds N] [--work DIR] [CASE ...]
Each CASE (all) prints what commit aaa3edc gave, and what the programs of BUILD give:
  detector     a YOLOv8-like detector whose boxes and scores share one output, INT8, default options
  scores       the cosine of its scores, which first layers and thresholds decide
  floats       rec in F16 and BF16, file and interpreter
  rounding     each op in 16 bits beside one rounding
  rec          rec in INT8, with and without a table of F16
  deploy       files that failed their own check for the order of sums alone
  positions    an encoder whose layers all add positions
  dynamic      a CRNN that ONNX Runtime has quantized dynamically
  classifiers  EfficientNet-Lite0
rec and efficientnet_lite0 are in TPUC_MODELS, their samples in TPUC_ACCURACY_DATA (prepare.py). Networks
of DIR (TPUC_ZOO) are those that test/models/zoo/export.py writes. N samples (40) of each of the first N
seeds (3) are measured. Files are made in --work, by default a temporary folder.
What is not there is skipped, and said. The status is 1 where a case fails.
Needs what seeds.py needs, and onnx and onnxruntime.
"""

import argparse
import glob
import os
import subprocess
import sys
import tempfile

import numpy as np

import seeds

HERE = os.path.dirname(os.path.abspath(__file__))


class Skipped(Exception):
    """What a case lacks."""


class Cases:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.tools = os.path.abspath(f"{options.build}/bin")
        self.has_detections = False

    def python(self, script, *arguments):
        """Runs a script of this folder, which prints by itself."""
        if subprocess.run([sys.executable, f"{HERE}/{script}", *map(str, arguments)], check=False).returncode:
            raise RuntimeError(f"{script} failed")

    def run(self, tool, *arguments):
        # model_transform compares with ONNX Runtime where the first python3 of the path has it.
        path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
        done = subprocess.run([f"{self.tools}/{tool}", *arguments], cwd=self.work, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, env={**os.environ, "PATH": path})
        return done.returncode, done.stdout

    def must(self, tool, *arguments):
        status, text = self.run(tool, *arguments)
        if status:
            raise RuntimeError(f"{tool}: {text.strip().splitlines()[-1]}")
        return text

    def seeds(self, network, *modes):
        if not os.path.exists(seeds.model_file(network, "")):
            raise Skipped(f"TPUC_MODELS names no folder with {network}.onnx")
        self.python("seeds.py", self.options.build, "--network", network, "--samples", self.options.samples, "--seeds",
                    self.options.seeds, "--modes", *modes)

    def zoo(self, name):
        path = os.path.abspath(f"{self.options.zoo or ''}/{name}.onnx")
        if not os.path.exists(path):
            raise Skipped(f"--zoo and TPUC_ZOO name no folder with {name}.onnx")
        return path

    def deployed(self, name, onnx, sample, *modes):
        """Prints what model_deploy says of the file in each mode, with one sample as the table's and the test's."""
        self.must("model_transform", "--model_def", onnx, "--model_name", name, "--mlir", f"{name}.mlir",
                  "--test_input", sample, "--test_result", f"{name}.npz")
        with open(f"{self.work}/{name}.list", "w", encoding="utf-8") as file:
            file.write(f"{sample}\n")
        failed = 0
        for mode in modes:
            table = []
            if mode == "INT8":
                self.must("run_calibration", f"{name}.mlir", "--data_list", f"{name}.list", "-o", f"{name}.table")
                table = ["--calibration_table", f"{name}.table"]
            status, text = self.run("model_deploy", "--mlir", f"{name}.mlir", "--quantize", mode, "--chip", "bm1684x",
                                    "--model", f"{name}.bmodel", "--test_input", sample, *table)
            lines = text.strip().splitlines()
            file = [i for i, line in enumerate(lines) if line.startswith("compared with the lowered network")]
            said = [line for line in lines if line.startswith("compared with the network in float")]
            # Below the head of a table, if it is one.
            said += [f"the file: {next(line for line in lines[i + 1:] if not line.startswith('tensor')).strip()}"
                     for i in file if i + 1 < len(lines)]
            print(f"  {name} {mode}: status {status}; " + "; ".join(said or lines[-1:]), flush=True)
            failed += status != 0
        if failed:
            raise RuntimeError(f"{failed} of {len(modes)} files fail their check")


    def detections(self):
        if not self.has_detections:
            self.python("detections.py", self.options.build, self.work, f"{HERE}/shapes_detector.npz", "--limit",
                        self.options.samples, "--seeds", *range(8, 8 + self.options.seeds))
        self.has_detections = True

    def detector(self):
        """every score was 0 and no object was found, although the output's cosine was 0.9998"""
        self.detections()

    def scores(self):
        """the cosine of the scores was .933, with the first six layers in F16 .981"""
        import onnxruntime
        self.detections()
        session = onnxruntime.InferenceSession(f"{self.work}/separate.onnx")
        names = [output.name for output in session.get_outputs()]
        for kind in ("sym", "asym"):
            found, wanted = [], []
            for path in sorted(glob.glob(f"{self.work}/separate_{kind}_default/test8/*.npz")):
                sample = f"{self.work}/test8/{os.path.basename(path)}"
                floats = dict(zip(names, session.run(None, {"images": np.load(sample)["images"]})))
                scores = max(floats, key=lambda name: -abs(floats[name]).max())
                found.append(np.load(path)[scores].ravel())
                wanted.append(floats[scores].ravel())
            a, b = np.concatenate(found).astype(float), np.concatenate(wanted).astype(float)
            print(f"  {kind}: cosine of all scores {a @ b / np.sqrt((a @ a) * (b @ b)):.4f}")

    def floats(self):
        """in F16 all steps of 86 % of the lines were as in float in the file (interpreter: 98 %), in BF16 72 (86 %)"""
        self.seeds("rec", "F16", "BF16")

    def rounding(self):
        """HardSwish had a mean error of -1.3e-4 (one rounding: below 3e-5), a product with a constant 2.9e-4 (4e-7)"""
        root = os.path.abspath(f"{HERE}/../..")
        done = subprocess.run([f"{root}/utils/oracle_python", sys.executable, f"{root}/test/oracle/rounding.py",
                               self.options.build], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        print("\n".join(f"  {line}" for line in done.stdout.splitlines()[-1:]))
        if done.returncode:
            raise RuntimeError("an op is farther off than test/oracle/rounding_known.txt says")

    def rec(self):
        """text as in float in 80 and 76 % (all steps 25.5 and 26 %); with the table of F16 97 and 79 %"""
        self.seeds("rec", "INT8", "INT8_ASYM", "INT8+F16", "INT8_ASYM+F16")

    def deploy(self):
        """.9988 against .999, and .99982 against .9999 with status 1, for the order of sums alone"""
        for name, mode in (("crossvit_tiny_240", "INT8"), ("inception_v3", "F16")):
            try:
                self.deployed(name, self.zoo(name), os.path.abspath(f"{self.options.zoo}/{name}_in.npz"), mode)
            except Skipped as reason:
                print(f"  skipped: {reason}")

    def positions(self):
        """model_deploy --test_input: '402': is written twice; expected each name once"""
        onnx = self.zoo("detr_encoder")
        self.deployed("detr_encoder", onnx, onnx.replace(".onnx", "_in.npz"), "F16", "INT8")

    def dynamic(self):
        """com.microsoft.DynamicQuantizeLSTM was refused; 23 of 273 tensors of the trunk failed, .99939"""
        from onnxruntime.quantization import QuantType, quantize_dynamic
        onnx = self.zoo("crnn")
        quantize_dynamic(onnx, f"{self.work}/crnn_dynamic.onnx", reduce_range=True, weight_type=QuantType.QInt8)
        text = self.must("model_transform", "--model_def", "crnn_dynamic.onnx", "--model_name", "crnn_dynamic",
                         "--mlir", "crnn_dynamic.mlir", "--test_input", onnx.replace(".onnx", "_in.npz"),
                         "--test_result", "crnn_dynamic.npz")
        print("\n".join(f"  {line}" for line in text.splitlines() if "compared" in line))

    def classifiers(self):
        """agreement of 94.4 and 95.7 % on 624 pictures"""
        self.seeds("efficientnet_lite0", "INT8", "INT8_ASYM")


CASES = ("detector", "scores", "floats", "rounding", "rec", "deploy", "positions", "dynamic", "classifiers")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--zoo", default=os.environ.get("TPUC_ZOO"))
    parser.add_argument("--samples", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=3, choices=(1, 2, 3))
    parser.add_argument("--work")
    options = parser.parse_intermixed_args()
    options.build = os.path.abspath(options.build)
    if unknown := set(options.cases) - set(CASES):
        sys.exit(f"cases.py: no case {', '.join(sorted(unknown))}; expected some of {', '.join(CASES)}")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        work = os.path.abspath(options.work or folder)
        os.makedirs(work, exist_ok=True)
        cases = Cases(options, work)
        for name in options.cases or CASES:
            case = getattr(cases, name)
            print(f"{name}\n  then: {case.__doc__}\n  now:", flush=True)
            try:
                case()
            except Skipped as reason:
                print(f"  skipped: {reason}")
            except RuntimeError as reason:
                failed += 1
                print(f"  FAILED: {reason}")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
