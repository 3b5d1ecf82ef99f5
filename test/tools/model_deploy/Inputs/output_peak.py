"""output_peak.py FOLDER: the most memory that model_deploy and model_runner take for a network with an
output of 64 MB, beside that of one with an output of a few bytes; in outputs."""

import array
import os
import sys
import zipfile

ELEMENTS = 64
# Of model_deploy: the device's and the interpreter's, one after the other, beside a copy to compare.
# Of model_runner: the device's. And room for what the C library keeps.
MOST = {"model_deploy": 2.3, "model_runner": 1.3}


def write_input(path):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': (1, {ELEMENTS}), }}".ljust(117) + "\n"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("x.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
                      + array.array("f", range(ELEMENTS)).tobytes())


def write_network(path, times):
    result = f"tensor<{times}x{ELEMENTS}xf32>"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"""module attributes {{module.name = "net"}} {{
func.func @main(%x: tensor<1x{ELEMENTS}xf32>) -> {result} {{
%none = "top.None"() : () -> none
%0 = "top.Input"(%x) : (tensor<1x{ELEMENTS}xf32>) -> tensor<1x{ELEMENTS}xf32> loc("x")
%1 = "top.Tile"(%0, %none) {{tile = [{times}, 1]}} : (tensor<1x{ELEMENTS}xf32>, none) -> {result} loc("y")
return %1 : {result}
}}
}}
""")


def peak(*command):
    child = os.spawnvp(os.P_NOWAIT, command[0], command)
    _, status, usage = os.wait4(child, 0)
    assert status == 0, f"{command[0]} fails"
    return usage.ru_maxrss * 1024


folder = sys.argv[1]
sample = folder + "/x.npz"
write_input(sample)
peaks = {}
for times in 4, 2**18:
    network, model = f"{folder}/net{times}.mlir", f"{folder}/net{times}.bmodel"
    write_network(network, times)
    peaks["model_deploy", times] = peak("model_deploy", "--mlir", network, "--chip", "bm1684x", "--quantize", "F32",
                                        "--model", model, "--test_input", sample, "--num_threads", "1")
    peaks["model_runner", times] = peak("model_runner", "--model", model, "--input", sample, "--output",
                                        f"{folder}/y.npz", "--num_threads", "1")
for tool, most in MOST.items():
    taken = (peaks[tool, 2**18] - peaks[tool, 4]) / (2**18 * ELEMENTS * 4)
    print(f"{tool}: {taken:.2f} outputs, at most {most}")
    assert taken <= most, "too much memory"
