"""Files that our compiler makes for the CV18xx chips, on the vendor's runtime (PyPI package tpu-mlir
1.30.2, Python 3.10) and on ours. All outputs must have the same bytes.

usage: own_files.py --vendor DIR --work DIR --tools BUILD/bin [--replay PROGRAM --library FILE]
                    [--chips cv183x,...] [--modes INT8,BF16] [--levels 1] [--least N] [--rows]
                    NAME=FILE.onnx[:INPUT.npz][:SHAPES] ...

The input is also the only sample of the calibration, and random without INPUT.npz. Files are made
anew every time; what the vendor's runtime answered is kept by the bytes of file and inputs.

The vendor's runtime cannot run layers of the host that only ours has. Such files are said so, and
their commands are compared one by one (cv18xx-replay): from the same memory, the vendor's functional
model must leave the same bytes. At least N files (default: 1) must be compared as a whole.

The outputs are those of the lowered network, too: all bits of integers up to the first layer on BF16,
else a cosine of 0.999. Where a network makes more of the last bits of BF16, the file may be twice as far
from the network in floats as the lowered network is. Prints a line for each file, the last one counts
them; the status is 1 where any differs or fails, or where too few were compared. With --rows a table of
networks and modes follows, which has the least cosines of all chips.
"""

import argparse
import json
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from runtimes import CHIPS, Runtimes  # noqa: E402
from vendor_compiler import Compiler, Failure  # noqa: E402

MODES = {"INT8": ["--quantize", "INT8", "--calibration_table", "calibration"],
         "BF16": ["--quantize", "BF16"]}

RANDOM_INPUT = r"""
import json, sys, numpy, onnx
graph = onnx.load(sys.argv[1]).graph
shapes = json.loads(sys.argv[3]) if len(sys.argv) > 3 else None
weights = {w.name for w in graph.initializer}
inputs = [t for t in graph.input if t.name not in weights]
random = numpy.random.default_rng(3)
def array(tensor, shape):
    if shape is None: shape = [d.dim_value for d in tensor.type.tensor_type.shape.dim]
    if 0 in shape: sys.exit(f'{tensor.name}: expected known dimensions, or SHAPES')
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.type.tensor_type.elem_type)
    if dtype != numpy.float32: sys.exit(f'{tensor.name}: {dtype}; expected float32, or INPUT.npz')
    return random.normal(size=shape).astype(dtype)
numpy.savez(sys.argv[2], **{t.name: array(t, shapes and shapes[i]) for i, t in enumerate(inputs)})
"""
SHAPES = "import sys, numpy; print([list(a.shape) for a in numpy.load(sys.argv[1]).values()])"


# Of outputs and those of the lowered network, and how much further from floats than that a file may be.
LEAST_COSINE, MOST_FURTHER = 0.999, 2


