"""twice.py FILE NAME N,N,... [once]: a gray picture of 2 rows of 4 pixels in an npz file, [1, 2, 4, 3], or with each
number as 2 by 2 pixels, [1, 4, 8, 3]."""

import sys
import zipfile

path, name, text = sys.argv[1:4]
numbers = [int(number) for number in text.split(",")]
times = 1 if len(sys.argv) > 4 else 2
rows = [[number for number in numbers[at:at + 4] for _ in range(times)] for at in (0, 4) for _ in range(times)]
header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': (1, {2 * times}, {4 * times}, 3), }}"
header += " " * (63 - (10 + len(header)) % 64) + "\n"
with zipfile.ZipFile(path, "w") as file:
    file.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
                  + bytes(number for row in rows for number in row for _ in range(3)))
