#===- rounding.py - Errors of 16-bit floats beside those of one rounding -------===#
#
# Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
"""Compiles each float op for a chip in F16 and BF16, and measures the error of what the file computes.

usage: rounding.py BUILD [--check PAGE | --write PAGE] [--chip CHIP] [CASE ...]

Each case is a network of one op, on numbers of several means and magnitudes that both formats hold.
The file runs on the chip's simulator. Its error is the difference to the same formula in 64 bits, on
constants that are not rounded; filters and matrices of weights are, as the formats store them. The
error of correct rounding is that of the formula's result, rounded once.

Per case and format: the ratio of both spreads (standard deviations), and the mean of the error as a
part of the spread of correct rounding, each the worst over the inputs. A case fails where the ratio
is above LIMIT, or the mean above LIMIT times that of correct rounding plus MEAN spreads. What
rounding_known.txt lists may reach what stands there, and fails where it has become good, so that the
list shrinks.

With --write the table goes into PAGE, between its two marks. With --check it must be there. Exit
status 0 if all is well, 1 if not, 77 (skipped) if numpy or ml_dtypes is missing.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

try:
    import ml_dtypes
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from rounding_cases import CASES

HERE = os.path.dirname(os.path.abspath(__file__))
FORMATS = {"F16": np.dtype(np.float16), "BF16": np.dtype(ml_dtypes.bfloat16)}
LIMIT, MEAN = 1.3, 0.05
# What the figures of two machines may differ in: sums in 64 bits have an order of their own.
SLACK = 0.02
BEGIN, END = "<!-- rounding: begin -->\n", "<!-- rounding: end -->\n"


def type_of(shape):
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


def rounded(values, dtype):
    return np.asarray(values).astype(np.float32).astype(dtype).astype(np.float64)


class Measured:
    """The worst spread and mean of a case in a format."""

    def __init__(self):
        self.spread, self.mean, self.excess = 0.0, 0.0, 0.0

    def add(self, found, wanted, dtype):
        limits = ml_dtypes.finfo(dtype)
        # Neither infinities nor numbers of fewer bits.
        usable = np.isfinite(wanted) & (np.abs(wanted) < float(limits.max) * 0.99)
        usable &= (wanted == 0) | (np.abs(wanted) >= float(limits.tiny))
        found, wanted = found[usable], wanted[usable]
        best = rounded(wanted, dtype) - wanted
        error = found - wanted
        scale = best.std()
        if scale == 0:
            # Results that the format holds.
            self.spread = max(self.spread, 1.0 if np.all(error == 0) else np.inf)
            return
        self.spread = max(self.spread, error.std() / scale)
        mean = abs(error.mean()) / scale
        self.mean = max(self.mean, mean)
        self.excess = max(self.excess, mean - LIMIT * abs(best.mean()) / scale)

    def passes(self):
        return self.spread <= LIMIT and self.excess <= MEAN

    def within(self, known):
        spread, mean = known
        return self.spread <= spread + SLACK and self.mean <= mean + SLACK


def measure(build, chip, case, name, dtype):
    """Compiles, runs and compares one case; an error is returned as text."""
    rng = np.random.default_rng(7)
    inputs, weights, wanted = case.draw(rng, lambda values: rounded(values, dtype))
    with tempfile.TemporaryDirectory() as folder:
        path = lambda file: os.path.join(folder, file)
        arguments = ", ".join(f'%{key}_in: {type_of(value.shape)} loc("{key}")'
                              for key, value in inputs.items())
        body = ['%none = "top.None"() : () -> none']
        for key, value in inputs.items():
            kind = type_of(value.shape)
            body.append(f'%{key} = "top.Input"(%{key}_in) : ({kind}) -> {kind} loc("{key}")')
        for key, value in weights.items():
            body.append(f'%{key} = "top.Weight"() : () -> {type_of(value.shape)} loc("{key}")')
        types = {key: type_of(value.shape) for key, value in {**inputs, **weights}.items()}
        types["none"] = "none"
        result = type_of(wanted.shape)
        body.append(case.statement(types, result))
        with open(path("op.mlir"), "w", encoding="utf-8") as file:
            file.write('module attributes {module.name = "op", module.chip = "ALL", module.platform = '
                       '"ONNX", module.state = "TOP_F32", module.weight_file = "w.npz"} {\n'
                       f"func.func @main({arguments}) -> {result} {{\n" + "\n".join(body) +
                       f"\nreturn %r : {result}\n}}\n}}\n")
        np.savez(path("w.npz"), **({key: value.astype(np.float32) for key, value in weights.items()}
                                   or {"unused": np.zeros(1, np.float32)}))
        np.savez(path("in.npz"), **{key: value.astype(np.float32) for key, value in inputs.items()})
        for command in (["model_deploy", "--mlir", path("op.mlir"), "--quantize", name, "--chip", chip,
                         "--model", path("op.model")],
                        ["model_runner", "--model", path("op.model"), "--input", path("in.npz"),
                         "--output", path("out.npz")]):
            done = subprocess.run([os.path.join(build, "bin", command[0])] + command[1:],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)
            if done.returncode != 0:
                return (done.stderr.strip() or "no message").splitlines()[-1]
            if " on the CPU, which" in done.stdout:
                return "the host computes some of it"
        with np.load(path("out.npz")) as outputs:
            found = outputs[outputs.files[0]].astype(np.float64)
    measured = Measured()
    for part in range(wanted.shape[case.segments]):
        measured.add(np.take(found, part, case.segments), np.take(wanted, part, case.segments), dtype)
    return measured


def read_known():
    """{(case, format): (spread, mean)} of rounding_known.txt."""
    known = {}
    with open(os.path.join(HERE, "rounding_known.txt"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, spread, mean, case = line.split(None, 3)
                known[case.strip(), name] = float(spread), float(mean)
    return known


def verdict(measured, known):
    """What is wrong with a case in a format; nothing where all is well."""
    if isinstance(measured, str):
        return measured
    figures = f"spread {measured.spread:.2f}, mean {measured.mean:.2f}"
    if known is None:
        return None if measured.passes() else f"{figures}; expected at most {LIMIT} and {MEAN}"
    if measured.passes():
        return f"{figures}: this is good; take it from the list of those that are not"
    return None if measured.within(known) else f"{figures}; expected at most {known[0]} and {known[1]}"


def row(case, results):
    cells = [case.name]
    for name in FORMATS:
        measured = results[name]
        mark = "" if measured.passes() else " (above)"
        cells.append(f"{measured.spread:.2f}, {measured.mean:.2f}{mark}")
    return "| " + " | ".join(cells) + " |"


def parts_of(page):
    """What stands in a page in front of the table, the rows of the table, and what stands behind."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    return text[:begin], text[begin:end].splitlines()[2:], text[end:]


