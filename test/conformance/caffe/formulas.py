"""What Caffe's layers compute, in numpy and double precision, from Caffe's documentation.

`evaluate` takes a network and its inputs, and gives every tensor: by the names of tops; in chains
in place by the layer's name for all but the last of them.
"""

import itertools

import numpy as np

LAYERS = {}


def layer(*types):
    def register(function):
        for each in types:
            LAYERS[each] = function
        return function
    return register


def evaluate(network, inputs):
    """{name: array} of all tensors, and the names of the outputs."""
    blobs = {name: np.asarray(value, np.float64) for name, value in inputs.items()}
    last = {}
    for index, each in enumerate(network.layers):
        for top in each.tops:
            last[top] = index
    tensors, unread, current = {}, [], {name: name for name in blobs}
    shared = {}
    for index, each in enumerate(network.layers):
        if each.include == "TRAIN":
            continue
        parameters = [np.asarray(blob, np.float64) for blob in each.blobs]
        for place, name in enumerate(each.shared):
            if place < len(parameters):
                shared.setdefault(name, parameters[place])
            else:
                parameters.append(shared[name])
        values = LAYERS[each.type](each.group, [blobs[name] for name in each.bottoms], parameters, len(each.tops))
        for bottom in each.bottoms:
            unread = [name for name in unread if name != current[bottom]]
        for top, value in zip(each.tops, values, strict=True):
            is_last = last[top] == index and top not in network.inputs
            name = top if is_last else each.name
            blobs[top], current[top], tensors[name] = value, name, value
            unread.append(name)
    return tensors, unread


def extents(p, field, count, default, short=None):
    """A parameter of windows: one number, one for each dimension, or `_h` and `_w`."""
    short = short or field
    if short + "_h" in p or short + "_w" in p:
        return [p.get(short + "_h", default), p.get(short + "_w", default)]
    value = p.get(field, default)
    if isinstance(value, (list, tuple)):
        return list(value) if len(value) == count else list(value) * count
    return [value] * count


def windows(p, count):
    return (extents(p, "kernel_size", count, 1, "kernel"), extents(p, "stride", count, 1),
            extents(p, "pad", count, 0))


# ---- element by element


def plain(name, function):
    LAYERS[name] = lambda p, x, blobs, tops: [function(x[0], p)]


plain("AbsVal", lambda x, p: np.abs(x))
plain("BNLL", lambda x, p: np.logaddexp(0, x))
plain("Clip", lambda x, p: np.clip(x, p["min"], p["max"]))
plain("Dropout", lambda x, p: x)
plain("ELU", lambda x, p: np.where(x > 0, x, p.get("alpha", 1.0) * np.expm1(np.minimum(x, 0))))
plain("HardSwish", lambda x, p: x * np.clip(x + 3, 0, 6) / 6)
plain("Mish", lambda x, p: x * np.tanh(np.logaddexp(0, x)))
plain("Power", lambda x, p: (p.get("shift", 0.0) + p.get("scale", 1.0) * x) ** p.get("power", 1.0))
plain("ReLU", lambda x, p: np.where(x > 0, x, p.get("negative_slope", 0.0) * x))
plain("ReLU6", lambda x, p: np.clip(x, 0, 6))
plain("Sigmoid", lambda x, p: 1 / (1 + np.exp(-x)))
plain("Swish", lambda x, p: x / (1 + np.exp(-p.get("beta", 1.0) * x)))
plain("TanH", lambda x, p: np.tanh(x))
plain("Threshold", lambda x, p: (x > p.get("threshold", 0.0)).astype(float))


def base(p):
    return np.e if p.get("base", -1.0) == -1 else p["base"]


plain("Exp", lambda x, p: base(p) ** (p.get("shift", 0.0) + p.get("scale", 1.0) * x))
plain("Log", lambda x, p: np.log(p.get("shift", 0.0) + p.get("scale", 1.0) * x) / np.log(base(p)))


@layer("Split")
def split(p, x, blobs, tops):
    return [x[0]] * tops


@layer("PReLU")
def prelu(p, x, blobs, tops):
    slope = blobs[0].reshape([1, -1] + [1] * (x[0].ndim - 2))
    return [np.where(x[0] > 0, x[0], slope * x[0])]


@layer("Eltwise")
def eltwise(p, x, blobs, tops):
    operation = p.get("operation", "SUM")
    if operation == "SUM":
        coefficients = p.get("coeff", [1.0] * len(x))
        return [sum(c * each for c, each in zip(coefficients, x, strict=True))]
    function = {"PROD": np.multiply, "MAX": np.maximum, "MIN": np.minimum}[operation]
    out = x[0]
    for each in x[1:]:
        out = function(out, each)
    return [out]


