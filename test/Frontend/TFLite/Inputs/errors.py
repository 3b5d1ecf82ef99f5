#!/usr/bin/env python3
"""Changes a model in one place after the other, and prints how tpuc-tflite ends.

argv: the schema, the model as text, a folder to work in.
"""

import pathlib
import subprocess
import sys

CHANGES = {
    "as it is": ("", ""),
    "version": ("version: 3", "version: 2"),
    "buffer": ("buffer: 1", "buffer: 9"),
    "short buffer": ("0,0,0,64, 0,0,128,63", "0,0,0,64"),
    "extent": ('"a", shape: [3]', '"a", shape: [-3]'),
    "huge": ('"a", shape: [3]', '"a", shape: [2147483647, 2147483647, 2147483647]'),
    "code": ("opcode_index: 0", "opcode_index: 7"),
    "unknown op": ('builtin_code: "ADD"', "builtin_code: 250"),
    "custom op": ('builtin_code: "ADD"', 'builtin_code: "CUSTOM", custom_code: "Mine"'),
    "op input": ("inputs: [0, 1]", "inputs: [0, 77]"),
    "left out": ("inputs: [0, 1]", "inputs: [0, -1]"),
    "graph input": ("inputs: [0],", "inputs: [5],"),
    "cycle": ("inputs: [0, 1]", "inputs: [0, 2]"),
    "twice": ("outputs: [2], builtin", "outputs: [0], builtin"),
    "options": ('"AddOptions"', '"SoftmaxOptions"'),
    "activation": ("builtin_options: {}", "builtin_options: { fused_activation_function: 5 }"),
    "shapes": ('"a", shape: [3]', '"a", shape: [4]'),
    "string": ('"FLOAT32"', '"STRING"'),
    "scale": ("buffer: 1", "buffer: 1, quantization: { scale: [0.0] }"),
    "scales": ("buffer: 1", "buffer: 1, quantization: { scale: [1.0, 2.0] }"),
    "zero points": ("buffer: 1", "buffer: 1, quantization: { scale: [1.0], zero_point: [1, 2] }"),
    "zero point": ('"b", shape: [3]', '"b", shape: [3], type: "UINT8", quantization: { scale: [1.0], zero_point: [256] }'),
    "no scale": ('"FLOAT32" },\n      { name: "b", shape: [3], buffer: 1 }',
                 '"INT8", quantization: { scale: [1.0] } },\n      { name: "b", shape: [12], type: "INT8", buffer: 1 }'),
    "type": ('"c", shape: [3]', '"c", shape: [3], type: "INT32"'),
    "axis": ("buffer: 1", "buffer: 1, quantization: { scale: [1.0, 2.0, 3.0], quantized_dimension: 4 }"),
}


def run(*arguments):
    done = subprocess.run(["tpuc-tflite", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode == 0:
        return next(line for line in done.stdout.splitlines() if "top.Add" in line)
    # One line, and no end by a signal.
    lines = done.stderr.strip().splitlines()
    return lines[0] if len(lines) == 1 and done.returncode == 1 else f"status {done.returncode}: {lines}"


def main():
    schema, text, folder = sys.argv[1], pathlib.Path(sys.argv[2]).read_text(), pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    for name, (old, new) in CHANGES.items():
        assert text.count(old) == 1 or not old, name
        source = folder / f"{name.replace(' ', '_')}.json"
        source.write_text(text.replace(old, new) if old else text)
        subprocess.run(["flatc", "--binary", "-o", folder, schema, source], check=True)
        print(f"{name}\n{run(source.with_suffix('.tflite'))}")
        if name != "as it is":
            continue
        whole = source.with_suffix(".tflite").read_bytes()
        part = folder / "part.tflite"
        part.write_bytes(whole[:4] + b"TFL2" + whole[8:])
        print(f"identifier\n{run(part)}")
        part.write_bytes(b"")
        print(f"empty\n{run(part)}")
        taken = []
        for length in range(1, len(whole), 3):
            part.write_bytes(whole[:length])
            if "tpuc-tflite: error: " not in run(part):
                taken.append(length)
        print("truncated\n" + (f"taken: {taken}" if taken else "no length is taken"))
        print(f"missing\n{run(folder / 'none.tflite')}")
        last = run(source.with_suffix(".tflite"), "--output_names=nope")
    print(f"output name\n{last}")


if __name__ == "__main__":
    main()
