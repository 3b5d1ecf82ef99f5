"""Reads 5,000 handwritten digits with a network of 26 KB. Needs no network and no package.

usage: python3 examples/digits BUILD_FOLDER
"""

import pathlib
import sys

import digits

# Of the digits that are shown: enough for a terminal of 80 columns.
SHOWN = (123, 1620, 2345, 3999)


def picture(digit) -> list[str]:
    """Ten lines of text: two pixels, one above the other, are a character."""
    blocks = " ▄▀█"
    return ["".join(blocks[2 * (upper > 127) + (lower > 127)] for upper, lower in zip(*pair))
            for pair in zip(digit[::2], digit[1::2])]


def main(build) -> int:
    folder = pathlib.Path(build) / "digits"
    folder.mkdir(parents=True, exist_ok=True)
    every = digits.read_digits()
    scores, transform, run = digits.Programs(pathlib.Path(build), folder).read(every)
    for lines in zip(*(picture(every[number]) for number in SHOWN)):
        print("  ".join(lines).rstrip())
    print("".join(f"read as {digits.best(scores[number])} ({digits.confidence(scores[number]):.3f})"
                  .ljust(digits.CELL + 2) for number in SHOWN).rstrip())
    right = sum(digits.best(row) == digits.label(number) for number, row in enumerate(scores))
    print(f"\n{right} of {len(every)} handwritten digits read right ({right / len(every):.4f}), "
          f"{run['median_ms']:.0f} ms for all;\n{transform['comparison']['compared']} tensors "
          f"compared with {transform['reference']}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 examples/digits BUILD_FOLDER")
    sys.exit(main(sys.argv[1]))
