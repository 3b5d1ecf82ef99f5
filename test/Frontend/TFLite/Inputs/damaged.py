#!/usr/bin/env python3
"""Changes shapes of some models, and prints how tpuc-tflite ends.

argv: the schema, a file of models as JSON, a folder to work in.
"""

import json
import pathlib
import subprocess
import sys

# The model's name begins so: the name of the case, the tensor or the field, what it becomes.
CHANGES = [
    ("lstm.projection", "rank of the projection", "t13", []),
    ("lstm.basic", "rank of the hidden state", "in1", []),
    ("lstm.basic", "rank of the cell state", "in2", [5, 7, 3, 2]),
    ("lstm.basic", "bias", "t3", [1, 8]),
    ("bidirectional_sequence_lstm.coupled.True.True.backward", "longer auxiliary input", "in1", [5, 2, 3]),
    ("bidirectional_sequence_lstm.coupled.True.True.crossed", "shorter auxiliary input", "in1", [1, 2, 3]),
    ("matrix_set_diag", "more matrices", "in0", [4, 3, 3]),
    ("matrix_set_diag", "more diagonals", "in1", [2, 3]),
]


def main():
    schema, texts, folder = sys.argv[1], pathlib.Path(sys.argv[2]).read_text(), pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    source, made = folder / "model.json", folder / "model.tflite"
    for number, (begin, what, name, shape) in enumerate(CHANGES):
        model = json.loads(next(line for line in texts.splitlines() if line.startswith(begin)).split(" ", 1)[1])
        tensor = next(each for each in model["subgraphs"][0]["tensors"] if each["name"] == name)
        assert tensor["shape"] != shape
        tensor["shape"] = shape
        if not shape and "buffer" in tensor:
            model["buffers"][tensor["buffer"]]["data"] = [0, 0, 128, 63]
        source.write_text(json.dumps(model))
        subprocess.run(["flatc", "--binary", "-o", folder, schema, source], check=True)
        done = subprocess.run(["tpuc-tflite", made], capture_output=True, text=True)
        lines = done.stderr.strip().splitlines()
        is_error = len(lines) == 1 and done.returncode == 1
        print(f"{number} {begin.split('.')[0]}, {what}\n{lines[0] if is_error else (done.returncode, lines)}")


if __name__ == "__main__":
    main()
