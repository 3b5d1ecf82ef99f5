"""Writes an npz file of f32 arrays with values from -1 to 1 that repeat only after many elements.

usage: ramp.py FILE.npz NAME=EXTENT,EXTENT,... ...

NAME:i64 stands for integers of 64 bits, small ones and such around powers of two, which differ from those of other
arrays; NAME:small for the small ones alone.
"""

import math
import struct
import sys
import zipfile

MODULUS = 1009
INTEGERS = [-3, -2, -1, 0, 1, 2, 3, 2**31 - 1, 2**31, -2**31, -2**31 - 1, 2**32, 2**32 + 2, 2 - 2**32, 2**40 + 1, 2**62,
            -2**63]
KINDS = {"": lambda n: n / (MODULUS // 2) - 1, "i64": lambda n: INTEGERS[n % len(INTEGERS)], "small": lambda n: n % 7 - 3}


def npy(shape, kind, number):
    numbers = [((number if kind else 0) + i) * 373 % MODULUS for i in range(math.prod(shape))]
    values = [KINDS[kind](n) for n in numbers]
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (
        "<i8" if kind else "<f4", "".join("%d, " % extent for extent in shape))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(
        "<%d%s" % (len(values), "q" if kind else "f"), *values)


with zipfile.ZipFile(sys.argv[1], "w") as archive:
    for number, argument in enumerate(sys.argv[2:]):
        label, extents = argument.split("=")
        name, _, kind = label.rpartition(":")
        if not name or kind not in KINDS:
            name, kind = label, ""
        archive.writestr(name + ".npy", npy([int(extent) for extent in extents.split(",")], kind, number))
