"""large_png.py WIDTH HEIGHT: the header of a PNG file of so many pixels, with an empty body."""

import struct
import sys
import zlib


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


width, height = int(sys.argv[1]), int(sys.argv[2])
sys.stdout.buffer.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                        chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b""))
