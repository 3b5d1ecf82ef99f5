"""Finds and reads the text on a picture with PP-OCRv4, run by tpuc and by ONNX Runtime, and reads it
again with integers on the simulator of a BM1684X.

usage: python3 examples/ocr BUILD_FOLDER [PICTURE]

Without PICTURE it reads page.png and compares with page.txt. Status 1: a line was read wrongly, or
an output is not that of ONNX Runtime. Status 77: the networks could not be fetched.
"""

import os
import pathlib
import sys

import cv2
import numpy as np

import detection
import engines
import models
import on_chip
import recognition

HERE = pathlib.Path(__file__).resolve().parent
CACHE = HERE.parent.parent / ".cache" / "ocr"
TIMED_RUNS = 3
# Of an output with ONNX Runtime's.
LEAST_COSINE = 0.99999
# The networks take (x - 127.5) / 127.5 of blue, green, red.
NORMALIZATION = ("--mean", "127.5,127.5,127.5", "--scale", ",".join([str(1 / 127.5)] * 3),
                 "--pixel_format", "bgr")


class Record:
    """What was run with a network: for each input the outputs and times of both engines."""

    def __init__(self, report: dict):
        self.report, self.cosines, self.times = report, [], []

    def add(self, ours, reference):
        self.cosines.append(cosine(ours[0], reference[0]))
        self.times.append((ours[1], reference[1]))

    def mean_times(self) -> tuple[float, float]:
        return tuple(np.mean(self.times, axis=0))


def cosine(a, b) -> float:
    a, b = a.ravel().astype(np.float64), b.ravel().astype(np.float64)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


class Reader:
    """The three networks, one after the other; both engines get the same inputs."""

    def __init__(self, tpuc, onnx_runtime, paths):
        self.tpuc, self.onnx_runtime, self.paths = tpuc, onnx_runtime, paths
        self.records = {}
        self.classes = recognition.alphabet(onnx_runtime.metadata("recognition", "character"))

    def transform(self, name, *options):
        report = self.tpuc.transform(name, self.paths[name], *options)
        self.records[name] = Record(report)
        compared = report["comparison"]
        print(f"  {name:<12} {report['ops']:>4} ops, {report['weight_bytes'] / 1e6:>5.1f} MB; "
              f"{compared['compared']} tensors like {report['reference']}'s", flush=True)

    def transform_on(self, name, values):
        """As transform; the test input is an array."""
        path = self.tpuc.folder / f"{name}_test.npz"
        np.savez(path, **{engines.INPUT: values})
        self.transform(name, "--test_input", str(path))

    def run(self, name, values) -> tuple[np.ndarray, np.ndarray]:
        """The outputs of tpuc and of ONNX Runtime."""
        ours = self.tpuc.run(name, values, TIMED_RUNS)
        reference = self.onnx_runtime.run(name, values, TIMED_RUNS)
        self.records[name].add(ours, reference)
        return ours[0], reference[0]

    def least_cosine(self) -> float:
        return min(min(record.cosines) for record in self.records.values())

    def find(self, path, picture) -> list[np.ndarray]:
        """The boxes of the lines. model_transform itself makes the input of the picture."""
        height, width = detection.network_size(picture)
        self.transform("detection", "--test_input", str(path),
                       "--resize_dims", f"{height},{width}", *NORMALIZATION)
        text_map, _ = self.run("detection", self.tpuc.test_input("detection"))
        return detection.find_lines(text_map[0, 0], picture)

    def turn_upright(self, lines) -> tuple[list[np.ndarray], np.ndarray]:
        """The lines, and which of them stood on their heads. All of them are one batch."""
        batch = recognition.direction_input(lines)
        self.transform_on("direction", batch)
        turned = recognition.is_turned(self.run("direction", batch)[0])
        return [cv2.rotate(line, cv2.ROTATE_180) if each else line
                for line, each in zip(lines, turned)], turned

    def read(self, lines) -> list[tuple[tuple[str, float], str]]:
        """For each line its text and confidence, and ONNX Runtime's text. Each has its width."""
        inputs = [recognition.line_input(line) for line in lines]
        self.transform_on("recognition", inputs[0])
        result = []
        for values in inputs:
            ours, reference = self.run("recognition", values)
            result.append((recognition.read(ours[0], self.classes),
                           recognition.read(reference[0], self.classes)[0]))
        return result


