#!/usr/bin/env python3
"""write_worked_example.py BUILD [--check]: docs/worked-example.md, from what the programs print.

Makes a small network, takes it through all phases, computes one tile by itself and compares it with
what the interpreter and the simulator say. With --check nothing is written; a stale page is an error.
"""

import csv
import io
import os
import re
import shutil
import sys
import tempfile

import worked_example as example
from worked_example import Failed, group_ops, shown

PAGE = os.path.join("docs", "worked-example.md")
LANES = 4


def table(columns, rows):
    lines = ["| " + " | ".join(str(cell) for cell in row) + " |" for row in [columns, ["---"] * len(columns), *rows]]
    return "\n".join(lines) + "\n"


def code(text, language=""):
    return f"```{language}\n{text.rstrip()}\n```\n"


def grid(values, begin, rows, columns):
    """Rows of numbers of a flat tensor, one below the other."""
    width = max(len(str(value)) for value in values[begin:begin + rows * columns])
    return "\n".join(" ".join(f"{value:>{width}}" for value in values[begin + row * columns:begin + (row + 1) * columns])
                     for row in range(rows))


class Numbers:
    """What the layers compute, from the stored constants, in plain Python."""

    def __init__(self, work):
        self.stored = example.read_npz(work.path("stored.npz"))
        weights = example.read_npz(work.path("net_bm1684x_int8_sym_tpu_weight.npz"))
        self.filter, self.bias = weights["r_filter_i8"], weights["r_bias_i32"]
        module = work.read(work.lowered)
        self.multiplier = int(re.search(r"multiplier = \[(\d+)\]", module)[1])
        self.shift = int(re.search(r"rshift = \[(\d+)\]", module)[1])

    def products(self, channel, y, x):
        """(place, stored input, stored filter) of each product of one sum."""
        size = example.SIZE
        for i in range(example.CHANNELS_IN):
            for dy in range(3):
                for dx in range(3):
                    row, column = y + dy - 1, x + dx - 1
                    if 0 <= row < size and 0 <= column < size:
                        yield ((i, row, column), self.stored["x_i8"][(i * size + row) * size + column],
                               self.filter[((channel * example.CHANNELS_IN + i) * 3 + dy) * 3 + dx])

    def sum(self, channel, y, x):
        return self.bias[channel] + sum(a * b for _, a, b in self.products(channel, y, x))

    def requantized(self, value):
        """With the multiplier and the shift, halves up, cut off at 0 and 255."""
        return min(max(value * self.multiplier + (1 << (self.shift - 1)) >> self.shift, 0), 255)

    def check(self):
        size = example.SIZE
        for channel in range(example.CHANNELS_OUT):
            for y in range(size):
                for x in range(size):
                    ours, theirs = self.requantized(self.sum(channel, y, x)), self.stored["r"][(channel * size + y) * size + x]
                    if ours != theirs:
                        raise Failed(f"r[{channel}][{y}][{x}]: the interpreter has {theirs}; computed here: {ours}")


