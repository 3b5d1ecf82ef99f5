#!/usr/bin/env python3
"""The programs from model_transform to model_deploy on 5,000 handwritten digits.

usage: digits_test.py BUILD_FOLDER

Where .venv has ONNX Runtime, model_transform compares every tensor with it.
"""

import hashlib
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "digits"))
import digits

BUILD = pathlib.Path(sys.argv.pop(1))
DIGESTS = {
    "digits.png": "60c917758ef97cc090f35cd8e293e4de691ef942847da0ff80dedab33d57c662",
    "mnist-conv.onnx": "2f06e72de813a8635c9bc0397ac447a601bdbfa7df4bebc278723b958831c9bf",
}
# What ONNX Runtime 1.31.1 reads right.
RIGHT = 4803
# How many of them a lowered network may read wrong: 0.3 % of all digits, none in float.
MAY_LOSE = {"F32": 0, "F16": 5, "BF16": 15, "INT8": 15}


def has_onnx_runtime(environment):
    return subprocess.run(["python3", "-c", "import onnxruntime"], capture_output=True,
                          env=environment, check=False).returncode == 0


class Digits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.programs = digits.Programs(BUILD, cls.folder)
        cls.digits = digits.read_digits()
        cls.scores, cls.transform, cls.run_report = cls.programs.read(cls.digits)

    def test_files_are_those_of_the_notice(self):
        for name, digest in DIGESTS.items():
            data = (digits.MODELS / name).read_bytes()
            self.assertEqual(hashlib.sha256(data).hexdigest(), digest, name)

    def test_as_many_are_read_right_as_with_onnx_runtime(self):
        self.assertEqual(len(self.scores), 5000)
        right = [digits.best(row) == digits.label(number) for number, row in enumerate(self.scores)]
        self.assertEqual(sum(right), RIGHT)

    def test_every_tensor_is_that_of_the_reference(self):
        expected = ("ONNX Runtime" if has_onnx_runtime(self.programs.environment) else
                    "the network before optimization")
        self.assertEqual(self.transform["reference"], expected)
        compared = self.transform["comparison"]["tensors"]
        self.assertIn("Plus214_Output_0", [tensor["name"] for tensor in compared])
        for tensor in compared:
            if tensor["result"] != "equal":
                self.assertGreater(tensor["cosine"], 0.999999, tensor["name"])
                self.assertGreater(tensor["euclid"], 0.99999, tensor["name"])

    def test_bias_and_relu_are_fused(self):
        self.assertEqual(self.transform["patterns"],
                         {"add-into-conv": 2, "add-into-matmul": 1, "relu-into-producer": 2})
        module = (self.folder / "digits.mlir").read_text(encoding="utf-8")
        self.assertEqual(module.count("do_relu = true"), 2)
        self.assertNotIn('"top.Add"', module)
        self.assertEqual(self.transform["ops"], len(self.transform["comparison"]["tensors"]))

    def test_the_time_is_reported(self):
        self.assertEqual(self.run_report["runs"], 3)
        self.assertGreaterEqual(self.run_report["median_ms"], self.run_report["least_ms"])
        self.assertGreater(self.run_report["least_ms"], 0)

    def test_one_digit_at_a_time_in_the_network_as_it_is(self):
        source, target = self.folder / "one.npz", self.folder / "one_out.npz"
        for number in range(0, 5000, 500):
            digits.write_npz(source, [self.digits[number]])
            self.programs.call("model_runner", "--model", digits.MODELS / "mnist-conv.onnx",
                               "--input", source, "--output", target, "--time", 1)
            (scores,) = digits.read_npz(target)
            for score, in_batch in zip(scores, self.scores[number], strict=True):
                self.assertAlmostEqual(score, in_batch, delta=1e-2)

    def calibrate(self):
        """The table of every 50th digit."""
        module, samples = self.folder / "calibrated.mlir", self.folder / "samples"
        self.programs.call("model_transform", "--model_def", self.folder / "digits.onnx",
                           "--mlir", module, "--model_name", "calibrated",
                           "--input_shapes", "[[100,1,28,28]]")
        samples.mkdir()
        digits.write_npz(samples / "digits.npz", self.digits[::50])
        table = self.folder / "table"
        self.programs.call("run_calibration", module, "--dataset", samples, "-o", table)
        return table

    def test_lowered_networks_read_as_many_within_bounds(self):
        table = self.calibrate()
        modes = [(mode, ()) for mode in MAY_LOSE] + [("INT8", ("--asymmetric",))]
        for mode, more in modes:
            with self.subTest(mode=mode, more=more):
                report = self.programs.call(
                    "model_deploy", "--mlir", self.folder / "digits.mlir", "--chip", "null",
                    "--quantize", mode, "--calibration_table", table, "--model",
                    self.folder / "digits.bin", "--test_input", self.folder / "digits_test.npz",
                    "--test_reference", self.folder / "digits_top_outputs.npz", *more)
                self.assertTrue(report["comparison"]["passed"])
                # Scores of sums of integers need not be stored in 8 bits.
                gives = [{"type": "f32", "reason": "by need: it gives an output", "ops": 1}]
                self.assertEqual(report["exceptions"], gives if mode == "INT8" else [])
                target = self.folder / "lowered_out.npz"
                self.programs.call("model_runner", "--model", report["files"][1], "--input",
                                   self.folder / "digits_test.npz", "--output", target,
                                   "--time", 1)
                scores = digits.read_npz(target)
                right = sum(digits.best(row) == digits.label(number)
                            for number, row in enumerate(scores))
                self.assertGreaterEqual(right, RIGHT - MAY_LOSE[mode])


if __name__ == "__main__":
    unittest.main()
