#!/usr/bin/env python3
"""Time and memory of the interpreter and of ONNX Runtime on the same models and inputs.

  compare.py [--threads 1,2] [--runs 20] [--shape NAME=1,3,640,640] BENCH-INTERPRETER MODEL.onnx ...

Both run in processes of their own, which take turns inference by inference. Prints for each model
and number of threads the median time of both in milliseconds and their ratio, how much memory both
took at most above what the idle process had, and how far their outputs are apart: the smallest
cosine over all outputs and the largest difference, relative to the largest output.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

# What stands in for the dynamic dimensions of known models: the shape of the first input.
SHAPES = {"det": (1, 3, 640, 640), "rec": (1, 3, 48, 320), "cls": (1, 3, 48, 192), "magika": (1, 2048)}
TYPES = {"tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16",
         "tensor(int64)": "int64", "tensor(int32)": "int32", "tensor(bool)": "bool", "tensor(uint8)": "uint8"}


class Worker:
    """A process that answers one line to each command."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, command):
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # What it said last tells why.
        line = self.process.stdout.readline().strip()
        if line.startswith("error:") or not line:
            raise RuntimeError(line or "the process ended")
        return line.split()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def peak_kb(key):
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(key))


def serve(model, inputs, threads):
    """ONNX Runtime's side: the commands of bench-interpreter."""
    import onnxruntime
    with open("/proc/self/clear_refs", "w", encoding="ascii") as peak:
        peak.write("5")
    idle = peak_kb("VmRSS:")
    options = onnxruntime.SessionOptions()
    # Its threads would go on looking for work while it is our turn.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feed = dict(np.load(inputs))
    import time
    outputs = []
    for line in sys.stdin:
        command, *rest = line.split()
        if command == "run":
            outputs = []
            start = time.perf_counter(), time.process_time()
            outputs = session.run(None, feed)
            end = time.perf_counter(), time.process_time()
            print("ms", (end[1] - start[1]) * 1e3, (end[0] - start[0]) * 1e3, flush=True)
        elif command == "save":
            np.savez(rest[0], **{str(i): value for i, value in enumerate(outputs)})
            print("saved", flush=True)
        elif command == "memory":
            print("kb", peak_kb("VmHWM:") - idle, flush=True)


def make_inputs(model, path, shape):
    """Random inputs for `model`, the same in each call."""
    import onnxruntime
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    random = np.random.default_rng(0)
    tensors = {}
    for info in session.get_inputs():
        dims = [extent if isinstance(extent, int) else 1 for extent in info.shape]
        if shape and not tensors:
            dims = shape
        kind = TYPES[info.type]
        if kind.startswith("float"):
            tensors[info.name] = random.standard_normal(dims).astype(kind)
        else:
            tensors[info.name] = random.integers(0, 2, dims).astype(kind)
    np.savez(path, **tensors)


def distance(ours, theirs):
    """The smallest cosine and the largest relative difference over all outputs."""
    cosine, largest = 1.0, 0.0
    a, b = np.load(ours), np.load(theirs)
    for name in b.files:
        x, y = a[name].astype(np.float64).ravel(), b[name].astype(np.float64).ravel()
        if x.shape != y.shape or not np.array_equal(np.isnan(x), np.isnan(y)):
            return 0.0, np.inf
        x, y = np.nan_to_num(x), np.nan_to_num(y)
        lengths = np.linalg.norm(x) * np.linalg.norm(y)
        cosine = min(cosine, float(x @ y / lengths) if lengths else float(not x.any() and not y.any()))
        largest = max(largest, float(np.abs(x - y).max() / max(np.abs(y).max(), 1e-30)))
    return cosine, largest


def compare(bench, model, shape, threads, options, folder):
    inputs, ours, theirs = (os.path.join(folder, name + ".npz") for name in ("in", "ours", "theirs"))
    make_inputs(model, inputs, shape)
    workers = [Worker(bench, model, inputs, "--threads", str(threads)),
               Worker(sys.executable, os.path.abspath(__file__), "--serve", model, inputs, str(threads))]
    try:
        for worker in workers:
            for _ in range(2):
                worker.ask("run")
        times = [[float(worker.ask("run")[1 if options.cpu else 2]) for worker in workers] for _ in range(options.runs)]
        for worker, path in zip(workers, (ours, theirs)):
            worker.ask("save " + path)
        memory = [int(worker.ask("memory")[-1]) / 1024 for worker in workers]
    finally:
        for worker in workers:
            worker.close()
    typical = np.min if options.best else np.median
    return typical(times, axis=0), memory, distance(ours, theirs)


def main():
    if sys.argv[1:2] == ["--serve"]:
        return serve(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--best", action="store_true", help="the shortest times, on a machine with other work")
    parser.add_argument("--cpu", action="store_true", help="processor time, of all threads together")
    parser.add_argument("--shape", action="append", default=[], help="the first input of the model NAME")
    parser.add_argument("bench")
    parser.add_argument("models", nargs="+")
    options = parser.parse_args()
    shapes = dict(SHAPES)
    for text in options.shape:
        name, dims = text.split("=")
        shapes[name] = tuple(int(extent) for extent in dims.split(","))
    print(f"{'model':20} {'threads':>7} {'ms':>9} {'ms ORT':>9} {'ratio':>6} {'MB':>7} {'MB ORT':>7} {'ratio':>6} "
          f"{'cosine':>10} {'max diff':>9}")
    failed = 0
    for model in options.models:
        name = os.path.splitext(os.path.basename(model))[0]
        for threads in (int(count) for count in options.threads.split(",")):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    times, memory, (cosine, largest) = compare(options.bench, model, shapes.get(name), threads,
                                                               options, folder)
                except (RuntimeError, OSError) as error:
                    print(f"{name:20} {threads:7} {error}")
                    failed += 1
                    continue
            print(f"{name:20} {threads:7} {times[0]:9.2f} {times[1]:9.2f} {times[0] / times[1]:6.2f} "
                  f"{memory[0]:7.1f} {memory[1]:7.1f} {memory[0] / max(memory[1], 0.1):6.2f} "
                  f"{cosine:10.7f} {largest:9.1e}", flush=True)
            failed += cosine < 0.99999
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
