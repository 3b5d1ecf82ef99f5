#!/usr/bin/env python3
"""extract_code.py PAGE.md LANGUAGE [FILE]: the only code block of that language in a page."""

import re
import sys


def extract(page, language):
    with open(page, encoding="utf-8") as text:
        blocks = re.findall(rf"^```{re.escape(language)}\n(.*?)^```$", text.read(), re.M | re.S)
    if len(blocks) != 1:
        sys.exit(f"extract_code.py: error: {page}: {len(blocks)} blocks of ```{language}; expected one")
    return blocks[0]


def main():
    code = extract(*sys.argv[1:3])
    if len(sys.argv) > 3:
        with open(sys.argv[3], "w", encoding="utf-8") as file:
            file.write(code)
    else:
        print(code, end="")


if __name__ == "__main__":
    main()
