"""Whole networks in Caffe's form, with random weights of a trained network's size: deep stacks of
convolutions, norms and poolings, detectors of SSD's kind, a segmenter, a captioner."""

import numpy as np

from network import Layer, Network, Word


class Builder:
    """Adds layers behind each other and knows the channels of what it made."""

    def __init__(self, inputs):
        self.network = Network(inputs, [])
        self.random = np.random.default_rng(7)
        self.channels = {name: shape[1] for name, shape in inputs.items()}

    def add(self, kind, name, bottoms, group_name="", group=None, blobs=(), channels=None, in_place=False):
        bottoms = [bottoms] if isinstance(bottoms, str) else bottoms
        top = bottoms[0] if in_place else name
        self.network.layers.append(Layer(kind, name, bottoms, [top], group_name, group or {}, list(blobs)))
        self.channels[top] = channels or self.channels[bottoms[0]]
        return top

    def normal(self, *shape, scale=1.0):
        return (self.random.standard_normal(shape) * scale).astype(np.float32)

    def conv(self, name, bottom, outputs, kernel, stride=1, pad=0, group=1, dilation=1, bias=True, relu=True,
             gain=1.0):
        inner = self.channels[bottom] // group
        blobs = [self.normal(outputs, inner, kernel, kernel, scale=gain * (2 / (inner * kernel * kernel)) ** 0.5)]
        if bias:
            blobs.append(self.normal(outputs, scale=0.1))
        top = self.add("Convolution", name, bottom, "convolution_param",
                       {"num_output": outputs, "kernel_size": kernel, "stride": stride, "pad": pad, "group": group,
                        "dilation": dilation, "bias_term": bias}, blobs, outputs)
        return self.relu(name, top) if relu else top

    def relu(self, name, bottom):
        return self.add("ReLU", name + "_relu", bottom, in_place=True)

    def norm(self, name, bottom, relu=True):
        count = self.channels[bottom]
        self.add("BatchNorm", name + "_bn", bottom, "batch_norm_param", {},
                 [self.normal(count, scale=0.1), np.abs(self.normal(count)) + 0.5, np.ones(1, np.float32)],
                 in_place=True)
        self.add("Scale", name + "_scale", bottom, "scale_param", {"bias_term": True},
                 [np.abs(self.normal(count, scale=0.3)) + 0.5, self.normal(count, scale=0.1)], in_place=True)
        return self.relu(name, bottom) if relu else bottom

    def conv_norm(self, name, bottom, outputs, kernel, stride=1, pad=0, group=1, relu=True):
        return self.norm(name, self.conv(name, bottom, outputs, kernel, stride, pad, group, bias=False, relu=False),
                         relu)

    def pool(self, name, bottom, kernel=2, stride=2, pad=0, method="MAX"):
        return self.add("Pooling", name, bottom, "pooling_param",
                        {"pool": Word(method), "kernel_size": kernel, "stride": stride, "pad": pad})

    def average(self, name, bottom):
        return self.add("Pooling", name, bottom, "pooling_param", {"pool": Word("AVE"), "global_pooling": True})

    def product(self, name, bottom, inner, outputs):
        return self.add("InnerProduct", name, bottom, "inner_product_param", {"num_output": outputs},
                        [self.normal(outputs, inner, scale=inner ** -0.5), self.normal(outputs, scale=0.1)], outputs)

    def softmax(self, bottom, axis=1):
        return self.add("Softmax", "prob", bottom, "softmax_param", {"axis": axis})


def resnet(depth, extent=128):
    b = Builder({"data": (1, 3, extent, extent)})
    x = b.pool("pool1", b.conv_norm("conv1", "data", 64, 7, 2, 3), 3, 2)
    blocks = {18: (2, 2, 2, 2), 50: (3, 4, 6, 3)}[depth]
    for stage, count in enumerate(blocks):
        for block in range(count):
            name, width = f"res{stage + 2}{chr(97 + block)}", 64 << stage
            stride = 2 if stage and not block else 1
            if depth == 18:
                y = b.conv_norm(name + "_a", x, width, 3, stride, 1)
                y = b.conv_norm(name + "_b", y, width, 3, 1, 1, relu=False)
            else:
                y = b.conv_norm(name + "_a", x, width, 1, stride)
                y = b.conv_norm(name + "_b", y, width, 3, 1, 1)
                y = b.conv_norm(name + "_c", y, width * 4, 1, relu=False)
            if b.channels[x] != b.channels[y] or stride > 1:
                x = b.conv_norm(name + "_skip", x, b.channels[y], 1, stride, relu=False)
            x = b.relu(name, b.add("Eltwise", name, [x, y], "eltwise_param", {"operation": Word("SUM")}))
    b.softmax(b.product("fc", b.average("pool5", x), b.channels[x], 100))
    return b.network


