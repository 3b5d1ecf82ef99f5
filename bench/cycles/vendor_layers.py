"""Which layer the commands of TPU-MLIR's files belong to.

Its model files do not say so, but FILE.bmodel.json does, which stands beside FILE.bmodel: for each op,
load and store the numbers of the commands of both engines before and after it.
"""

import bisect
import json
import os
import re

ENGINES = ("TIU", "GDMA")


def layer_names(ops):
    """For each op the layer that it works for: what it computes, the first reader of what it loads,
    the maker of what it stores."""
    def first(tensors):
        return tensors[0]["name"] if tensors else ""

    readers = {}
    for op in ops:
        if op["opcode"] not in ("tpu.Load", "tpu.Store"):
            for operand in op["operands"]:
                readers.setdefault(operand.get("name"), first(op["results"]))
    names = []
    for op in ops:
        if op["opcode"] == "tpu.Load":
            loaded = first(op["results"])
            names.append(readers.get(loaded, loaded))
        else:
            names.append(first(op["operands" if op["opcode"] == "tpu.Store" else "results"]))
    return names


def name_commands(commands, model):
    """Fills in the layers of the commands of a model file (rows of `model_tool --profile --csv`).
    Returns whether the file says which they are."""
    table = os.path.realpath(model) + ".json"
    if not os.path.exists(table):
        return False
    with open(table, encoding="utf-8") as text:
        ops = json.load(text)
    # Numbers begin again with each sub-network.
    if len({op["subnet_id"] for op in ops}) > 1:
        return False
    lasts = {engine: [] for engine in ENGINES}
    owners = {engine: [] for engine in ENGINES}
    for op, name in zip(ops, layer_names(ops)):
        for number, engine in enumerate(ENGINES):
            if op["tiu_dma_id(after)"][number] > op["tiu_dma_id(before)"][number]:
                lasts[engine].append(op["tiu_dma_id(after)"][number])
                owners[engine].append(name)
    for command in commands:
        engine = command["engine"]
        place = bisect.bisect_left(lasts[engine], int(command["id"]))
        if place < len(owners[engine]):
            command["layer"] = owners[engine][place]
    return True


def cycles_of_layers(commands):
    """The cycles of each engine for each layer, under the name that the network has for it: TPU-MLIR
    adds the op's type to it."""
    layers = {}
    for command in commands:
        name = re.sub(r"_[A-Z]\w*$", "", command["layer"]) or "(no layer)"
        own = layers.setdefault(name, [0, 0])
        own[ENGINES.index(command["engine"])] += int(command["cycles"])
    return layers
