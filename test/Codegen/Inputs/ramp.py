"""Writes an npz file of f32 arrays with values from -1 to 1 that repeat only after many elements.

usage: ramp.py FILE.npz NAME=EXTENT,EXTENT,... ...

NAME:i64 stands for integers of 64 bits, small ones and such around powers of two, which differ from those of other
arrays; NAME:small for the small ones alone. NAME:i32 stands for integers of 32 bits from -2 to 1, NAME:all10 for
elements that all are 10 (or another number), and NAME:whole for floats from -9 to 9 that are whole numbers, NAME:zero
for floats that are 0. NAME:bits stands for integers of 64 bits that are 0 or 1. NAME:u8 stands for bytes, NAME:s8 for bytes with a sign.
"""

import math
import re
import struct
import sys
import zipfile

MODULUS = 1009
INTEGERS = [-3, -2, -1, 0, 1, 2, 3, 2**31 - 1, 2**31, -2**31, -2**31 - 1, 2**32, 2**32 + 2, 2 - 2**32, 2**40 + 1, 2**62,
            -2**63]
KINDS = {"": lambda n: n / (MODULUS // 2) - 1, "i64": lambda n: INTEGERS[n % len(INTEGERS)], "small": lambda n: n % 7 - 3, "bits": lambda n: n % 2,
         "i32": lambda n: n % 4 - 2, "u8": lambda n: n % 256, "s8": lambda n: n % 256 - 128,
         "whole": lambda n: n % 19 - 9, "zero": lambda n: 0}
TYPES = {"": "f4", "whole": "f4", "zero": "f4", "i32": "i4", "all": "i4", "u8": "u1", "s8": "i1"}
CODES = {"u1": "B", "i1": "b", "f4": "f", "i4": "i", "i8": "q"}


def npy(shape, kind, number):
    numbers = [((number if kind else 0) + i) * 373 % MODULUS for i in range(math.prod(shape))]
    same = re.fullmatch("all([0-9]+)", kind)
    values = [int(same[1]) if same else KINDS[kind](n) for n in numbers]
    element = TYPES.get("all" if same else kind, "i8")
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (
        "<" + element, "".join("%d, " % extent for extent in shape))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(
        "<%d%s" % (len(values), CODES[element]), *values)


with zipfile.ZipFile(sys.argv[1], "w") as archive:
    for number, argument in enumerate(sys.argv[2:]):
        label, extents = argument.split("=")
        name, _, kind = label.rpartition(":")
        if not name or kind not in KINDS and not re.fullmatch("all[0-9]+", kind):
            name, kind = label, ""
        archive.writestr(name + ".npy", npy([int(extent) for extent in filter(None, extents.split(","))], kind, number))
