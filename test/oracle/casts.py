#===- casts.py - Casts and 16-bit floats of lowered networks and numpy ---===#
#
# Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
"""Compares tpu.Cast, tpu.RoundTo and ops on f16 and bf16 with numpy and ml_dtypes, bit by bit.

usage: casts.py MODEL_RUNNER

Floats: all 65536 numbers of each 16-bit format, their neighbours in f32, what lies halfway between
two of them, and denormals, infinities and NaN. Exit status 0 if all agree, 1 if not, 77 (skipped)
if numpy or ml_dtypes is missing.
"""

import sys
import tempfile

try:
    import ml_dtypes
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from device_module import Module
from exact import Quantized, dequantize, quantize

FORMATS = {"f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16)}
QUANTIZED = [Quantized(0.1), Quantized(0.0625, -7), Quantized(3.7, 17), Quantized(1.0, -128),
             Quantized(0.013, 0, False), Quantized(0.5, 255, False), Quantized(0.3, 100, False),
             Quantized(0.1, 1, True, -127, 127), Quantized(0.2, 3, False, 1, 200)]


def every(format_):
    """All numbers of a 16-bit format."""
    return np.arange(65536, dtype=np.uint16).view(FORMATS[format_])


def interesting(format_):
    """f32 numbers: those of the format, halves between neighbours, and what is next to all these."""
    with np.errstate(invalid="ignore", over="ignore"):
        exact = every(format_).astype(np.float32)
        finite = np.unique(exact[np.isfinite(exact)])
        halves = ((finite[1:].astype(np.float64) + finite[:-1]) / 2).astype(np.float32)
        ends = np.array([65504, 65519.996, 65520, 3.3895e38, 3.3961775e38, 3.4028235e38, 1e-45,
                         1.1754944e-38, np.inf, np.nan], np.float32)
        values = np.concatenate([exact, halves, ends, -ends])
        return np.concatenate([values, np.nextafter(values, np.float32(np.inf)),
                               np.nextafter(values, np.float32(-np.inf))])


def canonical(array):
    """f32 in place of bf16, as in npz files, and NaN, which has many forms, with one."""
    if array.dtype == FORMATS["bf16"]:
        array = array.astype(np.float32)
    if array.dtype.kind != "f":
        return array
    return np.where(np.isnan(array), np.array(np.nan, array.dtype), array)


class Comparison:
    def __init__(self):
        self.module = Module()

    def cast(self, array, to, wanted, from_=None):
        value = self.module.argument(array, from_)
        result = self.module.op("Cast", [value], [], array.shape, to)
        self.module.expect(result, wanted, f"Cast of {value.type} to {to}")

    def check(self, program):
        with tempfile.TemporaryDirectory() as folder:
            outputs = self.module.run(program, folder)
        failures = 0
        for name, wanted, text in self.module.cases:
            found, wanted = canonical(outputs[name]), canonical(wanted)
            if found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes():
                continue
            failures += 1
            bits = f"u{wanted.dtype.itemsize}"
            at = int(np.argmax(found.view(bits).ravel() != wanted.view(bits).ravel())) \
                if found.dtype == wanted.dtype else 0
            print(f"{text}: element {at} is {found.dtype} {found.flat[at]}; "
                  f"expected {wanted.dtype} {wanted.flat[at]}")
        return failures


def add_floats(comparison):
    with np.errstate(over="ignore", invalid="ignore"):
        for name, dtype in FORMATS.items():
            numbers = interesting(name)
            comparison.cast(numbers, name, numbers.astype(dtype))
            comparison.cast(every(name), "f32", every(name).astype(np.float32))
            module = comparison.module
            rounded = module.op("RoundTo", [module.argument(numbers)], [f"type = {name}"],
                                numbers.shape, "f32")
            module.expect(rounded, numbers.astype(dtype).astype(np.float32), f"RoundTo {name}")
        comparison.cast(every("f16"), "bf16", every("f16").astype(np.float32).astype(FORMATS["bf16"]))
        comparison.cast(every("bf16"), "f16", every("bf16").astype(np.float32).astype(np.float16))


def add_integers(comparison):
    rng = np.random.default_rng(3)
    for type_ in QUANTIZED:
        low, high = type_.range
        stored = np.arange(low, high + 1).astype(type_.dtype)
        numbers = dequantize(stored, type_)
        comparison.cast(stored, "f32", numbers, type_)
        for name, dtype in FORMATS.items():
            with np.errstate(over="ignore"):
                comparison.cast(stored, name, numbers.astype(dtype), type_)
        halves = ((np.arange(2 * low - 9, 2 * high + 9) / 2 - type_.zero) * type_.scale)
        values = np.concatenate([halves, rng.normal(0, 100 * type_.scale, 2000),
                                 [0, -0.0, 1e-45, 3e38, -3e38, np.inf, -np.inf, np.nan]])
        values = values.astype(np.float32)
        comparison.cast(values, type_, quantize(values, type_))
        for name in FORMATS:
            narrow = every(name)[::13]
            comparison.cast(narrow, type_, quantize(narrow.astype(np.float32), type_))
        plain = np.arange(-128, 128).astype(np.int8)
        comparison.cast(plain, type_, quantize(plain.astype(np.float32), type_))
        to = QUANTIZED[0]
        comparison.cast(stored, to, stored if type_ == to else quantize(numbers, to), type_)


def add_plain_integers(comparison):
    """Numbers become integers by cutting off the fraction, saturated."""
    values = np.array([0, 0.5, -0.5, 1.5, -1.5, 127.9, 128, -128.9, -129, 255.5, 256, 1e9, -1e9, 3e9,
                       np.inf, -np.inf, np.nan], np.float32)
    for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.int32):
        limits = np.iinfo(dtype)
        wide = np.clip(np.trunc(np.nan_to_num(values.astype(np.float64))), limits.min, limits.max)
        name = {"int8": "i8", "uint8": "ui8", "int16": "i16", "uint16": "ui16", "int32": "i32"}
        comparison.cast(values, name[np.dtype(dtype).name], wide.astype(dtype))
        whole = np.array([limits.min, -1 if limits.min else 1, 0, 100, limits.max]).astype(dtype)
        comparison.cast(whole, "f32", whole.astype(np.float32))


