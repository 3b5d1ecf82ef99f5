#!/usr/bin/env python3
"""write_options.py BUILD [--check]: the tables of options in the pages, from the programs themselves.

A page of docs/ asks for a table by a line

    <!-- options of model_deploy (written by ./dev docs) -->

and ends it by a line `<!-- end of options -->`. Between them stands what `model_deploy
--help_markdown` prints: the options as the program defines them. With --check nothing is written; a
stale page is an error, and so is a program of BUILD/bin whose options stand on no page.
"""

import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BLOCK = re.compile(r"(<!-- options of ([\w-]+) \(written by ./dev docs\) -->\n).*?(<!-- end of options -->\n)", re.S)


def table(build, program):
    path = os.path.join(build, "bin", program)
    return subprocess.run([path, "--help_markdown"], check=True, stdout=subprocess.PIPE, text=True).stdout


def programs(build):
    """Those with a name in the manual, too: tests and benchmarks have none."""
    for path in glob.glob(os.path.join(build, "bin", "*.py")):
        yield os.path.splitext(os.path.basename(path))[0]


def main():
    build, check = sys.argv[1], "--check" in sys.argv[2:]
    missing = set(programs(build))
    bad = 0
    for path in sorted(glob.glob(os.path.join(ROOT, "docs", "*.md"))):
        with open(path, encoding="utf-8") as file:
            old = file.read()
        missing -= {match[2] for match in BLOCK.finditer(old)}
        new = BLOCK.sub(lambda match: match[1] + "\n" + table(build, match[2]) + "\n" + match[3], old)
        if new == old:
            continue
        if check:
            print(f"{os.path.relpath(path, ROOT)}: the options are stale; ./dev docs writes them")
            bad += 1
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)
    for program in sorted(missing):
        print(f"docs: no page has the options of {program}; expected a line '<!-- options of {program} ...'")
        bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
