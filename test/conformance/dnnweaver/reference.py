"""The integers of a network on the array, by numpy, from the formulas of docs/dnnweaver.md.

It reads the text of a Top module, its weights and a calibration table. There are no passes, tiles, regions or
rewrites here, and nothing is shared with the compiler. Sums of products are exact: they stay below 2^53.
"""

import re

import numpy as np

OP = re.compile(r'\s*(%\w+)(?::\d+)? = "top\.(\w+)"\(([^)]*)\)(?: \{(.*)\})? : .* loc\((.*)\)$')


class Node:
    def __init__(self, op, inputs, outputs, attributes):
        self.op, self.inputs, self.outputs, self.attributes = op, inputs, outputs, attributes

    def ints(self, name, usual):
        found = re.search(rf"\b{name} = \[([-0-9, ]*)\]", self.attributes)
        return [int(i) for i in found.group(1).split(",")] if found else usual

    def number(self, name):
        return float(re.search(rf"\b{name} = ([-+.\de]+)", self.attributes).group(1))


class Network:
    """Nodes in order; maps are named as in the module, and aliases stand for what they alias."""

    def __init__(self, module, table):
        self.nodes, self.constants, self.inputs = [], {}, []
        names = {}
        alias = lambda value: names[value if value in names else value.split("#")[0]]
        for line in open(module, encoding="utf-8"):
            if line.strip().startswith("return "):
                values = line.split(" : ")[0].replace("return", "").split(",")
                self.outputs = [alias(value.strip()) for value in values]
            found = OP.match(line)
            if not found:
                continue
            result, op, arguments, attributes, place = found.groups()
            outputs = re.findall(r'"([^"]*)"', place)
            arguments = [a.strip() for a in arguments.split(",") if a.strip()]
            if op == "Weight":
                self.constants[result] = outputs[0]
            elif op in ("Reshape", "Flatten", "Squeeze", "Unsqueeze"):
                names[result] = alias(arguments[0])
                continue
            elif op != "None":
                inputs = [alias(a) if a in names or a.split("#")[0] in names else a for a in arguments]
                self.nodes.append(Node(op, inputs, outputs, attributes or ""))
                if op == "Input":
                    self.inputs += outputs
            if op not in ("Weight", "None"):
                names[result] = outputs[0]
                for i, name in enumerate(outputs):
                    names[f"{result}#{i}"] = name
        weights = re.search(r'weight_file = "([^"]*)"', open(module, encoding="utf-8").read()).group(1)
        self.weights = np.load(str(module.parent / weights))
        self.ranges = {}
        for line in open(table, encoding="utf-8"):
            fields = line.split()
            if len(fields) == 4 and not line.startswith("#"):
                self.ranges[fields[0]] = (float(fields[2]), float(fields[3]))

    def constant(self, name):
        return self.weights[self.constants[name]] if name in self.constants else None

    def readers(self, name):
        return [node for node in self.nodes if name in node.inputs]


def slope_of(node):
    return {"Relu": 0.0, "LeakyRelu": None}[node.op] if node.op == "Relu" else node.number("alpha")


def on_host(node):
    """Whether the array does not compute an op."""
    return node.op in ("Add", "Mul", "Sigmoid", "AvgPool") or (
        node.op == "Conv" and re.search(r"\bgroup = 1\b", node.attributes) is None)


def is_activation(node):
    return node.op in ("Relu", "LeakyRelu")


