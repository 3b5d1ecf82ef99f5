"""flip_last.py FILE HEX: the file with one bit of the last byte of HEX changed, where HEX stands last in it."""

import sys

with open(sys.argv[1], "rb") as file:
    data = bytearray(file.read())
wanted = bytes.fromhex(sys.argv[2])
at = data.rindex(wanted) + len(wanted) - 1
data[at] ^= 1
sys.stdout.buffer.write(data)
