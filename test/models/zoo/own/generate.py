"""Networks that make or mend pictures."""

import torch
from torch import nn

from .layers import ACTIVATIONS, Residual, attend, conv


class SuperResolution(nn.Module):
    """ESPCN without blocks, EDSR and SRGAN with them: convolutions, then channels become places."""

    def __init__(self, width=32, blocks=0, factor=3, norm=False, prelu=False):
        super().__init__()
        act = (lambda: nn.PReLU(width)) if prelu else nn.ReLU
        keep = (lambda: nn.BatchNorm2d(width)) if norm else nn.Identity
        self.first = nn.Sequential(nn.Conv2d(3, width, 5, padding=2), act())
        self.body = Residual(*[Residual(nn.Conv2d(width, width, 3, padding=1), keep(), act(),
                                        nn.Conv2d(width, width, 3, padding=1), keep()) for _ in range(blocks)])
        self.last = nn.Sequential(nn.Conv2d(width, 3 * factor * factor, 3, padding=1), nn.PixelShuffle(factor), nn.Tanh())

    def forward(self, x):
        return self.last(self.body(self.first(x)))


class StyleTransfer(nn.Sequential):
    """Reflected borders, instance norms, up-sampling by the nearest place or by transposed convolutions."""

    def __init__(self, width=16, blocks=3, transposed=False):
        def layer(a, b, kernel, stride=1):
            return [nn.ReflectionPad2d(kernel // 2), nn.Conv2d(a, b, kernel, stride), nn.InstanceNorm2d(b, affine=True), nn.ReLU()]

        def up(a, b):
            if transposed:
                return [nn.ConvTranspose2d(a, b, 3, 2, 1, 1), nn.InstanceNorm2d(b), nn.ReLU()]
            return [nn.Upsample(scale_factor=2), *layer(a, b, 3)]
        inner = 4 * width
        super().__init__(*layer(3, width, 7), *layer(width, 2 * width, 3, 2), *layer(2 * width, inner, 3, 2),
                         *[Residual(*layer(inner, inner, 3), *layer(inner, inner, 3)[:-1]) for _ in range(blocks)],
                         *up(inner, 2 * width), *up(2 * width, width), nn.ReflectionPad2d(3), nn.Conv2d(width, 3, 7), nn.Tanh())


class StyleGan(nn.Module):
    """A style scales the channels of constants that grow: instance norms, modulation and constant noise."""

    def __init__(self, style=128, width=64, stages=4):
        super().__init__()
        self.map = nn.Sequential(*[layer for _ in range(3) for layer in (nn.Linear(style, style), nn.LeakyReLU(0.2))])
        self.begin = nn.Parameter(torch.randn(1, width, 4, 4))
        self.affine = nn.ModuleList(nn.Linear(style, 2 * width) for _ in range(stages))
        self.convs = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(stages))
        self.noise = nn.ParameterList(nn.Parameter(torch.randn(1, 1, 8 << i, 8 << i)) for i in range(stages))
        self.norm, self.last = nn.InstanceNorm2d(width, affine=True), nn.Conv2d(width, 3, 1)

    def forward(self, z):
        style = self.map(z * torch.rsqrt((z * z).mean(1, keepdim=True) + 1e-8))
        x = self.begin.expand(z.shape[0], -1, -1, -1)
        for affine, layer, noise in zip(self.affine, self.convs, self.noise):
            x = nn.functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
            x = self.norm(nn.functional.leaky_relu(layer(x) + 0.1 * noise, 0.2))
            scale, shift = affine(style)[:, :, None, None].chunk(2, 1)
            x = x * (1 + scale) + shift
        return self.last(x)


class ModulatedConv(nn.Module):
    """StyleGAN2: the style scales filters, which are computed and normalized for each sample."""

    def __init__(self, style=64, width=32):
        super().__init__()
        self.affine, self.weight = nn.Linear(style, width), nn.Parameter(torch.randn(1, width, width, 3, 3))

    def forward(self, x, z):
        weight = self.weight * (1 + self.affine(z)).view(1, 1, -1, 1, 1)
        weight = weight * torch.rsqrt((weight * weight).sum((2, 3, 4), keepdim=True) + 1e-8)
        return nn.functional.leaky_relu(nn.functional.conv2d(x, weight[0], padding=1), 0.2)


class TimedResidual(nn.Module):
    """A residual block with group norms and an embedding of time."""

    def __init__(self, inputs, outputs, time, groups):
        super().__init__()
        self.first = nn.Sequential(nn.GroupNorm(groups, inputs), nn.SiLU(), nn.Conv2d(inputs, outputs, 3, padding=1))
        self.time = nn.Linear(time, outputs) if time else None
        self.second = nn.Sequential(nn.GroupNorm(groups, outputs), nn.SiLU(), nn.Conv2d(outputs, outputs, 3, padding=1))
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x, time=None):
        y = self.first(x)
        if self.time:
            y = y + self.time(time)[:, :, None, None]
        return self.skip(x) + self.second(y)