def googlenet():
    b = Builder({"data": (1, 3, 128, 128)})

    def lrn(name, bottom):
        return b.add("LRN", name, bottom, "lrn_param", {"local_size": 5, "alpha": 0.0001, "beta": 0.75})

    def inception(name, x, sizes):
        one, three_in, three, five_in, five, proj = sizes
        parts = [b.conv(name + "_1x1", x, one, 1),
                 b.conv(name + "_3x3", b.conv(name + "_3x3_in", x, three_in, 1), three, 3, 1, 1),
                 b.conv(name + "_5x5", b.conv(name + "_5x5_in", x, five_in, 1), five, 5, 1, 2),
                 b.conv(name + "_proj", b.pool(name + "_pool", x, 3, 1, 1), proj, 1)]
        return b.add("Concat", name, parts, channels=one + three + five + proj)

    x = lrn("norm1", b.pool("pool1", b.conv("conv1", "data", 64, 7, 2, 3), 3, 2))
    x = b.pool("pool2", lrn("norm2", b.conv("conv2", b.conv("conv2_in", x, 64, 1), 192, 3, 1, 1)), 3, 2)
    x = inception("3a", x, (64, 96, 128, 16, 32, 32))
    x = b.pool("pool3", inception("3b", x, (128, 128, 192, 32, 96, 64)), 3, 2)
    x = inception("4a", x, (192, 96, 208, 16, 48, 64))
    x = b.pool("pool4", inception("4e", x, (256, 160, 320, 32, 128, 128)), 3, 2)
    x = inception("5b", x, (384, 192, 384, 48, 128, 128))
    x = b.add("Dropout", "drop", b.average("pool5", x), "dropout_param", {"dropout_ratio": 0.4})
    b.softmax(b.product("classifier", x, 1024, 100))
    return b.network


def mobilenet_v2():
    b = Builder({"data": (1, 3, 128, 128)})
    x = b.conv_norm("conv1", "data", 32, 3, 2, 1)
    for stage, (expand, width, count, stride) in enumerate(((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 2, 2),
                                                            (6, 96, 1, 1), (6, 160, 2, 2))):
        for block in range(count):
            name = f"conv{stage + 2}_{block}"
            inner = b.channels[x] * expand
            y = b.conv_norm(name + "_expand", x, inner, 1) if expand > 1 else x
            y = b.conv_norm(name + "_dw", y, inner, 3, 1 if block else stride, 1, inner)
            y = b.conv_norm(name + "_linear", y, width, 1, relu=False)
            x = b.add("Eltwise", name, [x, y]) if block else y
    x = b.conv_norm("last", x, 320, 1)
    b.softmax(b.conv("fc", b.average("pool", x), 100, 1, relu=False))
    return b.network


