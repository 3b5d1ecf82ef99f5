#!/usr/bin/env python3
"""write_op_rules.py [--check]: tpuc/Interpreter/Ops/OpRules.inc, from the definitions of the top ops.

What an op's operands, results and attributes may be stands in tpuc/Dialect/Top/*.td. The runtime, which
has no MLIR, checks the layers of the CPU in a model file by this table. With --check nothing is written; a
stale table is an error. llvm-tblgen must be there.
"""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OUTPUT = os.path.join("tpuc", "Interpreter", "Ops", "OpRules.inc")

ELEMENTS = {
    "AnyTensor": "Any",
    "Top_OptionalTensor": "Any",
    "Top_FloatTensor": "Float",
    "Top_IntegerTensor": "Integer",
    "Top_BoolTensor": "Bool",
    "Top_NumberTensor": "Number",
    "Top_BitsTensor": "Bits",
}
KINDS = {
    "BoolAttr": "Flag",
    "I64Attr": "Integer",
    "F64Attr": "Real",
    "StrAttr": "Text",
    "I64ArrayAttr": "Integers",
    "F64ArrayAttr": "Reals",
    "StrArrayAttr": "Texts",
    "TypeAttr": "Type",
    "TypedAttrInterface": "Number",
}
HEAD = """//===- OpRules.inc - What each op's operands and attributes may be --------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Written by utils/write_op_rules.py (./dev docs) from tpuc/Dialect/Top/*.td. Do not edit.
//
//===----------------------------------------------------------------------===//

// clang-format off
"""


def records():
    tool = next(filter(None, map(shutil.which, ["llvm-tblgen-19", "llvm-tblgen"])), None)
    if not tool:
        sys.exit("write_op_rules.py: no llvm-tblgen")
    include = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(tool))), "include")
    with tempfile.NamedTemporaryFile("w", suffix=".td") as all_ops:
        for path in sorted(glob.glob(os.path.join(ROOT, "tpuc", "Dialect", "Top", "*Ops.td"))):
            all_ops.write(f'include "{os.path.relpath(path, ROOT)}"\n')
        all_ops.flush()
        text = subprocess.run([tool, "--dump-json", "-I", include, "-I", ROOT, all_ops.name],
                              check=True, stdout=subprocess.PIPE).stdout
    return json.loads(text)


class Rules:
    def __init__(self, table):
        self.table = table

    def named(self, dag):
        for argument, name in dag["args"]:
            yield name, self.table[argument["def"]]

    def operand(self, name, constraint):
        form = "One"
        if "Variadic" in constraint["!superclasses"]:
            constraint, form = self.table[constraint["baseType"]["def"]], "Any"
        elif constraint["!name"] == "Top_OptionalTensor":
            form = "Optional"
        return f'{{"{name}", ElementRule::{ELEMENTS[constraint["!name"]]}, Presence::{form}}}'

    def attribute(self, name, constraint):
        needed = not constraint["isOptional"] and constraint["defaultValue"] is None
        base = constraint
        while base["!name"] not in KINDS:
            base = self.table[base["baseAttr"]["def"]]
        row = f'"{name}", AttributeKind::{KINDS[base["!name"]]}, {"true" if needed else "false"}'
        if "Top_RangedAttr" in constraint["!superclasses"]:
            least, most, axis, more, behind = (
                constraint[key] for key in ("least", "most", "axisOf", "more", "behind"))
            row += ", {" + ", ".join(map(str, (least, most, axis, more, behind))) + "}"
        return "{" + row + "}"

    def op(self, record):
        operands, attributes = [], []
        for name, constraint in self.named(record["arguments"]):
            is_attribute = "Attr" in constraint["!superclasses"]
            if is_attribute:
                attributes.append(self.attribute(name, constraint))
            else:
                operands.append(self.operand(name, constraint))
        results = [constraint for _, constraint in self.named(record["results"])]
        is_open = any("Variadic" in each["!superclasses"] for each in results)
        name = record["opName"]
        lines = []
        if operands:
            lines.append(f"static constexpr OperandRule k{name}Operands[] = {{\n    "
                         + ",\n    ".join(operands) + "};")
        if attributes:
            lines.append(f"static constexpr AttributeRule k{name}Attributes[] = {{\n    "
                         + ",\n    ".join(attributes) + "};")
        row = (f'{{"{name}", {f"k{name}Operands" if operands else "{}"}, '
               f'{"kAnyNumber" if is_open else len(results)}, '
               f'{f"k{name}Attributes" if attributes else "{}"}}}')
        return lines, row


def rules():
    table = records()
    made = Rules(table)
    lines, rows = [], []
    for record in sorted((table[name] for name in table["!instanceof"]["Top_ComputeOp"]),
                         key=lambda each: each["opName"]):
        declared, row = made.op(record)
        lines += declared
        rows.append("    " + row)
    return (HEAD + "\n".join(lines) + "\n\nstatic constexpr OpRule kTopRules[] = {\n" + ",\n".join(rows)
            + "};\n// clang-format on\n")


def main():
    path = os.path.join(ROOT, OUTPUT)
    text = rules()
    if "--check" in sys.argv[1:]:
        with open(path, encoding="utf-8") as f:
            if f.read() != text:
                sys.exit(f"{OUTPUT} is not what the ops' definitions say; write it with ./dev docs")
        return
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    main()
