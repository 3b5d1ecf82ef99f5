#!/usr/bin/env python3
"""Compares tpuc's timing simulator with the per-command profile that the vendor's compiler writes.

For every model and mode: the vendor's compiler makes a .bmodel and a profile; the command streams of
the .bmodel go through build/bin/bm1684x-timing; kind, awaited id, start and cycles of every command,
bytes per direction and the total must be equal.

usage: timing.py --vendor DIR --work DIR --tool PROGRAM [--models NAME=FILE.onnx[:SHAPES] ...]
                 [--modes F16 ...]
       timing.py --reference DIR --tool PROGRAM [--count N] [--seed S] [--golden FILE]

DIR of --vendor holds venv/ with the PyPI package tpu-mlir 1.30.2. Without --models: small networks
made here and the PP-OCR classifier and recognizer of the PyPI package rapidocr-onnxruntime 1.4.4.
Files in the working directory are kept and used again.
"""
import argparse
import csv
import hashlib
import os
import pathlib
import re
import struct
import subprocess
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from vendor_compiler import MODES, PROFILE, Compiler, Failure, parse_model  # noqa: E402

PP_OCR = {
    "cls": ("ch_ppocr_mobile_v2.0_cls_infer.onnx", "[[1,3,48,192]]"),
    "rec": ("ch_PP-OCRv4_rec_infer.onnx", "[[1,3,48,320]]"),
}
WHEEL = ("rapidocr-onnxruntime==1.4.4",
         "971d7d5f223a7a808662229df1ef69893809d8457d834e6373d3854bc1782cbf")

# One network of single layers: every kind of command that the vendor's compiler emits for them.
SMALL_NET = r'''
import sys
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
random = np.random.RandomState(0)
nodes, weights, outputs = [], [], []
def weight(array):
    weights.append(numpy_helper.from_array(array, "w%d" % len(weights)))
    return weights[-1].name
def floats(*shape):
    return weight((random.randn(*shape) * 0.1).astype(np.float32))
def add(kind, *inputs, keep=True, **attributes):
    name = "%s_%d" % (kind.lower(), len(nodes))
    nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
    if keep:
        outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    return name
def window(kernel, stride, pad):
    return dict(kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4)
for kernel, stride, out in ((3, 1, 24), (3, 2, 65), (1, 1, 130), (5, 2, 16)):
    add("Conv", "x", floats(out, 16, kernel, kernel), floats(out), **window(kernel, stride, kernel // 2))
for stride in (1, 2):
    add("Conv", "x", floats(16, 1, 3, 3), floats(16), group=16, **window(3, stride, 1))
add("ConvTranspose", "x", floats(16, 24, 4, 4), **window(4, 2, 1))
add("MaxPool", "x", **window(3, 2, 1))
add("AveragePool", "x", **window(2, 2, 0))
add("GlobalAveragePool", "x")
for kind in ("Sigmoid", "HardSigmoid", "Tanh", "Exp", "Sqrt", "Abs", "Erf", "LeakyRelu"):
    add(kind, "x")
add("Add", "x", floats(1, 16, 1, 1))
add("Mul", "x", add("Relu", "x", keep=False))
add("Div", "x", floats(1, 16, 1, 1))
add("Softmax", "x", axis=1)
add("Softmax", "x", axis=3)
add("ReduceMean", "x", axes=[2, 3])
for order in ((0, 1, 3, 2), (0, 2, 1, 3), (0, 2, 3, 1)):
    add("Transpose", "x", perm=order)
add("Concat", "x", add("Neg", "x", keep=False), axis=1)
add("Gather", "x", weight(np.array([3, 1, 2, 0, 5])), axis=1)
add("MatMul", "x", floats(30, 65))
rows = add("Reshape", "x", weight(np.array([16, 840])), keep=False)
add("MatMul", rows, floats(840, 100))
none = weight(np.array([], np.float32))
add("Resize", "x", none, weight(np.array([1, 1, 2, 2], np.float32)), mode="nearest",
    coordinate_transformation_mode="asymmetric", nearest_mode="floor")
x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 16, 28, 30])
model = helper.make_model(helper.make_graph(nodes, "small", [x], outputs, weights),
                          opset_imports=[helper.make_opsetid("", 13)])
model.ir_version = 8
onnx.save(model, sys.argv[1])
'''


class Table:
    """A FlatBuffers table, read by slot."""

    def __init__(self, data, position):
        self.data, self.position = data, position
        self.vtable = position - struct.unpack_from("<i", data, position)[0]

    def offset(self, slot):
        size = struct.unpack_from("<H", self.data, self.vtable)[0]
        entry = 4 + 2 * slot
        return struct.unpack_from("<H", self.data, self.vtable + entry)[0] if entry < size else 0

    def tables(self, slot):
        offset = self.offset(slot)
        if not offset:
            return []
        start = self.position + offset
        start += struct.unpack_from("<I", self.data, start)[0]
        places = range(start + 4, start + 4 + 4 * struct.unpack_from("<I", self.data, start)[0], 4)
        return [Table(self.data, p + struct.unpack_from("<I", self.data, p)[0]) for p in places]

    def binary(self, slot):
        offset = self.offset(slot)
        return struct.unpack_from("<QQ", self.data, self.position + offset) if offset else (0, 0)