class PlaceAttention(nn.Module):
    """Attention over all places of a map; with a context, also to its rows."""

    def __init__(self, channels, heads, context=0, groups=8):
        super().__init__()
        self.norm, self.heads = nn.GroupNorm(groups, channels), heads
        self.qkv, self.project = nn.Conv1d(channels, 3 * channels, 1), nn.Conv1d(channels, channels, 1)
        self.cross = nn.MultiheadAttention(channels, heads, kdim=context, vdim=context, batch_first=True) if context else None

    def forward(self, x, context=None):
        n, c, h, w = x.shape
        q, k, v = self.qkv(self.norm(x).view(n, c, h * w)).view(n, 3 * self.heads, -1, h * w).transpose(2, 3).chunk(3, 1)
        x = x + self.project(attend(q, k, v).transpose(2, 3).reshape(n, c, h * w)).view(n, c, h, w)
        if self.cross:
            rows = x.flatten(2).transpose(1, 2)
            x = x + self.cross(rows, context, context)[0].transpose(1, 2).reshape(n, c, h, w)
        return x


class DiffusionUNet(nn.Module):
    """One step of a diffusion: a picture, a time and the rows of a text."""

    def __init__(self, width=32, context=96, heads=4, groups=8):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, 4 * width))
        block = lambda a, b: TimedResidual(a, b, 4 * width, groups)  # noqa: E731
        self.first, self.one, self.down = nn.Conv2d(4, width, 3, padding=1), block(width, width), nn.Conv2d(width, width, 3, 2, 1)
        self.two, self.middle, self.three = block(width, 2 * width), PlaceAttention(2 * width, heads, context, groups), block(2 * width, width)
        self.up, self.four = nn.Conv2d(width, width, 3, padding=1), block(2 * width, width)
        self.last = nn.Sequential(nn.GroupNorm(groups, width), nn.SiLU(), nn.Conv2d(width, 4, 3, padding=1))
        self.width = width

    def forward(self, x, step, context):
        rates = torch.exp(-torch.arange(self.width // 2).float() * (9.2 / (self.width // 2)))
        angles = step[:, None] * rates[None]
        time = self.time(torch.cat([angles.cos(), angles.sin()], -1))
        x = self.one(self.first(x), time)
        y = self.three(self.middle(self.two(self.down(x), time), context), time)
        y = self.up(nn.functional.interpolate(y, scale_factor=2.0, mode="nearest"))
        return self.last(self.four(torch.cat([x, y], 1), time))


class VaeDecoder(nn.Module):
    """Latent pictures to pictures, with `groups` group norms and one attention at the coarsest grid."""

    def __init__(self, width=128, stages=3, groups=32):
        super().__init__()
        self.first, self.middle = nn.Conv2d(4, width, 3, padding=1), PlaceAttention(width, 1, 0, groups)
        self.blocks = nn.ModuleList(TimedResidual(width, width, 0, groups) for _ in range(stages))
        self.ups = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(stages))
        self.last = nn.Sequential(nn.GroupNorm(groups, width), nn.SiLU(), nn.Conv2d(width, 3, 3, padding=1))

    def forward(self, x):
        x = self.middle(self.first(x))
        for block, up in zip(self.blocks, self.ups):
            x = up(nn.functional.interpolate(block(x), scale_factor=2.0, mode="nearest"))
        return self.last(x)


class AutoEncoder(nn.Module):
    """Strided convolutions, a bottleneck, transposed convolutions; `variational` has a mean, a spread and noise as input."""

    def __init__(self, width=16, latent=64, extent=8, variational=False, activation="relu"):
        super().__init__()
        self.encode = nn.Sequential(*[conv(a, b, 3, 2, activation=activation) for a, b in
                                      ((3, width), (width, 2 * width), (2 * width, 4 * width))], nn.Flatten())
        flat = 4 * width * extent * extent
        self.mean, self.spread = nn.Linear(flat, latent), nn.Linear(flat, latent) if variational else None
        self.back, self.shape = nn.Linear(latent, flat), (4 * width, extent, extent)
        self.decode = nn.Sequential(*[layer for a, b in ((4 * width, 2 * width), (2 * width, width), (width, 3))
                                      for layer in (nn.ConvTranspose2d(a, b, 3, 2, 1, 1), ACTIVATIONS[activation]())][:-1], nn.Sigmoid())

    def forward(self, x, noise=None):
        code = self.encode(x)
        mean = self.mean(code)
        if self.spread:
            mean = mean + (0.5 * self.spread(code)).exp() * noise
        return self.decode(self.back(mean).view(-1, *self.shape))
