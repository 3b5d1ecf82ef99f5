#!/usr/bin/env python3
"""Measures what networks of floats answer on a chip: boxes and key points beside LiteRT's, on pictures.

usage: tasks.py --tools build/bin --pictures FOLDER [--modes F32,F16,...] [--filter REGEX] [--count N]
                [--calibration N] [--cali_method NAME] [--chip NAME] [--opt N] [--file_runs N] [--json FILE] FOLDER

FOLDER has the networks that networks.py names. --pictures has these files of the Debian packages opencv-doc
4.6.0 and python3-skimage 0.19.3: vtest.avi, basketball1.png, basketball2.png, messi5.jpg, astronaut.png,
lfw_subset.npy, and aero1.jpg, board.jpg, building.jpg, fruits.jpg, home.jpg, stuff.jpg, which have no faces.
Detectors of faces see faces in them, of different sizes; landmarks see faces, and eyes; MoveNet sees people.
INT8 is calibrated on --calibration other pictures. The network that model_deploy writes for the chip is run in
the interpreter; of --file_runs pictures its model file is run, too, which has to give the same. A row has

  found     key points of MoveNet whose score is 0.3 or more that are within 5 % of the picture's side; faces of
            LiteRT that are found, with an overlap (IoU) of 0.5
  close     the same within 2 %, or with an overlap of 0.9
  distance  of key points, mean: in percent of the picture's side, of the box, or of the face or eye
  cosine    of all outputs beside LiteRT's, the mean over pictures and the least

Needs ai-edge-litert, numpy and OpenCV. The exit status is 0 if a file gives what it should, and the mean cosine is
0.99 or more everywhere.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import cv2
import numpy as np
from ai_edge_litert import interpreter as litert

LEAST = .99
BACKGROUNDS = ("aero1.jpg", "board.jpg", "building.jpg", "fruits.jpg", "home.jpg", "stuff.jpg")


def run(*command):
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


# ---- pictures, of bytes, red first
class Pictures:
    def __init__(self, folder):
        def read(name):
            return cv2.cvtColor(cv2.imread(str(folder / name)), cv2.COLOR_BGR2RGB)
        faces = np.load(folder / "lfw_subset.npy")[:100]
        self.faces = [np.repeat((each * 255).clip(0, 255).astype(np.uint8)[..., None], 3, 2) for each in faces]
        self.astronaut = read("astronaut.png")
        self.backgrounds = [read(name) for name in BACKGROUNDS]
        self.people = [read(name) for name in ("basketball1.png", "basketball2.png", "messi5.jpg", "astronaut.png")]
        film = cv2.VideoCapture(str(folder / "vtest.avi"))
        frames = int(film.get(cv2.CAP_PROP_FRAME_COUNT))
        for at in range(0, frames, max(1, frames // 16)):
            film.set(cv2.CAP_PROP_POS_FRAMES, at)
            good, frame = film.read()
            if good:
                self.people.append(cv2.cvtColor(frame, cv2.COLOR_BGR2RGB))

    def face(self, random, number):
        """A face and a little around it."""
        if number % 4 == 3:
            top, left = random.integers(60, 90), random.integers(170, 190)
            picture = self.astronaut[top:top + 130, left:left + 110]
        else:
            picture = self.faces[random.integers(len(self.faces))]
        return picture[:, ::-1] if random.integers(2) else picture

    def scene(self, random, number, side):
        """One or two faces somewhere in a picture."""
        whole = self.backgrounds[random.integers(len(self.backgrounds))]
        scene = cv2.resize(whole, (side, side), interpolation=cv2.INTER_AREA)
        for half in range(1 + number % 2):
            extent = int(side * random.uniform(.22, .42))
            face = cv2.resize(self.face(random, number + half), (extent, extent), interpolation=cv2.INTER_CUBIC)
            top = random.integers(side - extent)
            left = random.integers(max(1, side // 2 - extent)) + half * (side // 2)
            room = scene[top:top + extent, left:left + extent]
            room[:] = face[:, :room.shape[1]]
        return scene

    def portrait(self, random, number, side):
        face = self.face(random, number)
        border = int(face.shape[0] * random.uniform(.15, .3))
        wide = cv2.copyMakeBorder(face, border, border, border, border, cv2.BORDER_REFLECT)
        return cv2.resize(wide, (side, side), interpolation=cv2.INTER_CUBIC)

    def eye(self, random, number, side):
        face = cv2.resize(self.faces[random.integers(len(self.faces))], (200, 200), interpolation=cv2.INTER_CUBIC)
        top, left = 40 + random.integers(16), 20 + random.integers(16)
        return cv2.resize(face[top:top + 70, left:left + 70], (side, side), interpolation=cv2.INTER_CUBIC)

    def person(self, random, number, side):
        whole = self.people[number % len(self.people)]
        extent = int(min(whole.shape[:2]) * random.uniform(.55, .95))
        top, left = (random.integers(length - extent) for length in whole.shape[:2])
        part = whole[top:top + extent, left:left + extent]
        return cv2.resize(part[:, ::-1] if random.integers(2) else part, (side, side), interpolation=cv2.INTER_AREA)


# ---- what outputs mean
def anchors(side, strides):
    """Centres of the boxes, two for each layer and cell, layers of one stride side by side."""
    centres = []
    for stride in dict.fromkeys(strides):
        cells = side // stride
        times = 1 if len(strides) == 1 else 2 * strides.count(stride)
        y, x = np.mgrid[:cells, :cells]
        centres.append(np.repeat(np.stack([(x + .5) / cells, (y + .5) / cells], -1).reshape(-1, 2), times, 0))
    return np.concatenate(centres)


def overlap(a, b):
    low, high = np.maximum(a[:2], b[:2]), np.minimum(a[2:], b[2:])
    inner = np.prod(np.maximum(high - low, 0))
    return inner / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - inner)


def faces_of(outputs, side, strides):
    """(box, key points) of the faces, in parts of the picture."""
    raw, scores = outputs[0][0].astype(float), 1 / (1 + np.exp(-np.clip(outputs[1][0, :, 0].astype(float), -80, 80)))
    found = []
    points = raw.reshape(len(raw), -1, 2) / side
    centres = anchors(side, strides)
    for at in np.argsort(-scores):
        if scores[at] < .5:
            break
        middle, size = points[at, 0] + centres[at], points[at, 1]
        box = np.concatenate([middle - size / 2, middle + size / 2])
        if all(overlap(box, other) < .3 for other, _ in found):
            found.append((box, points[at, 2:] + centres[at]))
    return found


class Task:
    def __init__(self):
        self.wanted = self.found = self.close = 0
        self.distances = []

    def row(self):
        part = [f"{100 * each / self.wanted:.1f} %" if self.wanted else "–" for each in (self.found, self.close)]
        return [*part, f"{np.mean(self.distances):.2f} %" if self.distances else "–"]


class Faces(Task):
    def __init__(self, strides):
        super().__init__()
        self.strides = strides

    def add(self, found, wanted, side):
        found = faces_of(found, side, self.strides)
        for box, points in faces_of(wanted, side, self.strides):
            self.wanted += 1
            best = max(found, key=lambda each: overlap(each[0], box), default=None)
            least = overlap(best[0], box) if best else 0
            self.found += least >= .5
            self.close += least >= .9
            if least >= .5:
                self.distances.append(100 * np.linalg.norm(best[1] - points, axis=1).mean() / (box[2] - box[0]))


class Landmarks(Task):
    def add(self, found, wanted, side):
        for ours, theirs in zip(found, wanted):
            if theirs.size < 15:
                continue
            ours, theirs = (each.astype(float).reshape(-1, 3)[:, :2] for each in (ours, theirs))
            width = max(np.ptp(theirs[:, 0]), 1)
            self.distances.append(100 * np.linalg.norm(ours - theirs, axis=1).mean() / width)


class People(Task):
    def add(self, found, wanted, side):
        ours, theirs = found[0].reshape(-1, 3).astype(float), wanted[0].reshape(-1, 3).astype(float)
        for here, there in zip(ours, theirs):
            if there[2] < .3:
                continue
            far = 100 * np.linalg.norm(here[:2] - there[:2])
            self.wanted += 1
            self.found += far <= 5
            self.close += far <= 2
            self.distances.append(far)


FRONT, BACK, FULL = [8, 16, 16, 16], [16, 32, 32, 32], [4]
# The kind of picture, the least and the greatest number of the input, and what outputs mean.
NETWORKS = {
    "face_detection_back": (Pictures.scene, (-1, 1), lambda: Faces(BACK)),
    "face_detection_front": (Pictures.scene, (-1, 1), lambda: Faces(FRONT)),
    "face_detection_full_range": (Pictures.scene, (-1, 1), lambda: Faces(FULL)),
    "face_detection_full_range_sparse": (Pictures.scene, (-1, 1), lambda: Faces(FULL)),
    "face_detection_short_range": (Pictures.scene, (-1, 1), lambda: Faces(FRONT)),
    "face_landmark": (Pictures.portrait, (0, 1), Landmarks),
    "iris_landmark": (Pictures.eye, (0, 1), Landmarks),
    "movenet_lightning": (Pictures.person, None, People),
}


class Network:
    def __init__(self, arguments, path, pictures, place):
        self.tools, self.place = arguments.tools, place
        self.options = ["--chip", arguments.chip, "--opt", arguments.opt]
        self.cali_method = arguments.cali_method
        make, limits, self.task = NETWORKS[path.stem]
        self.model = litert.Interpreter(str(path), num_threads=1,
                                        experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF)
        self.model.allocate_tensors()
        self.input, self.outputs = self.model.get_input_details()[0], self.model.get_output_details()
        self.side = int(self.input["shape"][1])
        random = np.random.default_rng(7)

        def sample(number):
            picture = make(pictures, random, number, self.side)[None]
            if limits is None:
                return picture.astype(self.input["dtype"])
            return (picture / 255 * (limits[1] - limits[0]) + limits[0]).astype(np.float32)
        (place / "data").mkdir()
        for number in range(arguments.calibration):
            np.savez(place / "data" / f"{number:03}.npz", **{self.input["name"]: sample(number)})
        self.samples = [sample(number) for number in range(arguments.count)]
        self.wanted = [self.answer(each) for each in self.samples]
        run(self.tools / "model_transform", "--model_name", "net", "--model_def", path, "--mlir", place / "net.mlir")

    def answer(self, picture):
        self.model.set_tensor(self.input["index"], picture)
        self.model.invoke()
        return [self.model.get_tensor(each["index"]) for each in self.outputs]

    def deploy(self, mode):
        options = ["--quantize", mode]
        if mode == "INT8":
            if not (self.place / "table").exists():
                run(self.tools / "run_calibration", self.place / "net.mlir", "--dataset", self.place / "data",
                    "--input_num", len(list((self.place / "data").iterdir())), "--cali_method",
                    self.cali_method, "-o", self.place / "table")
            options += ["--asymmetric", "--calibration_table", self.place / "table"]
        run(self.tools / "model_deploy", "--mlir", self.place / "net.mlir", *options, *self.options, "--model",
            self.place / f"{mode}.file")
        return next(self.place.glob(f"net_*_{mode.lower()}*_tpu.mlir"))

    def outputs_of(self, what, picture):
        np.savez(self.place / "in.npz", **{self.input["name"]: picture})
        run(self.tools / "model_runner", "--model", what, "--input", self.place / "in.npz", "--output",
            self.place / "out.npz")
        with np.load(self.place / "out.npz") as arrays:
            return [arrays[each["name"]] for each in self.outputs]

    def measure(self, mode, file_runs):
        """A row, and whether it is as asked."""
        lowered, task, cosines, same = self.deploy(mode), self.task(), [], True
        for number, (picture, wanted) in enumerate(zip(self.samples, self.wanted)):
            found = self.outputs_of(lowered, picture)
            if number < file_runs:
                file = self.outputs_of(self.place / f"{mode}.file", picture)
                same &= all(least_cosine([a], [b]) > .9999 for a, b in zip(file, found))
            task.add(found, wanted, self.side)
            cosines.append(least_cosine(found, wanted))
        good = same and np.mean(cosines) >= LEAST
        return [*task.row(), f"{np.mean(cosines):.4f}", f"{min(cosines):.4f}"], good


def least_cosine(found, wanted):
    """Of outputs of more than one number."""
    least = 1.
    for a, b in zip(found, wanted):
        a, b = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
        if a.size > 1:
            least = min(least, float(a @ b / max(np.sqrt((a @ a) * (b @ b)), 1e-30)))
    return least


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--pictures", type=pathlib.Path, required=True)
    parser.add_argument("--modes", default="F32,F16,BF16,INT8")
    parser.add_argument("--filter", default="")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--calibration", type=int, default=40)
    parser.add_argument("--cali_method", default="auto", help="of run_calibration, for INT8 [default: auto]")
    parser.add_argument("--chip", default="BM1684X")
    parser.add_argument("--opt", type=int, default=1, help="of model_deploy")
    parser.add_argument("--file_runs", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path, help="write the rows, as a list of lists")
    arguments = parser.parse_args()
    pictures, rows, good = Pictures(arguments.pictures), [], True
    print("| network | mode | found | close | distance | mean cosine | least cosine |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in NETWORKS:
        path = arguments.folder / f"{name}.tflite"
        if not path.exists() or not re.search(arguments.filter, name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            network = Network(arguments, path, pictures, pathlib.Path(folder))
            for mode in arguments.modes.split(","):
                row, fits = network.measure(mode, arguments.file_runs)
                good &= fits
                rows.append([name, mode, *row])
                print("| " + " | ".join(rows[-1]) + " |", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
    return 0 if good and rows else 1


if __name__ == "__main__":
    sys.exit(main())