class Reference:
    """Integers of all maps that are stored, by their names."""

    def __init__(self, network, bits, zero_points, machine="patent"):
        self.network, self.bits, self.machine = network, bits, machine
        self.least, self.most = -(1 << bits - 1), (1 << bits - 1) - 1
        self.convs = [node for node in network.nodes if node.op in ("Conv", "MatMul") and not on_host(node)]
        self.filters = {id(node): self.filter_of(node) for node in self.convs}
        self.find_groups()
        self.symmetric = set(self.groups.values()) if not zero_points else set()
        while True:
            self.find_scales()
            if self.fits():
                break

    def filter_of(self, node):
        """[kernels, channels, rows, columns] and a bias, in doubles."""
        weight = self.network.constant(node.inputs[1]).astype(np.float64)
        if node.op == "MatMul":
            weight = weight.T.reshape(weight.shape[1], -1, 1, 1)
        bias = self.network.constant(node.inputs[2])
        return weight, np.zeros(weight.shape[0]) if bias is None else bias.astype(np.float64)

    def behind(self, node):
        """The activation that alone reads what a convolution gives, or None."""
        name = node.outputs[0]
        readers = self.network.readers(name)
        alone = len(readers) == 1 and name not in self.network.outputs and is_activation(readers[0])
        return readers[0] if alone else None

    def stored(self, node):
        activation = self.behind(node)
        return (activation or node).outputs[0]

    def share(self, a, b):
        """Whether two convolutions may become one, so that they share their scales."""
        if a is b or a.op != "Conv" or b.op != "Conv" or a.inputs[0] != b.inputs[0]:
            return a is b
        middle = lambda n: [2 * p - k for p, k in zip(n.ints("pads", [0] * 4), n.ints("kernel_shape", []) * 2)]
        if a.ints("strides", [1, 1]) != b.ints("strides", [1, 1]) or middle(a) != middle(b):
            return False
        slopes = [self.behind(n) and slope_of(self.behind(n)) for n in (a, b)]
        readers = [r for n in (a, b) for r in self.network.readers(self.stored(n))]
        limits = [n and n.op == "Relu" and n.number("relu_limit") for n in map(self.behind, (a, b))]
        return slopes[0] == slopes[1] and limits[0] == limits[1] and all(r.op in ("Conv", "MatMul") for r in readers)

    def find_groups(self):
        self.groups = {name: name for node in self.network.nodes for name in node.outputs}

        def join(a, b):
            old, new = self.groups[a], self.groups[b]
            for name, group in self.groups.items():
                if group == old:
                    self.groups[name] = new

        for node in self.network.nodes:
            if node.op not in ("Conv", "MatMul", "Input") and not is_activation(node) and not on_host(node):
                for name in node.inputs:
                    for output in node.outputs:
                        if name in self.groups:
                            join(name, output)
        for a in self.convs:
            for b in self.convs:
                if self.share(a, b):
                    join(self.stored(a), self.stored(b))

    def find_scales(self):
        spans = {}
        for name, group in self.groups.items():
            least, most = self.network.ranges[name]
            span = spans.setdefault(group, [0.0, 0.0])
            span[:] = min(span[0], least), max(span[1], most)
        self.scales = {}
        for name, group in self.groups.items():
            least, most = spans[group]
            if group in self.symmetric:
                self.scales[name] = (max(-least, most) / self.most if least < most else 1.0, 0)
            else:
                scale = (most - least) / (self.most - self.least)
                self.scales[name] = (scale, round_away(-least / scale) + self.least)
        largest = lambda n: max(np.abs(self.filters[id(m)][0]).max() for m in self.convs if self.share(n, m))
        self.weight_scales = {id(n): largest(n) / self.most for n in self.convs}

    def fits(self):
        """Whether biases, of 8 bits with the largest sums, have 32 bits; if not, something became coarser."""
        for node in self.convs:
            scale, zero = self.scales[node.inputs[0]]
            while True:
                weight, bias = self.integers_of(node)
                axes = (1, 2, 3)
                rest = 128 * np.abs(weight).sum(axes) if self.bits == 8 else 0
                if (np.abs(bias - zero * weight.sum(axes)) + rest).max() < 2**31:
                    break
                if (np.abs(bias) + rest).max() < 2**31:
                    self.symmetric.add(self.groups[node.inputs[0]])
                    return False
                self.weight_scales[id(node)] *= 2
        return True

    def integers_of(self, node):
        weight, bias = self.filters[id(node)]
        scale = self.weight_scales[id(node)]
        return (np.clip(round_away(weight / scale), -self.most, self.most),
                round_away(bias / (self.scales[node.inputs[0]][0] * scale)))

    def run(self, inputs, of_host=None):
        """Integers of all maps from those of the inputs. `of_host`: what the host made of its layers, which may
        be one away from ours, since floats may be summed in any order; other layers go on with it."""
        values = {name: np.asarray(array, np.int64) for name, array in inputs.items()}
        for node in self.network.nodes:
            if node.op == "Input" or node.outputs[0] in values:
                continue
            if on_host(node):
                made = self.compute_on_host(node, values)
                name = node.outputs[0]
                if of_host is not None:
                    theirs = np.asarray(of_host[name], np.int64).reshape(made.shape)
                    if np.abs(theirs - made).max() > 1:
                        raise SystemExit(f"{name}, which the host computes, is {np.abs(theirs - made).max()} away")
                    made = theirs
                values[name] = made
            elif node.op in ("Conv", "MatMul"):
                values[self.stored(node)] = self.conv(node, values[node.inputs[0]])
            elif is_activation(node):
                self.activate(node, values)
            else:
                self.move(node, values)
        return values

    def conv(self, node, x):
        weight, bias = self.integers_of(node)
        scale, zero = self.scales[node.inputs[0]]
        if node.op == "MatMul":
            x = x.reshape(1, -1, 1, 1)
        top, left, bottom, right = node.ints("pads", [0] * 4)
        step_h, step_w = node.ints("strides", [1, 1])
        # Real zeros stand around the image, and so the zero point.
        x = np.pad(x[0] - zero, ((0, 0), (top, bottom), (left, right))).astype(np.float64)
        rows = (x.shape[1] - weight.shape[2]) // step_h + 1
        columns = (x.shape[2] - weight.shape[3]) // step_w + 1
        sums = np.repeat(bias[:, None], rows * columns, 1)
        for r in range(weight.shape[2]):
            for s in range(weight.shape[3]):
                part = x[:, r:r + (rows - 1) * step_h + 1:step_h, s:s + (columns - 1) * step_w + 1:step_w]
                sums += weight[:, :, r, s] @ part.reshape(part.shape[0], -1)
        activation = self.behind(node)
        result = self.scales[(activation or node).outputs[0]]
        factor = scale * self.weight_scales[id(node)] / result[0]
        made = self.rescale(sums.astype(np.int64), factor, activation and slope_of(activation), result[1])
        made = np.minimum(made, self.limit_of(activation, result))
        return made.reshape(1, -1, rows, columns)

    def compute_on_host(self, node, values):
        real = [((values[name] - self.scales[name][1]) * self.scales[name][0]).astype(np.float32)
                for name in node.inputs if name in values]
        if node.op == "Add":
            y = real[0] + real[1]
        elif node.op == "Mul":
            y = real[0] * real[1]
        elif node.op == "Sigmoid":
            y = 1 / (1 + np.exp(-real[0]))
        elif node.op == "AvgPool":
            h, w = node.ints("kernel_shape", [])
            windows = np.lib.stride_tricks.sliding_window_view(real[0], (h, w), (2, 3))
            y = windows[:, :, ::node.ints("strides", [1, 1])[0], ::node.ints("strides", [1, 1])[1]].mean((4, 5))
        elif node.op == "Conv":
            weight = self.network.constant(node.inputs[1])[:, 0]
            x = np.pad(real[0], ((0, 0), (0, 0), (1, 1), (1, 1)))
            windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
            y = np.einsum("nchwrs,crs->nchw", windows, weight)
            bias = self.network.constant(node.inputs[2])
            y = y if bias is None else y + bias[:, None, None]
        else:
            raise SystemExit(f"top.{node.op}: the reference does not know it on the host")
        scale, zero = self.scales[node.outputs[0]]
        return np.clip(np.rint(y / np.float32(scale)) + zero, self.least, self.most).astype(np.int64)

    def activate(self, node, values):
        (scale, zero), (result, zero_out) = self.scales[node.inputs[0]], self.scales[node.outputs[0]]
        made = self.rescale(values[node.inputs[0]] - zero, scale / result, slope_of(node), zero_out)
        values[node.outputs[0]] = np.minimum(made, self.limit_of(node, (result, zero_out)))

    def limit_of(self, activation, result):
        limit = activation.number("relu_limit") if activation and activation.op == "Relu" else -1
        return self.most if limit < 0 else round_away(limit / result[0]) + result[1]

    def rescale(self, sums, factor, slope, zero):
        times = lambda number, shift: min(int(round_away(number * 2.0**shift)), 32767)

        def shift_for(number):
            shift = 30
            while shift > 0 and (shift == 15 or round_away(number * 2.0**shift) > 32767):
                shift -= 1
            return shift

        if self.machine == "public":
            return self.rescale_public(sums, factor, slope, times)
        shift = shift_for(factor)
        product = sums * times(factor, shift)
        if slope is not None:
            product = np.maximum(product, sums * times(factor * slope, shift))
        whole = round(1 / slope) if slope else 0
        if self.bits == 8 and 2 <= whole <= 32767 and abs(whole * slope - 1) <= 1e-6:
            other = shift_for(factor / whole)
            if factor / whole * 2.0**other >= 2048:
                shift = other
                small = sums * times(factor / whole, shift)
                product = np.maximum(small, small * whole)
        if self.bits == 16:
            product, zero = product + (zero << shift), 0
        half = 1 << shift >> 1
        quotient = np.sign(product) * ((np.abs(product) + half) >> shift)
        return np.clip(quotient + zero, self.least, self.most)

    def rescale_public(self, sums, factor, slope, times):
        first = 0
        while first < 31 and factor * 2.0**first < 1:
            first += 1
        down = lambda value, shift: np.clip(value >> shift, self.least, self.most)
        value = down(down(sums, first) * times(factor * 2.0**first, 14), 14)
        return value if slope is None else np.maximum(value, down(value * times(slope, 15), 15))

    def move(self, node, values):
        x = values[node.inputs[0]]
        if node.op == "Concat":
            made = np.concatenate([values[name] for name in node.inputs], int(node.number("axis")))
        elif node.op == "Split":
            for name, part in zip(node.outputs, np.split(x, len(node.outputs), int(node.number("axis")))):
                values[name] = part
            return
        elif node.op == "Slice":
            places = [slice(None)] * 4
            offsets = node.ints("offset", [])
            for axis, begin, end in zip(node.ints("axes", range(len(offsets))), offsets, node.ints("ends", [])):
                places[axis] = slice(begin, end)
            made = x[tuple(places)]
        elif node.op in ("Interp", "Upsample"):
            made = x.repeat(2, 2).repeat(2, 3)
        elif node.op == "MaxPool":
            (h, w), (step_h, step_w) = node.ints("kernel_shape", []), node.ints("strides", [])
            top, left, bottom, right = node.ints("pads", [0] * 4)
            x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=self.least)
            windows = np.lib.stride_tricks.sliding_window_view(x, (h, w), (2, 3))
            made = windows[:, :, ::step_h, ::step_w].max((4, 5))
        else:
            raise SystemExit(f"top.{node.op}: the reference does not know it")
        values[node.outputs[0]] = made


def round_away(number):
    """The nearest whole number, ties away from zero."""
    return np.sign(number) * np.floor(np.abs(number) + 0.5) if isinstance(number, np.ndarray) else int(
        np.sign(number) * np.floor(abs(number) + 0.5))
