#!/usr/bin/env python3
"""A small detector of drawn shapes, built as YOLOv8 is: its training, pictures, and ONNX files.

usage: shapes_detector.py train WEIGHTS.npz [--steps N]
       shapes_detector.py export WEIGHTS.npz OUT.onnx [--separate | --maps]
       shapes_detector.py pictures FOLDER COUNT SEED
It finds discs, boxes, triangles and rings in pictures of 3x320x320. `train` takes some minutes of
one core and needs torch. It writes the filters and biases in 16 bits, with batch normalization
folded into them. `export` needs onnx. The file gives 1x8x2100: centre, size, four scores; with
--separate, boxes (1x4x2100) and scores (1x4x2100); with --maps, the bins and the logits of each
level, not decoded. `pictures` writes 0000.npz and so on with the
array `images`. Their objects go to objects.npz: for each picture rows of x, y, width, height, class.
"""

import argparse
import os
import sys

import numpy as np

SIDE = 320
STRIDES = (8, 16, 32)
BINS = 16
CLASSES = 4
WIDTHS = (8, 16, 24, 32, 40)
BOX_WIDTH, SCORE_WIDTH = 16, 12


class Network:
    """The layers in their order; `ops` makes or computes each."""

    def __init__(self, ops):
        self.ops = ops

    def block(self, name, x, channels, kernel=1, stride=1):
        y = self.ops.conv(name, x, channels, kernel, stride, norm=True)
        return self.ops.mul(y, self.ops.sigmoid(y))

    def c2f(self, name, x, channels, shortcut):
        half = channels // 2
        parts = self.ops.split(self.block(name + ".first", x, channels), (half, half))
        y = self.block(name + ".b", self.block(name + ".a", parts[-1], half, 3), half, 3)
        parts = [*parts, self.ops.add(parts[-1], y) if shortcut else y]
        return self.block(name + ".last", self.ops.concat(parts), channels)

    def pyramid_pool(self, name, x, channels):
        pools = [self.block(name + ".first", x, channels // 2)]
        for _ in range(3):
            pools.append(self.ops.max_pool(pools[-1]))
        return self.block(name + ".last", self.ops.concat(pools), channels)

    def head(self, name, x):
        box = self.block(name + ".box1", self.block(name + ".box0", x, BOX_WIDTH, 3), BOX_WIDTH, 3)
        score = self.block(name + ".score1", self.block(name + ".score0", x, SCORE_WIDTH, 3), SCORE_WIDTH, 3)
        return (self.ops.conv(name + ".box2", box, 4 * BINS, 1, 1, norm=False),
                self.ops.conv(name + ".score2", score, CLASSES, 1, 1, norm=False))

    def levels(self, x):
        """The logits of bins and classes of each level."""
        c = WIDTHS
        x = self.block("stem", x, c[0], 3, 2)
        x = self.c2f("c2", self.block("d2", x, c[1], 3, 2), c[1], True)
        fine = self.c2f("c3", self.block("d3", x, c[2], 3, 2), c[2], True)
        middle = self.c2f("c4", self.block("d4", fine, c[3], 3, 2), c[3], True)
        coarse = self.c2f("c5", self.block("d5", middle, c[4], 3, 2), c[4], True)
        coarse = self.pyramid_pool("pool", coarse, c[4])
        middle = self.c2f("u4", self.ops.concat([self.ops.up(coarse), middle]), c[3], False)
        fine = self.c2f("u3", self.ops.concat([self.ops.up(middle), fine]), c[2], False)
        middle = self.c2f("n4", self.ops.concat([self.block("e4", fine, c[2], 3, 2), middle]), c[3], False)
        coarse = self.c2f("n5", self.ops.concat([self.block("e5", middle, c[3], 3, 2), coarse]), c[4], False)
        return [self.head(f"head{i}", level) for i, level in enumerate((fine, middle, coarse))]


def places(side):
    """Centres (2, N) in units of the level's stride, and the strides (N)."""
    centres = [np.stack(np.meshgrid(*[np.arange(side // s, dtype=np.float32) + 0.5] * 2)).reshape(2, -1)
               for s in STRIDES]
    return np.concatenate(centres, axis=1), np.concatenate(
        [np.full((side // s) ** 2, s, np.float32) for s in STRIDES])


# --- Pictures ----------------------------------------------------------------------------------


def background(rng, side):
    """Stripes and slopes of soft colours, and noise."""
    y, x = np.mgrid[0:side, 0:side].astype(np.float32) / side
    picture = np.empty((3, side, side), np.float32)
    for channel in picture:
        channel[:] = rng.uniform(0.1, 0.9)
        for _ in range(4):
            fx, fy = rng.normal(0, 6, 2).astype(np.float32)
            channel += rng.uniform(0, 0.12) * np.sin(fx * x + fy * y + rng.uniform(0, 6.3))
    noise = rng.standard_normal(picture.shape, np.float32)
    return picture + rng.uniform(0.005, 0.05) * noise


def mask_of(kind, rng, x, y):
    """Where the shape is; its outline fills the square -1 <= x, y <= 1."""
    radius = x * x + y * y
    if kind == 0:
        return radius <= 1
    if kind == 1:
        return np.maximum(abs(x), abs(y)) <= 1
    if kind == 2:
        return (abs(y) <= 1) & (abs(x) <= (y + 1) / 2)
    inner = rng.uniform(0.4, 0.7)
    return (radius <= 1) & (radius >= inner * inner)


def draw(rng, side, largest, most):
    """A picture, and its objects: rows of x, y, width, height, class."""
    picture = background(rng, side)
    y, x = np.mgrid[0:side, 0:side].astype(np.float32) + 0.5
    objects = []
    for _ in range(int(rng.integers(1, most + 1))):
        w = np.exp(rng.uniform(np.log(14), np.log(largest)))
        h = min(w * np.exp(rng.uniform(-0.5, 0.5)), largest)
        cx, cy = rng.uniform(w / 2, side - w / 2), rng.uniform(h / 2, side - h / 2)
        if any(abs(cx - o[0]) < 0.5 * (w + o[2]) and abs(cy - o[1]) < 0.5 * (h + o[3]) for o in objects):
            continue
        kind = int(rng.integers(CLASSES))
        mask = mask_of(kind, rng, 2 * (x - cx) / w, 2 * (y - cy) / h)
        colour = rng.uniform(0, 1, 3).astype(np.float32)
        here = picture[:, int(cy), int(cx)]
        if np.abs(colour - here).max() < 0.3:
            colour = (here + 0.5) % 1
        shade = 1 + rng.uniform(-0.2, 0.2) * (x - cx) / w
        picture = np.where(mask, colour[:, None, None] * shade, picture)
        objects.append((cx, cy, w, h, kind))
    # In the 256 steps that pictures have.
    return (np.round(np.clip(picture, 0, 1) * 255) / 255).astype(np.float32), \
        np.array(objects, np.float32).reshape(-1, 5)


def write_pictures(folder, count, seed):
    os.makedirs(folder, exist_ok=True)
    rng = np.random.default_rng(seed)
    found = {}
    for index in range(count):
        picture, found[f"{index:04}"] = draw(rng, SIDE, 200, 8)
        np.savez(f"{folder}/{index:04}.npz", images=picture[None])
    return found


# --- Training ----------------------------------------------------------------------------------


def torch_ops():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class TorchOps(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleDict()

        def conv(self, name, x, channels, kernel, stride, norm):
            key = name.replace(".", "_")
            if key not in self.layers:
                conv = nn.Conv2d(x.shape[1], channels, kernel, stride, kernel // 2, bias=not norm)
                if not norm:
                    nn.init.constant_(conv.bias, -4.0 if "score" in name else 1.0)
                self.layers[key] = nn.Sequential(conv, nn.BatchNorm2d(channels, eps=1e-3, momentum=0.03)
                                                 if norm else nn.Identity())
            return self.layers[key](x)

        mul = staticmethod(torch.mul)
        add = staticmethod(torch.add)
        sigmoid = staticmethod(torch.sigmoid)

        @staticmethod
        def concat(parts):
            return torch.cat(list(parts), 1)

        @staticmethod
        def split(x, sizes):
            return list(torch.split(x, list(sizes), 1))

        @staticmethod
        def max_pool(x):
            return F.max_pool2d(x, 5, 1, 2)

        @staticmethod
        def up(x):
            return F.interpolate(x, scale_factor=2, mode="nearest")

        def folded(self):
            """{name: filter or bias} with the normalizations folded in."""
            made = {}
            for key, (conv, norm) in self.layers.items():
                weight, bias = conv.weight.detach(), conv.bias
                if not isinstance(norm, nn.Identity):
                    factor = norm.weight.detach() / torch.sqrt(norm.running_var + norm.eps)
                    weight = weight * factor[:, None, None, None]
                    bias = norm.bias.detach() - norm.running_mean * factor
                made[key + ".w"] = weight.numpy().astype(np.float16)
                made[key + ".b"] = bias.detach().numpy().astype(np.float16)
            return made

    return TorchOps()


def assign(objects, side):
    """For each place the object that it is to find, or -1: places near an object's middle, on the
    level whose stride suits the object's size."""
    centres, strides = places(side)
    at = centres * strides
    found = np.full(len(strides), -1, np.int64)
    best = np.full(len(strides), np.inf)
    for index, (cx, cy, w, h, _) in enumerate(objects):
        size = max(w, h)
        level = 8 if size < 48 else 16 if size < 110 else 32
        distance = np.maximum(abs(at[0] - cx) / w, abs(at[1] - cy) / h)
        take = (strides == level) & (distance < max(0.2, min(0.4, 0.55 * level / min(w, h)))) & (distance < best)
        found[take], best[take] = index, distance[take]
    return found


def loss_of(levels, drawn, side):
    """What training makes small, and two figures that show how far it is."""
    import torch
    from torch.nn import functional as F
    centres, strides = (torch.from_numpy(x) for x in places(side))
    owner = torch.from_numpy(np.stack([assign(objects, side) for _, objects in drawn]))
    truth = torch.zeros(len(drawn), len(strides), 5)
    for row, (_, objects) in enumerate(drawn):
        mine = owner[row] >= 0
        truth[row, mine] = torch.from_numpy(objects)[owner[row, mine]]
    positive = owner >= 0
    box = torch.cat([b.flatten(2) for b, _ in levels], 2).permute(0, 2, 1)
    score = torch.cat([s.flatten(2) for _, s in levels], 2).permute(0, 2, 1)
    wanted = F.one_hot(truth[..., 4].long(), CLASSES) * positive[..., None]
    chance = torch.sigmoid(score)
    weight = torch.where(wanted > 0, torch.ones_like(chance), 0.75 * chance.detach() ** 1.5)
    loss = (F.binary_cross_entropy_with_logits(score, wanted.float(), reduction="none") * weight).sum()
    loss = loss / positive.sum().clamp(min=1)
    middle = truth[positive]
    place = centres.T.expand(len(drawn), -1, -1)[positive]
    stride = strides.expand(len(drawn), -1)[positive][:, None]
    half = middle[:, 2:4] / 2
    target = torch.cat([place - (middle[:, :2] - half) / stride, (middle[:, :2] + half) / stride - place], 1)
    target = target.clamp(0, BINS - 1.01)
    below = target.floor().long()
    logits = box[positive].view(-1, 4, BINS)
    log = F.log_softmax(logits, 2)
    part = target - below
    fit = -(log.gather(2, below[..., None])[..., 0] * (1 - part)
            + log.gather(2, below[..., None] + 1)[..., 0] * part).mean()
    sides = (logits.softmax(2) * torch.arange(BINS, dtype=torch.float32)).sum(2)
    inter = torch.minimum(sides, target)
    inter = (inter[:, 0] + inter[:, 2]) * (inter[:, 1] + inter[:, 3])
    area = (sides[:, 0] + sides[:, 2]) * (sides[:, 1] + sides[:, 3])
    exact = (target[:, 0] + target[:, 2]) * (target[:, 1] + target[:, 3])
    iou = (inter / (area + exact - inter + 1e-6)).mean()
    return loss + 1.5 * fit + 5 * (1 - iou), iou.item(), chance[wanted > 0].mean().item()


def train(path, steps):
    import torch
    torch.manual_seed(1)
    side, batch = 160, 12
    ops = torch_ops()
    network = Network(ops)
    network.levels(torch.zeros(2, 3, 64, 64))
    optimizer = torch.optim.AdamW(ops.parameters(), lr=3e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps, pct_start=0.1)
    rng = np.random.default_rng(1)
    print(sum(p.numel() for p in ops.parameters()), "parameters", flush=True)
    for step in range(1, steps + 1):
        drawn = [draw(rng, side, 140, 4) for _ in range(batch)]
        images = torch.from_numpy(np.stack([picture for picture, _ in drawn]))
        loss, iou, chance = loss_of(network.levels(images), drawn, side)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(ops.parameters(), 10.0)
        optimizer.step()
        schedule.step()
        if step % 50 == 0 or step == steps:
            print(f"step {step}: loss {loss.item():.3f}, IoU {iou:.3f}, score {chance:.3f}", flush=True)
            np.savez_compressed(path, **ops.folded())


# --- ONNX --------------------------------------------------------------------------------------


class OnnxOps:
    """Adds nodes to a graph; tensors are their names."""

    def __init__(self, weights):
        self.weights, self.nodes, self.constants = weights, [], []

    def constant(self, array):
        from onnx import numpy_helper
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, kind, *inputs, results=1, **attributes):
        from onnx import helper
        names = [f"{kind.lower()}{len(self.nodes)}_{i}" for i in range(results)]
        self.nodes.append(helper.make_node(kind, inputs, names, name=names[0], **attributes))
        return names[0] if results == 1 else names

    def conv(self, name, x, channels, kernel, stride, norm):
        del channels, norm
        key = name.replace(".", "_")
        return self.node("Conv", x, self.constant(self.weights[key + ".w"].astype(np.float32)),
                         self.constant(self.weights[key + ".b"].astype(np.float32)),
                         strides=[stride] * 2, pads=[kernel // 2] * 4, kernel_shape=[kernel] * 2)

    def mul(self, x, y):
        return self.node("Mul", x, y)

    def add(self, x, y):
        return self.node("Add", x, y)

    def sub(self, x, y):
        return self.node("Sub", x, y)

    def sigmoid(self, x):
        return self.node("Sigmoid", x)

    def concat(self, parts, axis=1):
        return self.node("Concat", *parts, axis=axis)

    def split(self, x, sizes):
        return self.node("Split", x, self.constant(np.array(sizes, np.int64)), results=len(sizes), axis=1)

    def max_pool(self, x):
        return self.node("MaxPool", x, kernel_shape=[5, 5], pads=[2] * 4, strides=[1, 1])

    def up(self, x):
        return self.node("Resize", x, self.constant(np.zeros(0, np.float32)),
                         self.constant(np.array([1, 1, 2, 2], np.float32)), mode="nearest",
                         coordinate_transformation_mode="asymmetric", nearest_mode="floor")

    def reshape(self, x, *dims):
        return self.node("Reshape", x, self.constant(np.array(dims, np.int64)))

    def decode(self, levels):
        """Boxes (centre, size) and scores, as YOLOv8's own exporter writes them."""
        joined = [self.reshape(self.concat(level), 0, 4 * BINS + CLASSES, -1) for level in levels]
        box, score = self.split(self.concat(joined, axis=2), (4 * BINS, CLASSES))
        sides = self.node("Transpose", self.reshape(box, 0, 4, BINS, -1), perm=[0, 2, 1, 3])
        expected = self.node("Conv", self.node("Softmax", sides, axis=1),
                             self.constant(np.arange(BINS, dtype=np.float32).reshape(1, BINS, 1, 1)))
        low, high = self.split(self.reshape(expected, 0, 4, -1), (2, 2))
        centres, strides = places(SIDE)
        low = self.sub(self.constant(centres[None]), low)
        high = self.add(self.constant(centres[None]), high)
        middle = self.node("Div", self.add(low, high), self.constant(np.array(2, np.float32)))
        box = self.concat([middle, self.sub(high, low)])
        return self.mul(box, self.constant(strides[None, None])), self.sigmoid(score)


def export(path, weights, form):
    import onnx
    from onnx import TensorProto, helper
    ops = OnnxOps(np.load(weights))
    levels = Network(ops).levels("images")
    if form == "maps":
        outputs = [(name, [rows, SIDE // stride, SIDE // stride]) for level, stride in zip(levels, STRIDES)
                   for name, rows in zip(level, (4 * BINS, CLASSES))]
    else:
        boxes, scores = ops.decode(levels)
        count = len(places(SIDE)[1])
        outputs = ([(boxes, [4, count]), (scores, [CLASSES, count])] if form == "separate"
                   else [(ops.concat([boxes, scores]), [4 + CLASSES, count])])
    graph = helper.make_graph(
        ops.nodes, "shapes_detector",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, [1, 3, SIDE, SIDE])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, *dims]) for name, dims in outputs],
        ops.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("train")
    command.add_argument("weights")
    command.add_argument("--steps", type=int, default=1600)
    command = commands.add_parser("export")
    command.add_argument("weights")
    command.add_argument("onnx")
    form = command.add_mutually_exclusive_group()
    form.add_argument("--separate", dest="form", action="store_const", const="separate")
    form.add_argument("--maps", dest="form", action="store_const", const="maps")
    command = commands.add_parser("pictures")
    command.add_argument("folder")
    command.add_argument("count", type=int)
    command.add_argument("seed", type=int)
    options = parser.parse_args()
    if options.command == "train":
        train(options.weights, options.steps)
    elif options.command == "export":
        export(options.onnx, options.weights, options.form)
    else:
        np.savez(options.folder + ".objects.npz", **write_pictures(options.folder, options.count, options.seed))


if __name__ == "__main__":
    sys.exit(main())
