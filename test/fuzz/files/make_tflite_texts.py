#!/usr/bin/env python3
"""Writes test/fuzz/files/tflite.txt: a model for each builtin op of TFLite, a line each, as JSON.

They are cases of the conformance test, the smallest one of each op and element type, and of each kind of
recurrent cell. Needs `flatc`, and the package ai-edge-litert, whose tables the models are written with:
the Python of `./dev conformance tflite` has it.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "test" / "conformance" / "tflite"))

import cases  # noqa: E402
import cases_recurrent  # noqa: E402, F401
import cases_scatter  # noqa: E402, F401

SCHEMA = ROOT / "tpuc" / "Frontend" / "TFLite" / "TFLite.fbs"
MOST_BYTES = 5000


def text(data, folder):
    path = folder / "model.tflite"
    path.write_bytes(data)
    subprocess.run(["flatc", "--json", "--strict-json", "--raw-binary", "-o", folder, SCHEMA, "--", path], check=True)
    return json.dumps(json.loads(path.with_suffix(".json").read_text()))


def cell_of(name):
    """The kind of a recurrent cell, or of the auxiliary input of two directions; nothing for other ops."""
    parts = name.split(".")
    if not parts[0].endswith(("lstm", "rnn")):
        return ""
    return parts[-1] if parts[0].startswith("bidirectional") else parts[1]


def main():
    smallest = {}
    for case in cases.CASES:
        name, net = case[0], case[1]
        kind = (name.split(".")[0], ".integers." in name, cell_of(name))
        data = bytes(net.bytes())
        if kind not in smallest or len(data) < len(smallest[kind][1]):
            smallest[kind] = (name, data)
    with tempfile.TemporaryDirectory() as folder, (HERE / "tflite.txt").open("w") as file:
        for name, data in smallest.values():
            if len(data) <= MOST_BYTES:
                file.write(f"{name} {text(data, pathlib.Path(folder))}\n")


if __name__ == "__main__":
    main()
