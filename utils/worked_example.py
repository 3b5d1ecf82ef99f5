"""The network of docs/worked-example.md: how it is made, run through the programs, and read back."""

import array
import ast
import json
import os
import re
import struct
import subprocess
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

CHANNELS_IN, CHANNELS_OUT, SIZE = 2, 4, 8
TILES = 2
GROUPS = {"groups": [{"layers": ["x_i8", "r", "y_u8", "y"], "h": TILES}]}

# The graph without its constants, in protobuf's text form.
GRAPH = """ir_version: 8
opset_import { version: 13 }
graph {
  name: "net"
  input { name: "x" type { tensor_type { elem_type: 1 shape {
    dim { dim_value: 1 } dim { dim_value: 2 } dim { dim_value: 8 } dim { dim_value: 8 } } } } }
  output { name: "y" }
  node { op_type: "Conv" input: "x" input: "filter" input: "bias" output: "c"
    attribute { name: "pads" type: 7 ints: 1 ints: 1 ints: 1 ints: 1 } }
  node { op_type: "Relu" input: "c" output: "r" }
  node { op_type: "MaxPool" input: "r" output: "y"
    attribute { name: "kernel_shape" type: 7 ints: 2 ints: 2 }
    attribute { name: "strides" type: 7 ints: 2 ints: 2 } }
}
"""
BIAS = [0.5, -0.25, 0.0, 0.125]
# What an element of an array is, by numpy's name, for the module array.
KINDS = {"<f4": "f", "|i1": "b", "|u1": "B", "<i4": "i"}


class Failed(Exception):
    pass


def filter_values():
    """[output channel][input channel][row][column], multiples of 1/8 from -1/2 to 1/2."""
    return [((3 * o + 5 * i + 2 * y + 7 * x) % 9 - 4) / 8
            for o in range(CHANNELS_OUT) for i in range(CHANNELS_IN) for y in range(3) for x in range(3)]


def input_values():
    """[channel][row][column], multiples of 1/8 from -1 to 1."""
    return [((7 * c + 3 * y + 5 * x) % 17 - 8) / 8
            for c in range(CHANNELS_IN) for y in range(SIZE) for x in range(SIZE)]


def model_text():
    def initializer(name, dims, values):
        return (f'  initializer {{ name: "{name}" data_type: 1 ' + " ".join(f"dims: {d}" for d in dims) + " " +
                " ".join(f"float_data: {value:g}" for value in values) + " }\n")
    constants = initializer("filter", [CHANNELS_OUT, CHANNELS_IN, 3, 3], filter_values())
    return GRAPH[:-2] + constants + initializer("bias", [CHANNELS_OUT], BIAS) + "}\n"


def write_npy(path, values, shape):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
        file.write(struct.pack(f"<{len(values)}f", *values))


def read_npz(path):
    """The arrays of a file, each as a flat list."""
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            begin = 10 + struct.unpack_from("<H", data, 8)[0]
            descr = ast.literal_eval(data[10:begin].decode())["descr"]
            values = array.array(KINDS[descr])
            values.frombytes(data[begin:])
            arrays[name.removesuffix(".npy")] = values.tolist()
    return arrays


