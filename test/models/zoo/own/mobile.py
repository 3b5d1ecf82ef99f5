"""Small networks for classification."""

import torch
from torch import nn

from .layers import Residual, conv


class MobileNetV1(nn.Sequential):
    """Depthwise and pointwise convolutions in turn."""

    def __init__(self, width=16, classes=100):
        plan = [(2, 1), (4, 2), (4, 1), (8, 2), (8, 1), (16, 2), (16, 1), (16, 1), (32, 2), (32, 1)]
        layers, channels = [conv(3, width, 3, 2)], width
        for factor, stride in plan:
            layers += [conv(channels, channels, 3, stride, channels), conv(channels, width * factor)]
            channels = width * factor
        super().__init__(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


class UniversalBottleneck(nn.Sequential):
    """MobileNetV4's block: depthwise convolutions before and behind the expansion, each may be left out."""

    def __init__(self, inputs, outputs, first, middle, stride=1, factor=4):
        inner = inputs * factor
        layers = [conv(inputs, inputs, first, 1, inputs, "none")] if first else []
        layers.append(conv(inputs, inner))
        layers += [conv(inner, inner, middle, stride, inner)] if middle else []
        layers.append(conv(inner, outputs, activation="none"))
        super().__init__(*layers)


class MobileNetV4(nn.Sequential):
    """A convolutional MobileNetV4 with few stages."""

    def __init__(self, width=24, classes=100):
        stages = [conv(3, width, 3, 2), conv(width, width * 2, 3, 2)]
        channels = width * 2
        for outputs in (width * 3, width * 6):
            stages.append(UniversalBottleneck(channels, outputs, 5, 5, 2))
            stages += [Residual(UniversalBottleneck(outputs, outputs, first, middle))
                       for first, middle in ((0, 3), (3, 0), (3, 5), (0, 0))]
            channels = outputs
        super().__init__(*stages, nn.AdaptiveAvgPool2d(1), conv(channels, 480, activation="hardswish"),
                         nn.Flatten(), nn.Linear(480, classes))


class ShuffleUnit(nn.Module):
    """ShuffleNet v1's unit: grouped convolutions with a shuffle of the channels between them."""

    def __init__(self, inputs, outputs, groups, stride):
        super().__init__()
        inner = outputs // 4
        self.groups, self.stride = groups, stride
        made = outputs - inputs if stride == 2 else outputs
        self.head = conv(inputs, inner, groups=groups)
        self.tail = nn.Sequential(conv(inner, inner, 3, stride, inner, "none"),
                                  conv(inner, made, groups=groups, activation="none"))
        self.pool = nn.AvgPool2d(3, 2, 1)

    def forward(self, x):
        y = self.head(x)
        n, c, h, w = y.shape
        y = y.view(n, self.groups, c // self.groups, h, w).transpose(1, 2).reshape(n, c, h, w)
        y = self.tail(y)
        return torch.relu(torch.cat([self.pool(x), y], 1) if self.stride == 2 else x + y)


class ShuffleNetV1(nn.Sequential):
    """ShuffleNet v1 with three groups."""

    def __init__(self, groups=3, width=120, classes=100):
        layers, channels = [conv(3, 24, 3, 2), nn.MaxPool2d(3, 2, 1)], 24
        for stage in range(3):
            layers.append(ShuffleUnit(channels, width << stage, groups, 2))
            channels = width << stage
            layers.append(ShuffleUnit(channels, channels, groups, 1))
        super().__init__(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


class SqueezeExciteNet(nn.Sequential):
    """Bottlenecks with squeeze and excitation on odd extents."""

    class Block(nn.Module):
        def __init__(self, channels):
            super().__init__()
            self.body = conv(channels, channels, 5, 1, channels, "silu")
            self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, channels // 4, 1), nn.SiLU(),
                                      nn.Conv2d(channels // 4, channels, 1), nn.Sigmoid())
            self.project = conv(channels, channels, activation="none")

        def forward(self, x):
            y = self.body(x)
            return x + self.project(y * self.gate(y))

    def __init__(self, width=40, depth=4):
        super().__init__(conv(3, width, 3, 2, activation="silu"), *[self.Block(width) for _ in range(depth)],
                         nn.AvgPool2d((19, 15)), nn.Flatten(), nn.Linear(width * 12, 10))


class OfParts(nn.Module):
    """Each convolution on a part of the channels, the results joined and normalized."""

    def __init__(self, sizes, *convolutions):
        super().__init__()
        self.sizes, self.parts = sizes, nn.ModuleList(convolutions)
        self.norm = nn.BatchNorm2d(sum(each.out_channels for each in convolutions))

    def forward(self, x):
        parts = zip(self.parts, torch.split(x, self.sizes, 1))
        return self.norm(torch.cat([each(part) for each, part in parts], 1))


class MixNet(nn.Sequential):
    """Bottlenecks with squeeze and excitation, whose depthwise convolutions have windows of several extents."""

    class Block(nn.Module):
        def __init__(self, inputs, outputs, kernels, stride, factor, squeeze, halves):
            super().__init__()
            inner = inputs * factor
            self.is_residual = stride == 1 and inputs == outputs
            self.expand = nn.Sequential(self.pointwise(inputs, inner, halves), nn.SiLU())
            sizes = [inner // len(kernels)] * len(kernels)
            sizes[0] += inner - sum(sizes)
            self.mixed = nn.Sequential(OfParts(sizes, *[
                nn.Conv2d(size, size, kernel, stride, kernel // 2, groups=size, bias=False)
                for size, kernel in zip(sizes, kernels)]), nn.SiLU())
            self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(inner, squeeze, 1), nn.SiLU(),
                                      nn.Conv2d(squeeze, inner, 1), nn.Sigmoid())
            self.project = self.pointwise(inner, outputs, halves)

        @staticmethod
        def pointwise(inputs, outputs, halves):
            parts = 2 if halves else 1
            return OfParts([inputs // parts] * parts,
                           *[nn.Conv2d(inputs // parts, outputs // parts, 1, bias=False) for _ in range(parts)])

        def forward(self, x):
            y = self.mixed(self.expand(x))
            y = self.project(y * self.gate(y))
            return x + y if self.is_residual else y

    def __init__(self, width=20, classes=100):
        w = width
        super().__init__(conv(3, w, 3, 2),
                         self.Block(w, w * 2, (3, 5), 2, 4, w, False),
                         self.Block(w * 2, w * 2, (3, 5), 1, 4, w, True),
                         self.Block(w * 2, w * 3, (3, 5, 7), 2, 4, w * 2, False),
                         self.Block(w * 3, w * 3, (3, 5, 7), 1, 4, w * 2, True),
                         self.Block(w * 3, w * 6, (3, 5, 7, 9), 2, 4, w * 3, False),
                         self.Block(w * 6, w * 6, (3, 5, 7, 9), 1, 3, w * 3, True),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(w * 6, classes))
