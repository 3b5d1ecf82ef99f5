#!/usr/bin/env python3
"""Shows that files which belong together appear together, whole, or not at all.

usage: check_file_sets.py BIN FIRST.onnx SECOND.onnx INPUT.npz [--runs N] [--kills N] [--seed N]

BIN is the folder of the programs; empty: they are on the path. The two networks differ in their weights only. What is tried, in a folder that goes afterwards:
- pairs: N times, a run for each network at once, both with the same outputs, of model_transform and of
  model_deploy. Afterwards module, weights and model file are all of one network.
- tables: the same of run_calibration: a table and the figures of channels beside it.
- kills: N times, a run that SIGKILL ends at a random time, over the files of the other network. Afterwards
  each file is whole, and a module that is not of its weights is refused.
Prints the counts; exit status 1 where something is otherwise.
"""

import argparse
import collections
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile


class Tools:
    def __init__(self, folder):
        self.folder = folder

    def command(self, tool, *arguments):
        return [os.path.join(self.folder, tool), *arguments]

    def start(self, tool, *arguments):
        return subprocess.Popen(self.command(tool, *arguments), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def run(self, tool, *arguments):
        return subprocess.run(self.command(tool, *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def transform(model, folder):
    return ["model_transform", "--model_def", model, "--model_name", "net", "--mlir", f"{folder}/net.mlir"]


def deploy(source, folder):
    return ["model_deploy", "--mlir", f"{source}/net.mlir", "--chip", "bm1684x", "--quantize", "F32", "--model",
            f"{folder}/net.bmodel"]


def calibrate(source, samples, folder):
    return ["run_calibration", f"{source}/net.mlir", "--dataset", samples, "-o", f"{folder}/net.cali"]


MODULES = {"model_transform": ["net.mlir", "net_origin.mlir"],
           "model_deploy": ["net_bm1684x_f32_tpu.mlir", "net.bmodel"]}


class Check:
    def __init__(self, tools, sources, sample, work):
        self.tools = tools
        self.sample = sample
        self.work = work
        self.failures = []
        self.counts = collections.Counter()
        # What each network gives, by the tool that writes and the file that is run.
        self.known = collections.defaultdict(list)
        for number, model in enumerate(sources):
            folder = self.fresh(f"alone{number}")
            for arguments in (transform(model, folder), deploy(folder, folder)):
                done = tools.run(*arguments)
                if done.returncode:
                    sys.exit(f"{arguments[0]}: {done.stderr}")
            for name in [name for names in MODULES.values() for name in names]:
                self.known[name].append(self.result(f"{folder}/{name}")[1])
        self.modules = [f"{work}/alone0", f"{work}/alone1"]

    def fresh(self, name):
        folder = os.path.join(self.work, name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        return folder

    def result(self, path):
        """The exit status, and what the file computes or the error."""
        output = os.path.join(self.work, "output.npz")
        done = self.tools.run("model_runner", "--model", path, "--input", self.sample, "--output", output)
        if done.returncode:
            return done.returncode, done.stderr
        with open(output, "rb") as file:
            return 0, file.read()

    def fail(self, what):
        self.failures.append(what)
        print("FAILED:", what)

    def owner(self, path):
        """Which network the file computes, or -1 where it is refused."""
        status, text = self.result(path)
        name = os.path.basename(path)
        if status == 0:
            if text not in self.known[name]:
                self.fail(f"{name} computes what neither network does")
                return -2
            return self.known[name].index(text)
        if status != 1 or "holds other weights than the module" not in text:
            self.fail(f"{name}: exit status {status}: {text.strip()}")
        return -1

    def whole(self, folder):
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if name.startswith("."):
                self.counts["temporaries left by SIGKILL"] += 1
                os.unlink(path)
            elif name.endswith(".npz") and zipfile.ZipFile(path).testzip() is not None:
                self.fail(f"{name} is damaged")
            elif name.endswith(".mlir") and not open(path, "rb").read().rstrip().endswith((b"}", b")")):
                self.fail(f"{name} breaks off")

    def pairs(self, tool, make, runs):
        for _ in range(runs):
            folder = self.fresh("pair")
            for process in [self.tools.start(*make(number, folder)) for number in (0, 1)]:
                if process.wait() != 0:
                    self.fail(f"{tool}: exit status {process.returncode}")
            owners = {self.owner(f"{folder}/{name}") for name in MODULES[tool]}
            self.counts[f"{tool}: pairs"] += 1
            if len(owners) != 1 or -1 in owners:
                self.fail(f"{tool}: files of both networks")

    def kills(self, tool, make, runs):
        folder = self.fresh("killed")
        start = time.monotonic()
        self.tools.start(*make(0, folder)).wait()
        duration = time.monotonic() - start
        for number in range(runs):
            process = self.tools.start(*make(number % 2, folder))
            time.sleep(random.uniform(0, 1.1 * duration))
            process.send_signal(signal.SIGKILL)
            self.counts[f"{tool}: ended before SIGKILL"] += process.wait() == 0
            self.counts[f"{tool}: kills"] += 1
            self.whole(folder)
            for name in MODULES[tool]:
                self.counts[f"{tool}: refused afterwards"] += self.owner(f"{folder}/{name}") == -1

    def tables(self, make, runs, kills):
        """A table and the figures beside it are of one run, or the next tool sees that they are not."""
        folder = self.fresh("tables")
        for _ in range(runs):
            for process in [self.tools.start(*make(number, folder)) for number in (0, 1)]:
                if process.wait() != 0:
                    self.fail(f"run_calibration: exit status {process.returncode}")
            self.counts["run_calibration: pairs"] += 1
            if not self.belongs(folder):
                self.fail("run_calibration: table and figures of both networks")
        start = time.monotonic()
        self.tools.start(*make(0, folder)).wait()
        duration = time.monotonic() - start
        for number in range(kills):
            process = self.tools.start(*make(number % 2, folder))
            time.sleep(random.uniform(0, 1.1 * duration))
            process.send_signal(signal.SIGKILL)
            self.counts["run_calibration: ended before SIGKILL"] += process.wait() == 0
            self.counts["run_calibration: kills"] += 1
            self.whole(folder)
            if not open(f"{folder}/net.cali", "rb").read().endswith(b"\n"):
                self.fail("net.cali breaks off")
            self.counts["run_calibration: told by the digest"] += not self.belongs(folder)

    def belongs(self, folder):
        """Whether model_deploy takes the figures beside the table: it refuses those of another run."""
        done = self.tools.run("model_deploy", "--mlir", f"{self.modules[0]}/net.mlir", "--chip", "bm1684x", "--quantize",
                              "INT8", "--calibration_table", f"{folder}/net.cali", "--model", f"{folder}/net.bmodel")
        if done.returncode != 0 and "is of another calibration table" not in done.stderr:
            self.fail(f"model_deploy: {done.stderr.strip()}")
        return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("models", nargs=2)
    parser.add_argument("input")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    random.seed(args.seed)
    with tempfile.TemporaryDirectory() as work:
        check = Check(Tools(args.bin), args.models, args.input, work)
        ways = {"model_transform": lambda number, folder: transform(args.models[number], folder),
                "model_deploy": lambda number, folder: deploy(check.modules[number], folder)}
        for tool, make in ways.items():
            check.pairs(tool, make, args.runs)
            check.kills(tool, make, args.kills)
        samples = check.fresh("samples")
        shutil.copy(args.input, samples)
        check.tables(lambda number, folder: calibrate(check.modules[number], samples, folder), args.runs, args.kills)
        for what, count in sorted(check.counts.items()):
            print(f"{count:6} {what}")
        print(len(check.failures), "failures")
        return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
