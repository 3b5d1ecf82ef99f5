#!/usr/bin/env python3
"""Compares what tpuc and numpy read from and write to npz files.

usage: crosscheck.py path/to/npz_check
"""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile
import zlib

import ml_dtypes
import numpy

TOOL = sys.argv.pop(1)
NAMES = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "i8": "i1", "u8": "u1", "i16": "<i2",
         "u16": "<u2", "i32": "<i4", "u32": "<u4", "i64": "<i8", "u64": "<u8", "bool": "?"}
# What numpy has no type for, ml_dtypes' type for it, and the type in the file.
WIDENED = {"bf16": (ml_dtypes.bfloat16, "<f4"), "f8E4M3FN": (ml_dtypes.float8_e4m3fn, "<f4"),
           "f8E5M2": (ml_dtypes.float8_e5m2, "<f4"),
           "f8E4M3FNUZ": (ml_dtypes.float8_e4m3fnuz, "<f4"),
           "f8E5M2FNUZ": (ml_dtypes.float8_e5m2fnuz, "<f4")}


def tool(*arguments):
    return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, check=False)


def run(*arguments):
    result = tool(*arguments)
    if result.returncode != 0:
        raise AssertionError(f"{arguments}: {result.stderr}")
    return result.stdout


def pattern(count, modulus=251):
    """The bytes that npz_check writes."""
    return (numpy.arange(count) % modulus).astype("u1")


