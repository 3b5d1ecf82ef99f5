#===- device_module.py - Modules of single tpu ops -----------------------===#
#
# Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
"""Writes a module with many ops in a row, each on arguments and weights of its own, and runs it."""

import os
import subprocess
from dataclasses import dataclass

import numpy as np

PLAIN = {"int8": "i8", "uint8": "ui8", "int16": "i16", "uint16": "ui16", "int32": "i32",
         "int64": "i64", "float16": "f16", "float32": "f32", "bfloat16": "bf16", "bool": "i1"}


@dataclass(frozen=True)
class Value:
    name: str
    type: str


def tensor_type(shape, element):
    return f"tensor<{'x'.join([str(extent) for extent in shape] + [str(element)])}>"


class Module:
    def __init__(self):
        self.arguments, self.body, self.results = [], [], []
        self.inputs, self.weights, self.cases = {}, {}, []
        self.none = Value("%none", "none")

    def argument(self, array, element=None):
        """An input that holds `array`, of its own type or with elements of `element`."""
        if array.dtype.name == "bfloat16":
            # npz files have none: f32 holds the same numbers.
            return self.op("Cast", [self.argument(array.astype(np.float32))], [], array.shape, "bf16")
        number = len(self.inputs)
        type_ = tensor_type(array.shape, element or PLAIN[array.dtype.name])
        self.arguments.append(f"%a{number}: {type_}")
        self.body.append(f'%i{number} = "top.Input"(%a{number}) : ({type_}) -> {type_} '
                         f'loc("in{number}")')
        self.inputs[f"in{number}"] = array
        return Value(f"%i{number}", type_)

    def weight(self, array, element=None):
        number = len(self.weights)
        type_ = tensor_type(array.shape, element or PLAIN[array.dtype.name])
        self.body.append(f'%w{number} = "top.Weight"() : () -> {type_} loc("w{number}")')
        self.weights[f"w{number}"] = array
        return Value(f"%w{number}", type_)

    def op(self, name, operands, attributes, shape, element):
        """An op with one result."""
        value = Value(f"%v{len(self.body)}", tensor_type(shape, element))
        names = ", ".join(operand.name for operand in operands)
        types = ", ".join(operand.type for operand in operands)
        self.body.append(f'{value.name} = "tpu.{name}"({names}) {{{", ".join(attributes)}}} : '
                         f'({types}) -> {value.type} loc("{value.name[1:]}")')
        return value

    def expect(self, value, array, text):
        """`value` is an output, which is to hold `array`. `text` says what it is, for messages."""
        self.results.append(value)
        self.cases.append((value.name[1:], array, text))

    def text(self):
        types = ", ".join(value.type for value in self.results)
        names = ", ".join(value.name for value in self.results)
        lines = ['module attributes {module.name = "case", module.weight_file = "weights.npz"} {',
                 f"func.func @main({', '.join(self.arguments)}) -> ({types}) {{",
                 '%none = "top.None"() : () -> none', *self.body, f"return {names} : {types}", "}", "}"]
        return "\n".join(lines) + "\n"

    def run(self, program, folder):
        """The outputs by name, as model_runner makes them."""
        path = os.path.join(folder, "case.mlir")
        with open(path, "w") as file:
            file.write(self.text())
        np.savez(os.path.join(folder, "weights.npz"), **(self.weights or {"w": np.zeros(1, "f4")}))
        np.savez(os.path.join(folder, "in.npz"), **self.inputs)
        output = os.path.join(folder, "out.npz")
        subprocess.run([program, "--model", path, "--input", os.path.join(folder, "in.npz"),
                        "--output", output, "--out_fixed", "--num_threads", "1"], check=True)
        with np.load(output) as arrays:
            return {name: arrays[name] for name in arrays.files}

    def check(self, program, folder):
        """The number of cases whose outputs are not what they are to be; these are printed."""
        outputs = self.run(program, folder)
        failures = 0
        for name, wanted, text in self.cases:
            found = outputs[name]
            if found.dtype == wanted.dtype and found.shape == wanted.shape and \
                    found.tobytes() == wanted.tobytes():
                continue
            failures += 1
            if found.shape != wanted.shape or found.dtype != wanted.dtype:
                print(f"{text}: {found.dtype} {found.shape}; expected {wanted.dtype} {wanted.shape}")
                continue
            differs = np.argwhere(found != wanted)
            at = tuple(differs[0]) if len(differs) else ()
            print(f"{text}: {len(differs)} of {wanted.size} elements differ, the first at {at}: "
                  f"{found[at]}; expected {wanted[at]}")
        return failures
