"""directory_sha256.py FILE.npz: the SHA-256 of what stands behind the data of all entries."""

import hashlib
import sys
import zipfile

with zipfile.ZipFile(sys.argv[1]) as archive, open(sys.argv[1], "rb") as file:
    print(hashlib.sha256(file.read()[archive.start_dir:]).hexdigest())
