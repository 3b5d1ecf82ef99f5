#!/usr/bin/env python3
"""write_status.py BUILD [--check]: the table of what works, in README.md, from what is built.

The programs say what they are (the first line of --help), the pages of docs/dialects how many ops
they have, the registry which chips it knows. With --check nothing is written; a stale table is an error.
So is a figure in README.md that marks another source format as planned than those without a front end.
"""

import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BEGIN = "<!-- status:begin (written by ./dev docs) -->\n"
END = "<!-- status:end -->"


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def programs(folder):
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        # A tool also goes by its name in the manual; tests and benchmarks do not.
        if os.path.exists(path + ".py"):
            first = next(line for line in output(path, "--help").splitlines() if line.strip())
            first = re.sub(r"^OVERVIEW: ", "", first)
            yield name, re.sub(rf"^{re.escape(name)}\s*[:-]+\s*", "", first).strip()


def ops():
    """How many ops each dialect has, by its generated page."""
    folder = os.path.join(ROOT, "docs", "dialects")
    for page in sorted(os.listdir(folder)):
        dialect = os.path.splitext(page)[0]
        with open(os.path.join(folder, page), encoding="utf-8") as f:
            yield dialect, len(re.findall(rf"^### `{dialect}\.", f.read(), re.M))


def table(build):
    folder = os.path.join(build, "bin")
    lines = ["| program | what it does |", "| --- | --- |"]
    lines += [f"| `{name}` | {what} |" for name, what in programs(folder)]
    lines += ["", "| dialect | ops |", "| --- | --- |"]
    lines += [f"| `{name}` | {count} |" for name, count in ops()]
    lines += ["", "Chips that are described (`tpuc-opt --list-targets`):", "", "```"]
    lines += [line.rstrip() for line in output(os.path.join(folder, "tpuc-opt"), "--list-targets").splitlines()]
    lines += ["```", ""]
    return "\n".join(lines)


def figure_errors(text):
    """What is wrong with the marks at source formats in the first figure."""
    figure = text.split("```")[1]
    readable = {os.path.basename(os.path.dirname(path)).lower()
                for path in glob.glob(os.path.join(ROOT, "tpuc", "Frontend", "*", "*Frontend.cpp"))}
    named = dict(re.findall(r"\b(ONNX|Caffe|TFLite|PyTorch)\b(\*?)", figure))
    for name in sorted(readable - {name.lower() for name in named}):
        yield f"does not show the source format {name}"
    for name, mark in named.items():
        if (name.lower() in readable) == bool(mark):
            yield f"{name} {'has a front end; expected no mark' if mark else 'has no front end; expected the mark *'}"
    if "*" in "".join(named.values()) and "* planned" not in figure:
        yield "does not say what * means"


def main():
    build = sys.argv[1]
    path = os.path.join(ROOT, "README.md")
    with open(path, encoding="utf-8") as f:
        old = f.read()
    head, rest = old.split(BEGIN)
    new = head + BEGIN + table(build) + END + rest.split(END, 1)[1]
    errors = list(figure_errors(old))
    for error in errors:
        print(f"README.md: the figure: {error}")
    if errors:
        return 1
    if "--check" in sys.argv[2:]:
        if new != old:
            print("README.md: the table of what works is stale; ./dev docs writes it")
            return 1
        return 0
    with open(path, "w", encoding="utf-8") as f:
        f.write(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
