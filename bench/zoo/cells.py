"""One network in one mode: what our file and TPU-MLIR's cost, as a dictionary that a cache keeps."""

import array
import hashlib
import json
import math
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import typing
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "cycles"), str(HERE.parents[1] / "test/conformance")]
from compare import PARAMETERS, SHAPES, Failed, Tools  # noqa: E402
from measured import measure  # noqa: E402
from vendor_compiler import MODES, Compiler, Failure  # noqa: E402

# An input of a module, of a type that an array can have: its shape, its type, its name.
INPUT = re.compile(r'"top\.Input"\(.*-> tensor<((?:\d+x)*)(f32|si64|i64|si32|i32)>.* loc\("([^"]+)"')
ARRAYS = {"f32": ("f", "<f4"), "si64": ("q", "<i8"), "i64": ("q", "<i8"), "si32": ("i", "<i4"), "i32": ("i", "<i4")}
# Random integers are rows of tables, or flags: small.
INTEGERS = 2


class Chip(typing.NamedTuple):
    """Its clock in Hz, for a second of the host is as long as so many cycles; its modes; bytes per cycle of transfers."""

    clock: float
    modes: tuple
    load_rate: float
    store_rate: float


CHIPS = {"bm1684x": Chip(1e9, tuple(MODES), 58, 44), "bm1684": Chip(550e6, ("F32", "INT8"), 53, 53)}


def digest(*files):
    """The beginning of a hash of the files' bytes."""
    made = hashlib.sha256()
    for file in files:
        with open(file, "rb") as stream:
            made.update(hashlib.file_digest(stream, "sha256").digest())
    return made.hexdigest()[:16]


def write_sample(path, top):
    """Random numbers for all inputs of a module. Failed for inputs of other types."""
    text = pathlib.Path(top).read_text(encoding="utf-8")
    inputs = INPUT.findall(text)
    if len(inputs) != text.count('"top.Input"('):
        raise Failed(f"{os.path.basename(top)}: inputs of types that no sample has; expected {', '.join(ARRAYS)}")
    drawn = random.Random(0)
    with zipfile.ZipFile(path, "w") as archive:
        for dims, kind, name in inputs:
            shape = tuple(int(extent) for extent in dims.split("x") if extent)
            code, described = ARRAYS[kind]
            values = array.array(code, (drawn.gauss(0, 1) if code == "f" else drawn.randrange(INTEGERS)
                                        for _ in range(math.prod(shape))))
            if sys.byteorder == "big":
                values.byteswap()
            header = str({"descr": described, "fortran_order": False, "shape": shape}).ljust(117) + "\n"
            archive.writestr(name + ".npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header))
                             + header.encode() + values.tobytes())


