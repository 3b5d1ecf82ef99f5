#!/usr/bin/env python3
"""write_results.py [--check]: docs/results.md from the measured figures in bench/results/*.json.

A file holds one table: `title`, `order` (where it stands on the page), `command` (what prints the
figures), `commit` and `date` (of the measurement), `text` and `notes` (sentences before and behind
the table; optional), `columns`, `rows`. With --check nothing is written; a stale page is an error.
"""

import glob
import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join("docs", "results.md")

HEAD = """<!-- Written by ./dev docs from bench/results/*.json; do not edit. -->
# Measured figures

`./dev docs` writes this page from `bench/results/*.json`.
Each table names the command that prints its figures, and the commit at which they were measured.
Nothing is measured when the page is written.
Whoever measures anew changes the file, with its commit and date.

"""


class Malformed(Exception):
    pass


def load(path):
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    name = os.path.relpath(path, ROOT)
    for field in ("title", "order", "command", "commit", "date", "columns", "rows"):
        if field not in data:
            raise Malformed(f"{name}: no field '{field}'")
    for row in data["rows"]:
        if len(row) != len(data["columns"]):
            raise Malformed(f"{name}: row '{row[0]}' has {len(row)} cells; expected {len(data['columns'])}")
    return data


def line(cells):
    return "| " + " | ".join(cells) + " |"


def section(data):
    parts = [f"## {data['title']}\n"]
    parts += data.get("text", [])
    parts += [f"\nMeasured on {data['date']} at commit {data['commit']}; printed by\n",
              f"```\n{data['command']}\n```\n", line(data["columns"]), line("---" for _ in data["columns"])]
    parts += [line(row) for row in data["rows"]]
    if data.get("notes"):
        parts += ["", *data["notes"]]
    return "\n".join(parts) + "\n"


def main():
    files = [load(path) for path in glob.glob(os.path.join(ROOT, "bench", "results", "*.json"))]
    text = HEAD + "\n".join(section(data) for data in sorted(files, key=lambda data: (data["order"], data["title"])))
    path = os.path.join(ROOT, PAGE)
    if "--check" in sys.argv[1:]:
        with open(path, encoding="utf-8") as page:
            if page.read() == text:
                return 0
        print(f"{PAGE}: is not what bench/results/*.json says; ./dev docs writes it")
        return 1
    with open(path, "w", encoding="utf-8") as page:
        page.write(text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Malformed as error:
        sys.exit(f"write_results.py: error: {error}")
