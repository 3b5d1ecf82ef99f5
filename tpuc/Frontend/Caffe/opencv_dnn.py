# Runs a Caffe network with OpenCV and writes the tensors that are asked for to an npz file.
# argv[1]: a JSON file {"model", "weights", "inputs" (npz), "outputs" (npz), "tensors" (a list of
# {"layer", "blob", "top" (which of the layer's), "name"}), "threads"}.
# Exit status 77: OpenCV is not installed, or it is one that does not read Caffe's networks.
import json
import sys
import zipfile

try:
    import cv2
    import numpy as np
    cv2.dnn.readNetFromCaffe
except (ImportError, AttributeError):
    sys.exit(77)

with open(sys.argv[1], encoding="utf-8") as file:
    order = json.load(file)
cv2.setNumThreads(order["threads"])
net = cv2.dnn.readNetFromCaffe(order["model"], order.get("weights", ""))
net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
# Every tensor as the network states it, by plain sums.
net.enableFusion(False)
if hasattr(net, "enableWinograd"):
    net.enableWinograd(False)
with np.load(order["inputs"]) as arrays:
    for name in arrays.files:
        net.setInput(arrays[name], name)
# OpenCV calls convolutions after the blobs that they make.
layers = set(net.getLayerNames())
for each in order["tensors"]:
    if each["layer"] not in layers:
        each["layer"] = each["blob"]
wanted = [each for each in order["tensors"] if each["layer"] in layers]
names = list(dict.fromkeys(each["layer"] for each in wanted))
values = dict(zip(names, net.forwardAndRetrieve(names)))


def ordered(layer, value):
    """The boxes of a detector by item, class and score, as Caffe gives them; OpenCV does not where
    it has to choose."""
    if net.getLayer(layer).type != "DetectionOutput":
        return value
    rows = value.reshape(-1, 7)
    found = rows[rows[:, 2] > 0]
    found = found[np.lexsort((-found[:, 2], found[:, 1], found[:, 0]))]
    return np.concatenate([found, rows[:len(rows) - len(found)] * 0]).reshape(value.shape)


with zipfile.ZipFile(order["outputs"], "w") as archive:
    for each in wanted:
        tops = values[each["layer"]]
        if each["top"] < len(tops):
            with archive.open(each["name"] + ".npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, ordered(each["layer"], np.asarray(tops[each["top"]])))
