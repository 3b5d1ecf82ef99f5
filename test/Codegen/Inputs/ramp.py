"""Writes an npz file of f32 arrays with values from -1 to 1 that repeat only after many elements.

usage: ramp.py FILE.npz NAME=EXTENT,EXTENT,... ...
"""

import math
import struct
import sys
import zipfile

MODULUS = 1009


def npy(shape):
    count = math.prod(shape)
    values = ((i * 373 % MODULUS) / (MODULUS // 2) - 1 for i in range(count))
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }" % "".join(
        "%d, " % extent for extent in shape)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(
        "<%df" % count, *values)


with zipfile.ZipFile(sys.argv[1], "w") as archive:
    for argument in sys.argv[2:]:
        name, extents = argument.split("=")
        archive.writestr(name + ".npy", npy([int(extent) for extent in extents.split(",")]))
