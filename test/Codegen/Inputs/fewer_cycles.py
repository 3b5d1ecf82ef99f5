"""fewer_cycles.py PROFILE...: the runs of model_tool --profile --json take fewer and fewer cycles, or as
many from the second one on, by each set of parameters."""

import json
import sys

runs = []
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)[0]
    runs.append([profile[parameters]["cycles"] for parameters in ("vendor", "conservative")])
print(runs)
for before, after in zip(runs, runs[1:]):
    assert after[0] <= before[0], "more cycles than before"
for found in runs[1:]:
    assert all(own <= first for own, first in zip(found, runs[0])), "more cycles than at first"
assert runs[1][0] < runs[0][0] and sum(runs[1]) < sum(runs[0]), "not fewer cycles"