def command_groups(path):
    """The TIU and GDMA streams of every command group of a .bmodel."""
    data = path.read_bytes()
    magic, header, size, _ = struct.unpack_from("<4I", data)
    if magic != 0xFF55AAEE:
        raise Failure(f"{path}: no bmodel")
    flat, blob = data[header:header + size], header + size
    root = Table(flat, struct.unpack_from("<I", flat)[0])

    def stream(group, slot):
        start, length = group.binary(slot)
        return data[blob + start:blob + start + length]

    for net in root.tables(4):
        for stage in net.tables(3):
            groups = [g for subnet in stage.tables(12) for g in subnet.tables(1)]
            for group in groups or stage.tables(8):
                yield stream(group, 2), stream(group, 3)


CELL = re.compile(r"\S+?\|(\w+)\|s:(\d+)\|b:(\d+)\|g:(\d+)\|e:\d+\|t:(\d+)"
                  r"(?:\|dr:(\d+)\|sz:(\d+))?")


def profile_sections(path):
    """Per command group: the rows of both engines, the total, the bytes per direction."""
    section = None
    for line in open(path, errors="replace"):
        section = section or {"TIU": [], "GDMA": [], "total": None}
        for kind, start, tiu, gdma, cycles, direction, size in CELL.findall(line):
            engine = "GDMA" if "GDMA" in kind else "TIU"
            awaited = tiu if engine == "GDMA" else gdma
            section[engine].append((kind, awaited, start, cycles, direction, size))
        if found := re.search(r"total_cycle:(\d+)", line):
            section["total"] = found[1]
        if found := re.search(r"S2L:(\d+).*L2S:(\d+).*S2S:(\d+).*L2L:(\d+)", line):
            section["bytes"] = list(found.groups())
            yield section
            section = None


def simulate(tool, tiu, gdma, folder):
    (folder / "tiu.bin").write_bytes(tiu)
    (folder / "gdma.bin").write_bytes(gdma)
    done = subprocess.run([tool, "streams", folder / "tiu.bin", folder / "gdma.bin"], capture_output=True,
                          text=True)
    if done.returncode:
        raise Failure(done.stderr.strip())
    return list(csv.DictReader(done.stdout.splitlines()))


DIRECTIONS = {"S2L": "0", "L2S": "1", "S2S": "2", "L2L": "3", "": ""}


def compare(model, tool):
    """(commands, differences, vendor's total, conservative total); prints the first differences."""
    folder = model.parent
    groups = [g for g in command_groups(model) if len(g[0]) > 0 or len(g[1]) > 0]
    sections = list(profile_sections(folder / PROFILE))
    if len(groups) != len(sections):
        raise Failure(f"{len(groups)} command groups, {len(sections)} sections of the profile")
    count, bad, vendor_total, conservative_total = 0, 0, 0, 0

    def differ(what, ours, theirs):
        nonlocal bad
        bad += 1
        if bad <= 5:
            print(f"    {what}: {ours}, profile {theirs}")

    for (tiu, gdma), section in zip(groups, sections):
        rows = simulate(tool, tiu, gdma, folder)
        total = rows.pop()
        for engine in ("TIU", "GDMA"):
            ours = [r for r in rows if r["engine"] == engine and r["kind"] != "SYS"]
            if len(ours) != len(section[engine]):
                differ(f"{engine} commands", len(ours), len(section[engine]))
            for r, theirs in zip(ours, section[engine]):
                count += 1
                mine = (r["kind"], r["awaited"], r["start"], r["cycles"],
                        DIRECTIONS[r["direction"]], r["bytes"] if engine == "GDMA" else "")
                if theirs[4] == "":  # fills have no direction in the profile
                    mine = mine[:4] + theirs[4:]
                if mine != theirs:
                    differ(f"{engine} {r['id']} {r['operation']}", mine, theirs)
        for direction, theirs in zip(("S2L", "L2S", "S2S", "L2L"), section["bytes"]):
            ours = sum(int(r["bytes"]) for r in rows if r["direction"] == direction)
            if ours != int(theirs):
                differ(f"{direction} bytes", ours, theirs)
        if total["cycles"] != section["total"]:
            differ("total", total["cycles"], section["total"])
        vendor_total += int(total["cycles"])
        conservative_total += int(total["conservative_cycles"])
    return count, bad, vendor_total, conservative_total


