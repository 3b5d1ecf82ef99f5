"""The two that run the networks: tpuc's programs, and ONNX Runtime to compare with."""

import json
import pathlib
import statistics
import subprocess
import time

import numpy as np
import onnxruntime

# What the input of all three networks is called.
INPUT = "x"


class ProgramFailed(Exception):
    """One of tpuc's programs ended with an error; the text is what it said."""


class Tpuc:
    """Networks that model_transform has imported, run by model_runner."""

    def __init__(self, programs: pathlib.Path, folder: pathlib.Path, threads: int):
        self.programs, self.folder, self.threads = programs, folder, threads

    def transform(self, name: str, model: pathlib.Path, *options: str) -> dict:
        """Imports a network and compares all its tensors on the test input of `options`. Returns
        model_transform's report. The input is `test_input(name)` afterwards."""
        return self.call("model_transform", "--model_def", str(model), "--model_name", name,
                         "--mlir", str(self.module(name)), *options)

    def test_input(self, name: str) -> np.ndarray:
        with np.load(self.folder / f"{name}_in_f32.npz") as arrays:
            return arrays[INPUT]

    def run(self, name: str, values: np.ndarray, timed_runs: int) -> tuple[np.ndarray, float]:
        """The output for an input, and the milliseconds of one inference (median)."""
        source, target = self.folder / f"{name}_run_in.npz", self.folder / f"{name}_run_out.npz"
        np.savez(source, **{INPUT: values})
        report = self.call("model_runner", "--model", str(self.module(name)), "--input",
                           str(source), "--output", str(target), "--time", str(timed_runs))
        with np.load(target) as arrays:
            return arrays[arrays.files[0]], report["median_ms"]

    def module(self, name: str) -> pathlib.Path:
        return self.folder / f"{name}.mlir"

    def call(self, program: str, *arguments: str) -> dict:
        result = subprocess.run(
            [str(self.programs / program), *arguments, "--num_threads", str(self.threads),
             "--json", "-"], capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise ProgramFailed(result.stderr.strip() or f"{program}: status {result.returncode}")
        return json.loads(result.stdout)


class OnnxRuntime:
    """The same networks in ONNX Runtime."""

    def __init__(self, models: dict[str, pathlib.Path], threads: int):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        self.sessions = {name: onnxruntime.InferenceSession(path, options,
                                                            ["CPUExecutionProvider"])
                         for name, path in models.items()}

    def run(self, name: str, values: np.ndarray, timed_runs: int) -> tuple[np.ndarray, float]:
        """As Tpuc.run."""
        session, times = self.sessions[name], []
        output = session.run(None, {INPUT: values})[0]
        for _ in range(timed_runs):
            start = time.perf_counter()
            session.run(None, {INPUT: values})
            times.append((time.perf_counter() - start) * 1000)
        return output, statistics.median(times)

    def metadata(self, name: str, key: str) -> str:
        return self.sessions[name].get_modelmeta().custom_metadata_map[key]
