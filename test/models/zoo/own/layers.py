"""What several networks of the zoo are made of."""

import torch
from torch import nn

ACTIVATIONS = {"relu": nn.ReLU, "relu6": nn.ReLU6, "leaky": lambda: nn.LeakyReLU(0.1), "silu": nn.SiLU,
               "hardswish": nn.Hardswish, "gelu": nn.GELU, "none": nn.Identity}


def conv(inputs, outputs, kernel=1, stride=1, groups=1, activation="relu", dilation=1):
    """A convolution with "same" padding, its batch norm and its activation."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, (kernel - 1) // 2 * dilation, dilation, groups, bias=False),
        nn.BatchNorm2d(outputs), ACTIVATIONS[activation]())


class Residual(nn.Module):
    """x + body(x)."""

    def __init__(self, *body):
        super().__init__()
        self.body = nn.Sequential(*body)

    def forward(self, x):
        return x + self.body(x)


def attend(q, k, v, mask=None):
    """Attention on [batch, heads, rows, width]; the mask is added to the scores."""
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = scores + mask
    return scores.softmax(-1) @ v


def heads_of(x, heads):
    """[batch, rows, heads * width] as [batch, heads, rows, width]."""
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


def rows_of(x):
    """The reverse of heads_of."""
    return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)


def pyramid(width, activation, stages=5):
    """A backbone: stage i halves the extents and doubles the channels of the one before."""
    channels = [3] + [width << i for i in range(stages)]
    return nn.ModuleList(
        nn.Sequential(conv(a, b, 3, 2, activation=activation),
                      Residual(conv(b, max(b // 2, 8), 1, activation=activation),
                               conv(max(b // 2, 8), b, 3, activation=activation)))
        for a, b in zip(channels, channels[1:]))


def features(stages, x, count=3):
    """What the last `count` stages of a pyramid make, the finest first."""
    made = []
    for stage in stages:
        x = stage(x)
        made.append(x)
    return made[-count:]


def grid(height, width):
    """The places of a grid as [height * width, 2], x first."""
    y, x = torch.meshgrid(torch.arange(height).float(), torch.arange(width).float(), indexing="ij")
    return torch.stack([x, y], -1).reshape(-1, 2)
