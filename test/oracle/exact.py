#===- exact.py - Integer arithmetic of the tpu dialect -------------------===#
#
# Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
"""What docs/dialects/tpu.md says about integers, in Python's exact ones."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

ROUND_MODES = ("HalfUp", "HalfDown", "HalfToEven", "HalfAwayFromZero", "TowardsZero", "Down", "Up")
QUANT_MODES = ("MultiplierShift", "OnlyShift", "TFLite", "TFLite_LShift", "QDM")
HALF = Fraction(1, 2)


def rounded(x, mode):
    """The integer that the fraction `x` becomes."""
    floor = math.floor(x)
    if mode == "Down" or x == floor:
        return floor
    if mode == "Up":
        return floor + 1
    if mode == "TowardsZero":
        return floor + (x < 0)
    if x - floor != HALF:
        return floor + (x - floor > HALF)
    goes_up = {"HalfUp": True, "HalfDown": False, "HalfToEven": floor % 2 == 1,
               "HalfAwayFromZero": x > 0}
    return floor + goes_up[mode]


def clamp(x, low, high):
    return min(max(x, low), high)


def clamp32(x):
    return clamp(x, -2**31, 2**31 - 1)


def power(exponent):
    return Fraction(2) ** exponent


@dataclass(frozen=True)
class Quantized:
    """A `!quant.uniform` type."""
    scale: float
    zero: int = 0
    is_signed: bool = True
    low: int = None
    high: int = None

    @property
    def range(self):
        whole = (-128, 127) if self.is_signed else (0, 255)
        return (whole[0] if self.low is None else self.low,
                whole[1] if self.high is None else self.high)

    @property
    def dtype(self):
        return np.int8 if self.is_signed else np.uint8

    def __str__(self):
        storage = "i8" if self.is_signed else "u8"
        if self.low is not None or self.high is not None:
            storage += "<{}:{}>".format(*self.range)
        zero = f":{self.zero}" if self.zero else ""
        return f"!quant.uniform<{storage}:f32, {self.scale!r}{zero}>"


@dataclass(frozen=True)
class Requantization:
    """The attributes with which sums become stored integers."""
    multipliers: tuple
    shifts: tuple
    round_mode: str = None
    quant_mode: str = None
    relu_limit: float = None  # None: no ReLU.

    def scaled(self, x, index):
        index = 0 if len(self.multipliers) == 1 else index
        multiplier, shift = self.multipliers[index], self.shifts[index]
        mode = self.round_mode or "HalfUp"
        quant_mode = self.quant_mode or "MultiplierShift"
        if quant_mode == "MultiplierShift":
            return rounded(x * multiplier / power(shift), mode)
        if quant_mode == "OnlyShift":
            return rounded(x / power(shift), mode)
        if shift < 0:
            x, shift = clamp32(x * 2 ** -shift), 0
        first = "HalfAwayFromZero" if quant_mode == "QDM" else "HalfUp"
        high = clamp32(rounded(Fraction(x * multiplier, 2**31), first))
        return rounded(high / power(shift), "HalfAwayFromZero")

    def bounds(self, to):
        low, high = to.range
        if self.relu_limit is not None:
            low = max(low, to.zero)
            if self.relu_limit >= 0:
                quotient = Fraction(self.relu_limit / to.scale)
                high = min(high, clamp(rounded(quotient, "HalfAwayFromZero") + to.zero, *to.range))
        return low, high

    def __call__(self, x, index, to):
        """The sum `x` (an exact integer) as stored in the type `to`, by the factor of `index`."""
        x = int(x)
        assert -2**31 <= x < 2**31, "the sum of a case leaves 32 bits"
        return clamp(self.scaled(x, index) + to.zero, *self.bounds(to))

    def array(self, sums, to, axis=None):
        """All of `sums`, with one factor for each index along `axis`."""
        result = np.empty(sums.shape, to.dtype)
        for at in np.ndindex(sums.shape):
            result[at] = self(sums[at], 0 if axis is None else at[axis], to)
        return result

    def attributes(self):
        text = [f"multiplier = {list(self.multipliers)}", f"rshift = {list(self.shifts)}"]
        return text + self.modes()

    def modes(self):
        text = []
        if self.round_mode:
            text.append(f'round_mode = "{self.round_mode}"')
        if self.quant_mode:
            text.append(f'quant_mode = "{self.quant_mode}"')
        if self.relu_limit is not None:
            text += ["do_relu = true", f"relu_limit = {self.relu_limit:e} : f64"]
        return text


@dataclass(frozen=True)
class Dequantization:
    """The attributes with which sums become floats of the type `to`, f32, f16 or bf16."""
    scales: tuple
    to: str
    relu_limit: float = None  # None: no ReLU.

    def __call__(self, x, index):
        assert -2**31 <= x < 2**31, "the sum of a case leaves 32 bits"
        number = np.float32(int(x)) * np.float32(self.scales[index if len(self.scales) > 1 else 0])
        if self.relu_limit is not None:
            number = max(number, np.float32(0))
            if self.relu_limit >= 0:
                number = min(number, np.float32(self.relu_limit))
        return number

    def array(self, sums, axis=None):
        """All of `sums`, as f32 where numpy has no such type."""
        result = np.empty(sums.shape, np.float32)
        for at in np.ndindex(sums.shape):
            result[at] = self(sums[at], 0 if axis is None else at[axis])
        if self.to == "f16":
            return result.astype(np.float16)
        return round_bf16(result) if self.to == "bf16" else result

    def attributes(self):
        text = [f"dequant_scale = [{', '.join(f'{scale:.17e}' for scale in self.scales)}]"]
        if self.relu_limit is not None:
            text += ["do_relu = true", f"relu_limit = {self.relu_limit:.17e} : f64"]
        return text


def round_bf16(values):
    """f32 numbers rounded to bf16, to the nearest, ties to even."""
    bits = values.view(np.uint32).astype(np.uint64)
    bits += 0x7FFF + ((bits >> 16) & 1)
    return (bits & 0xFFFF0000).astype(np.uint32).view(np.float32)


def quantize(values, to):
    """tpu.Cast of f32 to stored integers."""
    inverse = np.float32(1.0 / to.scale)
    result = np.empty(values.shape, to.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        products = values.astype(np.float32) * inverse
    for at in np.ndindex(values.shape):
        product = float(products[at])
        if math.isnan(product):
            whole = 0
        elif math.isinf(product):
            whole = int(math.copysign(2**40, product))
        else:
            whole = rounded(Fraction(product), "HalfAwayFromZero")
        result[at] = clamp(whole + to.zero, *to.range)
    return result


def dequantize(stored, of):
    """tpu.Cast of stored integers to f32."""
    difference = (stored.astype(np.int64) - of.zero).astype(np.float32)
    return difference * np.float32(of.scale)
