#===- compare_with_ml_dtypes.py - The numerics library and numpy ----------===#
#
# Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
"""Compares tpuc's conversions with those of numpy and ml_dtypes, millions of values per pair.

usage: compare_with_ml_dtypes.py CONVERT_ARRAY [STEP]

CONVERT_ARRAY is the program of that name in build/unittests. With STEP, only every STEP-th of the
values drawn for a pair is tried; all values of the narrow formats are in any case. Exit status 0 if all agree, 1 if not,
77 (skipped) if numpy or ml_dtypes is missing.

ml_dtypes may narrow float64 through float32. Results from float64 are therefore compared with a
search in the sorted table of all values of the format, which is exact, and with ml_dtypes where the
value is a float32.
"""

import os
import subprocess
import sys
import tempfile

try:
    import ml_dtypes
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

NARROW = {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "f8E4M3FNUZ": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "f8E5M2FNUZ": np.dtype(ml_dtypes.float8_e5m2fnuz),
}
INTEGERS = {
    "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16,
    "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64,
}
PLAIN = {"f64": np.float64, "f32": np.float32}


class Comparison:
    def __init__(self, program, folder, step):
        self.program = program
        self.folder = folder
        self.step = step
        self.compared = 0
        self.failures = 0

    def convert(self, values, source, target, target_dtype, *options):
        read = os.path.join(self.folder, "in")
        written = os.path.join(self.folder, "out")
        values.tofile(read)
        subprocess.run([self.program, source, target, read, written, *options], check=True)
        return np.fromfile(written, dtype=np.uint8).view(target_dtype)

    def check(self, what, values, found, expected):
        """Bit equality, except that any NaN equals any other one."""
        bits = np.dtype(f"u{found.dtype.itemsize}")
        same = found.view(bits) == expected.view(bits)
        if found.dtype not in INTEGERS.values() and found.dtype != np.bool_:
            same |= np.isnan(found.astype(np.float64)) & np.isnan(expected.astype(np.float64))
        self.compared += len(values)
        wrong = np.flatnonzero(~same)
        if len(found) != len(values) or len(wrong):
            self.failures += 1
            print(f"{what}: {len(wrong)} of {len(values)} differ")
            for i in wrong[:5]:
                print(f"  {values[i]!r}: {found[i]!r}, expected {expected[i]!r}")


def finite_values(dtype):
    """The finite values of a narrow format from 0 up, and the code of each, as float64."""
    bits = np.dtype(f"u{dtype.itemsize}")
    codes = np.arange(2 ** (8 * dtype.itemsize - 1), dtype=np.int64).astype(bits)
    values = codes.view(dtype).astype(np.float64)
    keep = np.isfinite(values)
    return values[keep], codes[keep]


def midpoints(dtype):
    values, _ = finite_values(dtype)
    beyond = values[-1] + (values[-1] - values[-2])
    ends = np.append(values, beyond)
    return (ends[:-1] + ends[1:]) / 2


def neighbours(values, dtype):
    """The values, their neighbours in `dtype`, and all of these negated."""
    values = values.astype(dtype)
    infinity = dtype(np.inf)
    all_values = np.concatenate(
        [values, np.nextafter(values, dtype(0)), np.nextafter(values, infinity)])
    return np.concatenate([all_values, -all_values])


def search(values, dtype):
    """float64 to a narrow format, ties to even, by bisection in the table of its values."""
    table, codes = finite_values(dtype)
    middles = midpoints(dtype)
    magnitude = np.abs(values)
    lower = np.searchsorted(middles, magnitude, side="left")
    tie = (lower < len(middles)) & (middles[np.minimum(lower, len(middles) - 1)] == magnitude)
    index = lower + (tie & (lower % 2 == 1))
    overflow = index >= len(table)
    result = np.where(overflow, np.inf, table[np.minimum(index, len(table) - 1)])
    result = np.copysign(result, values).astype(np.float32).astype(dtype)
    return np.where(np.isnan(values), np.array(np.nan, dtype=np.float32).astype(dtype), result)


def float32_samples(rng):
    upper = np.arange(65536, dtype=np.uint32) << 16
    lower = np.array([0, 1, 0x0FFF, 0x1000, 0x1001, 0x3000, 0x7FFF, 0x8000, 0x8001, 0xFFFF],
                     dtype=np.uint32)
    patterns = (upper[:, None] | lower[None, :]).ravel()
    random = rng.integers(0, 2**32, 2_000_000, dtype=np.uint32)
    return np.concatenate([patterns, random]).view(np.float32)


def float64_samples(rng, dtype):
    """Near the range of the format, at its midpoints and beside them, and anywhere."""
    values, _ = finite_values(dtype)
    exponents = rng.uniform(np.log2(values[1]) - 3, np.log2(values[-1]) + 3, 1_000_000)
    near = np.exp2(exponents) * rng.choice([-1.0, 1.0], exponents.size)
    anywhere = rng.integers(0, 2**64, 200_000, dtype=np.uint64).view(np.float64)
    return np.concatenate([neighbours(midpoints(dtype), np.float64),
                           neighbours(values, np.float64), near, anywhere])