class Page:
    def __init__(self, work):
        self.work = work
        self.parts = []
        self.numbers = Numbers(work)
        self.numbers.check()
        division = ["--subnet-divide", "--weight-reorder", "--op-reorder"]
        grouping = [*division, "--layer-group=load-groups=groups.json"]
        self.divided = work.passes(work.lowered, *division)
        self.grouped = work.passes(work.lowered, *grouping)
        self.addressed = work.passes(work.lowered, *grouping, "--address-assign", "--codegen=model=net.bmodel")
        self.ops = list(group_ops(self.grouped))
        self.compute = [op for op in self.ops if op[2]["stage"] == 1]

    def add(self, *parts):
        self.parts += parts

    def write(self):
        self.source()
        self.top()
        self.lower()
        self.divide()
        self.group()
        self.memory()
        self.steps()
        self.tile()
        self.addresses()
        self.commands()
        self.words()
        self.time_line()
        return "\n".join(self.parts)

    def source(self):
        self.add("<!-- Written by ./dev docs (utils/write_worked_example.py) from what the programs print; do not edit. -->",
                 "# A worked example: three layers from ONNX to command words\n",
                 "This page follows one network through all phases of [the architecture](architecture.md).",
                 "It has a convolution, a ReLU and a pool, and so few numbers that all of them can be followed.",
                 "`./dev docs` writes the page from what the programs print, and a test compares it.",
                 "[glossary.md](glossary.md) explains the words.\n",
                 "In modules, attributes that say what is usual are left out.\n",
                 "## The network\n",
                 "In protobuf's text form, without the constants, the ONNX file is:\n",
                 code(example.GRAPH),
                 "Filter and bias, like the input, are multiples of 1/8. Channel 0 of the filter and of the input are:\n",
                 code("filter[0][0]\n" + grid(example.filter_values(), 0, 3, 3) +
                      "\n\nx[0][0]\n" + grid(example.input_values(), 0, example.SIZE, example.SIZE)))

    def top(self):
        work = self.work
        calibration = "\n".join(line for line in work.read("table").splitlines() if not line.startswith("#"))
        calibrated = work.passes("net.mlir", "--chip-assign=chip=bm1684x", "--import-calibration-table=file=table")
        self.add("## Import\n",
                 "`model_transform` reads the file. There is one `top` op for each op of the source, under the name of its result:\n",
                 code(shown(work.read("net_origin.mlir")), "text"),
                 "## Optimize\n",
                 "The same program optimizes. The ReLU becomes an attribute of the convolution, which takes over its name `r`:\n",
                 code(shown(work.read("net.mlir")), "text"),
                 "## Calibrate\n",
                 "`run_calibration` runs the network on samples, here on the input itself.",
                 "It writes a table of thresholds; the columns are name, threshold, minimum and maximum:\n",
                 code(calibration),
                 "`--import-calibration-table` gives these ranges to the types:\n",
                 code(shown(calibrated), "text"))

    def lower(self):
        numbers = self.numbers
        module = self.work.read(self.work.lowered)
        scales = re.findall(r"tensor<[\dx]*!quant\.uniform<(\w+):f32, ([^>]*)>> loc\(\"(\w+)\"\)", module)
        self.add("## Lower\n",
                 "`model_deploy --quantize INT8` decides how each tensor is stored, and rewrites the ops.",
                 "Input and result of the network stay F32, so there is a cast at each end:\n",
                 code(shown(module), "text"),
                 table(["tensor", "stored as", "scale"], [[f"`{name}`", kind, f"{float(scale):.9f}"] for kind, scale, name in scales]),
                 "The scale of `r` is its threshold divided by 255, as a ReLU leaves nothing below 0. The scale of `x_i8` is 1/128.",
                 "So 1 is stored as 127, which is the largest number of 8 bits.",
                 "The filter has a scale of 1/254, and biases have the product of both scales.",
                 "They also make up for what rounding the filter changes on the average:\n",
                 code("r_filter_i8[0][0]\n" + grid(numbers.filter, 0, 3, 3) + "\n\nr_bias_i32\n" + grid(numbers.bias, 0, 1, len(numbers.bias))),
                 f"Sums are multiplied by {numbers.multiplier}, shifted right by {numbers.shift} bits with halves rounded up, "
                 "and cut off at 0 and 255.\n")

    def divide(self):
        self.add("## Divide\n",
                 "`--subnet-divide` finds that the chip computes all of it. `--weight-reorder` packs the filter:\n",
                 code(shown(self.divided), "text"),
                 "Each output channel has a row for its lane, which begins with 9 taps of 64 input channels.",
                 "Two of these channels are used. Behind these 576 bytes are 64 bytes of requantization parameters; the rest is padding.\n")

    def group(self):
        rows = []
        for op, name, info in self.ops:
            tiles = ", ".join(f"[{begin}, {begin + count})" for begin, count in zip(info["h_idx"], info["h_slice"]))
            rows.append([f"`tpu.{op}`", f"`{name}`", tiles if len(info["h_idx"]) > 1 else "all",
                         info["step"], ("load", "compute", "store")[info["stage"]]])
        self.add("## Group\n",
                 f"`--layer-group` puts all layers into one group. So small a network would need one tile; here a file asks for {example.TILES} along h:\n",
                 code(self.work.read("groups.json"), "json"),
                 code(shown(self.grouped), "text"),
                 "The attribute `ginfo` of each op says which rows each tile has, and in which step it runs:\n",
                 table(["op", "name", "rows of tile 0, tile 1", "step", "stage"], rows),
                 "The rows follow from the result backwards. A pool needs twice as many rows as it makes.",
                 "The convolution needs one more row on each side, where there is one: that is the halo.\n")

    def memory(self):
        rows = []
        final = self.work.read("net_bm1684x_int8_sym_final.mlir")
        for op, name, info in self.ops:
            if info["out_size"] and op != "Store":
                places = " and ".join(f"{info['out_addr'] + k * info['out_size']}" for k in range(info["buffers"]))
                rows.append([f"`{name}`", places, info["out_size"], info["step"]])
            if info["buffer_size"]:
                rows.append([f"scratch for `{name}`", info["buffer_addr"], info["buffer_size"], info["step"]])
        if "PackRows" in final or "PackRows" in final:
            raise Failed("model_deploy packs the rows of this network; expected it to stay as it is")
        lanes = [[lane, "0" if lane == 0 else "1" if lane == 1 else "none", lane] for lane in range(LANES)]
        self.add("## Places in local memory\n",
                 "The allocator gives every tile a place in each lane. Places are offsets in bytes:\n",
                 table(["tile of", "at", "bytes", "in step"], rows),
                 "`y` has two places, because one tile is stored while the next one is computed.",
                 "Tiles that do not live at the same time share places.\n",
                 "Channels are spread over lanes, so only the first lanes have something to do:\n",
                 table(["lane", "channel of `x_i8`", "channel of `r` and `y_u8`"], lanes),
                 "Each lane of 64 from the fifth on is idle: so few channels are what [row packing](bm1684x-codegen.md#row-packing) is for.",
                 "`model_deploy` considers it, and leaves this network as it is.\n")

    def steps(self):
        length = len(self.compute)
        units = {}
        for op, name, info in self.ops:
            tiles = range(example.TILES if len(info["h_idx"]) > 1 else 1)
            for tile in tiles:
                text = f"`{name}`" + (f" {tile}" if len(tiles) > 1 else "")
                units.setdefault(info["step"] + tile * length, {}).setdefault(info["stage"], []).append(text)
        rows = [[unit, *(", ".join(units[unit].get(stage, [])) for stage in range(3))] for unit in sorted(units)]
        self.add("## The schedule\n",
                 f"Each of the {length} layers takes one step on one tile. What a layer does on tile 1 comes {length} steps after tile 0.",
                 "The number behind a name is that of the tile:\n",
                 table(["step", "load", "compute", "store"], rows),
                 "Tile 1 of the input is loaded while tile 0 is computed, and tile 0 of the result is stored meanwhile.\n")

    def tile(self):
        numbers, size = self.numbers, example.SIZE
        place = (0, 2, 5)
        products = list(numbers.products(*place))
        total = numbers.sum(*place)
        terms = "\n".join(f"x_i8[{i}][{row}][{column}] = {a:>4}  times filter {b:>4}  = {a * b:>6}"
                          for (i, row, column), a, b in products)
        self.add("## One tile in numbers\n",
                 "Tile 0 of channel 0, as the interpreter computes it. The input has rows 0 to 4:\n",
                 code("x_i8[0], rows 0 to 4\n" + grid(numbers.stored["x_i8"], 0, 5, size) +
                      "\n\nx_i8[1], rows 0 to 4\n" + grid(numbers.stored["x_i8"], size * size, 5, size)),
                 "The convolution makes rows 0 to 3:\n",
                 code("r[0], rows 0 to 3\n" + grid(numbers.stored["r"], 0, 4, size)),
                 f"One of these numbers, r[0][{place[1]}][{place[2]}], is the sum of {len(products)} products and the bias:\n",
                 code(terms + f"\nbias {numbers.bias[0]}\nsum  {total}\n"
                      f"r[0][{place[1]}][{place[2]}] = ({total} * {numbers.multiplier} + 2^{numbers.shift - 1}) >> {numbers.shift} = "
                      f"{numbers.requantized(total)}"),
                 "The script that writes this page computes all elements of `r` in this way, and stops if the interpreter has another number.",
                 "The pool keeps the largest of each 2 x 2 numbers:\n",
                 code("y_u8[0], rows 0 and 1\n" + grid(numbers.stored["y_u8"], 0, 2, size // 2)))

    def addresses(self):
        names = dict(re.findall(r"^(#loc\d*) = loc\(\"(.*)\"\)$", self.addressed, re.M))
        rows, seen = [], set()
        for shape, address, name in re.findall(r"-> tensor<([\dx]+x\w+), (\d+) : i64> loc\((#loc\d*)\)", self.addressed):
            if names[name] not in seen:
                seen.add(names[name])
                rows.append([f"`{names[name]}`", shape, f"{int(address):#x}"])
        if not rows:
            raise Failed("no tensor has an address; expected some after --address-assign")
        self.add("## Address\n",
                 "`--address-assign` gives tensors in global memory their addresses, which stand in their types and in the module:\n",
                 code(shown(self.addressed), "text"),
                 table(["tensor", "type", "address"], rows),
                 "The result takes the place of the input: all of `x` is loaded before the first tile of `y` is stored.\n")

    def commands(self):
        text = self.work.tool("model_tool", "--dump-commands", "net.bmodel")
        self.add("## Commands\n",
                 "`--codegen` writes the model file. `model_tool --dump-commands` shows a stream for each engine.",
                 "`#4` is the number of a command, and `<-2` is the number of the other engine's command that it waits for:\n",
                 code(text),
                 "A lane's addresses are those of the table above, in hexadecimal.",
                 "The DMA sees local memory from 0x8000000 on.",
                 "`rq.int` reads its parameters at 0x240, behind the 576 bytes of the filter. `ar.copy` puts the biases below the sums.\n")

    def words(self):
        work = self.work
        report = work.tool("model_tool", "--print", "net.bmodel")
        work.tool("model_tool", "--weight", "net.bmodel", "-o", "constants")
        with open(work.path("constants"), "rb") as file:
            constants = file.read()
        dump = work.tool("model_tool", "--dump-commands", "net.bmodel")
        line = next(line for line in dump.splitlines() if line.startswith("conv.normal"))
        number = int(re.search(r"#(\d+)", line)[1])
        words = work.command_words(int(re.search(r"\"tiu_bytes\": (\d+)", report)[1]), constants, number)
        address = int(re.search(r" opd0_addr=(0x\w+)", line)[1], 16)
        height = int(re.search(r"opd0=\[c2 h(\d+)", line)[1])
        for word in (address, height << 16 | example.CHANNELS_IN):
            if word not in words:
                raise Failed(f"conv.normal #{number}: no word {word:#x}; expected it among {words}")
        lines = [" ".join(f"{word:08x}" for word in words[k:k + 4]) for k in range(0, len(words), 4)]
        self.add("## Command words\n",
                 f"In the file, `conv.normal #{number}` is {len(words)} words of 32 bits:\n",
                 code("\n".join(lines)),
                 f"`{number << 1 | 1:08x}` is the number of the command behind a bit that marks the short form.",
                 f"`{height << 16 | example.CHANNELS_IN:08x}` holds the {height} rows and {example.CHANNELS_IN} channels of the input tile.",
                 f"`{address:08x}` is its place in local memory.",
                 "[bm1684x-machine.md](bm1684x-machine.md) describes the table behind encoder, decoder and simulator.\n")

    def time_line(self):
        work = self.work
        work.tool("model_tool", "--profile", "net.bmodel", "--csv", "time.csv", "-o", "profile.txt")
        rows = [row for row in csv.DictReader(io.StringIO(work.read("time.csv"))) if row["engine"] != "total"]
        total = max(int(row["start"]) + int(row["cycles"]) for row in rows)
        scale, lines = 72 / total, []
        for engine in sorted({row["engine"] for row in rows}):
            marks = ["."] * 72
            for row in rows:
                if row["engine"] == engine and int(row["cycles"]):
                    begin = int(int(row["start"]) * scale)
                    end = max(begin + 1, int((int(row["start"]) + int(row["cycles"])) * scale))
                    marks[begin:end] = row["layer"][0] * (min(end, 72) - begin)
            lines.append(f"{engine:>5} {''.join(marks)}")
        lines.append(f"      0{total:>71}")
        work.tool("model_runner", "--model", "net.bmodel", "--input", "net_in_f32.npz", "--output", "chip.npz")
        work.tool("model_runner", "--model", work.lowered, "--input", "net_in_f32.npz", "--output", "lowered.npz")
        if example.read_npz(work.path("chip.npz"))["y"] != example.read_npz(work.path("lowered.npz"))["y"]:
            raise Failed("net.bmodel: the simulator's result is not that of the interpreter")
        self.add("## The time line\n",
                 "`model_tool --profile --csv` prints when each command runs, in cycles by the vendor's parameters:\n",
                 table(["engine", "command", "layer", "start", "cycles"],
                       [[row["engine"], f"`{row['operation']}` #{row['id']}", f"`{row['layer']}`", row["start"], row["cycles"]]
                        for row in rows]),
                 "Drawn to scale, with the first letter of the layer, both engines look like this:\n",
                 code("\n".join(lines)),
                 "Loading the filter takes longest, as its taps are padded to 64 input channels.",
                 "In a larger network, such a load hides behind the layers in front.\n",
                 "The script runs the file on the simulator of the chip, and its result has the bits of the interpreter's.")


def main():
    build = os.path.abspath(sys.argv[1])
    if not shutil.which("protoc"):
        raise Failed("no protoc on the path; expected Debian's protobuf-compiler")
    with tempfile.TemporaryDirectory() as folder:
        text = Page(example.Example(build, folder)).write() + "\n"
    path = os.path.join(example.ROOT, PAGE)
    if "--check" in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return 0
        print(f"{PAGE}: is not what the programs print; ./dev docs writes it")
        return 1
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as error:
        sys.exit(f"write_worked_example.py: error: {error}")