# Where the names of fields differ from those that the vendor's disassembler prints.
VENDOR_NAMES = {
    "TIU": {"opcode": "tsk_typ", "sub_opcode": "tsk_eu_typ", "opd_num": "tsk_opd_num",
            "round": "opd2_n_str"},
    "GDMA": {"opcode": "cmd_type", "sub_opcode": "cmd_special_function",
             "src_prec": "src_data_format", "src_addr_l32": "src_start_addr_l32",
             "src_addr_h8": "src_start_addr_h8", "dst_addr_l32": "dst_start_addr_l32",
             "dst_addr_h8": "dst_start_addr_h8"},
}


def compare_reference(tool, folder, count, seed, golden):
    """Random commands against another implementation of the formulas: a folder with
    predict_bmodel.py, whose tiu(fields) and dma(fields) give kind and cycles. Golden vectors take
    the cycles from there. Commands for which it has no answer are left out."""
    sys.path.insert(0, str(folder))
    import predict_bmodel
    lines = subprocess.run([tool, "random", "--count", str(count), "--seed", str(seed)],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    compared, bad, vectors, left_out = 0, 0, [], {}
    for line in lines:
        engine, code, kind, cycles, *items = line.split()
        names = VENDOR_NAMES[engine]
        fields = {names.get(k, k): int(v) for k, v in (item.split("=") for item in items)}
        if engine == "TIU":
            short_vector = fields["tsk_typ"] in (3, 14) and "res0_n" not in fields
            known, theirs = predict_bmodel.tiu(fields) if not short_vector else (None, 0)
        else:
            unknown = fields["cmd_type"] in (2, 5) or len(code) < 192 and fields["cmd_type"] == 1 \
                or (fields["cmd_type"], fields["cmd_special_function"]) == (0, 6)
            known, theirs = predict_bmodel.dma(fields) if not unknown else (None, 0)
        if known is None:
            left_out[kind] = left_out.get(kind, 0) + 1
            continue
        compared += 1
        vectors.append(f"{engine} {code} {known} {theirs}")
        if (known, str(theirs)) != (kind, cycles):
            bad += 1
            if bad <= 5:
                print(f"    {line}\n    reference {known} {theirs}")
    print(f"reference: {compared} random commands, {bad} differences; left out: {left_out}")
    if golden:
        golden.write_text("\n".join(vectors) + "\n")
    return bad


def default_models(compiler):
    work = compiler.work
    small = work / "small.onnx"
    if not small.exists():
        compiler.python(SMALL_NET, work, small)
    yield "small", small, None
    if not (work / PP_OCR["rec"][0]).exists():
        compiler.run(["python3", "-m", "pip", "download", "--quiet", "--no-deps",
                      "--only-binary=:all:", "--dest", work, WHEEL[0]], work, "download.log")
        wheel = next(work.glob("rapidocr_onnxruntime-1.4.4-*.whl"))
        if hashlib.sha256(wheel.read_bytes()).hexdigest() != WHEEL[1]:
            raise Failure(f"{wheel}: other bytes than expected")
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                if member.endswith(".onnx"):
                    (work / pathlib.Path(member).name).write_bytes(archive.read(member))
    for name, (file, shapes) in PP_OCR.items():
        yield name, work / file, shapes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vendor", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--tool", type=pathlib.Path)
    parser.add_argument("--models", nargs="*", metavar="NAME=FILE.onnx[:SHAPES]")
    parser.add_argument("--reference", type=pathlib.Path,
                        help="folder of another implementation, to compare random commands with")
    parser.add_argument("--count", type=int, default=100, help="random commands of each form")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--golden", type=pathlib.Path, help="write the random commands here")
    parser.add_argument("--modes", nargs="*", choices=MODES, default=MODES)
    arguments = parser.parse_args()
    if arguments.reference:
        return compare_reference(arguments.tool.resolve(), arguments.reference.resolve(),
                                 arguments.count, arguments.seed, arguments.golden) != 0
    if not arguments.vendor or not arguments.work:
        parser.error("--vendor and --work, or --reference")
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    compiler = Compiler(arguments.vendor, work)
    models = ([parse_model(m) for m in arguments.models]
              if arguments.models is not None else default_models(compiler))
    commands = differences = compared = 0
    for name, onnx, shapes in models:
        for mode in arguments.modes:
            try:
                model = compiler.compile(name, onnx, shapes, mode)
                if not arguments.tool:
                    continue
                count, bad, vendor, conservative = compare(model, arguments.tool.resolve())
            except Failure as failure:
                print(f"{name} {mode}: {failure}")
                differences += 1
                continue
            print(f"{name} {mode}: {count} commands, {bad} differences, {vendor} cycles, "
                  f"conservative {conservative}", flush=True)
            commands, differences, compared = commands + count, differences + bad, compared + 1
    print(f"{compared} models, {commands} commands, {differences} differences")
    return differences != 0 or (arguments.tool and compared == 0)


if __name__ == "__main__":
    sys.exit(main())