def aligned(value, like, axis):
    axis = axis % like.ndim if axis < 0 else axis
    return value.reshape([1] * axis + list(value.shape) + [1] * (like.ndim - axis - value.ndim))


@layer("Scale")
def scale(p, x, blobs, tops):
    factor = blobs[0] if len(x) == 1 else x[1]
    out = x[0] * aligned(factor, x[0], p.get("axis", 1))
    if p.get("bias_term"):
        out = out + aligned(blobs[-1], x[0], p.get("axis", 1))
    return [out]


@layer("Bias")
def bias(p, x, blobs, tops):
    summand = blobs[0] if len(x) == 1 else x[1]
    return [x[0] + aligned(summand, x[0], p.get("axis", 1))]


@layer("Axpy")
def axpy(p, x, blobs, tops):
    return [x[0].reshape(list(x[1].shape[:2]) + [1] * (x[1].ndim - 2)) * x[1] + x[2]]


# ---- windows


def taps(x, kernel, stride, pad, dilation, count):
    """(offsets, values of `x` under that element of all windows), padded with zeros."""
    first = x.ndim - len(kernel)
    padded = np.pad(x, [(0, 0)] * first + [(each, each) for each in pad])
    for offset in itertools.product(*map(range, kernel)):
        at = tuple(slice(o * d, o * d + (n - 1) * s + 1, s)
                   for o, d, n, s in zip(offset, dilation, count, stride, strict=True))
        yield offset, padded[(slice(None),) * first + at]


def convolve(x, filters, group, kernel, stride, pad, dilation):
    spatial = x.shape[2:]
    count = [(n + 2 * p - (d * (k - 1) + 1)) // s + 1
             for n, p, d, k, s in zip(spatial, pad, dilation, kernel, stride, strict=True)]
    outputs = filters.shape[0]
    out = np.zeros([x.shape[0], outputs] + count)
    inner, outer = x.shape[1] // group, outputs // group
    for offset, values in taps(x, kernel, stride, pad, dilation, count):
        for g in range(group):
            weight = filters[(slice(g * outer, (g + 1) * outer), slice(None)) + offset]
            out[:, g * outer:(g + 1) * outer] += np.einsum(
                "oc,nc...->no...", weight, values[:, g * inner:(g + 1) * inner])
    return out


def items(p, x):
    """The tensor with one dimension before the channels, and the extents that it had there."""
    axis = p.get("axis", 1) % x.ndim
    return x.reshape([-1] + list(x.shape[axis:])), list(x.shape[:axis])


@layer("Convolution", "DepthwiseConvolution", "ConvolutionDepthwise")
def convolution(p, x, blobs, tops):
    flat, outer = items(p, x[0])
    kernel, stride, pad = windows(p, flat.ndim - 2)
    dilation = extents(p, "dilation", flat.ndim - 2, 1)
    group = flat.shape[1] // blobs[0].shape[1]
    out = convolve(flat, blobs[0], group, kernel, stride, pad, dilation)
    if p.get("bias_term", True):
        out = out + aligned(blobs[1].reshape(-1), out, 1)
    return [out.reshape(outer + list(out.shape[1:]))]


@layer("Deconvolution")
def deconvolution(p, x, blobs, tops):
    flat, outer = items(p, x[0])
    kernel, stride, pad = windows(p, flat.ndim - 2)
    dilation = extents(p, "dilation", flat.ndim - 2, 1)
    group = p.get("group", 1)
    whole = [s * (n - 1) + d * (k - 1) + 1
             for n, s, d, k in zip(flat.shape[2:], stride, dilation, kernel, strict=True)]
    outputs = p["num_output"]
    out = np.zeros([flat.shape[0], outputs] + whole)
    inner, each = flat.shape[1] // group, outputs // group
    for offset in itertools.product(*map(range, kernel)):
        at = tuple(slice(o * d, o * d + (n - 1) * s + 1, s)
                   for o, d, n, s in zip(offset, dilation, flat.shape[2:], stride, strict=True))
        for g in range(group):
            weight = blobs[0][(slice(g * inner, (g + 1) * inner), slice(None)) + offset]
            out[(slice(None), slice(g * each, (g + 1) * each)) + at] += np.einsum(
                "co,nc...->no...", weight, flat[:, g * inner:(g + 1) * inner])
    out = out[(slice(None), slice(None)) + tuple(
        slice(q, n - q) for q, n in zip(pad, whole, strict=True))]
    if p.get("bias_term", True):
        out = out + aligned(blobs[1].reshape(-1), out, 1)
    return [out.reshape(outer + list(out.shape[1:]))]


