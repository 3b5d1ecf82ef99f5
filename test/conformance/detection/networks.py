"""Detectors of random weights whose heads are those of each version, in each form in which they are exported.

A network is convolutions of the picture, one or more for each level, and what an export has behind them: nothing
(raw maps), the layout of another framework, or the decoding as the authors' programs write it. `build` writes it,
and gives what the reference needs: the names of the raw maps and how they are decoded.
"""

import dataclasses

import numpy as np
from onnx_file import Graph

STRIDES = (8, 16, 32)
BINS = 16
CHOSEN = 100  # boxes that YOLOv10 gives
ANCHORS = {
    "yolov3": ((10, 13, 16, 30, 33, 23), (30, 61, 62, 45, 59, 119), (116, 90, 156, 198, 373, 326)),
    "yolov3_tiny": ((10, 14, 23, 27, 37, 58), (81, 82, 135, 169, 344, 319)),
    "yolov4": ((12, 16, 19, 36, 40, 28), (36, 75, 76, 55, 72, 146), (142, 110, 192, 243, 459, 401)),
}
ANCHORS["yolov5"] = ANCHORS["yolov3"]
ANCHORS["yolov7"] = ANCHORS["yolov4"]
SCALE_XY = {"yolov4": (1.2, 1.1, 1.05)}