class Network:
    """A network in a folder of its own, which goes away: its module, its sample, what the module makes of it."""

    def __init__(self, tools, onnx, folder, limit, chip):
        self.tools, self.onnx, self.folder, self.limit, self.chip = tools, onnx, pathlib.Path(folder), limit, chip
        self.name = onnx.stem
        self.is_made = False

    def call(self, program, *options):
        """(CPU seconds, peak MB) of one of our programs. Failed with its last line."""
        seconds, memory, error = measure([self.tools.path(program), *map(str, options)], self.folder,
                                         os.environ["PATH"], self.limit)
        if error:
            raise Failed(error)
        return seconds, memory

    def make(self):
        """The module, the sample and the reference, once."""
        if self.is_made:
            return
        shapes = ["--input_shapes", SHAPES[self.name]] if self.name in SHAPES else []
        self.call("model_transform", "--model_def", self.onnx, "--mlir", "top.mlir", "--model_name", "top", *shapes)
        beside = self.onnx.with_name(self.name + "_in.npz")
        if beside.exists():
            os.symlink(beside.resolve(), self.folder / "in.npz")
        else:
            write_sample(self.folder / "in.npz", self.folder / "top.mlir")
        self.is_made = True

    def table(self):
        """The thresholds of the one sample: the largest numbers, which cost little to find."""
        if not (self.folder / "table").exists():
            (self.folder / "list").write_text("in.npz\n", encoding="utf-8")
            self.call("run_calibration", "top.mlir", "--data_list", "list", "--cali_method", "max", "-o", "table")
        return ["--calibration_table", "table"]

    def run(self, model, output):
        """What model_runner reports of a model on the sample."""
        self.call("model_runner", "--model", model, "--input", "in.npz", "--output", output, "--json", "run.json")
        return json.loads((self.folder / "run.json").read_text(encoding="utf-8"))

    def similarity(self, found, module):
        """(cosine, euclid) of the output that is least like that of a module, which is run."""
        expected = module.with_suffix(".npz")
        if not expected.exists():
            self.run(module, expected)
        subprocess.run([self.tools.path("npz_tool"), "compare", found, expected, "--json", "compared.json"],
                       cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        tensors = json.loads((self.folder / "compared.json").read_text(encoding="utf-8"))["tensors"]
        alike = [(1.0, 1.0) if each["result"] == "equal" else (each["cosine"], each["euclid"]) for each in tensors]
        return min(cosine for cosine, _ in alike), min(euclid for _, euclid in alike)

    def ours(self, mode, opt, with_run):
        """The cell: all but `error` are missing where no file is made."""
        try:
            self.make()
            table = self.table() if mode.startswith("INT8") else []
            made = self.folder / mode
            made.mkdir()
            seconds, memory = self.call("model_deploy", "--mlir", "top.mlir", "--chip", self.chip, "--model",
                                        made / "out.bmodel", "--opt", opt, "--json", "deploy.json", *MODES[mode], *table)
            report = json.loads((self.folder / "deploy.json").read_text(encoding="utf-8"))
            cell = {"seconds": seconds, "memory": memory, **profile_of(self.tools, str(made / "out.bmodel"), self.chip),
                    "cpu_layers": [[layer["op"], layer["reason"]] for layer in report["cpu_layers"]]}
            if with_run or cell["cpu_layers"]:
                seconds = self.run(made / "out.bmodel", made / "out.npz").get("host_seconds", 0.0)
                cell["host_cycles"] = seconds * CHIPS[self.chip].clock
            if with_run:
                cell["cosine"], cell["euclid"] = self.similarity(made / "out.npz", self.folder / "top.mlir")
                lowered, = made.glob("*_tpu.mlir")
                cell["lowered_cosine"], cell["lowered_euclid"] = self.similarity(made / "out.npz", lowered)
            return cell
        except Failed as reason:
            return {"error": str(reason)}


def profile_of(tools, file, chip):
    """Cycles of both parameter sets, commands and bound of a model file."""
    profile = tools.profile(file)
    return {**{parameters: profile[parameters]["cycles"] for parameters in PARAMETERS},
            "commands": sum(kind["commands"] for kind in profile["kinds"]),
            "bound": max(profile["vendor"]["mac_cycles"], tools.transfer_bound(file, CHIPS[chip].load_rate, CHIPS[chip].store_rate)),
            "host_layers": len(profile.get("cpu_layers", []))}


def theirs(tools, vendor, work, onnx, mode, limit, chip):
    """The cell of TPU-MLIR's file; what it makes on the way goes away."""
    with tempfile.TemporaryDirectory(dir=work) as folder:
        try:
            compiler = Compiler(vendor, folder, chip)
            base = compiler.transform(onnx.stem, onnx, SHAPES.get(onnx.stem))
            made = base / mode
            command = compiler.deploy_command(base, onnx.stem, mode, made)
            seconds, memory, error = measure([compiler.bin / command[0], *command[1:]], made,
                                             compiler.environment["PATH"], limit)
            if error:
                raise Failure(error)
            file = str(made / f"{onnx.stem}_{mode}.bmodel")
            return {"seconds": seconds, "memory": memory, **profile_of(tools, file, chip)}
        except (Failure, Failed) as reason:
            return {"error": str(reason).replace(folder, "")}


class Cache:
    """Cells by a key, each a file, so that a run that was cut off goes on where it was."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def path(self, key):
        return self.folder / ("_".join(key) + ".json")

    def get(self, key):
        try:
            return json.loads(self.path(key).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def put(self, key, cell):
        unfinished = self.path(key).with_suffix(".unfinished")
        unfinished.write_text(json.dumps(cell), encoding="utf-8")
        os.replace(unfinished, self.path(key))


def cycles_with_host(cell, parameters):
    """Cycles of the chip, and the host's time for its layers as cycles of the same length."""
    return cell[parameters] + cell.get("host_cycles", 0.0)


class Measured:
    """What TPU-MLIR's files took when they were last compiled, in a file of the repository: without its compiler, ours
    are compared with these. Cycles and commands of a file are exact on any machine; seconds are not, and not kept.

    A network is known by its name and the size of its ONNX file: random weights may differ between machines, but no
    cycle depends on them. FILE has a line for each network, mode -> [cycles of each parameter set, commands, layers on
    the host], or the message where no file was made."""

    FIELDS = (*PARAMETERS, "commands", "host_layers")

    def __init__(self, path):
        self.path = pathlib.Path(path)
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            text = "{}"
        try:
            self.chips = json.loads(text)
        except ValueError as reason:
            raise Failed(f"{path}: {reason}; expected cells of TPU-MLIR as JSON") from reason

    def get(self, onnx, chip, mode):
        """The cell of a network in a mode; none where it is not known, or the network is another one."""
        known = self.chips.get(chip, {}).get(onnx.stem, {})
        if known.get("bytes") != onnx.stat().st_size or mode not in known:
            return None
        kept = known[mode]
        return {"error": kept} if isinstance(kept, str) else dict(zip(self.FIELDS, kept, strict=True))

    def put(self, onnx, chip, mode, cell):
        networks = self.chips.setdefault(chip, {})
        size = onnx.stat().st_size
        if networks.get(onnx.stem, {}).get("bytes") != size:
            networks[onnx.stem] = {"bytes": size}
        # A message says what failed, not in which folder.
        networks[onnx.stem][mode] = (re.sub(r"\S*/", "", " ".join(cell["error"].split()))[:160] if "error" in cell
                                     else [cell[field] for field in self.FIELDS])

    def write(self):
        chips = []
        for chip, networks in sorted(self.chips.items()):
            lines = [f'  "{name}": {json.dumps(modes, sort_keys=True)}' for name, modes in sorted(networks.items())]
            chips.append(f' "{chip}": {{\n' + ",\n".join(lines) + "\n }")
        unfinished = self.path.with_suffix(".unfinished")
        unfinished.write_text("{\n" + ",\n".join(chips) + "\n}\n", encoding="utf-8")
        os.replace(unfinished, self.path)
