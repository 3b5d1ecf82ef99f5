"""Model files made by the vendor's compiler (PyPI package tpu-mlir 1.30.2, Python 3.10), as oracles
for the simulators: DIR/NAME/MODE/NAME_MODE.bmodel with the profile of its commands beside it. What
is there already is not made again.
"""

import os
import pathlib
import re
import subprocess

MODES = {
    "F32": ["--quantize", "F32"],
    "F16": ["--quantize", "F16"],
    "BF16": ["--quantize", "BF16"],
    "INT8": ["--quantize", "INT8"],
    "INT8_ASYM": ["--quantize", "INT8", "--asymmetric"],
}
PROFILE = "compiler_profile_0.txt"
THRESHOLD = 4.0
# Half of the threshold, so that zero points are not zero.
LEAST = -2.0


class Failure(Exception):
    pass


def parse_model(text):
    """NAME=FILE.onnx or NAME=FILE.onnx:SHAPES as (name, file, shapes or None)."""
    name, _, rest = text.partition("=")
    file, _, shapes = rest.partition(":")
    return name, file, shapes or None


def calibration_table(mlir):
    """The same range for every tensor: both simulators run the same model, whatever it is worth as a
    network, and the vendor's own calibration takes minutes."""
    names = dict.fromkeys(re.findall(r'loc\("([^"]+)"', mlir))
    lines = [f"{name} {THRESHOLD} {LEAST} {THRESHOLD}" for name in names]
    return "# calibration\n" + "\n".join(lines) + "\n"


class Compiler:
    def __init__(self, vendor, work, processor="bm1684x"):
        """`vendor` holds venv/bin/model_deploy and so on; the models go below `work`."""
        self.processor = processor
        self.bin = pathlib.Path(vendor).resolve() / "venv" / "bin"
        self.work = pathlib.Path(work).resolve()
        self.environment = dict(os.environ, PATH=f"{self.bin}:{os.environ['PATH']}")

    def is_there(self):
        return os.access(self.bin / "model_deploy", os.X_OK)

    def run(self, command, folder, log):
        """Runs one of the vendor's programs; its output goes to a file. Failures are exceptions."""
        with open(folder / log, "w") as out:
            code = subprocess.run(list(map(str, command)), cwd=folder, stdout=out, stderr=out,
                                  env=self.environment).returncode
        if code:
            raise Failure(f"{command[0]} ends with {code}: {folder / log}")

    def python(self, code, folder, *arguments):
        """What a script prints in the vendor's Python, which has numpy and onnx."""
        command = [self.bin / "python", "-c", code, *map(str, arguments)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise Failure(done.stderr.strip().splitlines()[-1])
        return done.stdout

    def transform(self, name, onnx, shapes):
        """The folder with the module of a network. `shapes` as --input_shapes takes them; None:
        those of the ONNX file."""
        base = self.work / name
        base.mkdir(parents=True, exist_ok=True)
        if not (base / "transform.done").exists():
            options = ["--input_shapes", shapes] if shapes else []
            self.run(["model_transform", "--model_name", name, "--model_def",
                      pathlib.Path(onnx).resolve(), *options, "--mlir", f"{name}.mlir"], base,
                     "transform.log")
            (base / "transform.done").touch()
        return base

    def deploy_command(self, base, name, mode, folder):
        """What makes NAME_MODE.bmodel in `folder`, which gets what that needs, of the module that
        `transform` put into `base`."""
        folder.mkdir(exist_ok=True)
        table = []
        if mode.startswith("INT8"):
            mlir = (base / f"{name}.mlir").read_text()
            (folder / "calibration").write_text(calibration_table(mlir))
            table = ["--calibration_table", "calibration"]
        for file in [*base.glob("*.npz"), base / f"{name}.mlir"]:
            if not (folder / file.name).exists():
                os.link(file, folder / file.name)
        return ["model_deploy", "--mlir", f"{name}.mlir", *MODES[mode], "--processor",
                self.processor, *table, "--skip_validation", "--model", f"{name}_{mode}.bmodel"]

    def compile(self, name, onnx, shapes, mode):
        """The model file of a network, as `transform` takes it."""
        base = self.transform(name, onnx, shapes)
        # A folder of its own for each mode, because the name of the profile is fixed.
        folder = base / mode
        if not (folder / "done").exists():
            self.run(self.deploy_command(base, name, mode, folder), folder, "deploy.log")
            (folder / "done").touch()
        return folder / f"{name}_{mode}.bmodel"
