# Runs an ONNX model with ONNX Runtime and writes the tensors that are asked for to an npz file.
# argv[1]: a JSON file {"model", "inputs" (npz), "outputs" (npz), "tensors" (names of inner tensors;
# the outputs of the model come in any case), "threads"}.
# Exit status 77: ONNX Runtime is not installed.
import json
import os
import sys
import zipfile

try:
    import numpy as np
    import onnxruntime as ort
except ImportError:
    sys.exit(77)


def field(tag, payload):
    """A length-delimited protobuf field; `tag` is its first byte."""
    size, length = len(payload), b""
    while size >= 0x80:
        length += bytes([size & 0x7F | 0x80])
        size >>= 7
    return bytes([tag]) + length + bytes([size]) + payload


with open(sys.argv[1], encoding="utf-8") as file:
    order = json.load(file)
options = ort.SessionOptions()
options.intra_op_num_threads = order["threads"]
options.inter_op_num_threads = 1
options.log_severity_level = 4
# Every tensor as the model states it.
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
options.add_session_config_entry(
    "session.model_external_initializers_file_folder_path", os.path.dirname(order["model"]))

with open(order["model"], "rb") as file:
    model = file.read()
# A message appended to another is merged with it: ModelProto.graph (7) with GraphProto.output (12)
# with ValueInfoProto.name (1).
more = b"".join(field(0x62, field(0x0A, name.encode())) for name in order["tensors"])
session = ort.InferenceSession(model + field(0x3A, more), options, ["CPUExecutionProvider"])
del model

with np.load(order["inputs"]) as arrays:
    inputs = {each.name: arrays[each.name] for each in session.get_inputs()}
# Each once: a tensor that was asked for may be an output of the model already.
names = list(dict.fromkeys(
    each.name for each in session.get_outputs() if each.type.startswith("tensor(")))
values = session.run(names, inputs)
with zipfile.ZipFile(order["outputs"], "w") as archive:
    for name, value in zip(names, values):
        if value is not None:
            with archive.open(name + ".npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asarray(value))