@dataclasses.dataclass
class Network:
    version: str
    height: int
    width: int
    classes: int
    items: int = 1
    strides: tuple = STRIDES
    raw: list = dataclasses.field(default_factory=list)  # names of the maps of each level
    protos: str = ""
    options: dict = dataclasses.field(default_factory=dict)

    @property
    def grids(self):
        return [(self.height // stride, self.width // stride) for stride in self.strides]


class Builder:
    """`bias` is added to scores: it says how many boxes there are."""

    def __init__(self, network, seed, bias, flat):
        self.net, self.graph = network, Graph()
        self.random = np.random.default_rng(seed)
        self.bias, self.flat = bias, flat

    def conv(self, stride, channels, scores, scale=1.0):
        """A map with `channels`; those that `scores` says are scores."""
        random = self.random
        weights = random.standard_normal((channels, 3, stride, stride)).astype(np.float32) * scale
        weights *= np.float32(0 if self.flat else 0.4 / stride)
        # Boxes are some cells wide: what is thinner than numbers of 32 bits show is no test.
        weights[~scores(np.arange(channels))] *= np.float32(0.3)
        bias = 0.5 * random.standard_normal(channels).astype(np.float32) * np.float32(scale)
        bias = bias.astype(np.float32)
        bias[scores(np.arange(channels))] += np.float32(self.bias)
        return self.graph.node("Conv", "x", weights, bias, kernel_shape=[stride, stride], strides=[stride, stride])

    def grid(self, height, width, shift):
        y, x = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
        return np.stack([x, y], -1).astype(np.float32) + np.float32(shift)

    def write(self, path, outputs):
        self.graph.write(path, {"x": (self.net.items, 3, self.net.height, self.net.width)}, outputs)


def anchored(build, form):
    """YOLOv3, v4, v5, v7: [N, 3 * (5 + C), H, W] for each level."""
    net, graph = build.net, build.graph
    fields = net.classes + 5
    square = net.version in ("yolov5", "yolov7")
    outputs = []
    for level, stride in enumerate(net.strides):
        height, width = net.grids[level]
        raw = build.conv(stride, 3 * fields, lambda c: c % fields >= 4, 0.7)
        net.raw.append([raw])
        if form == "maps":
            outputs.append(raw)
            continue
        if form == "nhwc":
            outputs.append(graph.node("Transpose", raw, perm=[0, 2, 3, 1]))
            continue
        apart = graph.node("Reshape", raw, [net.items, 3, fields, height, width])
        last = graph.node("Transpose", apart, perm=[0, 1, 3, 4, 2])
        if form == "permuted":
            outputs.append(last)
            continue
        if form == "joined":
            outputs.append(graph.node("Reshape", last, [net.items, -1, fields]))
            continue
        anchors = np.float32(ANCHORS[net.version][level]).reshape(1, 3, 1, 1, 2)
        grid = build.grid(height, width, -0.5 if square else 0).reshape(1, 1, height, width, 2)
        size = np.float32(stride)
        if square:
            xy, wh, rest = graph.node("Split", graph.node("Sigmoid", last), [2, 2, fields - 4], outputs=3, axis=4)
            xy = graph.node("Mul", graph.node("Add", graph.node("Mul", xy, np.float32(2)), grid), size)
            wh = graph.node("Mul", graph.node("Pow", graph.node("Mul", wh, np.float32(2)), np.float32(2)), anchors)
        else:
            xy, wh, rest = graph.node("Split", last, [2, 2, fields - 4], outputs=3, axis=4)
            k = np.float32(SCALE_XY.get(net.version, (1,) * 3)[level])
            xy = graph.node("Mul", graph.node("Sigmoid", xy), k)
            xy = graph.node("Mul", graph.node("Add", xy, np.float32(grid - (k - 1) / 2)), size)
            wh = graph.node("Mul", graph.node("Exp", wh), anchors)
            rest = graph.node("Sigmoid", rest)
        boxes = graph.node("Concat", xy, wh, rest, axis=4)
        outputs.append(graph.node("Reshape", boxes, [net.items, -1, fields]))
    if form in ("joined", "boxes"):
        outputs = [graph.node("Concat", *outputs, axis=1)]
    return outputs


def pairs(build):
    """YOLOv4 as corners in shares of the picture, and scores."""
    net, graph = build.net, build.graph
    rows = anchored(build, "boxes")[0]
    xy, wh, confidence, classes = graph.node("Split", rows, [2, 2, 1, net.classes], outputs=4, axis=2)
    half = graph.node("Mul", wh, np.float32(0.5))
    corners = graph.node("Concat", graph.node("Sub", xy, half), graph.node("Add", xy, half), axis=2)
    extents = np.float32([net.width, net.height] * 2)
    corners = graph.node("Reshape", graph.node("Div", corners, extents), [net.items, -1, 1, 4])
    return [corners, graph.node("Mul", confidence, classes)]


def decoded_distances(build, distances, end_to_end=False, angle=None):
    """Centres and sizes, or corners, [N, 4, P] of the distances [N, 4, P], turned by the angle [N, 1, P]."""
    net, graph = build.net, build.graph
    points = [build.grid(height, width, 0.5).reshape(-1, 2) for height, width in net.grids]
    steps = np.concatenate([np.full(len(each), stride) for each, stride in zip(points, net.strides)])
    points = np.concatenate(points).T[None]
    lt, rb = graph.node("Split", distances, [2, 2], outputs=2, axis=1)
    if angle is not None:
        half = graph.node("Mul", graph.node("Sub", rb, lt), np.float32(0.5))
        along, across = graph.node("Split", half, [1, 1], outputs=2, axis=1)
        cosine, sine = graph.node("Cos", angle), graph.node("Sin", angle)
        x = graph.node("Sub", graph.node("Mul", along, cosine), graph.node("Mul", across, sine))
        y = graph.node("Add", graph.node("Mul", along, sine), graph.node("Mul", across, cosine))
        centre = graph.node("Add", graph.node("Concat", x, y, axis=1), points)
        boxes = graph.node("Concat", centre, graph.node("Add", lt, rb), axis=1)
        return graph.node("Mul", boxes, np.float32(steps).reshape(1, 1, -1))
    low = graph.node("Sub", points, lt)
    high = graph.node("Add", rb, points)
    if end_to_end:
        boxes = graph.node("Concat", low, high, axis=1)
    else:
        centre = graph.node("Div", graph.node("Add", low, high), np.float32(2))
        boxes = graph.node("Concat", centre, graph.node("Sub", high, low), axis=1)
    return graph.node("Mul", boxes, np.float32(steps).reshape(1, 1, -1))


def mean_bins(build, boxes, places):
    """[N, 64, P] to [N, 4, P]: softmax over the bins, and a convolution with 0 ... 15."""
    graph = build.graph
    bins = graph.node("Reshape", boxes, [build.net.items, 4, BINS, places])
    shares = graph.node("Softmax", graph.node("Transpose", bins, perm=[0, 2, 1, 3]), axis=1)
    numbers = np.arange(BINS, dtype=np.float32).reshape(1, BINS, 1, 1)
    return graph.node("Reshape", graph.node("Conv", shares, numbers), [build.net.items, 4, places])


def anchor_free(build, form):
    """YOLOv8, v9, v10, v11: 64 bins of distances, and classes."""
    net, graph = build.net, build.graph
    task = net.version.partition("_")[2]
    extra = {"": 0, "seg": 32, "pose": 51, "obb": 1}[task]
    outputs, extras = [], []
    for level, stride in enumerate(net.strides):
        height, width = net.grids[level]
        boxes = build.conv(stride, 4 * BINS, lambda c: c < 0, 1.5)
        scores = build.conv(stride, net.classes, lambda c: c >= 0)
        net.raw.append([boxes, scores])
        more = []
        if extra:
            more = [build.conv(stride, extra, lambda c: c < 0)]
            net.raw[-1] += more
            extras.append(graph.node("Reshape", *more, [net.items, extra, height * width]))
        if form == "apart":
            outputs += [boxes, scores, *more]
            continue
        joined = graph.node("Concat", boxes, scores, *(more if form == "maps" else []), axis=1)
        outputs.append(joined)
        if form not in ("maps", "levels", "decoded"):
            outputs[-1] = graph.node("Reshape", joined, [net.items, 4 * BINS + net.classes, height * width])
    protos = []
    if task == "seg":
        net.protos = build.conv(4, extra, lambda c: c < 0)
        protos = [net.protos]
    places = sum(height * width for height, width in net.grids)
    more = graph.node("Concat", *extras, axis=2) if extra else None
    if form in ("maps", "apart"):
        return outputs + protos
    if form == "levels":
        return [*outputs, more, *protos]
    if task == "pose":
        more = decoded_points(build, more, places)
    if task == "obb":
        more = graph.node("Mul", graph.node("Sub", graph.node("Sigmoid", more), np.float32(0.25)), np.float32(np.pi))
    if form == "decoded":
        return [*outputs, more]
    joined = graph.node("Concat", *outputs, axis=2)
    if form == "joined":
        return [joined]
    boxes, scores = graph.node("Split", joined, [4 * BINS, net.classes], outputs=2, axis=1)
    boxes = decoded_distances(build, mean_bins(build, boxes, places), net.version == "yolov10",
                              more if task == "obb" else None)
    columns = graph.node("Concat", boxes, graph.node("Sigmoid", scores), *([more] if extra else []), axis=1)
    if form == "chosen":
        return [chosen(build, columns)]
    return [graph.node("Transpose", columns, perm=[0, 2, 1]) if form == "rows" else columns, *protos]


def decoded_points(build, points, places):
    """[N, 51, P]: x and y of 17 points in pixels, and shares."""
    net, graph = build.net, build.graph
    apart = graph.node("Reshape", points, [net.items, 17, 3, places])
    xy, seen = graph.node("Split", apart, [2, 1], outputs=2, axis=2)
    grid = np.concatenate([build.grid(height, width, 0).reshape(-1, 2) for height, width in net.grids]).T
    steps = np.concatenate([np.full(height * width, stride)
                            for (height, width), stride in zip(net.grids, net.strides)])
    xy = graph.node("Add", graph.node("Mul", xy, np.float32(2)), np.float32(grid).reshape(1, 1, 2, places))
    xy = graph.node("Mul", xy, np.float32(steps).reshape(1, 1, 1, places))
    joined = graph.node("Concat", xy, graph.node("Sigmoid", seen), axis=2)
    return graph.node("Reshape", joined, [net.items, 51, places])


def chosen(build, columns, count=CHOSEN):
    """The best `count` boxes [N, count, 6], as YOLOv10 gives them: each place by its best class."""
    net, graph = build.net, build.graph
    rows = graph.node("Transpose", columns, perm=[0, 2, 1])
    boxes, scores = graph.node("Split", rows, [4, net.classes], outputs=2, axis=2)
    best = graph.node("ReduceMax", scores, axes=[2], keepdims=1)
    label = graph.node("Cast", graph.node("ArgMax", scores, axis=2, keepdims=1), to=1)
    joined = graph.node("Concat", boxes, best, label, axis=2)
    _, order = graph.node("TopK", graph.node("Reshape", best, [net.items, -1]), np.int64([count]), outputs=2, axis=1)
    index = graph.node("Tile", graph.node("Reshape", order, [net.items, count, 1]), np.int64([1, 1, 6]))
    return graph.node("GatherElements", joined, index, axis=1)


def plain_distances(build, form):
    """YOLOv6: four distances, and classes with a sigmoid."""
    net, graph = build.net, build.graph
    outputs, all_boxes, all_scores = [], [], []
    for level, stride in enumerate(net.strides):
        height, width = net.grids[level]
        boxes = graph.node("Softplus", build.conv(stride, 4, lambda c: c < 0, 2))
        scores = graph.node("Sigmoid", build.conv(stride, net.classes, lambda c: c >= 0))
        net.raw.append([boxes, scores])
        outputs += [boxes, scores]
        all_boxes.append(graph.node("Reshape", boxes, [net.items, 4, height * width]))
        all_scores.append(graph.node("Reshape", scores, [net.items, net.classes, height * width]))
    if form == "apart":
        return outputs
    boxes = decoded_distances(build, graph.node("Concat", *all_boxes, axis=2))
    places = sum(height * width for height, width in net.grids)
    ones = np.ones((net.items, 1, places), np.float32)
    joined = graph.node("Concat", boxes, ones, graph.node("Concat", *all_scores, axis=2), axis=1)
    return [graph.node("Transpose", joined, perm=[0, 2, 1])]


def exponential(build, form):
    """YOLOX: a box, an objectness and classes; the latter with a sigmoid."""
    net, graph = build.net, build.graph
    maps, flat = [], []
    fields = net.classes + 5
    for level, stride in enumerate(net.strides):
        height, width = net.grids[level]
        parts = [build.conv(stride, 4, lambda c: c < 0), build.conv(stride, 1, lambda c: c >= 0),
                 build.conv(stride, net.classes, lambda c: c >= 0)]
        parts[1:] = [graph.node("Sigmoid", each) for each in parts[1:]]
        net.raw.append(parts)
        maps.append(graph.node("Concat", *parts, axis=1))
        flat.append(graph.node("Reshape", maps[-1], [net.items, fields, height * width]))
    if form == "maps":
        return maps
    rows = graph.node("Transpose", graph.node("Concat", *flat, axis=2), perm=[0, 2, 1])
    if form == "joined":
        return [rows]
    grid = np.concatenate([build.grid(height, width, 0).reshape(-1, 2) for height, width in net.grids])[None]
    steps = np.concatenate([np.full((height * width, 1), stride, np.float32)
                            for (height, width), stride in zip(net.grids, net.strides)])[None]
    xy, wh, rest = graph.node("Split", rows, [2, 2, fields - 4], outputs=3, axis=2)
    xy = graph.node("Mul", graph.node("Add", xy, grid), steps)
    wh = graph.node("Mul", graph.node("Exp", wh), steps)
    return [graph.node("Concat", xy, wh, rest, axis=2)]


def priors(build, form):
    """SSD: differences from priors and scores of classes, 0 the background."""
    net, graph = build.net, build.graph
    boxes, scores = [], []
    for level, stride in enumerate(net.strides):
        count = 3 if level == 0 else 6
        for rows, fields, bias in ((boxes, 4, lambda c: c < 0), (scores, net.classes, lambda c: c % net.classes > 0)):
            raw = build.conv(stride, count * fields, bias)
            (net.raw.append([raw]) if rows is boxes else net.raw[-1].append(raw))
            last = graph.node("Transpose", raw, perm=[0, 2, 3, 1])
            rows.append(graph.node("Reshape", last, [net.items, -1, fields]))
    boxes, scores = (graph.node("Concat", *each, axis=1) for each in (boxes, scores))
    return [boxes, graph.node("Softmax", scores, axis=2) if form == "softmax" else scores]


FORMS = {
    "yolov3": (anchored, ("maps", "nhwc", "permuted", "joined", "boxes")),
    "yolov3_tiny": (anchored, ("maps", "boxes")),
    "yolov4": (anchored, ("maps", "boxes", "pairs")),
    "yolov5": (anchored, ("maps", "nhwc", "permuted", "joined", "boxes")),
    "yolov6": (plain_distances, ("apart", "boxes")),
    "yolov7": (anchored, ("maps", "permuted", "boxes")),
    "yolov8": (anchor_free, ("maps", "apart", "joined", "boxes", "rows")),
    "yolov8_seg": (anchor_free, ("maps", "apart", "levels", "boxes")),
    "yolov8_pose": (anchor_free, ("maps", "apart", "levels", "decoded", "boxes")),
    "yolov8_obb": (anchor_free, ("maps", "apart", "levels", "decoded", "boxes")),
    "yolov9": (anchor_free, ("maps", "boxes")),
    "yolov10": (anchor_free, ("maps", "boxes", "chosen")),
    "yolov11": (anchor_free, ("maps", "apart", "joined", "boxes", "rows")),
    "yolov11_seg": (anchor_free, ("maps", "apart", "levels", "boxes")),
    "yolov11_pose": (anchor_free, ("maps", "apart", "levels", "decoded", "boxes")),
    "yolov11_obb": (anchor_free, ("maps", "apart", "levels", "decoded", "boxes")),
    "yolox": (exponential, ("maps", "joined", "boxes")),
    "ssd": (priors, ("logits", "softmax")),
}


def build(version, form, path, seed=1, bias=-1.0, flat=False, height=128, width=192, items=1, classes=None):
    """Writes the network; `flat`: all places of a level are equal."""
    if classes is None:
        classes = 1 if version.endswith("pose") else 7
    strides = (16, 32) if version == "yolov3_tiny" else STRIDES
    network = Network(version, height, width, classes, items, strides)
    builder = Builder(network, seed, bias, flat)
    outputs = pairs(builder) if form == "pairs" else FORMS[version][0](builder, form)
    builder.write(path, outputs)
    return network, outputs
