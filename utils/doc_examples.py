#!/usr/bin/env python3
"""Makes one input for tpuc-opt --split-input-file of the ```mlir blocks in Markdown pages.

A block that declares a symbol (func.func, module) is taken as it is. Otherwise each of its lines
is a type or an op, and the block becomes a function: types become arguments, and what ops read but
no op makes becomes an argument of the type that the op states, in the generic form

    "op"(%a, %b) : (A, B) -> C

or as casts do it

    op %a : A to B
"""

import re
import sys

OPENING, CLOSING = "([{<", ")]}>"


def split_list(text):
    """The parts of `text` between the commas that are in no bracket."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        if char == ">" and text[i - 1] == "-":
            continue
        depth += (char in OPENING) - (char in CLOSING)
        if char == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def balanced(text):
    """The bracketed text that `text` starts with, without the brackets."""
    depth = 0
    for i, char in enumerate(text):
        if char == ">" and text[i - 1] == "-":
            continue
        depth += (char in OPENING) - (char in CLOSING)
        if depth == 0:
            return text[1:i]
    raise ValueError(f"brackets do not close: {text}")


def operands_of(line):
    """(name, type) of each operand of the op in `line`."""
    generic = re.search(r'"[\w.]+"(\()', line)
    if generic:
        names = split_list(balanced(line[generic.start(1):]))
        signature = re.search(r":\s*(\(.*\)\s*->)", line[generic.end():])
        if not signature:
            return []
        return list(zip(names, split_list(balanced(signature.group(1)))))
    cast = re.search(r"(%[\w#]+)\s*:\s*(.+?)\s+to\s+\S", line)
    return [cast.groups()] if cast else []


def statements(block):
    """The lines of `block`, with an op that stands on several of them joined to one."""
    joined = []
    for line in block.splitlines():
        code = line.split("//")[0].strip()
        if not code:
            continue
        if joined and not re.match(r'%|"|\^|\}|!|[\w.]+ |(tensor|vector|memref)<', code):
            joined[-1] += " " + code
        elif joined and joined[-1].endswith((":", "=", ",", "->")) and not joined[-1].startswith("^"):
            joined[-1] += " " + code
        else:
            joined.append(code)
    return joined


def to_function(block, number):
    arguments, made, ops = [], set(), []
    for code in statements(block):
        if re.match(r"![\w.]+<|(tensor|vector|memref)<", code):
            arguments.append(f"%type{len(arguments)}: {code}")
            continue
        for name, kind in operands_of(code):
            if name.split("#")[0] not in made:
                made.add(name)
                arguments.append(f"{name}: {kind}")
        result = re.match(r"(%\w+)(:\d+)?\s*=", code)
        if result:
            made.add(result.group(1))
        if code.startswith("^"):
            made.update(re.findall(r"(%\w+)\s*:", code))
        ops.append("  " + code)
    head = f"func.func @example_{number}({', '.join(arguments)}) {{"
    return "\n".join([head, *ops, "  return", "}"])


def main():
    pieces = []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as page:
            text = page.read()
        for match in re.finditer(r"^( *)```mlir\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE):
            block = match.group(2)
            line = text.count("\n", 0, match.start()) + 1
            whole = re.search(r"^\s*(func\.func|module|!\w+\s*=|#\w+\s*=)", block, re.MULTILINE)
            code = block if whole else to_function(block, len(pieces))
            pieces.append(f"// {path}:{line}\n{code}")
    if not pieces:
        sys.exit(f"{sys.argv[0]}: no ```mlir block in {' '.join(sys.argv[1:])}; expected examples")
    print("\n// -----\n".join(pieces))


if __name__ == "__main__":
    main()
