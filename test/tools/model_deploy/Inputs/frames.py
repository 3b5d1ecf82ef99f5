"""frames.py FORMAT HEIGHT WIDTH ROWS PLANES FOLDER: one random picture as plain.npz and, in a frame buffer whose rows
and planes begin at multiples of these bytes and whose gaps hold noise, as frame.npz; both have the array x_raw."""

import pathlib
import random
import sys
import zipfile


def write(path, shape, data):
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("x_raw.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data)


def noise(count):
    return bytes(random.randrange(256) for _ in range(count))


def framed(rows, row, plane):
    """The bytes of a plane, given its rows."""
    made = b"".join(each + noise(-len(each) % row) for each in rows)
    return made + noise(-len(made) % plane)


def main(name, height, width, row, plane, folder):
    random.seed(5)
    folder = pathlib.Path(folder)

    def rows(count, length):
        return [noise(length) for _ in range(count)]

    if name in ("BGR_PACKED", "GRAYSCALE"):
        per_pixel = 3 if name == "BGR_PACKED" else 1
        parts = [rows(height, width * per_pixel)]
        plain = (1, height, width, 3) if per_pixel == 3 else (1, 1, height, width)
        frames = [framed(parts[0], row, 1)]
        shape = (1, 1, height, len(frames[0]) // height)
    elif name.startswith("YUV"):
        half = name == "YUV420_PLANAR"
        chroma = width // 2 if half else width
        parts = [rows(height, width)] + [rows(height // 2, chroma) for _ in range(2 if half else 1)]
        plain = (1, 1, height // 2 * 3, width)
        frames = [framed(parts[0], 2 * row if half else row, plane)] + [framed(each, row, plane) for each in parts[1:]]
        shape = (1, 1, 1, sum(map(len, frames)))
    else:
        parts = [rows(height, width) for _ in range(3)]
        plain = (1, 3, height, width)
        frames = [framed(each, row, plane) for each in parts]
        shape = (1, 3, 1, len(frames[0]))
    write(folder / "plain.npz", plain, b"".join(each for part in parts for each in part))
    write(folder / "frame.npz", shape, b"".join(frames))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:6]), sys.argv[6])