def write(page, rows):
    before, _, behind = parts_of(page)
    table = ["| op | F16 | BF16 |", "| --- | --- | --- |"] + rows
    with open(page, "w", encoding="utf-8") as file:
        file.write(before + "\n".join(table) + "\n" + behind)


def stale_rows(page, rows):
    """The rows that a page lacks, but for differences of SLACK, and those that it should not have."""
    def cells(line):
        fields = [field.strip() for field in line.strip("|").split("|")]
        return fields[0], [float(number) for number in re.findall(r"[0-9.]+|inf", " ".join(fields[1:]))]
    found, wanted = (dict(map(cells, lines)) for lines in (parts_of(page)[1], rows))
    return [name for name in {**found, **wanted}
            if name not in found or name not in wanted or len(found[name]) != len(wanted[name])
            or any(abs(a - b) > SLACK for a, b in zip(found[name], wanted[name]) if a != b)]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--check")
    parser.add_argument("--write")
    parser.add_argument("--chip", default="bm1684x")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    names = [case.name for case in CASES]
    for name in options.cases:
        if name not in names:
            sys.exit(f"rounding: error: no case '{name}'; expected one of {', '.join(names)}")
    known = read_known()
    cases = [case for case in CASES if not options.cases or case.name in options.cases]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        waiting = [{name: pool.submit(measure, build, options.chip, case, name, dtype)
                    for name, dtype in FORMATS.items()} for case in cases]
        failures, rows = 0, []
        for case, futures in zip(cases, waiting):
            results = {name: future.result() for name, future in futures.items()}
            for name, measured in results.items():
                wrong = verdict(measured, known.get((case.name, name)))
                if wrong:
                    failures += 1
                    print(f"{case.name} in {name}: {wrong}")
            if all(isinstance(measured, Measured) for measured in results.values()):
                rows.append(row(case, results))
                print(rows[-1])
    for name in sorted({case for case, _ in known} - set(names)):
        failures += 1
        print(f"rounding_known.txt: there is no case '{name}'")
    print(f"{failures} failures in {2 * len(cases)} measurements")
    for name in stale_rows(options.check, rows) if options.check else ():
        failures += 1
        print(f"{options.check}: the row of '{name}' is stale; expected what --write {options.check} writes")
    if options.write:
        write(options.write, rows)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