class OwnFiles:
    def __init__(self, options):
        self.compiler = Compiler(options.vendor, options.work)
        self.options = options
        self.compiler.work.mkdir(parents=True, exist_ok=True)
        self.runtimes = Runtimes(self.compiler, options.tools)
        self.counts = {"same": 0, "replayed": 0, "failed": 0}
        self.rows = {}

    def prepare(self, name, onnx, source, shapes):
        """The folder with the Top module, the input `sample/in.npz` and the calibration table."""
        folder = self.compiler.work / name
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "sample").mkdir(parents=True)
        sample = folder / "sample" / "in.npz"
        onnx = pathlib.Path(onnx).resolve()
        if source:
            shutil.copyfile(source, sample)
        else:
            self.compiler.python(RANDOM_INPUT, folder, onnx, sample, *([shapes] if shapes else []))
        shapes = shapes or self.compiler.python(SHAPES, folder, sample).strip()
        tools = self.runtimes.tools
        self.compiler.run([tools / "model_transform", "--model_name", name, "--model_def", onnx,
                           "--input_shapes", shapes, "--mlir", f"{name}.mlir"], folder,
                          "transform.log")
        if "INT8" in self.options.modes.split(","):
            self.compiler.run([tools / "run_calibration", f"{name}.mlir", "--dataset", "sample",
                               "--cali_method", "max", "-o", "calibration"], folder,
                              "calibration.log")
        return folder, sample

    def deploy(self, folder, name, chip, mode, level):
        """The file, and the layers of the host in it."""
        file = folder / f"{name}_{chip}_{mode}_opt{level}.cvimodel"
        self.compiler.run([self.runtimes.tools / "model_deploy", "--mlir", f"{name}.mlir", "--chip",
                           chip, *MODES[mode], "--opt", level, "--model", file, "--skip_validation"],
                          folder, f"{file.stem}.log")
        shown = json.loads(self.runtimes.ours("model_tool", "--print", file))
        routines = [each for program in shown["programs"] for each in program["routines"]]
        return file, sum(each["host"] for each in routines)

    def compare(self, file, host, sample):
        """What to print, and what it counts for."""
        if host == 0:
            difference = self.runtimes.difference(file, sample)
            return difference or "the same bytes", "failed" if difference else "same"
        said = f"{host} parts on the host, which the vendor's runtime does not have"
        if not self.options.replay:
            return f"{said}; not compared", "failed"
        try:
            shown = self.runtimes.ours(pathlib.Path(self.options.replay).resolve(),
                                       self.options.library, file, sample)
        except Failure as failure:
            return f"{said}; {failure}", "failed"
        return f"{said}; {shown.strip()}", "replayed"

    @staticmethod
    def like(cosines):
        if cosines[0] == 1:
            return "the lowered network's bits"
        return f"cosine {cosines[0]:.6f}, to floats {cosines[1]:.6f}; the lowered network's {cosines[2]:.6f}"

    def run(self, text):
        name, _, rest = text.partition("=")
        parts = rest.split(":")
        source = next((part for part in parts[1:] if part.endswith(".npz")), None)
        shapes = next((part for part in parts[1:] if part.startswith("[")), None)
        folder, sample = self.prepare(name, parts[0], source, shapes)
        for chip in self.options.chips.split(","):
            for mode in self.options.modes.split(","):
                for level in self.options.levels.split(","):
                    try:
                        file, host = self.deploy(folder, name, chip, mode, level)
                        said, counted = self.compare(file, host, sample)
                        [module] = folder.glob(f"{name}_{chip}_{mode.lower()}*_tpu.mlir")
                        cosines = self.runtimes.likeness(file, module, folder / f"{name}.mlir", sample)
                        said += "; " + self.like(cosines)
                        if cosines[0] < LEAST_COSINE and 1 - cosines[1] > MOST_FURTHER * (1 - cosines[2]):
                            counted = "failed"
                    except Failure as failure:
                        said, counted, cosines = str(failure), "failed", (0, 0, 0)
                    self.counts[counted] += 1
                    self.rows.setdefault((name, mode), []).append((counted, cosines))
                    print(f"{name} {chip} {mode} --opt {level}: {said}", flush=True)

    def main(self):
        for text in self.options.networks:
            try:
                self.run(text)
            except Failure as failure:
                self.counts["failed"] += 1
                print(f"{text}: {failure}", flush=True)
        if self.options.rows:
            for (name, mode), files in self.rows.items():
                same = sum(counted == "same" for counted, _ in files)
                least = [min(cosines[i] for _, cosines in files) for i in range(3)]
                print(f"| {name} | {mode} | {same} of {len(files)} | "
                      f"{'all bits' if least[0] == 1 else f'{least[0]:.5f}'} | {least[1]:.5f} | {least[2]:.5f} |")
        same, replayed, failed = self.counts.values()
        print(f"own files: {same} give the same bytes on the vendor's runtime, {replayed} with "
              f"layers of the host the same bytes command by command, {failed} failed")
        return 0 if failed == 0 and same >= self.options.least else 1


def some_of(parser, option, given, known):
    unknown = set(given.split(",")) - set(known)
    if unknown:
        parser.error(f"{option}: unknown {', '.join(sorted(unknown))}; expected {', '.join(known)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--vendor", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--tools", required=True)
    parser.add_argument("--replay")
    parser.add_argument("--library")
    parser.add_argument("--chips", default=",".join(CHIPS))
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--levels", default="1")
    parser.add_argument("--least", type=int, default=1)
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("networks", nargs="+")
    options = parser.parse_args()
    some_of(parser, "--chips", options.chips, CHIPS)
    some_of(parser, "--modes", options.modes, MODES)
    some_of(parser, "--levels", options.levels, "0123")
    if not Compiler(options.vendor, options.work).is_there():
        print(f"own_files: error: no vendor's programs in {options.vendor}; expected "
              "venv/bin/model_deploy there", file=sys.stderr)
        return 1
    return OwnFiles(options).main()


if __name__ == "__main__":
    sys.exit(main())
