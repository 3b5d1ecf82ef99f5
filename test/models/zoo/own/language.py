"""Networks over tokens."""

import torch
from torch import nn

from .layers import attend, heads_of, rows_of


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


def rotate(x, first, base=10000.0):
    """Rotary places of the rows [first, first + rows); halves of the width form the pairs."""
    half = x.shape[-1] // 2
    rates = base ** (-torch.arange(half).float() / half)
    angles = (torch.arange(first, first + x.shape[2]).float())[:, None] * rates[None]
    cos, sin = torch.cat([angles, angles], -1).cos(), torch.cat([angles, angles], -1).sin()
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


class LlamaBlock(nn.Module):
    """Grouped queries, rotary places, a gated network behind; with the keys and values of what came before."""

    def __init__(self, width, heads, shared, past):
        super().__init__()
        size = width // heads
        self.heads, self.shared, self.past = heads, shared, past
        self.q, self.k, self.v = nn.Linear(width, width, False), nn.Linear(width, shared * size, False), nn.Linear(width, shared * size, False)
        self.o, self.gate = nn.Linear(width, width, False), nn.Linear(width, 3 * width, False)
        self.up, self.down = nn.Linear(width, 3 * width, False), nn.Linear(3 * width, width, False)
        self.first, self.second = RmsNorm(width), RmsNorm(width)

    def forward(self, x, mask, past=None):
        y = self.first(x)
        q, k = rotate(heads_of(self.q(y), self.heads), self.past), rotate(heads_of(self.k(y), self.shared), self.past)
        v = heads_of(self.v(y), self.shared)
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        made = k, v
        repeat = self.heads // self.shared
        k, v = (z[:, :, None].expand(-1, -1, repeat, -1, -1).reshape(z.shape[0], -1, z.shape[2], z.shape[3]) for z in made)
        x = x + self.o(rows_of(attend(q, k, v, mask)))
        y = self.second(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y)), made


class Llama(nn.Module):
    """All rows at once with a causal mask, or (`past` > 0) one token behind `past` others, whose keys and values
    are inputs; those of all rows are results."""

    def __init__(self, width=128, heads=4, shared=2, layers=2, past=0, vocabulary=1000):
        super().__init__()
        self.embed, self.norm = nn.Embedding(vocabulary, width), RmsNorm(width)
        self.blocks = nn.ModuleList(LlamaBlock(width, heads, shared, past) for _ in range(layers))
        self.last, self.past = nn.Linear(width, vocabulary, False), past

    def forward(self, ids, *past):
        x, made = self.embed(ids), []
        rows = ids.shape[1]
        mask = None if rows == 1 else torch.full((rows, rows), float("-inf")).triu(1)
        for i, block in enumerate(self.blocks):
            x, both = block(x, mask, past[2 * i:2 * i + 2] if self.past else None)
            made += both
        return (self.last(self.norm(x)), *made) if self.past else self.last(self.norm(x))


class Encoder(nn.Module):
    """torch's own transformer; `causal` adds a triangle, `first` norms come before the layers."""

    def __init__(self, width=128, heads=4, layers=2, causal=False, first=True, activation="gelu"):
        super().__init__()
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, activation, batch_first=True,
                                                               norm_first=first) for _ in range(layers))
        self.causal = causal

    def forward(self, x):
        mask = torch.full((x.shape[1], x.shape[1]), float("-inf")).triu(1) if self.causal else None
        for layer in self.layers:
            x = layer(x, mask)
        return x


class Translator(nn.Module):
    """An encoder of LSTMs in both directions, and a decoder's steps that attend to it."""

    def __init__(self, width=64, vocabulary=500):
        super().__init__()
        self.source, self.target = nn.Embedding(vocabulary, width), nn.Embedding(vocabulary, 2 * width)
        self.encode = nn.LSTM(width, width, 1, batch_first=True, bidirectional=True)
        self.decode = nn.GRU(2 * width, 2 * width, 1, batch_first=True)
        self.last = nn.Linear(4 * width, vocabulary)

    def forward(self, source, target):
        memory, _ = self.encode(self.source(source))
        state, _ = self.decode(self.target(target))
        weights = (state @ memory.transpose(1, 2)).softmax(-1)
        return self.last(torch.cat([state, weights @ memory], -1)).log_softmax(-1)


class LocalAttention(nn.Module):
    """Rows attend to a window of neighbours, in blocks; `linear` replaces the softmax by a feature map."""

    def __init__(self, width=96, heads=3, window=32, linear=False):
        super().__init__()
        self.qkv, self.last = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.heads, self.window, self.linear = heads, window, linear

    def forward(self, x):
        n, rows, width = x.shape
        q, k, v = (heads_of(y, self.heads) for y in self.qkv(x).chunk(3, -1))
        if self.linear:
            q, k = nn.functional.elu(q) + 1, nn.functional.elu(k) + 1
            memory = k.transpose(-2, -1) @ v
            scale = q @ k.sum(2, keepdim=True).transpose(-2, -1)
            return self.last(rows_of(q @ memory / (scale + 1e-6)))
        blocks = lambda y: y.reshape(n * self.heads, rows // self.window, self.window, -1)  # noqa: E731
        made = attend(blocks(q), blocks(k), blocks(v)).reshape(n, self.heads, rows, -1)
        return self.last(rows_of(made))


class Experts(nn.Module):
    """A mixture: each row goes through all experts, and the weights of the best two are kept."""

    def __init__(self, width=64, experts=4):
        super().__init__()
        self.route = nn.Linear(width, experts)
        self.up, self.down = nn.Parameter(torch.randn(experts, width, 2 * width) / 8), nn.Parameter(torch.randn(experts, 2 * width, width) / 11)

    def forward(self, x):
        weights = self.route(x).softmax(-1)
        best = weights.topk(2)[0][..., -1:]
        weights = torch.where(weights >= best, weights, torch.zeros_like(weights))
        made = torch.relu(x.unsqueeze(1) @ self.up) @ self.down
        return (made * weights.transpose(1, 2).unsqueeze(-1)).sum(1)
