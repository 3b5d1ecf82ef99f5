#!/usr/bin/env python3
"""Writes vectors.npz: values, their histograms and the thresholds that follow, computed with numpy.

usage: make_vectors.py     (needs numpy)
For each case NAME: NAME (f32 values), NAME_counts (of 2048 bins, exact zeros left out), NAME_kl (the
threshold by the manual's section 7.3.1), NAME_percentile (99.99 %), NAME_mse (128 candidates and the
mean squared error that each has on the values themselves). Nothing here is taken from tpuc.
"""

import os

import numpy as np

BINS, LEVELS = 2048, 128


def kl(counts, absmax):
    best, least = None, np.inf
    for cut in range(LEVELS, BINS + 1, LEVELS):
        p = counts[:cut].astype(np.float64)
        p[-1] += counts[cut:].sum()
        parts = counts[:cut].reshape(LEVELS, -1).astype(np.float64)
        filled = (p > 0).reshape(LEVELS, -1)
        width = filled.sum(axis=1, keepdims=True)
        q = np.where(filled, parts.sum(axis=1, keepdims=True) / np.maximum(width, 1), 0).ravel()
        if q.sum() == 0:
            continue
        p, q = p / p.sum(), q / q.sum()
        at = p > 0
        with np.errstate(divide="ignore"):
            found = np.sum(p[at] * np.log(p[at] / q[at]))
        if found < least:
            best, least = cut, found
    return min((best + 0.5) * absmax / BINS, absmax)


def percentile(counts, zeros, absmax):
    total = zeros + counts.sum()
    above = np.append(np.cumsum(counts[::-1])[::-1], 0)
    return int(np.argmax(above <= int(1e-4 * total))) * absmax / BINS


def squared_errors(values, absmax):
    errors = []
    for i in range(1, 129):
        step = absmax * i / 128 / 128
        rounded = np.clip(np.round(values.astype(np.float64) / step), -128, 127) * step
        errors.append(np.mean((values - rounded) ** 2))
    return np.array(errors)


def main():
    rng = np.random.default_rng(17)
    cases = {
        "normal": rng.standard_normal(8000),
        "relu": np.maximum(rng.standard_normal(8000), 0),
        "laplace": rng.laplace(size=8000) * 3e-4,
        "outliers": np.concatenate([rng.standard_normal(7000), rng.standard_normal(20) * 40]),
        "two_values": np.concatenate([np.full(100, 0.5), np.full(3, -2.0)]),
        "uniform": rng.uniform(-7, 7, 8000),
    }
    arrays = {}
    for name, values in cases.items():
        values = values.astype(np.float32)
        absmax = np.abs(values).max()
        magnitudes = np.abs(values[values != 0])
        scale = np.float32(BINS) / absmax
        slots = np.minimum(magnitudes * scale, np.float32(BINS - 1)).astype(np.int64)
        counts = np.bincount(slots, minlength=BINS)
        arrays[name] = values
        arrays[name + "_counts"] = counts
        arrays[name + "_kl"] = np.float64(kl(counts, float(absmax)))
        zeros = int((values == 0).sum())
        arrays[name + "_percentile"] = np.float64(percentile(counts, zeros, float(absmax)))
        arrays[name + "_mse"] = squared_errors(values, float(absmax))
    np.savez_compressed(os.path.join(os.path.dirname(os.path.abspath(__file__)), "vectors.npz"), **arrays)


if __name__ == "__main__":
    main()