class Example:
    """The network in a folder, after all phases. Files of a phase are made when it is created."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        write_npy(self.path("x.npy"), input_values(), (1, CHANNELS_IN, SIZE, SIZE))
        os.mkdir(self.path("samples"))
        write_npy(self.path("samples/x.npy"), input_values(), (1, CHANNELS_IN, SIZE, SIZE))
        with open(self.path("groups.json"), "w", encoding="utf-8") as file:
            json.dump(GROUPS, file)
        with open(self.path("net.onnx"), "wb") as file:
            file.write(self.call("protoc", "--encode=tpuc.onnx.proto.Model",
                                 f"--proto_path={ROOT}/tpuc/Frontend/Onnx", "Onnx.proto", text=model_text()))
        self.tool("model_transform", "--model_def", "net.onnx", "--mlir", "net.mlir", "--test_input", "x.npy")
        self.tool("run_calibration", "net.mlir", "--dataset", "samples", "-o", "table", "--cali_method", "max")
        self.tool("model_deploy", "--mlir", "net.mlir", "--quantize", "INT8", "--calibration_table", "table",
                  "--chip", "bm1684x", "--model", "alone.bmodel", "--test_input", "x.npy")
        self.lowered = "net_bm1684x_int8_sym_tpu.mlir"
        self.tool("model_runner", "--model", self.lowered, "--input", "net_in_f32.npz", "--output", "stored.npz",
                  "--dump_all_tensors", "--out_fixed")

    def path(self, name):
        return os.path.join(self.folder, name)

    def call(self, program, *arguments, text=None):
        result = subprocess.run([program, *arguments], cwd=self.folder, check=False, capture_output=True,
                                input=text.encode() if text else None)
        if result.returncode:
            raise Failed(f"{os.path.basename(program)} {' '.join(arguments)}: {result.stderr.decode().strip()}")
        return result.stdout

    def tool(self, name, *arguments):
        return self.call(os.path.join(self.build, "bin", name), *arguments).decode()

    def passes(self, file, *passes):
        """A module after passes of tpuc-opt, with names."""
        return self.tool("tpuc-opt", "--mlir-print-debuginfo", file, *passes)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def command_words(self, stream_bytes, behind, number):
        """The 32-bit words of a command of the TIU. The stream lies in the file behind the constants
        `behind`; a command begins with its number and takes a multiple of 16 bytes."""
        with open(self.path("net.bmodel"), "rb") as file:
            data = file.read()
        begin = data.find(behind)
        if begin < 0:
            raise Failed("net.bmodel: the constants are not in one piece; expected them before the commands")
        stream = data[begin + len(behind):begin + len(behind) + stream_bytes]
        starts = []
        for offset in range(0, len(stream), 16):
            if struct.unpack_from("<I", stream, offset)[0] & 0x1FFFFF == (len(starts) + 1) << 1 | 1:
                starts.append(offset)
        if len(starts) <= number:
            raise Failed(f"net.bmodel: {len(starts)} commands begin in the stream; expected more than {number}")
        return struct.unpack(f"<{(starts[number] - starts[number - 1]) // 4}I", stream[starts[number - 1]:starts[number]])


# Attributes that say what is usual; the page leaves them out.
USUAL = re.compile(r"(?<=[{ ])(auto_pad = \"NOTSET\"|ceil_mode = false|count_include_pad = false|do_preprocess = false|"
                   r"pad_value = 0 : i64|relu_limit = -1\.0+e\+00 : f64|do_relu = false|group = 1 : i64|"
                   r"calibration\.\w+ = array<[^>]*>|ginfo = \{[^}]*\})(, )?")
KEPT = ("chip", "mode", "state", "coeff_addr", "neuron_addr")


def shown(module):
    """A module as the page shows it: names behind the ops, without what is usual and without ginfo."""
    names = dict(re.findall(r"^(#loc\d*) = (loc\(.*\))$", module, re.M))
    lines = [line for line in module.splitlines() if line and not line.startswith("#loc")]
    text = re.sub(r"loc\((#loc\d*)\)", lambda match: names[match[1]], "\n".join(lines))
    text = text.replace(" loc(unknown)", "")
    text = re.sub(r"(?<!tensor)(, )?\}", "}", USUAL.sub("", text)).replace(" {}", "")
    head = re.compile(r"attributes \{(module\..*?)\} \{")
    kept = [part for part in head.search(text)[1].split(", ") if part.split(" = ")[0].split(".")[1] in KEPT]
    return head.sub(f"attributes {{{', '.join(kept)}}} {{", text, 1)


def group_ops(module):
    """(op, name, ginfo as a dictionary) of the ops of the group, in their order."""
    names = dict(re.findall(r"^(#loc\d*) = loc\(\"(.*)\"\)$", module, re.M))
    for line in module.splitlines():
        found = re.search(r"\"tpu\.(\w+)\".*?ginfo = \{([^}]*)\}.* loc\((#loc\d*)\)$", line)
        if found:
            entries = re.findall(r"(\w+) = (\[[^]]*\]|-?\d+)", found[2])
            yield found[1], names[found[3]], {key: json.loads(value) for key, value in entries}
