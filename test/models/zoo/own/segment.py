"""Networks that make a picture of classes."""

import torch
from torch import nn

from .layers import conv, features, pyramid


class UNet(nn.Module):
    """`up`: "transposed", "bilinear" or "nearest". Odd extents are cut or padded to those of the skipped map.
    `gate` weighs the skipped maps by attention."""

    def __init__(self, width=16, depth=4, classes=4, up="transposed", gate=False):
        super().__init__()
        channels = [width << i for i in range(depth)]
        double = lambda a, b: nn.Sequential(conv(a, b, 3), conv(b, b, 3))  # noqa: E731
        self.down = nn.ModuleList(double(a, b) for a, b in zip([3] + channels, channels))
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * c, c, 2, 2) if up == "transposed" else conv(2 * c, c)
                                for c in channels[:-1])
        self.merge = nn.ModuleList(double(2 * c, c) for c in channels[:-1])
        self.gate = nn.ModuleList(nn.Sequential(conv(2 * c, c), nn.Conv2d(c, 1, 1), nn.Sigmoid())
                                  for c in channels[:-1]) if gate else None
        self.last, self.mode = nn.Conv2d(width, classes, 1), up

    def forward(self, x):
        skipped = []
        for i, layer in enumerate(self.down):
            x = layer(nn.functional.max_pool2d(x, 2) if i else x)
            skipped.append(x)
        for i in range(len(self.up) - 1, -1, -1):
            extents = skipped[i].shape[-2:]
            if self.mode == "transposed":
                x = self.up[i](x)
                x = nn.functional.pad(x, (0, extents[1] - x.shape[3], 0, extents[0] - x.shape[2]))
            elif self.mode == "bilinear":
                x = self.up[i](nn.functional.interpolate(x, size=extents, mode="bilinear", align_corners=True))
            else:
                x = self.up[i](nn.functional.interpolate(x, size=extents, mode="nearest"))
            skip = skipped[i]
            if self.gate:
                skip = skip * self.gate[i](torch.cat([skip, x], 1))
            x = self.merge[i](torch.cat([skip, x], 1))
        return self.last(x)


class BiSeNet(nn.Module):
    """Two paths: details at an eighth of the extents, and a context that global pools weigh."""

    def __init__(self, width=16, classes=19):
        super().__init__()
        self.detail = nn.Sequential(conv(3, width, 3, 2), conv(width, 2 * width, 3, 2), conv(2 * width, 4 * width, 3, 2))
        self.context = pyramid(width, "relu")
        self.weigh = nn.ModuleList(nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(c, c, 1), nn.BatchNorm2d(c),
                                                 nn.Sigmoid()) for c in (8 * width, 16 * width))
        self.reduce = nn.ModuleList(conv(c, 4 * width, 3) for c in (8 * width, 16 * width))
        self.fuse, self.last = conv(8 * width, 8 * width), nn.Conv2d(8 * width, classes, 1)

    def forward(self, x):
        size = nn.functional.interpolate
        detail = self.detail(x)
        near, far = features(self.context, x, 2)
        pooled = far.mean((2, 3), keepdim=True)
        far = self.reduce[1](far * self.weigh[1](far) + pooled)
        near = self.reduce[0](near * self.weigh[0](near)) + size(far, scale_factor=2, mode="nearest")
        both = self.fuse(torch.cat([detail, size(near, size=detail.shape[-2:], mode="bilinear", align_corners=False)], 1))
        return size(self.last(both), size=x.shape[-2:], mode="bilinear", align_corners=True)


class PyramidPooling(nn.Module):
    """Pools to several grids beside dilated convolutions, and the classes by argmax."""

    def __init__(self, width=16, classes=19, grids=(1, 2, 3, 6), dilations=(2, 4)):
        super().__init__()
        self.stages = pyramid(width, "relu", 3)
        channels = width * 4
        self.dilated = nn.Sequential(*[conv(channels, channels, 3, dilation=d) for d in dilations])
        self.pools = nn.ModuleList(nn.Sequential(nn.AdaptiveAvgPool2d(g), conv(channels, width)) for g in grids)
        self.last = nn.Conv2d(channels + width * len(grids), classes, 1)

    def forward(self, x):
        y = self.dilated(features(self.stages, x, 1)[0])
        size = lambda z: nn.functional.interpolate(z, size=y.shape[-2:], mode="bilinear", align_corners=False)  # noqa: E731
        return self.last(torch.cat([y] + [size(pool(y)) for pool in self.pools], 1)).argmax(1)


class UNet3d(nn.Module):
    """Three dimensions, with instance norms."""

    def __init__(self, width=8, classes=3):
        super().__init__()
        block = lambda a, b, s: nn.Sequential(nn.Conv3d(a, b, 3, s, 1), nn.InstanceNorm3d(b, affine=True), nn.LeakyReLU(0.01))  # noqa: E731
        self.first, self.down, self.merge = block(1, width, 1), block(width, 2 * width, 2), block(2 * width, width, 1)
        self.up, self.last = nn.ConvTranspose3d(2 * width, width, 2, 2), nn.Conv3d(width, classes, 1)

    def forward(self, x):
        x = self.first(x)
        return self.last(self.merge(torch.cat([x, self.up(self.down(x))], 1)))
