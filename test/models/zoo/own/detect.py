"""Heads of detectors in the forms in which people export them, on small backbones."""

import torch
from torch import nn

from .layers import Residual, attend, conv, features, grid, pyramid


class Neck(nn.Module):
    """Top-down paths over the last three stages of a pyramid; all have `width` channels afterwards."""

    def __init__(self, channels, width, activation):
        super().__init__()
        self.lateral = nn.ModuleList(conv(c, width, activation=activation) for c in channels)
        self.merge = nn.ModuleList(conv(2 * width, width, 3, activation=activation) for _ in channels[1:])

    def forward(self, maps):
        maps = [layer(x) for layer, x in zip(self.lateral, maps)]
        for i in range(len(maps) - 2, -1, -1):
            up = nn.functional.interpolate(maps[i + 1], size=maps[i].shape[-2:], mode="nearest")
            maps[i] = self.merge[i](torch.cat([maps[i], up], 1))
        return maps


class Detector(nn.Module):
    """A backbone, a neck and what `make_head` makes for each of three maps."""

    def __init__(self, width, activation, make_head):
        super().__init__()
        self.stages = pyramid(width, activation)
        self.neck = Neck([width << i for i in (2, 3, 4)], width * 4, activation)
        self.heads = nn.ModuleList(make_head(width * 4) for _ in range(3))

    def maps(self, x):
        return [head(y) for head, y in zip(self.heads, self.neck(features(self.stages, x)))]


class Yolo3(Detector):
    """Anchors. `form`: "raw" maps, "rows" of logits, or "boxes" that are decoded as version 5 does."""

    ANCHORS = ((10, 13, 16, 30, 33, 23), (30, 61, 62, 45, 59, 119), (116, 90, 156, 198, 373, 326))

    def __init__(self, width=16, classes=20, activation="leaky", form="raw"):
        super().__init__(width, activation, lambda c: nn.Conv2d(c, 3 * (5 + classes), 1))
        self.form, self.values = form, 5 + classes

    def boxes(self, rows, level, height, width):
        stride = float(8 << level)
        anchors = torch.tensor(self.ANCHORS[level]).float().view(3, 1, 2).expand(3, height * width, 2)
        y = rows.sigmoid()
        places = (y[..., :2] * 2 - 0.5 + grid(height, width)) * stride
        sizes = (y[..., 2:4] * 2) ** 2 * anchors
        return torch.cat([places, sizes, y[..., 4:]], -1)

    def forward(self, x):
        maps = self.maps(x)
        if self.form == "raw":
            return tuple(maps)
        made = []
        for level, y in enumerate(maps):
            n, _, h, w = y.shape
            rows = y.view(n, 3, self.values, h * w).transpose(2, 3)
            rows = self.boxes(rows, level, h, w) if self.form == "boxes" else rows
            made.append(rows.reshape(n, -1, self.values))
        return torch.cat(made, 1)


