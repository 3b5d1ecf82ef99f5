#!/usr/bin/env python3
"""Writes the seeds of fuzz_npz into npz_seeds/ beside this file: what numpy and zipfile write, one
peculiarity each, and small."""

import io
import pathlib
import struct
import zipfile

import numpy

SEEDS = pathlib.Path(__file__).parent / "npz_seeds"


def npy_bytes(array, version=None):
    file = io.BytesIO()
    numpy.lib.format.write_array(file, array, version=version)
    return file.getvalue()


def zip_bytes(entries, method=zipfile.ZIP_STORED, stream=False):
    """An archive of (name, bytes). As a stream, sizes follow the data."""

    class Unseekable(io.BytesIO):
        def seekable(self):
            return False

        def seek(self, *_):
            raise io.UnsupportedOperation

        def tell(self):
            raise io.UnsupportedOperation

    file = Unseekable() if stream else io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in entries:
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return file.getvalue()


def savez(save, **arrays):
    file = io.BytesIO()
    save(file, **arrays)
    return file.getvalue()


def header_bytes(text):
    """A .npy file of version 1.0 with this dictionary."""
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def seeds():
    a = numpy.arange(6, dtype="<f4").reshape(2, 3)
    bools = numpy.array([True, False, True])
    yield "v1.npy", npy_bytes(a, (1, 0))
    yield "v2.npy", npy_bytes(a.astype("<i8"), (2, 0))
    yield "v3.npy", npy_bytes(a.astype("<u2"), (3, 0))
    yield "fortran.npy", npy_bytes(numpy.asfortranarray(a))
    yield "big_endian.npy", npy_bytes(a.astype(">f8"))
    yield "bool.npy", npy_bytes(bools)
    yield "scalar.npy", npy_bytes(numpy.float16(1))
    yield "empty.npy", npy_bytes(numpy.zeros((2, 0), "<i4"))
    yield "structured.npy", npy_bytes(numpy.zeros(1, [("x", "<f4")]))
    yield "huge_shape.npy", header_bytes(
        "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 4), }\n")
    yield "savez.npz", savez(numpy.savez, a=a, b=bools)
    yield "savez_compressed.npz", savez(numpy.savez_compressed, a=a, b=a.astype(">i2"))
    yield "none.npz", zip_bytes([])
    yield "names.npz", zip_bytes([("x/y z.npy", npy_bytes(a)), ("Größe.npy", npy_bytes(bools))])
    yield "stream.npz", zip_bytes([("a.npy", npy_bytes(a))], zipfile.ZIP_DEFLATED, stream=True)
    yield "folder.npz", zip_bytes([("x/", b""), ("x/a.npy", npy_bytes(a))])
    yield "no_array.npz", zip_bytes([("a.npy", b"text")])
    yield "bomb.npz", zip_bytes([("a.npy", npy_bytes(numpy.zeros(1 << 16, "u1")))],
                                zipfile.ZIP_DEFLATED)
    yield "bzip2.npz", zip_bytes([("a.npy", npy_bytes(a))], zipfile.ZIP_BZIP2)
    twice = zip_bytes([("a.npy", npy_bytes(a)), ("b.npy", npy_bytes(a))])
    yield "twice.npz", twice.replace(b"b.npy", b"a.npy")


def main():
    SEEDS.mkdir(exist_ok=True)
    for name, data in seeds():
        (SEEDS / name).write_bytes(data)


if __name__ == "__main__":
    main()
