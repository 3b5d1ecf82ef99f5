"""Networks over tables, points, rays and graphs."""

import torch
from torch import nn


class Recommender(nn.Module):
    """DLRM: embeddings of categories, products of all pairs, a network behind."""

    def __init__(self, fields=8, rows=200, width=16, dense=13):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, width) for _ in range(fields))
        self.bottom = nn.Sequential(nn.Linear(dense, 64), nn.ReLU(), nn.Linear(64, width), nn.ReLU())
        pairs = (fields + 1) * fields // 2
        self.top = nn.Sequential(nn.Linear(width + pairs, 64), nn.ReLU(), nn.Linear(64, 1), nn.Sigmoid())
        rows_of_pairs, columns = torch.tril_indices(fields + 1, fields + 1, -1)
        self.register_buffer("pairs", rows_of_pairs * (fields + 1) + columns)

    def forward(self, dense, kinds):
        x = self.bottom(dense)
        every = torch.stack([x] + [table(kinds[:, i]) for i, table in enumerate(self.tables)], 1)
        products = (every @ every.transpose(1, 2)).flatten(1)[:, self.pairs]
        return self.top(torch.cat([x, products], 1))


class PointNet(nn.Module):
    """The same layers for each point, and the maximum over all of them; `segment` joins both again."""

    def __init__(self, classes=10, segment=False):
        super().__init__()
        layers = lambda *sizes: nn.Sequential(*[layer for a, b in zip(sizes, sizes[1:])  # noqa: E731
                                                for layer in (nn.Conv1d(a, b, 1), nn.BatchNorm1d(b), nn.ReLU())])
        self.one, self.two = layers(3, 64, 64), layers(64, 128, 256)
        self.turn = nn.Sequential(layers(3, 32, 64), nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(64, 9))
        self.head = nn.Conv1d(64 + 256, classes, 1) if segment else nn.Linear(256, classes)
        self.segment = segment

    def forward(self, x):
        x = torch.bmm(x.transpose(1, 2), self.turn(x).view(-1, 3, 3) + torch.eye(3)).transpose(1, 2)
        near = self.one(x)
        far = self.two(near).max(2)[0]
        if not self.segment:
            return self.head(far).log_softmax(-1)
        return self.head(torch.cat([near, far.unsqueeze(2).expand(-1, -1, x.shape[2])], 1))


class RadianceField(nn.Module):
    """NeRF: sines of places and directions through a network of equal layers."""

    def __init__(self, width=128, layers=6, rates=6):
        super().__init__()
        coded = 3 + 6 * rates
        self.rates = rates
        self.first = nn.ModuleList(nn.Linear(width if i else coded, width) for i in range(layers // 2))
        self.second = nn.ModuleList(nn.Linear(width if i else width + coded, width) for i in range(layers // 2))
        self.density, self.colour = nn.Linear(width, 1), nn.Sequential(
            nn.Linear(width + coded, width // 2), nn.ReLU(), nn.Linear(width // 2, 3), nn.Sigmoid())

    def code(self, x):
        return torch.cat([x] + [f(x * 2.0 ** i) for i in range(self.rates) for f in (torch.sin, torch.cos)], -1)

    def forward(self, place, direction):
        place = self.code(place)
        x = place
        for layer in self.first:
            x = torch.relu(layer(x))
        x = torch.cat([x, place], -1)
        for layer in self.second:
            x = torch.relu(layer(x))
        return torch.cat([self.colour(torch.cat([x, self.code(direction)], -1)), torch.relu(self.density(x))], -1)


class Graph(nn.Module):
    """Graph convolutions with the matrix of neighbours as an input; `attention` weighs the neighbours."""

    def __init__(self, inputs=34, width=32, classes=7, attention=False):
        super().__init__()
        self.one, self.two = nn.Linear(inputs, width), nn.Linear(width, classes)
        self.give, self.take = nn.Linear(width, 1), nn.Linear(width, 1)
        self.attention = attention

    def forward(self, x, near):
        x = self.one(x)
        if self.attention:
            scores = nn.functional.leaky_relu(self.give(x) + self.take(x).transpose(1, 2), 0.2)
            near = torch.where(near > 0, scores, torch.full_like(scores, -1e9)).softmax(-1)
        return (near @ self.two(torch.relu(near @ x))).log_softmax(-1)


class Perceptron(nn.Sequential):
    """Linear layers with an activation, as tables of numbers and controllers have them."""

    def __init__(self, sizes=(37, 256, 256, 3), activation="Tanh", norm=False):
        layers = []
        for a, b in zip(sizes, sizes[1:]):
            layers += [nn.Linear(a, b), *([nn.BatchNorm1d(b)] if norm else []), getattr(nn, activation)()]
        super().__init__(*layers[:-1])


class Matcher(nn.Module):
    """Two pictures through the same layers; the cosine of what they give."""

    def __init__(self, width=16):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, width, 5, 2), nn.ReLU(), nn.MaxPool2d(3), nn.Conv2d(width, 2 * width, 3),
                                  nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(32 * width, 64))

    def forward(self, a, b):
        a, b = self.body(a), self.body(b)
        return (a * b).sum(1) / (a.norm(dim=1) * b.norm(dim=1) + 1e-6)


class Volumes(nn.Sequential):
    """Convolutions over three dimensions for classification; `separable` has planes and times apart."""

    def __init__(self, width=16, separable=False, classes=20):
        def block(a, b, stride):
            if separable:
                layers = [nn.Conv3d(a, b, (1, 3, 3), (1, stride, stride), (0, 1, 1)), nn.ReLU(),
                          nn.Conv3d(b, b, (3, 1, 1), (stride, 1, 1), (1, 0, 0))]
            else:
                layers = [nn.Conv3d(a, b, 3, stride, 1)]
            return [*layers, nn.BatchNorm3d(b), nn.ReLU()]
        super().__init__(*block(3, width, 1), nn.MaxPool3d((1, 2, 2)), *block(width, 2 * width, 2), *block(2 * width, 4 * width, 2),
                         nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(4 * width, classes))