class Yolo8(Detector):
    """No anchors, distances as distributions over bins. `form`: "raw" maps, "boxes", "transposed" boxes with the
    classes last, or "best" with the 50 best of all places, as version 10 exports them. `attention` as version 11."""

    class Head(nn.Module):
        def __init__(self, channels, bins, classes):
            super().__init__()
            self.box = nn.Sequential(conv(channels, channels, 3, activation="silu"), nn.Conv2d(channels, 4 * bins, 1))
            self.kind = nn.Sequential(conv(channels, channels, 3, 1, channels, "silu"),
                                      conv(channels, channels, activation="silu"), nn.Conv2d(channels, classes, 1))

        def forward(self, x):
            return torch.cat([self.box(x), self.kind(x)], 1)

    class PositionalAttention(nn.Module):
        """Attention over all places with a depthwise convolution of the values, as in version 11."""

        def __init__(self, channels, heads):
            super().__init__()
            self.heads, self.width = heads, channels // heads
            self.qkv = conv(channels, 2 * channels, activation="none")
            self.place = conv(channels, channels, 3, 1, channels, "none")
            self.project = conv(channels, channels, activation="none")

        def forward(self, x):
            n, c, h, w = x.shape
            q, k, v = self.qkv(x).view(n, self.heads, 2 * self.width, h * w).split(
                [self.width // 2, self.width // 2, self.width], 2)
            y = attend(q.transpose(2, 3), k.transpose(2, 3), v.transpose(2, 3)).transpose(2, 3).reshape(n, c, h, w)
            return x + self.project(y + self.place(v.reshape(n, c, h, w)))

    def __init__(self, width=16, classes=20, bins=16, form="boxes", attention=False):
        super().__init__(width, "silu", lambda c: self.Head(c, bins, classes))
        self.bins, self.form = bins, form
        self.attention = self.PositionalAttention(width * 16, 4) if attention else None

    def maps(self, x):
        made = features(self.stages, x)
        if self.attention:
            made[-1] = self.attention(made[-1])
        return [head(y) for head, y in zip(self.heads, self.neck(made))]

    def forward(self, x):
        maps = self.maps(x)
        if self.form == "raw":
            return tuple(maps)
        places = torch.cat([(grid(*y.shape[-2:]) + 0.5).t() for y in maps], 1)
        strides = torch.cat([torch.full((1, y.shape[2] * y.shape[3]), 8.0 * 2 ** i) for i, y in enumerate(maps)], 1)
        both = torch.cat([y.flatten(2) for y in maps], 2)
        box, kind = both[:, :4 * self.bins], both[:, 4 * self.bins:]
        n, _, count = box.shape
        weights = torch.arange(self.bins).float().view(1, self.bins, 1, 1)
        side = (box.view(n, 4, self.bins, count).transpose(2, 1).softmax(1) * weights).sum(1)
        low, high = places - side[:, :2], places + side[:, 2:]
        made = torch.cat([(low + high) / 2 * strides, (high - low) * strides, kind.sigmoid()], 1)
        if self.form == "boxes":
            return made
        made = made.transpose(1, 2)
        if self.form == "transposed":
            return made
        score = made[..., 4:].amax(-1)
        values, index = score.topk(50)
        return torch.cat([made.gather(1, index.unsqueeze(-1).expand(-1, -1, made.shape[-1])), values.unsqueeze(-1)], -1)


class YoloX(Detector):
    """Heads that are separate for boxes and classes; one tensor of decoded rows."""

    class Head(nn.Module):
        def __init__(self, channels, classes):
            super().__init__()
            self.stem = conv(channels, channels, activation="silu")
            self.kind = nn.Sequential(conv(channels, channels, 3, activation="silu"), nn.Conv2d(channels, classes, 1))
            self.box = conv(channels, channels, 3, activation="silu")
            self.place, self.object = nn.Conv2d(channels, 4, 1), nn.Conv2d(channels, 1, 1)

        def forward(self, x):
            x = self.stem(x)
            box = self.box(x)
            return torch.cat([self.place(box), self.object(box).sigmoid(), self.kind(x).sigmoid()], 1)

    def __init__(self, width=16, classes=20):
        super().__init__(width, "silu", lambda c: self.Head(c, classes))

    def forward(self, x):
        maps = self.maps(x)
        places = torch.cat([grid(*y.shape[-2:]) for y in maps])
        strides = torch.cat([torch.full((y.shape[2] * y.shape[3], 1), 8.0 * 2 ** i) for i, y in enumerate(maps)])
        rows = torch.cat([y.flatten(2) for y in maps], 2).permute(0, 2, 1)
        return torch.cat([(rows[..., :2] + places) * strides, rows[..., 2:4].exp() * strides, rows[..., 4:]], -1)


class CenterNet(nn.Module):
    """Transposed convolutions up to a quarter of the extents, and a maximum over neighbours of the heat map."""

    def __init__(self, width=16, classes=20):
        super().__init__()
        self.stages = pyramid(width, "relu")
        self.up = nn.Sequential(*[nn.Sequential(nn.ConvTranspose2d(width << i, width << (i - 1), 4, 2, 1),
                                                nn.BatchNorm2d(width << (i - 1)), nn.ReLU()) for i in (4, 3, 2)])
        self.heat = nn.Sequential(nn.Conv2d(width * 2, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, classes, 1))
        self.size = nn.Sequential(nn.Conv2d(width * 2, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 4, 1))

    def forward(self, x):
        x = self.up(features(self.stages, x, 1)[0])
        heat = self.heat(x).sigmoid()
        peak = nn.functional.max_pool2d(heat, 3, 1, 1)
        return heat * (peak == heat).float(), self.size(x)


class Ssd(nn.Module):
    """Default boxes on five maps, classes by softmax; `normalize` scales the first map by its norm."""

    def __init__(self, width=16, classes=21, normalize=True):
        super().__init__()
        self.stages, self.classes, self.normalize = pyramid(width, "relu", 6), classes, normalize
        channels = [width << i for i in range(1, 6)]
        self.place = nn.ModuleList(nn.Conv2d(c, 4 * 4, 3, padding=1) for c in channels)
        self.kind = nn.ModuleList(nn.Conv2d(c, 4 * classes, 3, padding=1) for c in channels)

    def forward(self, x):
        maps = features(self.stages, x, 5)
        if self.normalize:
            maps[0] = nn.functional.normalize(maps[0]) * 20
        rows = lambda layers, values: torch.cat([  # noqa: E731
            layer(y).permute(0, 2, 3, 1).reshape(y.shape[0], -1, values) for layer, y in zip(layers, maps)], 1)
        return rows(self.place, 4), rows(self.kind, self.classes).softmax(-1)


class DetrDecoder(nn.Module):
    """Queries attend to a flattened map, with sine places that are constants."""

    def __init__(self, width=128, queries=60, classes=20, layers=2):
        super().__init__()
        self.stages = pyramid(width // 16, "relu")
        self.transformer = nn.Transformer(width, 4, layers, layers, 256, 0.0, batch_first=True)
        self.queries = nn.Parameter(torch.randn(1, queries, width))
        self.kind, self.box = nn.Linear(width, classes + 1), nn.Sequential(
            nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 4), nn.Sigmoid())

    def forward(self, x):
        rows = features(self.stages, x, 1)[0].flatten(2).permute(0, 2, 1)
        places = torch.sin(torch.arange(rows.shape[1]).float().unsqueeze(1) / torch.arange(1, rows.shape[2] + 1).float())
        made = self.transformer(rows + places, self.queries.expand(rows.shape[0], -1, -1))
        return self.kind(made), self.box(made)


class FeaturePyramid(nn.Module):
    """RetinaNet and FCOS: towers that all maps share; `norm` between the convolutions."""

    def __init__(self, width=16, anchors=9, classes=20, norm=False):
        super().__init__()
        self.stages = pyramid(width, "relu")
        self.lateral = nn.ModuleList(nn.Conv2d(width << i, 64, 1) for i in (2, 3, 4))
        tower = [layer for _ in range(2) for layer in
                 (nn.Conv2d(64, 64, 3, padding=1), nn.GroupNorm(8, 64) if norm else nn.Identity(), nn.ReLU())]
        self.tower = Residual(*tower)
        self.kind, self.box = nn.Conv2d(64, anchors * classes, 3, padding=1), nn.Conv2d(64, anchors * 4, 3, padding=1)

    def forward(self, x):
        maps = [layer(y) for layer, y in zip(self.lateral, features(self.stages, x))]
        for i in (1, 0):
            maps[i] = maps[i] + nn.functional.interpolate(maps[i + 1], size=maps[i].shape[-2:], mode="nearest")
        maps = [self.tower(y) for y in maps]
        rows = lambda y: y.flatten(2).transpose(1, 2)  # noqa: E731
        return torch.cat([rows(self.kind(y)) for y in maps], 1), torch.cat([rows(self.box(y)) for y in maps], 1)
