"""Prints the cycles of the layers of a file of commands, with the layers that MODEL.json names.

usage: vendor_layers.py BENCH COMMANDS.csv MODEL
"""

import sys

sys.path.insert(0, sys.argv[1])
import timeline  # noqa: E402
import vendor_layers  # noqa: E402

commands, _ = timeline.read_commands(sys.argv[2])
for command in commands:
    command["layer"] = ""
print("named" if vendor_layers.name_commands(commands, sys.argv[3]) else "not named")
for layer, cycles in vendor_layers.cycles_of_layers(commands).items():
    print(f"{layer}: {cycles}")
