"""The 5,000 handwritten digits of test/models and the network that reads them, with nothing but
Python's own library, so that this works where no package can be installed."""

import array
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import zipfile
import zlib

MODELS = pathlib.Path(__file__).resolve().parent.parent.parent / "test" / "models"
INPUT = "Input3"
# digits.png: 100 cells of 20 x 20 pixels in a row, five rows of each digit.
CELL, COLUMNS, ROWS_PER_DIGIT = 20, 100, 5
# The network sees 28 x 28 pixels, 0 to 255.
SIDE = 28
# What makes of mnist-conv.onnx, a network for one digit, one for any number: bytes of the file, each
# of which occurs once, and what takes their place.
FOR_MANY = (
    # The batch of the input and of the output: an extent without a number instead of 1.
    (b"Input3\x12\x16\n\x14\x08\x01\x12\x10\n\x02\x08\x01",
     b"Input3\x12\x16\n\x14\x08\x01\x12\x10\n\x02\x12\x00"),
    (b"Plus214_Output_0\x12\x0e\n\x0c\x08\x01\x12\x08\n\x02\x08\x01",
     b"Plus214_Output_0\x12\x0e\n\x0c\x08\x01\x12\x08\n\x02\x12\x00"),
    # The shape in which the features meet the matrix: [0, 256], 0 for as many as there are, instead
    # of [1, 256].
    (b"\x01\x80\x02B\x22Pooling160_Output_0_reshape0_shape",
     b"\x00\x80\x02B\x22Pooling160_Output_0_reshape0_shape"),
)


def decode_png(data: bytes) -> list[bytearray]:
    """The rows of a PNG file of 8 bits gray, not interlaced."""
    position, body, width = 8, b"", 0
    while position < len(data):
        length, kind = struct.unpack_from(">I4s", data, position)
        chunk = data[position + 8:position + 8 + length]
        position += length + 12
        if kind == b"IHDR":
            width, _, *form = struct.unpack(">IIBBBBB", chunk)
            if form != [8, 0, 0, 0, 0]:
                raise ValueError("expected a PNG file of 8 bits gray, not interlaced")
        elif kind == b"IDAT":
            body += chunk
    body = zlib.decompress(body)
    rows, above = [], bytearray(width)
    for start in range(0, len(body), width + 1):
        above = unfilter(body[start], bytearray(body[start + 1:start + 1 + width]), above)
        rows.append(above)
    return rows


def unfilter(method: int, row: bytearray, above: bytearray) -> bytearray:
    """Undoes a filter of the PNG specification, section 9: adds what was predicted."""
    left = corner = 0
    for x, up in enumerate(above):
        guess = (0, left, up, (left + up) // 2, 0)[method] if method < 4 else \
            min((abs(up - corner), 0, left), (abs(left - corner), 1, up),
                (abs(left + up - 2 * corner), 2, corner))[2]
        left, corner = (row[x] + guess) & 255, up
        row[x] = left
    return row


def read_digits() -> list[list[bytearray]]:
    """Each digit as its 20 rows; digit number i is a i // 500."""
    rows = decode_png((MODELS / "digits.png").read_bytes())
    return [[row[x:x + CELL] for row in rows[y:y + CELL]]
            for y in range(0, len(rows), CELL) for x in range(0, COLUMNS * CELL, CELL)]


def label(number: int) -> int:
    return number // (COLUMNS * ROWS_PER_DIGIT)


def padded(digit: list[bytearray]) -> bytes:
    """28 x 28 bytes with the digit in the middle."""
    margin = (SIDE - CELL) // 2
    empty, side = bytes(SIDE * margin), bytes(margin)
    return empty + b"".join(side + row + side for row in digit) + empty


def write_npz(path: pathlib.Path, digits: list[list[bytearray]]):
    """The network's input: f32 [number of digits, 1, 28, 28]."""
    values = array.array("f", iter(b"".join(map(padded, digits))))
    header = str({"descr": "<f4", "fortran_order": False, "shape": (len(digits), 1, SIDE, SIDE)})
    header = header.ljust(117) + "\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(INPUT + ".npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) +
                         header.encode() + values.tobytes())


def read_npz(path: pathlib.Path) -> list[list[float]]:
    """The rows of the only array, f32 [number of digits, 10]."""
    with zipfile.ZipFile(path) as archive:
        (name,) = archive.namelist()
        data = archive.read(name)
    (length,) = struct.unpack_from("<H", data, 8)
    values = array.array("f", data[10 + length:])
    return [list(values[start:start + 10]) for start in range(0, len(values), 10)]


def write_network_for_many(path: pathlib.Path):
    """mnist-conv.onnx for any number of digits at once."""
    model = (MODELS / "mnist-conv.onnx").read_bytes()
    for before, after in FOR_MANY:
        if model.count(before) != 1:
            raise ValueError("mnist-conv.onnx is not the file that is expected")
        model = model.replace(before, after)
    path.write_bytes(model)


def best(scores: list[float]) -> int:
    return max(range(len(scores)), key=scores.__getitem__)


def confidence(scores: list[float]) -> float:
    """The softmax of the best of the scores."""
    return 1 / sum(math.exp(each - max(scores)) for each in scores)


class Programs:
    """model_transform and model_runner of a build folder; what they write goes to `folder`."""

    def __init__(self, build: pathlib.Path, folder: pathlib.Path):
        self.programs, self.folder = build / "bin", folder
        # ONNX Runtime, where ./dev has installed it, is what model_transform compares with.
        packages = build.resolve().parent / ".venv" / "bin"
        self.environment = os.environ | {
            "PATH": os.pathsep.join([str(packages), os.environ["PATH"]])}

    def call(self, program: str, *arguments) -> dict:
        """Runs a program and returns its report; ends with what it said where it fails."""
        result = subprocess.run([str(self.programs / program), *map(str, arguments), "--json", "-"],
                                capture_output=True, text=True, env=self.environment, check=False)
        if result.returncode != 0:
            sys.exit(result.stderr.strip() or f"{program}: status {result.returncode}")
        return json.loads(result.stdout)

    def read(self, digits: list[list[bytearray]]) -> tuple[list[list[float]], dict, dict]:
        """The network's ten scores for each digit; the reports of model_transform, which has
        compared all tensors on these digits, and of model_runner."""
        model, source = self.folder / "digits.onnx", self.folder / "digits_test.npz"
        module, target = self.folder / "digits.mlir", self.folder / "digits_out.npz"
        write_network_for_many(model)
        write_npz(source, digits)
        transform = self.call("model_transform", "--model_def", model, "--mlir", module,
                              "--input_shapes", f"[[{len(digits)},1,{SIDE},{SIDE}]]",
                              "--test_input", source)
        run = self.call("model_runner", "--model", module, "--input", source, "--output", target,
                        "--time", 3)
        return read_npz(target), transform, run