def add_ops(comparison):
    """f16 and bf16: widened, computed in f32, rounded once."""
    rng = np.random.default_rng(5)
    module = comparison.module
    for name, dtype in FORMATS.items():
        # Numbers of all magnitudes, so that sums and products leave the range at both ends.
        with np.errstate(over="ignore", invalid="ignore"):
            left, right = (rng.permutation(every(name))[:20000] for _ in range(2))
            wide = left.astype(np.float32), right.astype(np.float32)
            binary = {"Add": wide[0] + wide[1], "Sub": wide[0] - wide[1], "Mul": wide[0] * wide[1],
                      "Div": wide[0] / wide[1]}
            unary = {"Abs": np.abs(wide[0]), "Neg": -wide[0], "Relu": np.where(wide[0] < 0, 0, wide[0])}
        operands = [module.argument(left), module.argument(right)]
        for op, exact in binary.items():
            value = module.op(op, operands, [], left.shape, name)
            with np.errstate(over="ignore", invalid="ignore"):
                module.expect(value, exact.astype(dtype), f"{op} of {name}")
        for op, exact in unary.items():
            value = module.op(op, operands[:1], [], left.shape, name)
            with np.errstate(invalid="ignore"):
                module.expect(value, exact.astype(dtype), f"{op} of {name}")


def main(program):
    failures = total = 0
    for add in (add_floats, add_integers, add_plain_integers, add_ops):
        comparison = Comparison()
        add(comparison)
        failures += comparison.check(program)
        total += len(comparison.module.cases)
    print(f"{total} cases, {failures} differ")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