def draw(picture, boxes, turned, path):
    for number, (box, is_turned) in enumerate(zip(boxes, turned), 1):
        colour = (0, 0, 220) if is_turned else (60, 180, 0)
        cv2.polylines(picture, [np.rint(box).astype(np.int32)], True, colour, 2, cv2.LINE_AA)
        x, y = np.rint(box[1]).astype(int)
        cv2.putText(picture, str(number), (int(x) + 6, int(y) + 14), cv2.FONT_HERSHEY_SIMPLEX, 0.6,
                    colour, 2, cv2.LINE_AA)
    if not cv2.imwrite(str(path), picture):
        sys.exit(f"ocr: error: {path} cannot be written")


def print_lines(readings, turned):
    print("\nline  confidence  text")
    for number, (((text, confidence), _), is_turned) in enumerate(zip(readings, turned), 1):
        print(f"{number:>4}  {confidence:>10.3f}  {text}{'   (upside down)' if is_turned else ''}")


def print_networks(records):
    print("\nnetwork     inputs  model_runner  ONNX Runtime  least cosine of outputs")
    for name, record in records.items():
        ours, reference = record.mean_times()
        print(f"{name:<11} {len(record.times):>6}  {ours:>9.1f} ms  {reference:>9.1f} ms  "
              f"{min(record.cosines):.8f}")


def verdict(readings, expected, least_cosine) -> tuple[str, bool]:
    """What to say at the end, and whether all is well."""
    texts = [text for (text, _), _ in readings]
    as_reference = sum(text == other for text, (_, other) in zip(texts, readings))
    said = f"{as_reference} of {len(texts)} lines as ONNX Runtime reads them"
    good = as_reference == len(texts) and least_cosine >= LEAST_COSINE
    if expected is None:
        return said, good
    right = sum(text == other for text, other in zip(texts, expected))
    return f"{right} of {len(expected)} lines read right, {said}", good and texts == expected


def read_on_chip(reader, lines, readings) -> bool:
    """Compiles the network that reads to integers, and runs the file. Whether it reads the same
    characters; narrow spaces get lost between lines that are filled up to one width."""
    chip = on_chip.Chip(reader.tpuc, reader.paths["recognition"], lines)
    print(f"\nThe same lines in INT8 on a {on_chip.CHIP}, {chip.width} pixels wide "
          "(run_calibration, model_deploy, model_runner)", flush=True)
    file = chip.compile()["model_file"]
    texts = chip.read(reader.classes)
    alike = equal = 0
    for number, (text, ((before, _), _)) in enumerate(zip(texts, readings), 1):
        equal += text == before
        alike += text.replace(" ", "") == before.replace(" ", "")
        print(f"{number:>4}  {'as above' if text == before else text}")
    time_line = reader.tpuc.folder / "time_line.png"
    chip.draw_time_line(time_line)
    print(f"\n{alike} of {len(texts)} lines with the same characters, {equal} with the same spaces; "
          f"{file['cycles']} cycles, {file['milliseconds']:.3f} ms for a line; both engines' time "
          f"lines in {os.path.relpath(time_line)}")
    return alike == len(texts)


def main(build, path=None) -> int:
    expected = None
    if path is None:
        path = HERE / "page.png"
        expected = (HERE / "page.txt").read_text(encoding="utf-8").splitlines()
    picture = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if picture is None:
        sys.exit(f"ocr: error: {path} is not a picture")
    try:
        paths = models.fetch(CACHE)
    except models.Unavailable as problem:
        print(f"ocr: {problem}", file=sys.stderr)
        return 77
    folder = pathlib.Path(build) / "ocr"
    folder.mkdir(parents=True, exist_ok=True)
    threads = os.cpu_count() or 1
    reader = Reader(engines.Tpuc(pathlib.Path(build) / "bin", folder, threads),
                    engines.OnnxRuntime(paths, threads), paths)
    print(f"PP-OCRv4 on {os.path.relpath(path)}, {picture.shape[1]} x {picture.shape[0]} "
          "(model_transform)")
    boxes = reader.find(path, picture)
    if not boxes:
        print("no text found")
        return 1 if expected else 0
    lines, turned = reader.turn_upright([recognition.cut_out(picture, box) for box in boxes])
    readings = reader.read(lines)
    print_lines(readings, turned)
    print_networks(reader.records)
    said, good = verdict(readings, expected, reader.least_cosine())
    draw(picture, boxes, turned, folder / "ocr.png")
    print(f"\n{said}; boxes in {os.path.relpath(folder / 'ocr.png')}")
    good &= read_on_chip(reader, lines, readings)
    return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python3 examples/ocr BUILD_FOLDER [PICTURE]")
    # model_transform looks for python3 on the path, to compare with its ONNX Runtime.
    os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    try:
        sys.exit(main(*sys.argv[1:]))
    except engines.ProgramFailed as failure:
        sys.exit(str(failure))