def compare_narrowing(comparison, rng):
    common = float32_samples(rng)
    for name, dtype in NARROW.items():
        values = np.concatenate([common, neighbours(midpoints(dtype), np.float32)])
        values = values[::comparison.step]
        comparison.check(f"f32 to {name}", values,
                         comparison.convert(values, "f32", name, dtype), values.astype(dtype))
        wide = float64_samples(rng, dtype)[::comparison.step]
        found = comparison.convert(wide, "f64", name, dtype)
        comparison.check(f"f64 to {name}", wide, found, search(wide, dtype))
        if name == "f16":
            comparison.check("f64 to f16, numpy", wide, found, wide.astype(np.float16))
        is_float32 = (wide.astype(np.float32).astype(np.float64) == wide) | np.isnan(wide)
        comparison.check(f"f64 to {name}, ml_dtypes", wide[is_float32], found[is_float32],
                         wide[is_float32].astype(np.float32).astype(dtype))
        limit = np.float32(finite_values(dtype)[0][-1])
        clipped = np.clip(values, -limit, limit)
        comparison.check(f"f32 to {name}, saturating", values,
                         comparison.convert(values, "f32", name, dtype, "HalfToEven", "saturate"),
                         clipped.astype(dtype))
    anywhere = rng.integers(0, 2**64, 2_000_000, dtype=np.uint64).view(np.float64)
    near = common.astype(np.float64) * (1 + rng.uniform(-1, 1, common.size) * 2.0**-24)
    for values in (anywhere[::comparison.step], near[::comparison.step]):
        comparison.check("f64 to f32", values,
                         comparison.convert(values, "f64", "f32", np.float32),
                         values.astype(np.float32))


def compare_between_narrow(comparison):
    for source, source_dtype in NARROW.items():
        bits = np.dtype(f"u{source_dtype.itemsize}")
        codes = np.arange(2 ** (8 * source_dtype.itemsize), dtype=np.int64).astype(bits)
        values = codes.view(source_dtype)
        for target, dtype in (NARROW | PLAIN).items():
            if target != source:
                comparison.check(f"{source} to {target}", values,
                                 comparison.convert(values, source, target, dtype),
                                 values.astype(np.float32).astype(dtype))
        comparison.check(f"{source} to bool", values,
                         comparison.convert(values, source, "bool", np.bool_),
                         values.astype(np.float32).astype(np.bool_))


def compare_integers(comparison, rng):
    for source, dtype in INTEGERS.items():
        info = np.iinfo(dtype)
        values = np.concatenate([
            rng.integers(info.min, info.max, 300_000, dtype=dtype, endpoint=True),
            rng.integers(info.min, info.max, 100_000, dtype=dtype, endpoint=True) >> (info.bits // 2),
            np.array([info.min, info.max, 0, 1], dtype=dtype)])
        values = np.append(values[:-4:comparison.step], values[-4:])
        for target, target_dtype in PLAIN.items():
            comparison.check(f"{source} to {target}", values,
                             comparison.convert(values, source, target, target_dtype),
                             values.astype(target_dtype))
        # float32 holds these exactly, so ml_dtypes rounds them once.
        small = values[values.astype(np.float64).astype(np.float32).astype(np.float64)
                       == values.astype(np.float64)]
        small = small[np.abs(small.astype(np.float64)) < 2.0**24]
        for target, target_dtype in NARROW.items():
            comparison.check(f"{source} to {target}", small,
                             comparison.convert(small, source, target, target_dtype),
                             small.astype(np.float32).astype(target_dtype))
        for target, target_dtype in INTEGERS.items():
            if target == source:
                continue
            limits = np.iinfo(target_dtype)
            lowest = max(int(limits.min), int(info.min))
            highest = min(int(limits.max), int(info.max))
            comparison.check(f"{source} to {target}", values,
                             comparison.convert(values, source, target, target_dtype),
                             np.clip(values, dtype(lowest), dtype(highest)).astype(target_dtype))
        # A C cast is defined, and numpy's the same, where the truncated value is in range.
        low, high = max(info.min, -2**62), min(info.max, 2**62)
        floats = np.concatenate([rng.uniform(low, high, 300_000), rng.uniform(-1, 130, 100_000)])
        floats = floats[(np.trunc(floats) >= low) & (np.trunc(floats) <= high)][::comparison.step]
        comparison.check(f"f64 to {source}", floats,
                         comparison.convert(floats, "f64", source, dtype), floats.astype(dtype))
        rounded = np.rint(floats)
        in_range = (rounded >= low) & (rounded <= high)
        floats, rounded = floats[in_range], rounded[in_range]
        comparison.check(f"f64 to {source}, half to even", floats,
                         comparison.convert(floats, "f64", source, dtype, "HalfToEven"),
                         rounded.astype(dtype))


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: compare_with_ml_dtypes.py CONVERT_ARRAY [STEP]")
    step = int(sys.argv[2]) if len(sys.argv) == 3 else 1
    rng = np.random.default_rng(20)
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        comparison = Comparison(sys.argv[1], folder, step)
        compare_narrowing(comparison, rng)
        compare_between_narrow(comparison)
        compare_integers(comparison, rng)
    print(f"numpy {np.__version__}, ml_dtypes {ml_dtypes.__version__}: "
          f"{comparison.compared} conversions compared, {comparison.failures} kinds differ")
    sys.exit(1 if comparison.failures else 0)


if __name__ == "__main__":
    main()