def squeezenet():
    b = Builder({"data": (1, 3, 127, 127)})
    x = b.pool("pool1", b.conv("conv1", "data", 64, 3, 2), 3, 2)
    for number, (squeeze, expand) in enumerate(((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (64, 256)), 2):
        if number in (4, 6):
            x = b.pool(f"pool{number - 1}", x, 3, 2)
        name = f"fire{number}"
        s = b.conv(name + "_squeeze", x, squeeze, 1)
        x = b.add("Concat", name, [b.conv(name + "_1x1", s, expand, 1), b.conv(name + "_3x3", s, expand, 3, 1, 1)],
                  channels=2 * expand)
    x = b.add("Dropout", "drop", x, in_place=True)
    b.softmax(b.average("pool10", b.conv("conv10", x, 100, 1)))
    return b.network


def detector_end(b, sources, classes, picture, gain=1.0):
    """SSD's heads on each source, and what is found; the boxes' sizes are in pixels."""
    parts = {"loc": [], "conf": [], "priors": []}
    for number, source in enumerate(sources):
        least, most = picture * (0.1 + 0.13 * number), picture * (0.23 + 0.13 * number)
        for kind, width in (("loc", 4), ("conf", classes)):
            name = f"{source}_{kind}"
            x = b.conv(name, source, 6 * width, 3, 1, 1, relu=False, gain=gain if kind == "conf" else 1.0)
            x = b.add("Permute", name + "_perm", x, "permute_param", {"order": [0, 2, 3, 1]})
            parts[kind].append(b.add("Flatten", name + "_flat", x, "flatten_param", {"axis": 1}))
        parts["priors"].append(b.add(
            "PriorBox", f"{source}_priors", [source, "data"], "prior_box_param",
            {"min_size": [least], "max_size": [most], "aspect_ratio": [2.0, 3.0], "flip": True, "clip": False,
             "variance": [0.1, 0.1, 0.2, 0.2], "offset": 0.5}))
    loc, conf = (b.add("Concat", "all_" + kind, parts[kind], "concat_param", {"axis": 1}) for kind in ("loc", "conf"))
    priors = b.add("Concat", "all_priors", parts["priors"], "concat_param", {"axis": 2})
    conf = b.add("Reshape", "conf_rows", conf, "reshape_param", {"shape": {"dim": [0, -1, classes]}})
    conf = b.add("Flatten", "conf_flat", b.softmax(conf, 2), "flatten_param", {"axis": 1})
    b.add("DetectionOutput", "detection", [loc, conf, priors], "detection_output_param",
          {"num_classes": classes, "share_location": True, "background_label_id": 0, "code_type": Word("CENTER_SIZE"),
           "nms_param": {"nms_threshold": 0.45, "top_k": 100}, "keep_top_k": 50, "confidence_threshold": 0.25})
    return b.network


def vgg_ssd():
    b = Builder({"data": (1, 3, 150, 150)})
    x = "data"
    for stage, (width, count) in enumerate(((64, 2), (128, 2), (256, 3), (512, 3)), 1):
        for number in range(1, count + 1):
            x = b.conv(f"conv{stage}_{number}", x, width, 3, 1, 1)
        if stage < 4:
            x = b.pool(f"pool{stage}", x)
    scaled = b.add("Normalize", "conv4_3_norm", x, "norm_param", {"across_spatial": False, "channel_shared": False},
                   [np.full(512, 20, np.float32)])
    x = b.pool("pool4", x)
    for number in (1, 2, 3):
        x = b.conv(f"conv5_{number}", x, 512, 3, 1, 1)
    x = b.pool("pool5", x, 3, 1, 1)
    x = fc7 = b.conv("fc7", b.conv("fc6", x, 512, 3, 1, 6, dilation=6), 512, 1)
    x = b.conv("conv6_2", b.conv("conv6_1", x, 128, 1), 256, 3, 2, 1)
    return detector_end(b, [scaled, fc7, x], 21, 150)


def mobilenet_ssd():
    b = Builder({"data": (1, 3, 160, 160)})
    x = b.conv_norm("conv0", "data", 32, 3, 2, 1)
    sources = []
    for number, (width, stride) in enumerate(((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1),
                                              (1024, 2)), 1):
        x = b.conv_norm(f"conv{number}/dw", x, b.channels[x], 3, stride, 1, b.channels[x])
        x = b.conv_norm(f"conv{number}", x, width, 1)
        if number in (5, 7, 8):
            sources.append(x)
    return detector_end(b, sources, 21, 160, gain=8.0)


def fcn8():
    b = Builder({"data": (1, 3, 96, 100)})
    x = b.conv("conv1_1", "data", 32, 3, 1, 50)
    taps = {}
    for stage, width in enumerate((32, 64, 64, 128, 128), 1):
        x = taps[stage] = b.pool(f"pool{stage}", b.conv(f"conv{stage}_2", x, width, 3, 1, 1))
    x = b.conv("score_fr", b.conv("fc6", x, 256, 4), 21, 1, relu=False)

    def up(name, bottom, kernel, stride):
        return b.add("Deconvolution", name, bottom, "convolution_param",
                     {"num_output": 21, "kernel_size": kernel, "stride": stride, "bias_term": False},
                     [b.normal(21, 21, kernel, kernel, scale=0.1)])

    for stage, name in ((4, "up2"), (3, "up4")):
        x = up(name, x, 4, 2)
        score = b.conv(f"score_pool{stage}", taps[stage], 21, 1, relu=False)
        cropped = b.add("Crop", f"crop{stage}", [score, x], "crop_param", {"axis": 2, "offset": [3]})
        x = b.add("Eltwise", f"fuse{stage}", [x, cropped])
    x = up("up8", x, 16, 8)
    b.add("Crop", "score", [x, "data"], "crop_param", {"axis": 2, "offset": [5]})
    return b.network


def captioner(steps=6, words=50, hidden=64):
    """Features of a picture are the static input of an LSTM over words."""
    b = Builder({"data": (1, 3, 32, 32), "words": (steps, 1), "starts": (steps, 1)})
    x = b.average("features", b.conv("conv2", b.pool("pool1", b.conv("conv1", "data", 16, 3, 1, 1)), 32, 3, 1, 1))
    b.add("Power", "first_word", "words", "power_param", {"scale": 0.0, "shift": 3.0})
    b.add("Threshold", "cont", "starts", "threshold_param", {"threshold": -0.5})
    b.add("Embed", "embed", "first_word", "embed_param", {"input_dim": words, "num_output": 48, "bias_term": False},
          [b.normal(words, 48)], 48)
    gates = 4 * hidden
    b.add("LSTM", "lstm", ["embed", "cont", x], "recurrent_param", {"num_output": hidden},
          [b.normal(gates, 48, scale=0.1), b.normal(gates, scale=0.1), b.normal(gates, 32, scale=0.1),
           b.normal(gates, hidden, scale=0.1)], hidden)
    b.add("InnerProduct", "logits", "lstm", "inner_product_param", {"num_output": words, "axis": 2},
          [b.normal(words, hidden, scale=0.2), b.normal(words)])
    b.softmax("logits", 2)
    return b.network


NETWORKS = {"resnet18": lambda: resnet(18), "resnet50": lambda: resnet(50), "googlenet": googlenet,
            "mobilenet_v2": mobilenet_v2, "squeezenet": squeezenet, "vgg_ssd": vgg_ssd,
            "mobilenet_ssd": mobilenet_ssd, "fcn8": fcn8, "captioner": captioner}
