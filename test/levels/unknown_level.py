#===- unknown_level.py - A TPUC_CPU that names no level -------------------===#
#
# Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
"""Every program that is there refuses TPUC_CPU=sse9 with one line that lists the levels.

usage: unknown_level.py BUILD
"""

import os
import subprocess
import sys

PROGRAMS = ["npz_tool", "model_tool", "model_runner", "model_transform", "run_calibration", "model_deploy", "tpuc-opt"]


def main():
    folder = os.path.join(sys.argv[1], "bin")
    wrong = tried = 0
    for name in PROGRAMS:
        program = os.path.join(folder, name)
        if not os.path.exists(program):
            continue
        tried += 1
        done = subprocess.run([program, "--help"], env=dict(os.environ, TPUC_CPU="sse9"), capture_output=True,
                              text=True)
        lines = done.stderr.splitlines()
        if (done.returncode != 1 or len(lines) != 1 or done.stdout or
                not lines[0].startswith(f"{name}: error: TPUC_CPU: unknown processor level 'sse9'; expected one of ") or
                not lines[0].endswith(", avx2, avx512, avx512_vnni, avx512_bf16")):
            print(f"{name}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
            wrong += 1
    print(f"{tried} programs, {wrong} wrong")
    sys.exit(1 if wrong or not tried else 0)


main()
