#!/usr/bin/env python3
"""Programs of both instruction sets against numpy.

usage: numpy_layers.py DNNWEAVER_MACHINE

Writes assembly for convolutions, pools and activations from what the documents say of loops, words and
layouts, without tpuc's emitter, runs it, and compares all of memory with numpy's integers. The arrays are
16 x 16. Tiles are rows of the output and words of input channels.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np

N = M = 16


class Memory:
    def __init__(self):
        self.bytes = bytearray(4096)

    def place(self, array):
        at = len(self.bytes)
        self.bytes += np.ascontiguousarray(array).tobytes()
        self.bytes += bytes(-len(self.bytes) % 64)
        return at


class Assembly:
    def __init__(self):
        self.lines = []

    def add(self, text):
        self.lines.append(text)

    def base(self, prefix, which, address):
        for part in (0, 1):
            value = address >> 21 * part & 0x1FFFFF
            self.add(f"{prefix} {which} part={part} high={value >> 16} imm={value & 0xFFFF}")

    def stride(self, prefix, fields, value):
        if value >> 16:
            self.add(f"{prefix}.high {fields} imm={value >> 16}")
        self.add(f"{prefix} {fields} imm={value & 0xFFFF}")


def program(case, at):
    """One block: tiles over rows and over words of input channels, which are innermost."""
    k, ic, oc, ow, tile_rows = case["k"], case["ic"], case["oc"], case["ow"], case["tile_rows"]
    s, pool, size = case["stride"], case["pool"], case["size"]
    iw, sums_w = case["iw"], ow * pool
    tile_h = tile_rows * pool
    in_h, in_w = (tile_h - 1) * s + k, (sums_w - 1) * s + k
    out = Assembly()
    out.add("setup")
    for name in ("input", "output", "weight", "bias"):
        out.base("base", f"buffer={name}", at[name])
    # Words of all kernels; of pairs of kernels the second half of them shares multipliers with the first.
    words = oc * (2 if case["kernels"] else 1)
    if case["kernels"]:
        out.base("mode", "buffer=weight", oc * k * k * ic * N * M)
        out.base("mode", "buffer=bias", oc * M * 4)
        out.base("mode", "buffer=output", oc * M)
        out.base("mode", "buffer=4", oc * M)
    if case["pairs"]:
        out.base("mode", "buffer=input", case["rows"] * pool * s * iw * ic * N)
        out.base("mode", "buffer=output", case["rows"] * ow * (oc * M + case["more"]))
        if case["copies"]:
            out.base("mode", "buffer=4", case["rows"] * pool * sums_w * oc * M)
    # One word of input channels in each tile.
    for trips, strides in ((ic, {"input": N * size, "weight": N * M * size}),
                           (case["rows"] // tile_rows, {"input": tile_h * s * iw * ic * N * size,
                                                        "output": tile_h * sums_w * oc * M * 8})):
        out.add(f"loop group=16 imm={trips - 1}")
        for name in ("input", "output", "weight", "bias"):
            out.stride("stride", f"group=16 buffer={name}", strides.get(name, 0))
    walks = {"input": ((in_w, ic * N * size), (in_h, iw * ic * N * size)),
             "output": ((oc, M * 8), (sums_w, oc * M * 8), (tile_h, sums_w * oc * M * 8)),
             "weight": ((k, ic * N * M * size), (k, k * ic * N * M * size), (oc, k * k * ic * N * M * size)),
             "bias": ((oc, M * 4),)}
    for number, name in enumerate(("input", "output", "weight", "bias")):
        out.add(f"load buffer={name} group={number + 1} imm=1")
        if name == "output":
            out.add("store buffer=output group=2 imm=1")
        for trips, stride in walks[name]:
            out.add(f"loop group={number + 1} imm={trips - 1}")
            for access in ("load", "store") if name == "output" else ("load",):
                out.stride("stride", f"group={number + 1} buffer={name} access={access}", stride)
    for trips, strides in ((sums_w, {"input": s, "output": oc}), (tile_h, {"input": s * in_w, "output": sums_w * oc}),
                           (k, {"input": 1, "weight": 1}), (k, {"input": in_w, "weight": k}),
                           (oc, {"weight": k * k, "output": 1, "bias": 1})):
        out.add(f"loop imm={trips - 1}")
        for name in ("input", "output", "weight", "bias"):
            for access in ("read", "write") if name == "output" else ("read",):
                out.stride("stride", f"buffer={name} access={access}", strides.get(name, 0))
    alu = Assembly()
    alu.base("alu.base", "stream=1", at["result"])
    if case["copies"]:
        alu.base("alu.base", "stream=4", at["copy"])
    for trips, stride in ((pool, oc), (pool, oc * sums_w), (ow, oc * pool), (tile_rows, oc * pool * sums_w), (oc, 1)):
        alu.add(f"alu.loop stage=read imm={trips - 1}")
        alu.stride("alu.stride", "stage=read", stride)
    pixel = (words * M + case["more"]) // M
    for trips, stride in ((ow, pixel), (tile_rows, pixel * ow), (oc, 1)):
        alu.add(f"alu.loop stage=store imm={trips - 1}")
        alu.stride("alu.stride", "stage=store", stride)
    if case["copies"]:
        # Every word of sums, in the order in which the pool takes them.
        for trips, stride in ((pool, words), (pool, words * sums_w), (ow, pool * words),
                              (tile_rows, pool * words * sums_w), (oc, 1)):
            alu.add(f"alu.loop stage=store stream=1 imm={trips - 1}")
            alu.stride("alu.stride", "stage=store stream=1", stride)
    alu.add(f"alu.loop stage=tile.store imm={case['rows'] // tile_rows - 1}")
    alu.stride("alu.stride", "stage=tile.store", tile_rows * ow * pixel * M * size)
    if case["copies"]:
        alu.stride("alu.stride", "stage=tile.store stream=1", tile_h * sums_w * words * M * size)
    alu.stride("alu.stride", "stage=tile.load0", 0)
    alu.stride("alu.stride", "stage=tile.load1", 0)
    def scale(source, target):
        alu.add(f"alu.i immediate=1 dst=r1 src0={source} fn=mul imm={case['multiplier']}")
        alu.add(f"alu.i immediate=1 dst=r1 src0=r1 fn=shift imm={case['shift1']}")
        alu.add(f"alu.i immediate=1 dst=r2 src0=r1 fn=mul imm={case['slope']}")
        alu.add("alu.i immediate=1 dst=r2 src0=r2 fn=shift imm=15")
        alu.add("alu.r dst=r1 src0=r1 src1=r2 fn=max")
        alu.add(f"alu.i immediate=1 dst={target} src0=r1 fn=add imm={case['zero'] & 0xFFFF}")

    for number in range(pool * pool):
        target = "r5" if number == 0 else "r0"
        alu.add(f"alu.i immediate=1 dst={target} src0=output fn=shift imm={case['shift0']}" if case["set"] == "public"
                else f"alu.r dst={target} src0=output src1=r0 fn=move")
        if case["copies"]:
            scale(target, "copy")
        if number:
            alu.add("alu.r dst=r5 src0=r5 src1=r0 fn=max")
    scale("r5", "store")
    alu.add(f"alu.end imm={tile_rows * ow * oc - 1}")
    out.add(f"alu.begin imm={len(alu.lines) - 1}")
    return "\n".join([*out.lines, *alu.lines, "end imm=1", ""])


def shifted(case, values, shift):
    """Rounded down, or to the nearest with ties away from zero; then saturated to 16 bits."""
    if case["set"] == "patent":
        values = np.sign(values) * ((np.abs(values) + (1 << shift >> 1)) >> shift)
    else:
        values = values >> shift
    return np.clip(values, -32768, 32767)


def reference(case, image, weight, bias):
    k, s, pool = case["k"], case["stride"], case["pool"]
    windows = np.lib.stride_tricks.sliding_window_view(image.astype(np.int64), (k, k), axis=(0, 1))[::s, ::s]
    sums = np.einsum("hwcyx,yxco->hwo", windows, weight.astype(np.int64)) + bias
    if case["set"] == "public":
        sums = shifted(case, sums, case["shift0"])
    h, w, channels = sums.shape

    def scale(values):
        values = shifted(case, values * case["multiplier"], case["shift1"])
        values = np.maximum(values, shifted(case, values * case["slope"], 15)) + case["zero"]
        if case["set"] == "patent":
            most = (1 << 8 * case["size"] - 1) - 1
            values = np.clip(values, -most - 1, most)
        return values.astype(case["type"])

    return scale(sums.reshape(h // pool, pool, w // pool, pool, channels).max(axis=(1, 3))), scale(sums)


def check(machine, case, rng, folder):
    size, k, pool, s = case["size"], case["k"], case["pool"], case["stride"]
    halves = 2 if case["pairs"] else 1
    oh = case["rows"] * halves
    ih = (oh * pool - 1) * s + k
    case["iw"] = (case["ow"] * pool - 1) * s + k
    limits = np.iinfo(case["type"])
    draw = lambda *shape: rng.integers(limits.min, limits.max + 1, shape).astype(case["type"])
    image = draw(ih, case["iw"], case["ic"] * N)
    words = case["oc"] * (2 if case["kernels"] else 1)
    weight = draw(k, k, case["ic"] * N, words * M)
    bias = rng.integers(-(1 << 20), 1 << 20, words * M).astype(np.int32)
    memory = Memory()
    # [word of kernels][y][x][word of channels][row][column]
    packed = weight.reshape(k, k, case["ic"], N, words, M).transpose(4, 0, 1, 2, 3, 5)
    result = draw(oh, case["ow"], words * M + case["more"])
    sums = np.zeros(case["rows"] * pool * case["ow"] * pool * case["oc"] * M, np.int64)
    at = {"input": memory.place(image), "weight": memory.place(packed), "bias": memory.place(bias),
          "output": memory.place(sums), "result": memory.place(result)}
    if case["copies"]:
        at["copy"] = memory.place(draw(oh * pool, case["ow"] * pool, words * M))
    source, before, after = folder / "p.s", folder / "before", folder / "after"
    source.write_text(program(case, at))
    before.write_bytes(memory.bytes)
    done = subprocess.run([machine, case["set"], str(N), str(M), source, before, after],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{case}: {done.stderr}")
    expected = result.copy()
    expected[:, :, :words * M], unpooled = reference(case, image, weight, bias)
    got = bytearray(after.read_bytes())
    want = bytearray(memory.bytes)
    want[at["result"]:at["result"] + expected.nbytes] = expected.tobytes()
    if case["copies"]:
        want[at["copy"]:at["copy"] + unpooled.nbytes] = unpooled.tobytes()
    got[at["output"]:at["output"] + sums.nbytes] = bytes(sums.nbytes)
    if got != want:
        differing = np.flatnonzero(np.frombuffer(got, np.uint8) != np.frombuffer(want, np.uint8))
        sys.exit(f"{case}: {differing.size} bytes differ from numpy's, the first at {differing[0]} of {at}")


def main():
    machine = sys.argv[1]
    rng = np.random.default_rng(30)
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(48):
            name = ("public", "patent")[number % 2]
            pairs = name == "patent" and number % 4 == 1
            kernels = name == "patent" and number % 8 == 3
            rows = int(rng.integers(1, 4)) * 2
            # The patent's weights stay for 16 steps at least.
            ow = int(rng.integers(8, 12)) if name == "patent" else int(rng.integers(1, 8))
            is_byte = pairs or kernels
            case = {"set": name, "pairs": pairs, "kernels": kernels, "size": 1 if is_byte else 2,
                    "type": np.int8 if is_byte else np.int16,
                    "k": int(rng.integers(1, 4)), "stride": int(rng.integers(1, 3)), "pool": int(rng.integers(1, 3)),
                    "ic": int(rng.integers(1, 4)), "oc": int(rng.integers(1, 4)), "rows": rows, "ow": ow,
                    "tile_rows": 2, "more": int(rng.integers(0, 3)) * M, "shift0": int(rng.integers(12, 22)),
                    "multiplier": int(rng.integers(1, 32767)), "slope": int(rng.integers(0, 9000)),
                    "shift1": int(rng.integers(6, 15)) if name == "public" else int(rng.integers(16, 28)) if is_byte else 31,
                    "zero": int(rng.integers(-100, 100)) if name == "patent" else 0,
                    "copies": name == "patent" and number % 3 == 0}
            if case["k"] ** 2 * case["oc"] > (128 if name == "public" else 32):
                continue
            check(machine, case, rng, pathlib.Path(folder))
            count += 1
    if count < 40:
        sys.exit(f"{count} layers were compared, expected 40")
    print(f"{count} layers are numpy's")


if __name__ == "__main__":
    main()