def nibbles(count, signed):
    packed = pattern((count + 1) // 2)
    values = numpy.stack([packed & 15, packed >> 4], axis=1).reshape(-1)[:count].astype("i1")
    return numpy.where(values > 7, values - 16, values).astype("i1") if signed else \
        values.astype("u1")


def dumped(path):
    """name -> (type, shape, CRC of the elements in C order, borrowed, deflated)."""
    result = {}
    for line in run("dump", path).splitlines():
        name, dtype, shape, crc, owner, method = line.split("\t")
        extents = tuple(int(n) for n in shape.strip("[]").split(", ") if n)
        result[name] = (NAMES[dtype], extents, int(crc, 16), owner == "borrowed",
                        method == "deflated")
    return result


class CrossCheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "file.npz"

    def expect_same(self, arrays, deflated):
        found = dumped(self.path)
        self.assertEqual(list(found), list(arrays))
        for name, array in arrays.items():
            dtype, shape, crc, _, is_deflated = found[name]
            plain = numpy.array(array, dtype=array.dtype.newbyteorder("<"), order="C")
            with self.subTest(name=name):
                self.assertEqual(numpy.dtype(dtype), plain.dtype)
                self.assertEqual(shape, array.shape)
                self.assertEqual(crc, zlib.crc32(plain.tobytes()))
                self.assertEqual(is_deflated, deflated)

    def samples(self):
        rng = numpy.random.default_rng(1)
        arrays = {}
        for name, dtype in NAMES.items():
            values = numpy.frombuffer(rng.bytes(8 * 60), "u1")
            values = (values % 2).astype(bool) if name == "bool" else values.view(dtype)
            arrays[f"c/{name}"] = values[:60].reshape(3, 4, 5)
            arrays[f"fortran/{name}"] = numpy.asfortranarray(arrays[f"c/{name}"])
            arrays[f"big/{name}"] = arrays[f"c/{name}"].astype(numpy.dtype(dtype).newbyteorder(">"))
            arrays[f"both/{name}"] = numpy.asfortranarray(arrays[f"big/{name}"])
            arrays[f"scalar/{name}"] = arrays[f"c/{name}"][1, 1, 1].reshape(())
            arrays[f"empty/{name}"] = numpy.zeros((2, 0, 3), dtype)
        arrays["with space"] = numpy.arange(3)
        arrays["Größe/层"] = numpy.arange(4)
        arrays["n" * 3000] = numpy.arange(5)
        arrays["rank 8"] = numpy.asfortranarray(rng.random((2, 1, 3, 1, 2, 2, 1, 2)))
        return arrays

    def test_numpy_writes_stored(self):
        arrays = self.samples()
        numpy.savez(self.path, **arrays)
        self.expect_same(arrays, deflated=False)

    def test_numpy_writes_compressed(self):
        arrays = self.samples()
        numpy.savez_compressed(self.path, **arrays)
        self.expect_same(arrays, deflated=True)

    def test_tpuc_writes(self):
        run("write", self.path)
        with zipfile.ZipFile(self.path) as archive:
            self.assertIsNone(archive.testzip())
            for entry in archive.infolist():
                self.assertEqual(entry.date_time, (1980, 1, 1, 0, 0, 0))
        with numpy.load(self.path) as file:
            for name, dtype in NAMES.items():
                array = file[f"type/{name}"]
                count = 256 * array.dtype.itemsize
                self.assertEqual(array.dtype, numpy.dtype(dtype))
                self.assertEqual(array.shape, (16, 16))
                self.assertEqual(array.tobytes(),
                                 pattern(count, 2 if name == "bool" else 251).tobytes())
            for name, (narrow, wide) in WIDENED.items():
                array = file[f"type/{name}"]
                expected = pattern(256 * numpy.dtype(narrow).itemsize).view(narrow).astype(wide)
                self.assertEqual(array.dtype, numpy.dtype(wide))
                numpy.testing.assert_array_equal(array.reshape(-1), expected)
                numbers = ~numpy.isnan(expected)
                numpy.testing.assert_array_equal(numpy.signbit(array.reshape(-1)[numbers]),
                                                 numpy.signbit(expected[numbers]))
            for name, signed in (("i4", True), ("u4", False)):
                array = file[f"type/{name}"]
                self.assertEqual(array.dtype, numpy.int8 if signed else numpy.uint8)
                numpy.testing.assert_array_equal(array.reshape(-1), nibbles(256, signed))
                # The values, as ml_dtypes sees them.
                narrow = ml_dtypes.int4 if signed else ml_dtypes.uint4
                numpy.testing.assert_array_equal(array, array.astype(narrow).astype(array.dtype))
            for rank in range(9):
                self.assertEqual(file[f"rank {rank}"].shape,
                                 tuple(i % 2 + 1 for i in range(rank)))
            self.assertEqual(file["empty"].shape, (3, 0, 2))
            self.assertEqual(file["empty i4"].shape, (0,))
            numpy.testing.assert_array_equal(file["odd i4"], nibbles(3, True))
            numpy.testing.assert_array_equal(file["Größe/层.npy"], pattern(10).view("<i2"))
            self.assertEqual(len(file["n" * 3000]), 2)
        again = self.folder / "again.npz"
        run("write", again)
        self.assertEqual(self.path.read_bytes(), again.read_bytes())

    def test_everything_tpuc_writes_is_borrowed(self):
        run("write", self.path)
        for name, (_, _, _, borrowed, deflated) in dumped(self.path).items():
            self.assertTrue(borrowed and not deflated, name)

    def test_npy_both_ways(self):
        for version in ((1, 0), (2, 0), (3, 0)):
            array = numpy.asfortranarray(numpy.arange(24.0).reshape(2, 3, 4)).astype(">f4")
            with open(self.folder / "in.npy", "wb") as file:
                numpy.lib.format.write_array(file, array, version=version)
            run("npy", self.folder / "in.npy", self.folder / "out.npy")
            back = numpy.load(self.folder / "out.npy")
            self.assertEqual(back.dtype, numpy.float32)
            numpy.testing.assert_array_equal(back, array)

    def test_foreign_types_are_refused_by_name(self):
        foreign = {"complex": numpy.zeros(2, "c8"), "strings": numpy.array(["a"]),
                   "byte strings": numpy.array([b"a"]), "structured": numpy.zeros(1, [("x", "f4")]),
                   "dates": numpy.zeros(1, "M8[s]"), "time spans": numpy.zeros(1, "m8[s]"),
                   "astype(numpy.float32)": numpy.zeros(2, ml_dtypes.bfloat16),
                   "floats of 1 bytes": numpy.zeros(2, ml_dtypes.float8_e5m2),
                   "Python objects": numpy.array([None])}
        for text, array in foreign.items():
            numpy.savez(self.path, a=array)
            result = tool("dump", self.path)
            self.assertEqual(result.returncode, 1, text)
            self.assertIn(text, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)

    def test_many_entries(self):
        count = 66000  # more than the 16 bits of the old format count
        run("many", self.path, count)
        with zipfile.ZipFile(self.path) as archive:
            names = archive.namelist()
            self.assertEqual(len(names), count)
            self.assertEqual(names[count - 1], f"t{count - 1}.npy")
        with numpy.load(self.path) as file:
            for i in (0, 65534, 65535, 65536, count - 1):
                self.assertEqual(file[f"t{i}"], i)
        found = dumped(self.path)
        self.assertEqual(len(found), count)
        for i in (0, 65535, count - 1):
            self.assertEqual(found[f"t{i}"][2], zlib.crc32(struct.pack("<i", i)))

    def test_numpy_reads_more_than_4_gib(self):
        size = (4 << 30) + 5
        run("big", self.path, size)
        self.assertLess(os.stat(self.path).st_blocks * 512, 16 << 20, "zeros take disk space")
        with zipfile.ZipFile(self.path) as archive:
            big, behind = archive.infolist()
            self.assertGreater(big.file_size, size)
            with archive.open(big) as file:
                version = numpy.lib.format.read_magic(file)
                self.assertEqual(version, (1, 0))
                shape, fortran, dtype = numpy.lib.format.read_array_header_1_0(file)
                self.assertEqual((shape, fortran, dtype), ((size,), False, numpy.uint8))
                self.assertEqual(file.read(2), b"\x07\x00")
            self.assertGreater(behind.header_offset, size)
            # The elements end where the next local header begins.
            with open(self.path, "rb") as file:
                file.seek(behind.header_offset - 2)
                self.assertEqual(file.read(6), b"\x00\x09PK\x03\x04")
        with numpy.load(self.path) as file:
            self.assertEqual(file["behind"].tolist(), [5, 6])
        self.assertEqual(run("spot", self.path, "big", 0, 1, size - 2, size - 1).split(),
                         ["7", "0", "0", "9"])

    def test_tpuc_reads_more_than_4_gib(self):
        size = (4 << 30) + 5
        # As zipfile would write it, but with a hole for the zeros. A view needs no CRC.
        header = numpy.lib.format
        with open(self.path, "wb") as file:
            start = bytearray()
            text = header.magic(1, 0)
            dictionary = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({size},), }}"
            dictionary = dictionary.ljust(117) + "\n"
            start += text + struct.pack("<H", len(dictionary)) + dictionary.encode()
            total = len(start) + size
            extra = struct.pack("<HHQQ", 1, 16, total, total)
            name = b"big.npy"
            file.write(struct.pack("<4s5H3L2H", b"PK\x03\x04", 45, 0, 0, 0, 33, 0, 0xFFFFFFFF,
                                   0xFFFFFFFF, len(name), len(extra)) + name + extra + start)
            file.seek(size - 1, os.SEEK_CUR)
            file.write(b"\x09")
            directory = file.tell()
            file.write(struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 45, 45, 0, 0, 0, 33, 0,
                                   0xFFFFFFFF, 0xFFFFFFFF, len(name), len(extra), 0, 0, 0, 0, 0)
                       + name + extra)
            end = file.tell()
            file.write(struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1,
                                   end - directory, directory))
            file.write(struct.pack("<4sLQL", b"PK\x06\x07", 0, end, 1))
            file.write(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, end - directory,
                                   0xFFFFFFFF, 0))
        with zipfile.ZipFile(self.path) as archive:
            self.assertEqual(archive.getinfo("big.npy").file_size, total)
        self.assertEqual(run("spot", self.path, "big", 0, size - 2, size - 1).split(),
                         ["0", "0", "9"])


if __name__ == "__main__":
    unittest.main()
