"""Transformers in stages and in windows: pictures become tokens and pictures again."""

import torch
from torch import nn
from torch.nn import functional

from .layers import attend, heads_of, rows_of


def pictures(tokens, height, width):
    """[batch, height * width, channels] as [batch, channels, height, width]."""
    return tokens.transpose(1, 2).reshape(tokens.shape[0], -1, height, width)


def tokens_of(picture):
    """The reverse of pictures."""
    return picture.flatten(2).transpose(1, 2)


class Mlp(nn.Sequential):
    def __init__(self, width, factor=2):
        super().__init__(nn.Linear(width, factor * width), nn.GELU(), nn.Linear(factor * width, width))


class SwinV2(nn.Module):
    """Swin v2's blocks at one resolution, as restoration has them: windows, shifted in every second block; scores of
    unit vectors with a learned scale; biases computed from places; norms behind the layers."""

    class Block(nn.Module):
        def __init__(self, width, heads, extent, window, shift):
            super().__init__()
            self.heads, self.extent, self.window, self.shift = heads, extent, window, shift
            self.q, self.k, self.v = nn.Linear(width, width), nn.Linear(width, width, bias=False), nn.Linear(width, width)
            self.project, self.mlp = nn.Linear(width, width), Mlp(width)
            self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
            self.scale = nn.Parameter(torch.full((heads, 1, 1), 2.3) + torch.rand(heads, 1, 1))
            self.places = nn.Sequential(nn.Linear(2, 512), nn.ReLU(), nn.Linear(512, heads, bias=False))
            steps = torch.arange(1 - window, window).float() * 8 / (window - 1)
            steps = torch.sign(steps) * torch.log2(steps.abs() + 1) / 3
            self.register_buffer("table", torch.stack(torch.meshgrid(steps, steps, indexing="ij"), -1))
            at = torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")).flatten(1)
            apart = at[:, :, None] - at[:, None] + window - 1
            self.register_buffer("index", apart[0] * (2 * window - 1) + apart[1])
            self.register_buffer("mask", self.hidden() if shift else None)

        def hidden(self):
            """What is added to the scores of pixels that are no neighbours but for the shift."""
            regions, count = torch.zeros(1, self.extent, self.extent, 1), 0
            parts = (slice(0, -self.window), slice(-self.window, -self.shift), slice(-self.shift, None))
            for rows in parts:
                for columns in parts:
                    regions[:, rows, columns] = count
                    count += 1
            regions = self.split(regions).squeeze(-1)
            return (regions[:, None] != regions[:, :, None]).float() * -100.0

        def split(self, x):
            n, height, width, channels = x.shape
            x = x.view(n, height // self.window, self.window, width // self.window, self.window, channels)
            return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, self.window ** 2, channels)

        def join(self, windows):
            count, size = self.extent // self.window, self.window
            x = windows.view(-1, count, count, size, size, windows.shape[-1])
            return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, self.extent, self.extent, windows.shape[-1])

        def attention(self, x):
            q, k, v = (heads_of(layer(x), self.heads) for layer in (self.q, self.k, self.v))
            scores = functional.normalize(q, dim=-1) @ functional.normalize(k, dim=-1).transpose(-2, -1)
            scores = scores * torch.clamp(self.scale, max=4.6052).exp()
            table = self.places(self.table).view(-1, self.heads)
            rows = self.window ** 2
            bias = table[self.index.view(-1)].view(rows, rows, -1).permute(2, 0, 1).contiguous()
            scores = scores + 16 * torch.sigmoid(bias).unsqueeze(0)
            if self.mask is not None:
                count = self.mask.shape[0]
                scores = scores.view(-1, count, self.heads, rows, rows) + self.mask.unsqueeze(1).unsqueeze(0)
                scores = scores.view(-1, self.heads, rows, rows)
            return self.project(rows_of(scores.softmax(-1) @ v))

        def forward(self, x):
            n, _, channels = x.shape
            y = x.view(n, self.extent, self.extent, channels)
            if self.shift:
                y = torch.roll(y, (-self.shift, -self.shift), (1, 2))
            y = self.join(self.attention(self.split(y)))
            if self.shift:
                y = torch.roll(y, (self.shift, self.shift), (1, 2))
            x = x + self.norms[0](y.view(n, -1, channels))
            return x + self.norms[1](self.mlp(x))

    def __init__(self, width=48, heads=4, extent=32, window=8, depth=2):
        super().__init__()
        self.extent = extent
        self.first, self.last = nn.Conv2d(3, width, 3, 1, 1), nn.Conv2d(width, width, 3, 1, 1)
        self.blocks = nn.Sequential(*[self.Block(width, heads, extent, window, window // 2 * (i % 2)) for i in range(depth)])
        self.up = nn.Sequential(nn.Conv2d(width, 12, 3, 1, 1), nn.PixelShuffle(2))

    def forward(self, x):
        x = self.first(x)
        y = pictures(self.blocks(tokens_of(x)), self.extent, self.extent)
        return self.up(x + self.last(y))


class CoaT(nn.Module):
    """CoaT's serial blocks: attention by products of keys and values, places by depthwise convolutions."""

    class Block(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.place = nn.Conv2d(width, width, 3, 1, 1, groups=width)
            self.qkv, self.project, self.mlp = nn.Linear(width, 3 * width), nn.Linear(width, width), Mlp(width, 4)
            self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
            each = width // heads
            self.sizes = [heads // 4 * each, (heads // 2 - heads // 4) * each, (heads - heads // 2) * each]
            self.windows = nn.ModuleList(nn.Conv2d(size, size, kernel, 1, kernel // 2, groups=size)
                                         for size, kernel in zip(self.sizes, (3, 5, 7)))

        def positions(self, q, v, height, width):
            n, heads, _, each = q.shape
            v = v[:, :, 1:].transpose(-1, -2).reshape(n, heads * each, height, width)
            parts = [layer(part) for layer, part in zip(self.windows, torch.split(v, self.sizes, 1))]
            v = torch.cat(parts, 1).reshape(n, heads, each, height * width).transpose(-1, -2)
            return functional.pad(q[:, :, 1:] * v, (0, 0, 1, 0, 0, 0))

        def attention(self, x, height, width):
            n, rows, channels = x.shape
            q, k, v = self.qkv(x).reshape(n, rows, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
            made = q @ (k.softmax(2).transpose(-1, -2) @ v)
            made = made * (channels // self.heads) ** -0.5 + self.positions(q, v, height, width)
            return self.project(made.transpose(1, 2).reshape(n, rows, channels))

        def forward(self, x, height, width):
            first, rest = x[:, :1], x[:, 1:]
            picture = pictures(rest, height, width)
            x = torch.cat((first, tokens_of(self.place(picture) + picture)), 1)
            x = x + self.attention(self.norms[0](x), height, width)
            return x + self.mlp(self.norms[1](x))

    def __init__(self, widths=(48, 96, 160), heads=8, depth=1, classes=100):
        super().__init__()
        sides = (4, 2, 2)
        inputs = (3, *widths)
        self.embed = nn.ModuleList(nn.Conv2d(a, b, side, side) for a, b, side in zip(inputs, widths, sides))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for width in widths)
        self.tokens = nn.ParameterList(nn.Parameter(torch.randn(1, 1, width) * 0.02) for width in widths)
        self.stages = nn.ModuleList(nn.ModuleList(self.Block(width, heads) for _ in range(depth)) for width in widths)
        self.norm, self.head = nn.LayerNorm(widths[-1]), nn.Linear(widths[-1], classes)

    def forward(self, x):
        for index, stage in enumerate(self.stages):
            x = self.embed[index](x)
            n, channels, height, width = x.shape
            x = self.norms[index](tokens_of(x))
            x = torch.cat((self.tokens[index].expand(n, -1, -1), x), 1)
            for block in stage:
                x = block(x, height, width)
            if index + 1 < len(self.stages):
                x = x[:, 1:].reshape(n, height, width, channels).permute(0, 3, 1, 2).contiguous()
        return self.head(self.norm(x)[:, 0])


class PyramidTransformer(nn.Module):
    """PVT v2's and SegFormer's stages: keys and values of a smaller picture, depthwise windows between linear layers.
    `decode`: all stages are joined at the finest resolution, as SegFormer does."""

    class Block(nn.Module):
        def __init__(self, width, heads, ratio):
            super().__init__()
            self.heads, self.ratio = heads, ratio
            self.q, self.kv, self.project = nn.Linear(width, width), nn.Linear(width, 2 * width), nn.Linear(width, width)
            self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
            if ratio > 1:
                self.reduce, self.reduced = nn.Conv2d(width, width, ratio, ratio), nn.LayerNorm(width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.window = nn.Conv2d(4 * width, 4 * width, 3, 1, 1, groups=4 * width)

        def attention(self, x, height, width):
            n, rows, channels = x.shape
            q = heads_of(self.q(x), self.heads)
            if self.ratio > 1:
                x = self.reduce(x.permute(0, 2, 1).reshape(n, channels, height, width))
                x = self.reduced(x.reshape(n, channels, -1).permute(0, 2, 1))
            k, v = self.kv(x).reshape(n, -1, 2, self.heads, channels // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
            return self.project(rows_of(attend(q, k, v)))

        def forward(self, x, height, width):
            x = x + self.attention(self.norms[0](x), height, width)
            y = tokens_of(self.window(pictures(self.up(self.norms[1](x)), height, width)))
            return x + self.down(functional.gelu(y))

    def __init__(self, widths=(32, 64, 160, 256), heads=(1, 2, 5, 8), ratios=(8, 4, 2, 1), depth=1, classes=100, decode=0):
        super().__init__()
        inputs = (3, *widths)
        self.embed = nn.ModuleList(nn.Conv2d(a, b, side, stride, side // 2) for a, b, side, stride in
                                   zip(inputs, widths, (7, 3, 3, 3), (4, 2, 2, 2)))
        self.first, self.last = (nn.ModuleList(nn.LayerNorm(width) for width in widths) for _ in range(2))
        self.stages = nn.ModuleList(nn.ModuleList(self.Block(*each) for _ in range(depth))
                                    for each in zip(widths, heads, ratios))
        self.levels = nn.ModuleList(nn.Linear(width, decode) for width in widths) if decode else None
        self.head = nn.Sequential(nn.Conv2d(4 * decode, decode, 1, bias=False), nn.BatchNorm2d(decode), nn.ReLU(),
                                  nn.Conv2d(decode, classes, 1)) if decode else nn.Linear(widths[-1], classes)

    def forward(self, x):
        made = []
        for index, stage in enumerate(self.stages):
            x = self.embed[index](x)
            height, width = x.shape[2:]
            x = self.first[index](tokens_of(x))
            for block in stage:
                x = block(x, height, width)
            x = pictures(self.last[index](x), height, width)
            made.append(x)
        if not self.levels:
            return self.head(x.mean((2, 3)))
        size = made[0].shape[2:]
        joined = [functional.interpolate(pictures(level(tokens_of(each)), *each.shape[2:]), size=size, mode="bilinear",
                                         align_corners=False) for level, each in zip(self.levels, made)]
        return self.head(torch.cat(joined[::-1], 1))


class EdgeNeXt(nn.Module):
    """EdgeNeXt's stages: convolutions with norms of channels, and attention over channels behind split windows."""

    class Convolutions(nn.Module):
        def __init__(self, width, kernel):
            super().__init__()
            self.window = nn.Conv2d(width, width, kernel, 1, kernel // 2, groups=width)
            self.norm, self.mlp = nn.LayerNorm(width), Mlp(width, 4)
            self.gamma = nn.Parameter(torch.full((width,), 0.5))

        def forward(self, x):
            y = self.mlp(self.norm(self.window(x).permute(0, 2, 3, 1))) * self.gamma
            return x + y.permute(0, 3, 1, 2)

    class Transposed(nn.Module):
        def __init__(self, width, heads, scales, extent):
            super().__init__()
            size = -(-width // scales)
            self.heads, self.sizes = heads, [size] * (scales - 1) + [width - size * (scales - 1)]
            self.windows = nn.ModuleList(nn.Conv2d(size, size, 3, 1, 1, groups=size) for _ in range(scales - 1))
            self.places = nn.Parameter(torch.randn(1, width, extent, extent) * 0.02)
            self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
            self.qkv, self.project, self.mlp = nn.Linear(width, 3 * width), nn.Linear(width, width), Mlp(width, 4)
            self.scale = nn.Parameter(torch.rand(heads, 1, 1) + 0.5)
            self.gammas = nn.ParameterList(nn.Parameter(torch.full((width,), 0.5)) for _ in range(2))

        def attention(self, x):
            n, rows, width = x.shape
            q, k, v = self.qkv(x).reshape(n, rows, 3, self.heads, -1).permute(2, 0, 3, 4, 1).unbind(0)
            scores = (functional.normalize(q, dim=-1) @ functional.normalize(k, dim=-1).transpose(-2, -1)) * self.scale
            return self.project((scores.softmax(-1) @ v).permute(0, 3, 1, 2).reshape(n, rows, width))

        def forward(self, x):
            shortcut, parts = x, x.split(self.sizes, 1)
            made = [self.windows[0](parts[0])]
            for window, part in zip(self.windows[1:], parts[1:]):
                made.append(window(made[-1] + part))
            x = torch.cat((*made, parts[len(self.windows)]), 1)
            n, width, height, columns = x.shape
            x = tokens_of(x + self.places)
            x = x + self.gammas[0] * self.attention(self.norms[0](x))
            x = x.reshape(n, height, columns, width)
            x = x + self.gammas[1] * self.mlp(self.norms[1](x))
            return shortcut + x.permute(0, 3, 1, 2)

    class Norm(nn.LayerNorm):
        def forward(self, x):
            return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)

    def __init__(self, widths=(24, 48, 88, 168), extent=192, classes=100):
        super().__init__()
        a, b, c, d = widths
        side = [extent // 8, extent // 16, extent // 32]
        self.layers = nn.Sequential(
            nn.Conv2d(3, a, 4, 4), self.Norm(a), self.Convolutions(a, 3),
            self.Norm(a), nn.Conv2d(a, b, 2, 2), self.Convolutions(b, 5), self.Transposed(b, 4, 2, side[0]),
            self.Norm(b), nn.Conv2d(b, c, 2, 2), self.Convolutions(c, 7), self.Transposed(c, 4, 3, side[1]),
            self.Norm(c), nn.Conv2d(c, d, 2, 2), self.Convolutions(d, 9), self.Transposed(d, 4, 4, side[2]))
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, classes)

    def forward(self, x):
        return self.head(self.norm(self.layers(x).mean((2, 3))))


class LinearTransformer(nn.Sequential):
    """Layers whose attention multiplies keys with values first; features of both are elu + 1."""

    class Block(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
            self.project, self.mlp = nn.Linear(width, width), Mlp(width, 4)
            self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))

        def attention(self, x):
            q, k, v = (heads_of(layer(x), self.heads) for layer in (self.q, self.k, self.v))
            q, k = functional.elu(q) + 1, functional.elu(k) + 1
            share = 1 / ((q * k.sum(2, keepdim=True)).sum(-1, keepdim=True) + 1e-6)
            return self.project(rows_of(q @ (k.transpose(-2, -1) @ v) * share))

        def forward(self, x):
            x = self.norms[0](x + self.attention(x))
            return self.norms[1](x + self.mlp(x))

    def __init__(self, width=128, heads=4, depth=2):
        super().__init__(*[self.Block(width, heads) for _ in range(depth)])


class SpanConvolutions(nn.Sequential):
    """ConvBERT's layers: beside the heads of attention, as many whose windows of the values are weighted by a
    softmax that depends on the place."""

    class Block(nn.Module):
        def __init__(self, width, heads, kernel):
            super().__init__()
            self.heads, self.kernel, inner = heads // 2, kernel, width // 2
            self.q, self.k, self.v, self.out = (nn.Linear(width, inner) for _ in range(4))
            self.span = nn.Sequential(nn.Conv1d(width, width, kernel, 1, kernel // 2, groups=width, bias=False),
                                      nn.Conv1d(width, inner, 1))
            self.kernels = nn.Linear(inner, self.heads * kernel)
            self.project, self.mlp = nn.Linear(width, width), Mlp(width, 2)
            self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))

        def convolution(self, x, q, rows, width):
            n, each = x.shape[0], width // self.heads
            kernels = self.kernels(self.span(x.transpose(1, 2)).transpose(1, 2) * q)
            kernels = kernels.reshape(-1, self.kernel, 1).softmax(1)
            y = self.out(x).transpose(1, 2).contiguous().unsqueeze(-1)
            y = functional.unfold(y, (self.kernel, 1), 1, (self.kernel // 2, 0), 1)
            y = y.transpose(1, 2).reshape(n, -1, width, self.kernel).reshape(-1, each, self.kernel)
            return (y @ kernels).reshape(n, rows, self.heads, each)

        def attention(self, x):
            n, rows, _ = x.shape
            q = self.q(x)
            width = q.shape[-1]
            spans = self.convolution(x, q, rows, width)
            made = attend(heads_of(q, self.heads), heads_of(self.k(x), self.heads), heads_of(self.v(x), self.heads))
            made = torch.cat((made.permute(0, 2, 1, 3), spans), 2)
            return self.project(made.reshape(n, rows, -1))

        def forward(self, x):
            x = self.norms[0](x + self.attention(x))
            return self.norms[1](x + self.mlp(x))

    def __init__(self, width=192, heads=4, kernel=9, depth=2):
        super().__init__(*[self.Block(width, heads, kernel) for _ in range(depth)])
