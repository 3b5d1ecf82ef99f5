"""peak.py FOLDER MODE...: the most memory that model_deploy takes for a network of 72 MB of weights,
beside the 1.3 times the weights and 200 MB that it may take."""

import array
import os
import sys
import zipfile

CHANNELS = 1024
LAYERS = 2
WEIGHTS = f"{CHANNELS}x{CHANNELS}x3x3xf32"


def write_weights(path):
    """A stored npz, whose elements begin at multiples of 64, so that it can be mapped."""
    line = array.array("f", [(i % 61 - 30) / 1024 for i in range(CHANNELS * 9)]).tobytes()
    with zipfile.ZipFile(path, "w") as file:
        for layer in range(LAYERS):
            name = f"w{layer}.npy"
            text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({CHANNELS}, {CHANNELS}, 3, 3), }}"
            begin = file.fp.tell() + 30 + len(name) + 10
            text += " " * (63 - (begin + len(text)) % 64) + "\n"
            with file.open(zipfile.ZipInfo(name), "w") as entry:
                entry.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode())
                for _ in range(CHANNELS):
                    entry.write(line)


def write_network(path):
    kind = f"tensor<1x{CHANNELS}x4x4xf32>"
    ops = []
    for layer in range(LAYERS):
        ops.append(f'%w{layer} = "top.Weight"() : () -> tensor<{WEIGHTS}> loc("w{layer}")')
        ops.append(f'%{layer + 1} = "top.Conv"(%{layer}, %w{layer}, %none) {{kernel_shape = [3, 3], '
                   f"pads = [1, 1, 1, 1], strides = [1, 1], group = 1 : i64}} : ({kind}, "
                   f'tensor<{WEIGHTS}>, none) -> {kind} loc("y{layer}")')
    with open(path, "w", encoding="utf-8") as file:
        file.write('module attributes {module.name = "net", module.weight_file = "weights.npz"} {\n'
                   f"func.func @main(%x: {kind}) -> {kind} {{\n"
                   '%none = "top.None"() : () -> none\n'
                   f'%0 = "top.Input"(%x) : ({kind}) -> {kind} loc("x")\n'
                   + "\n".join(ops) + f"\nreturn %{LAYERS} : {kind}\n}}\n}}\n")


folder, *modes = sys.argv[1:]
write_weights(folder + "/weights.npz")
write_network(folder + "/net.mlir")
for mode in modes:
    command = ["model_deploy", "--mlir", folder + "/net.mlir", "--chip", "bm1684x", "--quantize", mode,
               "--model", f"{folder}/{mode}.bmodel"]
    child = os.spawnvp(os.P_NOWAIT, command[0], command)
    _, status, usage = os.wait4(child, 0)
    assert status == 0, "model_deploy fails"
    weights = os.path.getsize(f"{folder}/{mode}.bmodel") / 2**20
    peak, most = usage.ru_maxrss / 1024, 1.3 * weights + 200
    print(f"{mode}: {weights:.0f} MB of weights, peak {peak:.0f} MB, at most {most:.0f} MB")
    assert peak <= most, "too much memory"
