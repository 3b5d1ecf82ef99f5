#!/usr/bin/env python3
"""Fused preprocessing against OpenCV: formats times modes, on pictures of odd sizes.

usage: preprocess.py --work DIR [--tools DIR] [--chip CHIP] [--modes F32,F16,...]
                     [--formats RGB_PLANAR,...] [--pictures N] [--on_chip N] [--aligned]
                     [--without NAMES] [--cycles] [--vendor DIR] [--resize HxW,...] [--check]
                     [--record FILE.json]
                     [NAME=FILE.onnx:SPEC ...]

--tools     our programs (default: build/bin)
--work      where modules, files and pictures go
--chip      the chip (default: bm1684x)
--modes     some of F32, F16, BF16, INT8_SYM, INT8_ASYM (default: all)
--formats   some of the nine formats (default: all that fit the network)
--pictures  how many pictures (default: 50)
--on_chip   with how many of them the file is run on the simulator, and by the vendor (default: 1)
--aligned   pictures are frame buffers, whose gaps hold noise (--aligned_input)
--without   rewritings to leave out, for the option of model_deploy
--cycles    nothing is run: for each mode and format the cycles of the fused file over those of the
            plain one, and without each of the rewritings of --without, which both files are
--vendor    a folder with venv/bin/model_runner (the PyPI package tpu-mlir): it runs each file, too
--resize    instead of formats, pictures of these extents that the network scales (--fuse_resize): by how
            much bytes differ from OpenCV's at most, of the lowered module and of its file, and cycles
            beside those of the network that the caller scales for
--check     end with status 1 if a row is beyond its bound, or the vendor's program answered none
--record    after each row of formats and modes, put what was found into this file of bench/results:
            the rows of a network are replaced, and the vendor's answers only where it was asked
NAME        any text, also that of a row in --record
SPEC        HxW[,resize=HxW][,rgb|bgr|gray][,nhwc][,mean=A;B;C][,scale=A;B;C], those of model_transform

Each row compares, for all pictures together, outputs of the fused network for bytes with outputs of
the plain one for floats. Both come from the same picture: OpenCV decodes, scales and converts it,
and numpy crops and normalizes. Of YUV the plain one reads what OpenCV makes of the same bytes.
Columns: the least cosine of an output, in floats of 16 bits also the mean of the fused and of the
plain network's to those of the plain one in F32, how many outputs have the same bytes, by how much
colours of YUV differ from OpenCV's at most in the first five pictures, the cycles of the fused file
and their ratio to those of the plain one, and the least cosine between the file on the simulator
and the lowered module.

Bounds: a cosine of 0.9999, on floats of YUV 0.999, or where the plain network is further from F32
than that for a picture, the fused one in the mean at most twice as far as the plain one; the same
outputs on integers, but for those that are unsigned as there is no mean; colours within one.
Outputs on integers of YUV have no bound: colours that differ by one may bring any change of a network.
Networks on integers are strict, as cycles decide which layers may be on floats otherwise.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import cv2
import numpy as np

FORMATS = ["RGB_PLANAR", "RGB_PACKED", "BGR_PLANAR", "BGR_PACKED", "GRAYSCALE", "YUV420_PLANAR",
           "YUV_NV12", "YUV_NV21", "RGBA_PLANAR"]
YUV = {"YUV420_PLANAR": cv2.COLOR_YUV2BGR_I420, "YUV_NV12": cv2.COLOR_YUV2BGR_NV12,
       "YUV_NV21": cv2.COLOR_YUV2BGR_NV21}
MODES = {
    "F32": ["--quantize", "F32"],
    "F16": ["--quantize", "F16"],
    "BF16": ["--quantize", "BF16"],
    "INT8_SYM": ["--quantize", "INT8", "--strict_int8"],
    "INT8_ASYM": ["--quantize", "INT8", "--asymmetric", "--strict_int8"],
}

# The modes in tables.
LABELS = {"INT8_SYM": "INT8", "INT8_ASYM": "INT8 asymmetric"}

# Of so many pictures all tensors are made, to see their colours.
COLOURS = 5


class Spec:
    """How pictures become the input, as model_transform is told."""

    def __init__(self, text):
        parts = text.split(",")
        self.dims = tuple(int(x) for x in parts[0].split("x"))
        self.resize, self.order, self.packed = self.dims, "bgr", False
        self.mean, self.scale = None, None
        for part in parts[1:]:
            name, _, value = part.partition("=")
            if name == "resize":
                self.resize = tuple(int(x) for x in value.split("x"))
            elif name in ("rgb", "bgr", "gray"):
                self.order = name
            elif name == "nhwc":
                self.packed = True
            elif name in ("mean", "scale"):
                setattr(self, name, [float(x) for x in value.split(";")])
            else:
                sys.exit(f"preprocess: error: '{part}' in a SPEC; expected what --help lists")

    @property
    def channels(self):
        return 1 if self.order == "gray" else 3

    def options(self):
        options = ["--resize_dims", f"{self.resize[0]},{self.resize[1]}", "--pixel_format",
                   self.order]
        if self.packed:
            options += ["--channel_format", "nhwc"]
        if self.mean:
            options += ["--mean", ",".join(map(str, self.mean))]
        if self.scale:
            options += ["--scale", ",".join(map(str, self.scale))]
        return options

    def shape(self):
        height, width = self.dims
        return ([1, height, width, self.channels] if self.packed
                else [1, self.channels, height, width])

    def floats(self, picture):
        """What the plain network takes, of an (H, W, 3) picture in OpenCV's order."""
        if self.order == "gray":
            picture = picture[..., None] if picture.ndim == 2 else picture[..., :1]
        top = self.resize[0] // 2 - self.dims[0] // 2
        left = self.resize[1] // 2 - self.dims[1] // 2
        part = picture[top:top + self.dims[0], left:left + self.dims[1]]
        if self.order == "rgb":
            part = part[..., ::-1]
        mean = np.float32(self.mean[:self.channels] if self.mean else [0] * self.channels)
        scale = np.float32(self.scale[:self.channels] if self.scale else [1] * self.channels)
        floats = (part.astype(np.float32) - mean) * scale
        return np.ascontiguousarray(floats if self.packed else floats.transpose(2, 0, 1))[None]


