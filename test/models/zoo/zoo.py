"""The descriptions of the zoo's networks (networks.ini), and which half each belongs to. Needs no package.

usage: zoo.py [--held-out | --open]      prints the names, one a line
"""

import configparser
import hashlib
import pathlib
import sys
from dataclasses import dataclass

TABLE = pathlib.Path(__file__).resolve().parent / "networks.ini"
SOURCES = ("timm", "torchvision", "transformers", "own")
KINDS = ("float", "ids", "ones", "ones_float", "float_time")
KEYS = {"family", "from", "model", "config", "config_class", "inputs", "batch", "opset", "form", "keywords"}
BATCHES, OPSETS, FORMS = (1, 2, 3, 8), range(9, 18), ("folded", "raw")


class Malformed(Exception):
    """A section that does not say what the head of networks.ini asks for."""


@dataclass
class Input:
    name: str
    kind: str
    extents: list  # behind the batch


@dataclass
class Network:
    name: str
    family: str
    source: str
    model: str
    config: str
    config_class: str
    inputs: list  # none: the picture that the model wants
    batch: int
    opset: int
    form: str
    keywords: bool


def is_held_out(name):
    """Whether a network belongs to the half that no one looks at layer by layer: it only says whether what was
    done for the other half generalizes. One bit of a hash of the name, so that new networks change no old one."""
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 1


def read_inputs(name, text):
    inputs = []
    for each in filter(None, (part.strip() for part in text.split(","))):
        parts = each.split()
        if len(parts) != 3 or parts[1] not in KINDS:
            raise Malformed(f"{name}: inputs '{each}'; expected NAME KIND EXTENTS with a kind of {', '.join(KINDS)}")
        extents = [] if parts[2] == "-" else parts[2].split("x")
        if not all(extent.isdigit() and int(extent) > 0 for extent in extents):
            raise Malformed(f"{name}: extents '{parts[2]}'; expected numbers from 1 with x between them, or -")
        inputs.append(Input(parts[0], parts[1], [int(extent) for extent in extents]))
    return inputs


def read_network(name, section):
    unknown = set(section) - KEYS
    if unknown or "family" not in section or section.get("from") not in SOURCES:
        raise Malformed(f"{name}: {sorted(unknown) or dict(section)}; expected a family, a source of {SOURCES} and keys of {sorted(KEYS)}")
    batch, opset, form = int(section.get("batch", 1)), int(section.get("opset", 13)), section.get("form", "folded")
    if batch not in BATCHES or opset not in OPSETS or form not in FORMS:
        raise Malformed(f"{name}: batch {batch}, opset {opset}, form {form}; expected {BATCHES}, {OPSETS}, {FORMS}")
    inputs = read_inputs(name, section.get("inputs", ""))
    if not inputs and section["from"] != "timm":
        raise Malformed(f"{name}: no inputs; expected them where no library knows them")
    return Network(name, section["family"], section["from"], section.get("model", name), section.get("config", ""),
                   section.get("config_class", ""), inputs, batch, opset, form, section.get("keywords") == "yes")


def networks(table=TABLE):
    """All networks by their names, in the order of the table."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str
    with open(table, encoding="utf-8") as file:
        parser.read_file(file)
    return {name: read_network(name, parser[name]) for name in parser.sections()}


def main():
    halves = {"--held-out": True, "--open": False}
    if len(sys.argv) > 2 or (len(sys.argv) == 2 and sys.argv[1] not in halves):
        sys.exit(__doc__.strip())
    for name in networks():
        if len(sys.argv) < 2 or is_held_out(name) == halves[sys.argv[1]]:
            print(name)


if __name__ == "__main__":
    main()
