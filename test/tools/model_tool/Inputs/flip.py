"""usage: flip.py FILE HEX MASK: flips the bits of MASK (hex) in the first byte of the first place
that holds HEX."""
import sys

path, found, mask = sys.argv[1:]
data = bytearray(open(path, "rb").read())
data[data.index(bytes.fromhex(found))] ^= int(mask, 16)
open(path, "wb").write(data)