def yuv_of(picture, name):
    """The bytes of a picture in a YUV format, and what OpenCV makes of them."""
    planes = cv2.cvtColor(picture, cv2.COLOR_BGR2YUV_I420)
    height, width = picture.shape[:2]
    if name != "YUV420_PLANAR":
        u, v = planes[height:].reshape(2, -1)
        pairs = np.stack([u, v] if name == "YUV_NV12" else [v, u], axis=1)
        planes = np.concatenate([planes[:height], pairs.reshape(height // 2, width)])
    return planes[None, None], cv2.cvtColor(planes, YUV[name])


def bytes_of(file, spec, name):
    """What the fused network takes, and the picture that it stands for."""
    size = (spec.resize[1], spec.resize[0])
    if name == "GRAYSCALE":
        gray = cv2.resize(cv2.imread(str(file), cv2.IMREAD_GRAYSCALE), size)
        return gray[None, None], gray
    picture = cv2.resize(cv2.imread(str(file), cv2.IMREAD_COLOR), size)
    if name in YUV:
        return yuv_of(picture, name)
    ordered = picture if name.startswith("BGR") else picture[..., ::-1]
    if name == "RGBA_PLANAR":
        ordered = np.dstack([ordered, np.full(picture.shape[:2], 77, np.uint8)])
    planar = ordered if name.endswith("PACKED") else ordered.transpose(2, 0, 1)
    return np.ascontiguousarray(planar)[None], picture


def frame_of(array, name, chip):
    """A picture's bytes in a frame buffer, as the vendor's preprocess.py lays it out for a chip; noise
    in the gaps."""
    rows, planes = (32, 4096) if chip == "cv183x" else (64, 64)

    def plane(pixels, row, alignment):
        height, width = pixels.shape
        stride = -(-width // row) * row
        size = -(-height * stride // alignment) * alignment
        made = np.random.default_rng(size).integers(0, 256, size, np.uint8)
        made[:height * stride].reshape(height, stride)[:, :width] = pixels
        return made

    if name in YUV:
        width, height = array.shape[3], array.shape[2] // 3 * 2
        luma, chroma = array[0, 0, :height], array[0, 0, height:]
        if name == "YUV420_PLANAR":
            halves = chroma.reshape(2, height // 2, width // 2)
            parts = [plane(luma, 2 * rows, planes)] + [plane(half, rows, planes) for half in halves]
        else:
            parts = [plane(luma, rows, planes), plane(chroma, rows, planes)]
        return np.concatenate(parts)[None, None, None]
    if name.endswith("PACKED"):
        height = array.shape[1]
        return plane(array[0].reshape(height, -1), rows, 1).reshape(1, 1, height, -1)
    if name == "GRAYSCALE":
        return plane(array[0, 0], rows, 1).reshape(1, 1, array.shape[2], -1)
    return np.stack([plane(channel, rows, planes) for channel in array[0]])[None, :, None]


def make_pictures(folder, count):
    """Shapes and lines of text on smooth colours with some noise, of odd sizes. Detectors of text
    would find nothing else, and of maps of next to nothing a cosine says nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(27)
    files = []
    for number in range(count):
        height, width = (int(x) * 2 + 1 for x in random.integers(40, 260, 2))
        small = random.integers(0, 256, (4, 5, 3), np.uint8)
        picture = cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)
        for _ in range(6):
            at = (int(random.integers(width)), int(random.integers(height)))
            colour = [int(x) for x in random.integers(0, 256, 3)]
            cv2.circle(picture, at, int(random.integers(4, 40)), colour, -1, cv2.LINE_AA)
        for line in range(3):
            at = (int(random.integers(width // 4)), height * (line + 1) // 4)
            cv2.putText(picture, "Text 0123 words", at, cv2.FONT_HERSHEY_SIMPLEX,
                        float(random.uniform(0.6, 1.4)), (0, 0, 0) if line % 2 else (255,) * 3, 2)
        picture = picture + random.normal(0, 4, picture.shape)
        files.append(folder / f"{number:02}.png")
        cv2.imwrite(str(files[-1]), np.clip(picture, 0, 255).astype(np.uint8))
    return files


def cosine(a, b):
    a, b = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    length = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / length) if length > 0 else float(np.array_equal(a, b))


class VendorRuntime:
    """The vendor's program, which takes seconds to start, for one file after the other."""

    LOOP = r"""
import sys
import numpy
from tpu_mlir.python.tools.model_runner import model_inference
for line in sys.stdin:
    model, given, made = line.split()
    with numpy.load(given) as arrays:
        outputs = model_inference(dict(arrays), model, dump_all=False)
    numpy.savez(made, **outputs)
    print("\nanswered", flush=True)
"""
    # The package sets the environment in which its libraries are found.
    START = "import subprocess, sys, tpu_mlir; subprocess.run([sys.executable, '-c', sys.argv[1]])"

    def __init__(self, folder):
        self.programs = (pathlib.Path(folder) / "venv" / "bin").resolve()
        self.child = None

    def run(self, model, given, made):
        """Whether there are answers in `made`."""
        if self.child is None:
            environment = dict(os.environ, PATH=f"{self.programs}:{os.environ['PATH']}")
            self.child = subprocess.Popen(
                [str(self.programs / "python"), "-c", self.START, self.LOOP], text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                cwd=model.parent, env=environment)
        print(model.resolve(), given.resolve(), made.resolve(), file=self.child.stdin, flush=True)
        for line in self.child.stdout:
            if line.strip() == "answered":
                return made.exists()
        self.child.wait()
        self.child = None
        return False


def write_record(options, record):
    """Puts what was found so far into a table of bench/results, a line for each network and mode."""
    path = pathlib.Path(options.record)
    text = path.read_text()
    rows = {(row[0], row[1]): row for row in json.loads(text)["rows"]}
    for (name, mode), found in record.items():
        yuv, rest = ([each for each in found if each["yuv"] == is_yuv] for is_yuv in (True, False))
        worst = min(rest or yuv, key=lambda each: each["same"])
        least = ["" if not part else f"{min(each['cosine'] for each in part):.6f}" for part in (rest, yuv)]
        answers = sum(each["answers"] for each in found)
        vendor = rows[name, mode][8] if (name, mode) in rows else ""
        if options.vendor:
            vendor = f"{sum(each['equal'] for each in found)} of {answers}" if answers else ""
        rows[name, mode] = [name, mode, f"{len(found)}", f"{options.pictures}", least[0],
                            f"{worst['same']} of {worst['count']}", least[1],
                            f"{min(each['file'] for each in found):.6f}", vendor]
    lines = ",\n".join("    " + json.dumps(row, ensure_ascii=False) for row in rows.values())
    head, _, _ = text.partition('"rows": [')
    path.write_text(f'{head}"rows": [\n{lines}\n  ]\n}}\n')


class Bench:
    def __init__(self, options):
        self.options = options
        self.runtime = VendorRuntime(options.vendor)
        self.tools = pathlib.Path(options.tools).resolve()
        self.work = pathlib.Path(options.work).resolve()
        self.pictures = make_pictures(self.work / "pictures", options.pictures)
        self.failures = 0
        # Rows of networks, modes and formats, and answers in them, that the vendor's runtime gave.
        self.vendor_rows, self.vendor_answers, self.vendor_same = 0, 0, 0
        self.known, self.record = {}, {}
        # What was compared in one mode: outputs, those they were compared with, and what was found.
        self.comparisons = []
        self.extension = ".cvimodel" if options.chip.startswith("cv18") else ".bmodel"
        self.frames = ["--aligned_input"] if options.aligned else []

    def run(self, program, *arguments):
        done = subprocess.run([str(self.tools / program), *map(str, arguments)], check=False,
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{program}: {(done.stderr or done.stdout).strip()}")
        return done.stdout

    def prepare(self, name, onnx, spec):
        short = re.sub(r"\W+", "_", name)
        folder = self.work / short
        folder.mkdir(parents=True, exist_ok=True)
        module = folder / f"{short}.mlir"
        self.run("model_transform", "--model_name", short, "--model_def", onnx, "--input_shapes",
                 json.dumps([spec.shape()]), "--mlir", module, *spec.options())
        table = folder / f"{short}.table"
        if "INT8" in self.options.modes:
            self.run("run_calibration", module, "--dataset", self.work / "pictures", "--input_num",
                     min(len(self.pictures), 8), "-o", table)
        return folder, module, table

    def deploy(self, module, table, mode, model, *more):
        arguments = [*MODES[mode], *more]
        if mode.startswith("INT8"):
            arguments += ["--calibration_table", table]
        if self.options.without and not self.options.cycles:
            arguments += ["--without", self.options.without]
        report = model.with_suffix(".json")
        self.run("model_deploy", "--mlir", module, "--chip", self.options.chip, "--model", model,
                 "--json", report, *arguments)
        summary = json.loads(report.read_text())
        lowered = next(file for file in summary["files"] if file.endswith("_tpu.mlir"))
        return pathlib.Path(lowered), summary

    def infer(self, model, arrays, *more, wanted=""):
        """The tensors of `model` whose names end so, by default its outputs, for one array after the
        other."""
        given, made = model.with_suffix(".in"), model.with_suffix(".out")
        for folder in given, made:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        for number, array in enumerate(arrays):
            np.savez(given / f"{number:03}.npz", input=array)
        self.run("model_runner", "--model", model, "--input", given, "--output", made, *more)
        outputs = []
        for name in sorted(made.iterdir()):
            with np.load(name) as file:
                outputs.append({key: file[key] for key in file.files if key.endswith(wanted)})
            name.unlink()
        shutil.rmtree(given)
        return outputs

    def plain_outputs(self, plain_model, form, spec, pairs):
        """What the plain network gives: formats of equal pictures share it."""
        key = (plain_model, "yuv" if form in YUV else form == "GRAYSCALE")
        if key not in self.known:
            self.known[key] = self.infer(plain_model, [spec.floats(pair[1]) for pair in pairs])
        return self.known[key]

    def compared(self, made, wanted):
        """The cosines of all outputs, and how many are the same. Formats of equal pictures mostly give
        the same outputs, which are compared once."""
        for before, other, found in self.comparisons:
            if other is wanted and all(np.array_equal(a[key], b[key]) for a, b in zip(before, made) for key in a):
                return found
        pairs = [(a[key], b[key]) for a, b in zip(made, wanted) for key in b]
        found = [cosine(*pair) for pair in pairs], sum(np.array_equal(*pair) for pair in pairs)
        self.comparisons.append((made, wanted, found))
        return found

    def row(self, name, mode, form, plain_model, plain_cycles, fused, summary, spec):
        pairs = [bytes_of(file, spec, form) for file in self.pictures]
        if self.options.aligned:
            pairs = [(frame_of(array, form, self.options.chip), picture) for array, picture in pairs]
        ours = self.infer(fused, [pair[0] for pair in pairs])
        wanted = self.plain_outputs(plain_model, form, spec, pairs)
        scores, same = self.compared(ours, wanted)
        given = [pair[0] for pair in pairs[:self.options.on_chip]]
        files = self.infer(pathlib.Path(summary["model"]), given)
        of_file = min(cosine(a[key], b[key]) for a, b in zip(files, ours) for key in b)
        # Where sums of BF16 truncate, the lowered module rounds them.
        truncates = self.options.chip.startswith("cv18")
        failed = of_file < (0.99 if truncates else 0.999)
        noise = ""
        bound = 0.999 if form in YUV else 0.9999
        if not mode.startswith("INT8") and mode != "F32":
            exact = self.plain_outputs(self.exact, form, spec, pairs)
            of_fused, of_plain = (self.compared(made, exact)[0] for made in (ours, wanted))
            noise = f"of F32 {np.mean(of_fused):.6f} ({np.mean(of_plain):.6f})  "
            failed |= min(scores) < bound and (min(of_plain) >= bound or
                                               1 - np.mean(of_fused) > 2 * (1 - np.mean(of_plain)))
        elif form not in YUV or mode == "F32":
            failed |= min(scores) < bound
        colours = 0
        if form in YUV:
            colours = self.colours(fused, pairs[:COLOURS], spec)
            failed |= colours > 1
        # The same tables, or the same products in another order: the same integers. Without a mean
        # bytes are stored in unsigned integers, which the plain network does not know to do.
        is_finer = mode == "INT8_SYM" and not any(spec.mean or [0])
        failed |= (mode.startswith("INT8") and form not in YUV and same < len(scores)
                   and not is_finer)
        answers, equal, vendor = 0, 0, ""
        if self.options.vendor and "host: tpuc" in self.run("model_tool", "--info", summary["model"]):
            vendor = "  vendor refuses layers of our host"
        elif self.options.vendor:
            found = [self.vendors(fused, pathlib.Path(summary["model"]), array, own)
                     for array, own in zip(given, files)]
            failed |= any(each != "same" for each in found)
            answers = sum(each in ("same", "differs") for each in found)
            equal = found.count("same")
            self.vendor_rows += answers > 0
            self.vendor_answers += answers
            self.vendor_same += equal
            vendor = f"  vendor {equal} of {len(found)} same"
            vendor += "".join(f", {each}" for each in sorted(set(found) - {"same", "differs"}))
        self.failures += failed
        cycles = summary["cycles"]
        print(f"{name:14} {mode:9} {form:13} cosine {min(scores):.6f}  {noise}same {same}/{len(scores)}  "
              f"{f'colours {colours:.0f}  ' if form in YUV else ''}"
              f"cycles {cycles} ({cycles / plain_cycles:.3f})  file {of_file:.6f}{vendor}"
              f"{'  FAILED' if failed else ''}", flush=True)
        if self.options.record:
            self.record.setdefault((name, LABELS.get(mode, mode)), []).append(
                {"yuv": form in YUV, "cosine": min(scores), "same": same, "count": len(scores),
                 "file": of_file, "answers": answers, "equal": equal})
            write_record(self.options, self.record)

    def vendors(self, fused, model, array, ours):
        """Whether the vendor's runtime gives the bytes that our simulator gives."""
        name = re.search(r'loc\("([^"]+_raw)"\)', fused.read_text())[1]
        given, made = model.with_suffix(".theirs_in.npz"), model.with_suffix(".theirs.npz")
        made.unlink(missing_ok=True)
        np.savez(given, **{name: array})
        if not self.runtime.run(model, given, made):
            return "ended without an answer"
        with np.load(made) as theirs:
            same = all(theirs[key].tobytes() == ours[key].tobytes() for key in ours)
        return "same" if same else "differs"

    def colours(self, fused, pairs, spec):
        """By how much the bytes of colours on the chip differ from OpenCV's."""
        # One after the other: all tensors of a large network fill a disk.
        tensors = [self.infer(fused, [pair[0]], "--dump_all_tensors", wanted="_colours")[0] for pair in pairs]
        raw = Spec(f"{spec.dims[0]}x{spec.dims[1]},resize={spec.resize[0]}x{spec.resize[1]},"
                   f"{spec.order}")
        most = 0
        for made, (_, picture) in zip(tensors, pairs):
            (ours,) = made.values()
            most = max(most, np.abs(ours - raw.floats(picture)).max())
        return most

    def cycles_of(self, module, table, mode, model, *more):
        _, report = self.deploy(module, table, mode, model, *more)
        return report["model_file"]["cycles"]

    def cycles(self, name, onnx, spec):
        """A row of ratios of cycles for each mode and format that fits."""
        folder, module, table = self.prepare(name, onnx, spec)
        columns = [()] + [("--without", each) for each in self.options.without.split(",") if each]
        for mode in self.options.modes.split(","):
            model = folder / f"cycles{self.extension}"
            plain = [self.cycles_of(module, table, mode, model)]
            # What folds preprocessing finds none in the plain network.
            plain += [plain[0] if each[1].startswith("fold-s") else
                      self.cycles_of(module, table, mode, model, *each) for each in columns[1:]]
            for form in self.options.formats.split(","):
                if (form == "GRAYSCALE") != (spec.order == "gray"):
                    continue
                if form in YUV and any(side % 2 for side in spec.resize):
                    continue
                fuse = ["--fuse_preprocess", "--customization_format", form]
                fuse += ["--aligned_input"] if self.options.aligned else []
                ratios = [self.cycles_of(module, table, mode, model, *fuse, *each) / cycles
                          for each, cycles in zip(columns, plain)]
                print(f"{name:14} {mode:9} {form:13} plain {plain[0]}  fused {ratios[0]:.3f}" +
                      "".join(f"  without {each[1]} {ratio:.3f}"
                              for each, ratio in zip(columns[1:], ratios[1:])), flush=True)

    def resizes(self, name, onnx, spec):
        """A row for each mode and each size of pictures."""
        folder, module, table = self.prepare(name, onnx, spec)
        form = f"{spec.order.upper()}_PLANAR"
        for mode in self.options.modes.split(","):
            model = folder / f"resize_{mode}{self.extension}"
            fuse = ["--fuse_preprocess", "--customization_format", form]
            plain = self.cycles_of(module, table, mode, model, *fuse)
            for text in self.options.resize.split(","):
                size = [int(side) for side in text.split("x")]
                fused, report = self.deploy(module, table, mode, model, *fuse, "--fuse_resize",
                                            f"{size[0]},{size[1]}")
                given = Spec(f"{text},{spec.order}")
                pictures = [cv2.resize(cv2.imread(str(file)), size[::-1]) for file in self.pictures]
                arrays = [given.floats(picture).astype(np.uint8) for picture in pictures]
                made = self.infer(fused, arrays, "--dump_all_tensors")
                whole = Spec(f"{spec.resize[0]}x{spec.resize[1]},{spec.order}")
                most = 0
                for tensors, picture in zip(made, pictures):
                    ours = next(value for key, value in tensors.items() if key.endswith("_resized"))
                    most = max(most, np.abs(ours - whole.floats(cv2.resize(picture, spec.resize[::-1]))).max())
                files = self.infer(model, arrays[:self.options.on_chip])
                of_file = min(cosine(a[key], b[key]) for a, b in zip(files, made) for key in a)
                failed = most > 1 or of_file < 0.999
                self.failures += failed
                cycles = report["model_file"]["cycles"]
                print(f"{name:14} {mode:9} {text:10} bytes {most:.0f}  cycles {cycles} ({cycles / plain:.3f})  "
                      f"file {of_file:.6f}{'  FAILED' if failed else ''}", flush=True)

    def network(self, name, onnx, spec):
        folder, module, table = self.prepare(name, onnx, spec)
        forms = self.options.formats.split(",")
        fits = [form for form in forms if (form == "GRAYSCALE") == (spec.order == "gray")]
        self.known.clear()
        # In F32 where the chip has it, else the module itself.
        self.exact = module
        if self.options.chip == "bm1684x":
            exact, _ = self.deploy(module, table, "F32", folder / "exact.bmodel")
            self.exact = self.keep(exact, folder / "exact_tpu.mlir")
        for mode in self.options.modes.split(","):
            self.known = {key: made for key, made in self.known.items() if key[0] == self.exact}
            self.comparisons.clear()
            plain = folder / f"plain_{mode}{self.extension}"
            lowered, report = self.deploy(module, table, mode, plain)
            lowered = self.keep(lowered, folder / f"plain_{mode}_tpu.mlir")
            cycles = report["model_file"]["cycles"]
            for form in fits:
                if form in YUV and any(side % 2 for side in spec.resize):
                    continue
                model = folder / f"{form}_{mode}{self.extension}"
                try:
                    fused, report = self.deploy(module, table, mode, model, "--fuse_preprocess",
                                                "--customization_format", form, "--yuv_range",
                                                "video", *self.frames)
                    summary = {"model": model, "cycles": report["model_file"]["cycles"]}
                    self.row(name, mode, form, lowered, cycles, fused, summary, spec)
                except RuntimeError as error:
                    self.failures += 1
                    print(f"{name:14} {mode:9} {form:13} {error}  FAILED", flush=True)

    @staticmethod
    def keep(lowered, path):
        """The plain module under a name of its own: the fused one replaces it."""
        text = lowered.read_text()
        weights = text.split('module.weight_file = "')[1].split('"')[0]
        own = path.with_suffix(".npz")
        own.write_bytes((lowered.parent / weights).read_bytes())
        path.write_text(text.replace(f'"{weights}"', f'"{own.name}"'))
        return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", required=True)
    parser.add_argument("--tools", default="build/bin")
    parser.add_argument("--chip", default="bm1684x")
    parser.add_argument("--aligned", action="store_true")
    parser.add_argument("--cycles", action="store_true")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--formats", default=",".join(FORMATS))
    parser.add_argument("--pictures", type=int, default=50)
    parser.add_argument("--on_chip", type=int, default=1)
    parser.add_argument("--without", default="")
    parser.add_argument("--vendor", default="")
    parser.add_argument("--resize", default="")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--record", default="")
    parser.add_argument("networks", nargs="+")
    options = parser.parse_args()
    for what, known in (("modes", MODES), ("formats", FORMATS)):
        if unknown := set(getattr(options, what).split(",")) - set(known):
            parser.error(f"--{what}: {', '.join(sorted(unknown))}; expected {', '.join(known)}")
    for what in ("pictures", "on_chip"):
        if getattr(options, what) < 1:
            parser.error(f"--{what}: {getattr(options, what)}; expected 1 at least")
    bench = Bench(options)
    for text in options.networks:
        name, _, rest = text.partition("=")
        onnx, _, spec = rest.rpartition(":")
        work = bench.cycles if options.cycles else bench.resizes if options.resize else bench.network
        work(name, pathlib.Path(onnx).resolve(), Spec(spec))
    if options.cycles:
        return 0
    print(f"{bench.failures} rows beyond their bounds")
    compared = True
    if options.vendor:
        print(f"{bench.vendor_rows} rows compared with the vendor's runtime: {bench.vendor_same} of "
              f"{bench.vendor_answers} answers have the same bytes")
        compared = bench.vendor_answers > 0
    return 1 if options.check and (bench.failures or not compared) else 0


if __name__ == "__main__":
    sys.exit(main())
