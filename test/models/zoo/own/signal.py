"""Networks over samples of time."""

import torch
from torch import nn

from .layers import Residual, conv


class WaveNet(nn.Module):
    """Gated dilated convolutions that see the past alone."""

    def __init__(self, width=32, layers=6, classes=64):
        super().__init__()
        self.first = nn.Conv1d(1, width, 1)
        self.gates = nn.ModuleList(nn.Conv1d(width, 2 * width, 2, dilation=1 << i) for i in range(layers))
        self.skips = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in range(layers))
        self.last = nn.Sequential(nn.ReLU(), nn.Conv1d(width, width, 1), nn.ReLU(), nn.Conv1d(width, classes, 1))

    def forward(self, x):
        x, total = self.first(x), 0
        for i, (gate, skip) in enumerate(zip(self.gates, self.skips)):
            a, b = gate(nn.functional.pad(x, (1 << i, 0))).chunk(2, 1)
            y = a.tanh() * b.sigmoid()
            total, x = total + skip(y), x + y
        return self.last(total)


class TemporalConv(nn.Sequential):
    """Dilated convolutions whose ends are cut off, as weight-normed networks export them."""

    class Block(nn.Module):
        def __init__(self, width, dilation):
            super().__init__()
            self.cut = 2 * dilation
            self.conv = nn.Conv1d(width, width, 3, padding=self.cut, dilation=dilation)

        def forward(self, x):
            return torch.relu(x + torch.relu(self.conv(x)[:, :, :-self.cut]))

    def __init__(self, inputs=20, width=48, layers=4):
        super().__init__(nn.Conv1d(inputs, width, 1), *[self.Block(width, 1 << i) for i in range(layers)],
                         nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(width, 10))


class Recurrent(nn.Module):
    """`cell` is LSTM, GRU or RNN; the result of all steps, or of the last one. `time_first` as torch's default."""

    def __init__(self, cell="LSTM", inputs=40, width=64, layers=1, both=False, time_first=False, last=False, classes=12):
        super().__init__()
        self.cell = getattr(nn, cell)(inputs, width, layers, batch_first=not time_first, bidirectional=both)
        self.head, self.only_last, self.time = nn.Linear(width * (1 + both), classes), last, 0 if time_first else 1

    def forward(self, x):
        y, _ = self.cell(x)
        return self.head(y.select(self.time, -1) if self.only_last else y)


class Streaming(nn.Module):
    """Cells whose states are inputs and results."""

    def __init__(self, inputs=32, width=64):
        super().__init__()
        self.cell, self.head = nn.LSTM(inputs, width, 1, batch_first=True), nn.Linear(width, 8)

    def forward(self, x, h, c):
        y, (h, c) = self.cell(x, (h, c))
        return self.head(y).softmax(-1), h, c


class Crnn(nn.Module):
    """Columns of a picture are the steps of recurrent cells in both directions."""

    def __init__(self, width=16, cell="LSTM", classes=80):
        super().__init__()
        self.convs = nn.Sequential(conv(1, width, 3, activation="relu"), nn.MaxPool2d(2), conv(width, 2 * width, 3),
                                   nn.MaxPool2d(2), conv(2 * width, 4 * width, 3), nn.MaxPool2d((2, 1)),
                                   conv(4 * width, 4 * width, 3), nn.MaxPool2d((2, 1)))
        self.cell = getattr(nn, cell)(8 * width, 4 * width, 1, bidirectional=True)
        self.head = nn.Linear(8 * width, classes)

    def forward(self, x):
        x = self.convs(x).flatten(1, 2).permute(2, 0, 1)
        return self.head(self.cell(x)[0]).log_softmax(-1)


class Conformer(nn.Module):
    """Half steps around attention and a depthwise convolution over time."""

    class Block(nn.Module):
        def __init__(self, width, heads, kernel):
            super().__init__()
            feed = lambda: nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, width))  # noqa: E731
            self.one, self.two, self.norm, self.last = feed(), feed(), nn.LayerNorm(width), nn.LayerNorm(width)
            self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
            self.before, self.gate = nn.LayerNorm(width), nn.Conv1d(width, 2 * width, 1)
            self.conv = nn.Sequential(nn.Conv1d(width, width, kernel, padding=kernel // 2, groups=width),
                                      nn.BatchNorm1d(width), nn.SiLU(), nn.Conv1d(width, width, 1))

        def forward(self, x):
            x = x + 0.5 * self.one(x)
            y = self.norm(x)
            x = x + self.attention(y, y, y)[0]
            y = nn.functional.glu(self.gate(self.before(x).transpose(1, 2)), 1)
            x = x + self.conv(y).transpose(1, 2)
            return self.last(x + 0.5 * self.two(x))

    def __init__(self, width=96, heads=4, layers=2, kernel=15, classes=40):
        super().__init__()
        self.sub = nn.Sequential(nn.Conv2d(1, width, 3, 2), nn.ReLU(), nn.Conv2d(width, width, 3, 2), nn.ReLU())
        self.into, self.head = nn.Linear(width * 19, width), nn.Linear(width, classes)
        self.blocks = nn.Sequential(*[self.Block(width, heads, kernel) for _ in range(layers)])

    def forward(self, x):
        x = self.sub(x)
        n, c, t, f = x.shape
        return self.head(self.blocks(self.into(x.transpose(1, 2).reshape(n, t, c * f)))).log_softmax(-1)


class KeyWords(nn.Sequential):
    """Depthwise convolutions over a spectrogram."""

    def __init__(self, width=64, layers=4, classes=12):
        super().__init__(nn.Conv2d(1, width, (10, 4), 2, (5, 1)), nn.BatchNorm2d(width), nn.ReLU(),
                         *[nn.Sequential(conv(width, width, 3, 1, width), conv(width, width)) for _ in range(layers)],
                         nn.AvgPool2d((25, 5)), nn.Flatten(), nn.Linear(width, classes))


class Ecg(nn.Sequential):
    """One-dimensional residual blocks with pools of long windows."""

    def __init__(self, width=32, layers=3):
        block = lambda: Residual(nn.Conv1d(width, width, 7, padding=3), nn.BatchNorm1d(width), nn.ReLU(),  # noqa: E731
                                 nn.Conv1d(width, width, 7, padding=3), nn.BatchNorm1d(width))
        super().__init__(nn.Conv1d(12, width, 15, 2, 7), nn.ReLU(),
                         *[layer for _ in range(layers) for layer in (block(), nn.MaxPool1d(2))],
                         nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(width, 5))
