#!/usr/bin/env python3
"""Prints the objects of a build tree that are compiled from the sources named, one a line.

usage: objects_of.py BUILD SOURCE ...
SOURCEs are paths in the repository; those that the tree does not compile are left out.
"""

import json
import os
import shlex
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def main():
    build, *sources = sys.argv[1:]
    wanted = {os.path.realpath(os.path.join(ROOT, source)) for source in sources}
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        for command in json.load(file):
            if os.path.realpath(os.path.join(command["directory"], command["file"])) in wanted:
                words = shlex.split(command["command"])
                print(words[words.index("-o") + 1])


if __name__ == "__main__":
    main()