@layer("Im2col")
def im2col(p, x, blobs, tops):
    kernel, stride, pad = windows(p, 2)
    dilation = extents(p, "dilation", 2, 1)
    count = [(n + 2 * q - (d * (k - 1) + 1)) // s + 1
             for n, q, d, k, s in zip(x[0].shape[2:], pad, dilation, kernel, stride, strict=True)]
    columns = np.stack([values for _, values in taps(x[0], kernel, stride, pad, dilation, count)], 2)
    return [columns.reshape([x[0].shape[0], -1] + count)]


def pool(x, method, kernel, stride, pad, up=True):
    """Windows by Caffe: their number rounds up, and the last one is left out where it would begin
    behind the lower pad, if there are pads at all. Averages divide by what of the window lies on the
    padded picture. Gives the results, and for maxima where in the plane they were found."""
    counts = []
    for n, k, s, q in zip(x.shape[2:], kernel, stride, pad, strict=True):
        count = (-(-(n + 2 * q - k) // s) if up else (n + 2 * q - k) // s) + 1
        if any(pad) and (count - 1) * s >= n + q:
            count -= 1
        counts.append(count)
    out = np.zeros(list(x.shape[:2]) + counts)
    mask = np.zeros_like(out)
    numbers = np.arange(np.prod(x.shape[2:])).reshape(x.shape[2:])
    for place in itertools.product(*map(range, counts)):
        begins = [i * s - q for i, s, q in zip(place, stride, pad, strict=True)]
        ends = [min(b + k, n + q) for b, k, n, q in zip(begins, kernel, x.shape[2:], pad, strict=True)]
        size = np.prod([e - b for b, e in zip(begins, ends, strict=True)])
        at = tuple(slice(max(b, 0), min(e, n)) for b, e, n in zip(begins, ends, x.shape[2:], strict=True))
        under = x[(slice(None), slice(None)) + at].reshape(x.shape[0], x.shape[1], -1)
        here = (slice(None), slice(None)) + place
        if method == "MAX":
            out[here] = under.max(2)
            mask[here] = numbers[at].reshape(-1)[under.argmax(2)]
        elif method == "AVE":
            out[here] = under.sum(2) / size
        else:
            total = under.sum(2)
            out[here] = np.divide((under ** 2).sum(2), total, out=np.zeros_like(total), where=total > 0)
    return out, mask


@layer("Pooling")
def pooling(p, x, blobs, tops):
    if p.get("global_pooling"):
        kernel, stride, pad = list(x[0].shape[2:]), [1] * (x[0].ndim - 2), [0] * (x[0].ndim - 2)
    else:
        kernel, stride, pad = windows(p, x[0].ndim - 2)
    up = p.get("round_mode", "CEIL") == "CEIL" and p.get("ceil_mode", True)
    return list(pool(x[0], p.get("pool", "MAX"), kernel, stride, pad, up))[:tops]


@layer("SPP")
def spp(p, x, blobs, tops):
    levels = []
    for level in range(p["pyramid_height"]):
        bins = 2 ** level
        kernel = [-(-n // bins) for n in x[0].shape[2:]]
        pad = [(k * bins - n + 1) // 2 for k, n in zip(kernel, x[0].shape[2:], strict=True)]
        out, _ = pool(x[0], p.get("pool", "MAX"), kernel, kernel, pad)
        levels.append(out.reshape(out.shape[0], -1))
    return [np.concatenate(levels, 1) if len(levels) > 1 else out]


@layer("InnerProduct")
def inner_product(p, x, blobs, tops):
    axis = p.get("axis", 1) % x[0].ndim
    flat = x[0].reshape(list(x[0].shape[:axis]) + [-1])
    matrix = blobs[0] if p.get("transpose") else blobs[0].T
    return [flat @ matrix + (blobs[1].reshape(-1) if p.get("bias_term", True) else 0)]


@layer("Embed")
def embed(p, x, blobs, tops):
    return [blobs[0][x[0].astype(int)] + (blobs[1] if p.get("bias_term", True) else 0)]


@layer("MatMul")
def mat_mul(p, x, blobs, tops):
    return [x[0] @ x[1]]


# ---- norms, reductions


@layer("BatchNorm")
def batch_norm(p, x, blobs, tops):
    wide = [1, -1] + [1] * (x[0].ndim - 2)
    if p.get("use_global_stats", True):
        factor = 0 if blobs[2] == 0 else 1 / blobs[2]
        mean, variance = (blobs[0] * factor).reshape(wide), (blobs[1] * factor).reshape(wide)
    else:
        axes = (0,) + tuple(range(2, x[0].ndim))
        mean = x[0].mean(axes, keepdims=True)
        variance = ((x[0] - mean) ** 2).mean(axes, keepdims=True)
    return [(x[0] - mean) / np.sqrt(variance + p.get("eps", 1e-5))]


@layer("BN")
def bn(p, x, blobs, tops):
    scaled = x[0]
    if len(blobs) == 4:
        scaled = (x[0] - aligned(blobs[2], x[0], 1)) / np.sqrt(aligned(blobs[3], x[0], 1) + p.get("eps", 1e-5))
    return [scaled * aligned(blobs[0], x[0], 1) + aligned(blobs[1], x[0], 1)]


@layer("LRN")
def lrn(p, x, blobs, tops):
    n, alpha, beta = p.get("local_size", 5), p.get("alpha", 1.0), p.get("beta", 0.75)
    square = x[0] ** 2
    if p.get("norm_region") == "WITHIN_CHANNEL":
        mean, _ = pool(square, "AVE", [n, n], [1, 1], [n // 2, n // 2])
        return [x[0] * (1 + alpha * mean) ** -beta]
    padded = np.pad(square, [(0, 0), (n // 2, n // 2)] + [(0, 0)] * (x[0].ndim - 2))
    total = sum(padded[:, i:i + x[0].shape[1]] for i in range(n))
    return [x[0] * (p.get("k", 1.0) + alpha / n * total) ** -beta]


@layer("MVN")
def mvn(p, x, blobs, tops):
    axes = tuple(range(1 if p.get("across_channels") else 2, x[0].ndim))
    centred = x[0] - x[0].mean(axes, keepdims=True)
    if not p.get("normalize_variance", True):
        return [centred]
    return [centred / (np.sqrt((centred ** 2).mean(axes, keepdims=True)) + p.get("eps", 1e-9))]


@layer("Normalize")
def normalize(p, x, blobs, tops):
    axes = tuple(range(1, x[0].ndim)) if p.get("across_spatial", True) else (1,)
    norm = np.sqrt((x[0] ** 2).sum(axes, keepdims=True) + p.get("eps", 1e-10))
    return [x[0] / norm * blobs[0].reshape([1, -1] + [1] * (x[0].ndim - 2))]


@layer("Reduction")
def reduction(p, x, blobs, tops):
    axis = p.get("axis", 0) % x[0].ndim
    flat = x[0].reshape(list(x[0].shape[:axis]) + [-1])
    value = {"SUM": lambda: flat.sum(-1), "ASUM": lambda: np.abs(flat).sum(-1),
             "SUMSQ": lambda: (flat ** 2).sum(-1), "MEAN": lambda: flat.mean(-1)}[p.get("operation", "SUM")]()
    return [value * p.get("coeff", 1.0)]


@layer("Softmax")
def softmax(p, x, blobs, tops):
    axis = p.get("axis", 1)
    e = np.exp(x[0] - x[0].max(axis, keepdims=True))
    return [e / e.sum(axis, keepdims=True)]


@layer("ArgMax")
def arg_max(p, x, blobs, tops):
    k = p.get("top_k", 1)
    axis = p["axis"] % x[0].ndim if "axis" in p else 1
    value = x[0] if "axis" in p else x[0].reshape(x[0].shape[0], -1)
    # Of equal ones the last comes first.
    order = np.flip(np.argsort(value, axis, kind="stable"), axis)
    index = np.take(order, range(k), axis)
    found = np.take_along_axis(value, index, axis)
    if "axis" in p:
        return [found if p.get("out_max_val") else index]
    rows = [index] + ([found] if p.get("out_max_val") else [])
    return [np.stack(rows, 1)]


# ---- movement


@layer("Concat")
def concat(p, x, blobs, tops):
    return [np.concatenate(x, p.get("concat_dim", p.get("axis", 1)))]


@layer("Slice")
def slices(p, x, blobs, tops):
    axis = p.get("slice_dim", p.get("axis", 1))
    points = p.get("slice_point", [])
    return np.split(x[0], points if points else tops, axis)


@layer("Flatten")
def flatten(p, x, blobs, tops):
    first, last = p.get("axis", 1) % x[0].ndim, p.get("end_axis", -1) % x[0].ndim
    return [x[0].reshape(list(x[0].shape[:first]) + [-1] + list(x[0].shape[last + 1:]))]


@layer("Reshape")
def reshape(p, x, blobs, tops):
    dims = list(x[0].shape)
    first = p.get("axis", 0)
    first = first if first >= 0 else len(dims) + first + 1
    count = p.get("num_axes", -1)
    last = len(dims) if count == -1 else first + count
    wanted = [dims[first + i] if d == 0 else d for i, d in enumerate(p["shape"]["dim"])]
    return [x[0].reshape(dims[:first] + wanted + dims[last:])]


@layer("Permute")
def permute(p, x, blobs, tops):
    order = list(p["order"])
    return [x[0].transpose(order + [axis for axis in range(x[0].ndim) if axis not in order])]


@layer("Crop")
def crop(p, x, blobs, tops):
    axis = p.get("axis", 2) % x[0].ndim
    offset = p.get("offset", [0])
    offset = offset * (x[0].ndim - axis) if len(offset) == 1 else offset
    at = [slice(None)] * axis + [slice(o, o + n) for o, n in zip(offset, x[1].shape[axis:], strict=True)]
    return [x[0][tuple(at)]]


@layer("Tile")
def tile(p, x, blobs, tops):
    counts = [1] * x[0].ndim
    counts[p.get("axis", 1)] = p["tiles"]
    return [np.tile(x[0], counts)]


@layer("BatchReindex")
def batch_reindex(p, x, blobs, tops):
    return [x[0][x[1].astype(int).reshape(-1)]]


@layer("Filter")
def filtered(p, x, blobs, tops):
    return [each[x[-1].reshape(-1) != 0] for each in x[:-1]]


@layer("Parameter")
def parameter(p, x, blobs, tops):
    return [blobs[0]]


@layer("DummyData")
def dummy_data(p, x, blobs, tops):
    fillers = p.get("data_filler", {})
    return [np.full(p["shape"]["dim"], fillers.get("value", 0.0))] * tops


@layer("Interp")
def interp(p, x, blobs, tops):
    crop_begin, crop_end = -p.get("pad_beg", 0), -p.get("pad_end", 0)
    value = x[0][:, :, crop_begin:x[0].shape[2] - crop_end, crop_begin:x[0].shape[3] - crop_end]
    for axis, field in ((2, "height"), (3, "width")):
        extent = value.shape[axis]
        new = extent
        if "shrink_factor" in p:
            new = (new - 1) // p["shrink_factor"] + 1
        if "zoom_factor" in p:
            new = new + (new - 1) * (p["zoom_factor"] - 1)
        if "shrink_factor" not in p and "zoom_factor" not in p:
            new = p[field]
        at = np.arange(new) * ((extent - 1) / (new - 1) if new > 1 else 0)
        low = np.minimum(np.floor(at).astype(int), extent - 1)
        high = np.minimum(low + 1, extent - 1)
        part = (at - low).reshape([-1 if i == axis else 1 for i in range(4)])
        value = np.take(value, low, axis) * (1 - part) + np.take(value, high, axis) * part
    return [value]


@layer("Upsample")
def upsample(p, x, blobs, tops):
    high, wide = p.get("scale_h", p.get("scale", 2)), p.get("scale_w", p.get("scale", 2))
    if len(x) == 1:
        return [x[0].repeat(high, 2).repeat(wide, 3)]
    n, c, h, w = x[0].shape
    out = np.zeros([n, c, h * high * w * wide])
    np.put_along_axis(out, x[1].astype(int).reshape(n, c, -1), x[0].reshape(n, c, -1), 2)
    return [out.reshape(n, c, h * high, w * wide)]


@layer("ShuffleChannel")
def shuffle(p, x, blobs, tops):
    n, c, *rest = x[0].shape
    return [x[0].reshape([n, p["group"], c // p["group"]] + rest).swapaxes(1, 2).reshape(x[0].shape)]


@layer("Reorg")
def reorg(p, x, blobs, tops):
    """Darknet's order: the item of output index (block, row, column) of the planes of few channels."""
    n, c, h, w = x[0].shape
    s = p["stride"]
    few = c // (s * s)
    out = np.zeros(x[0].size)
    flat = x[0].reshape(-1)
    number = 0
    for b, k, j, i in np.ndindex(n, c, h, w):
        block, channel = divmod(k, few)
        column, row = i * s + block % s, j * s + block // s
        out[number] = flat[column + w * s * (row + h * s * (channel + few * b))]
        number += 1
    return [out.reshape(n, c * s * s, h // s, w // s)]


# ---- recurrences, boxes


def frames(p, x, blobs, states):
    """The inputs of all steps, cont, the first states, and the blobs behind those of the inputs."""
    t, n = x[0].shape[:2]
    hidden = p["num_output"]
    driven = x[0].reshape(t, n, -1) @ blobs[0].T + blobs[1]
    exposed = states if p.get("expose_hidden") else 0
    rest = blobs[2:]
    if len(x) == 3 + exposed:
        driven = driven + x[2].reshape(n, -1) @ rest[0].T
        rest = rest[1:]
    first = [each.reshape(n, hidden) for each in x[len(x) - exposed:]] if exposed else \
        [np.zeros((n, hidden))] * states
    return driven, x[1].reshape(t, n, 1), first, rest


@layer("LSTM")
def lstm(p, x, blobs, tops):
    driven, cont, (h, c), rest = frames(p, x, blobs, 2)
    results = []
    for step in range(len(driven)):
        gates = driven[step] + (cont[step] * h) @ rest[0].T
        i, f, o, g = np.split(gates, 4, 1)
        i, f, o = (1 / (1 + np.exp(-each)) for each in (i, f, o))
        c = cont[step] * f * c + i * np.tanh(g)
        h = o * np.tanh(c)
        results.append(h)
    return [np.stack(results), h[None], c[None]][:tops]


@layer("RNN")
def rnn(p, x, blobs, tops):
    driven, cont, (h,), (recurrent, out, out_bias) = frames(p, x, blobs, 1)
    results = []
    for step in range(len(driven)):
        h = np.tanh(driven[step] + (cont[step] * h) @ recurrent.T)
        results.append(np.tanh(h @ out.T + out_bias))
    return [np.stack(results), h[None]][:tops]


@layer("PriorBox")
def prior_box(p, x, blobs, tops):
    """By the paper on SSD: boxes of each size and shape around each pixel of the map."""
    high, wide = x[0].shape[2:]
    picture_h, picture_w = x[1].shape[2:]
    picture_h = p.get("img_size", p.get("img_h", picture_h))
    picture_w = p.get("img_size", p.get("img_w", picture_w))
    step_h = p.get("step", p.get("step_h", picture_h / high))
    step_w = p.get("step", p.get("step_w", picture_w / wide))
    shapes = list(zip(p.get("width", []), p.get("height", []), strict=True))
    if not shapes:
        ratios = []
        for ratio in p.get("aspect_ratio", []):
            ratios += [ratio, 1 / ratio] if p.get("flip", True) else [ratio]
        for index, least in enumerate(p["min_size"]):
            shapes.append((least, least))
            if "max_size" in p:
                middle = np.sqrt(least * p["max_size"][index])
                shapes.append((middle, middle))
            shapes += [(least * np.sqrt(ratio), least / np.sqrt(ratio)) for ratio in ratios if ratio != 1]
    boxes = []
    for row, column in np.ndindex(high, wide):
        y, x_centre = (row + p.get("offset", 0.5)) * step_h, (column + p.get("offset", 0.5)) * step_w
        for width, height in shapes:
            boxes += [(x_centre - width / 2) / picture_w, (y - height / 2) / picture_h,
                      (x_centre + width / 2) / picture_w, (y + height / 2) / picture_h]
    boxes = np.clip(boxes, 0, 1) if p.get("clip") else np.array(boxes)
    variance = p.get("variance", [0.1])
    variance = variance if len(variance) == 4 else variance * 4
    return [np.stack([boxes, np.tile(variance, len(boxes) // 4)])[None]]


@layer("Padding")
def padding(p, x, blobs, tops):
    pads = [(0, 0)] * (x[0].ndim - 2) + [(p.get("pad_t", 0), p.get("pad_b", 0)), (p.get("pad_l", 0), p.get("pad_r", 0))]
    return [np.pad(x[0], pads, constant_values=p.get("pad_value", 0))]


@layer("Cast")
def cast(p, x, blobs, tops):
    types = {"FLOAT": np.float32, "FLOAT16": np.float16, "INT32": np.int32, "BOOL": np.bool_}
    return [x[0].astype(np.float32).astype(types[p.get("to", "FLOAT")]).astype(np.float64)]
