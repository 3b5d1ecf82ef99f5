# Runs a TFLite model with LiteRT's reference kernels and writes the tensors that are asked for to an
# npz file. argv[1]: a JSON file {"model", "inputs" (npz), "outputs" (npz), "arrays" (a list of
# {"index", "name"} of the inputs), "tensors" (a list of {"index", "name", "front" (whether the
# channels are to stand in second place)}), "threads"}.
# Exit status 77: LiteRT is not installed.
import json
import os
import sys
import zipfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
try:
    import numpy as np
    from ai_edge_litert import interpreter as litert
except ImportError:
    sys.exit(77)

with open(sys.argv[1], encoding="utf-8") as file:
    order = json.load(file)
model = litert.Interpreter(
    model_path=order["model"], num_threads=order["threads"],
    experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF,
    experimental_preserve_all_tensors=True)
with np.load(order["inputs"]) as arrays:
    values = {each["index"]: arrays[each["name"]] for each in order["arrays"]}
shapes = {each["index"]: tuple(each["shape"]) for each in model.get_input_details()}
for index, value in values.items():
    if shapes[index] != value.shape:
        model.resize_tensor_input(index, value.shape)
model.allocate_tensors()
types = {each["index"]: each["dtype"] for each in model.get_input_details()}
for index, value in values.items():
    model.set_tensor(index, value.astype(types[index]))
model.invoke()
with zipfile.ZipFile(order["outputs"], "w") as archive:
    for each in order["tensors"]:
        try:
            value = np.asarray(model.get_tensor(each["index"]))
        except ValueError:  # a tensor that no op made
            continue
        if each["front"]:
            value = np.moveaxis(value, -1, 1)
        with archive.open(each["name"] + ".npy", "w", force_zip64=True) as entry:
            np.lib.format.write_array(entry, np.ascontiguousarray(value) if value.ndim else value)
