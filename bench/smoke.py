#!/usr/bin/env python3
"""Starts a benchmark in its short form, and checks that it prints its table.

usage: smoke.py BUILD NAME

NAME/run BUILD --smoke is the short form: a few seconds on the smallest network, without a vendor's
program and without a download. NAME/smoke.txt says what it must print, in the directives of FileCheck.
The benchmark sees none of the variables that name models and programs for its long form. Status 77, of
a benchmark that lacks Python packages, is passed on: ctest counts the test as skipped.
"""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
FILECHECK = "/usr/lib/llvm-19/bin/FileCheck"
TIMEOUT = 120
SKIPPED = 77


def main():
    build, name = os.path.abspath(sys.argv[1]), sys.argv[2]
    folder = HERE / name
    for file, what in (("run", "the program that ./dev bench calls"), ("smoke.txt", "what --smoke prints")):
        if not (folder / file).is_file():
            sys.exit(f"bench/{name}/{file}: is missing; expected {what}")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TPUC_")}
    done = subprocess.run([folder / "run", build, "--smoke"], env=environment, stdout=subprocess.PIPE,
                          text=True, timeout=TIMEOUT, check=False)
    print(done.stdout, end="", flush=True)
    if done.returncode == SKIPPED:
        sys.exit(SKIPPED)
    if done.returncode:
        sys.exit(f"bench/{name}/run --smoke: ends with {done.returncode}, expected 0")
    sys.exit(subprocess.run([FILECHECK, folder / "smoke.txt"], input=done.stdout, text=True, check=False).returncode)


if __name__ == "__main__":
    main()
