#!/usr/bin/env python3
"""check_links.py: every link of a page to a file or a heading of this repository leads somewhere, and
every path of the repository that stands as `code` in a page exists.

Links to the web are not followed: tests need no network.
"""

import os
import re
import sys
from urllib.parse import unquote

from markdown import CODE_SPAN, ROOT, anchors, lines_of, pages, read

LINK = re.compile(r"\[[^]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
DEFINITION = re.compile(r"^\s{0,3}\[[^]]+\]:\s*<?(\S+?)>?(?:\s|$)")
HTML = re.compile(r"<(?:img|a)\s[^>]*?(?:src|href)=\"([^\"]+)\"")
# A path from the root, in code. Parts in capitals, such as NAME, stand for something else.
PATH = re.compile(r"(?:tpuc|runtime|tools|docs|utils|test|unittests|bench|examples|cmake)/[\w./-]*")
PLACEHOLDER = re.compile(r"(?:^|/)[A-Z]{2,}(?:[./]|$)")
WEB = re.compile(r"^[a-z][a-z0-9+.-]*:|^//", re.I)


def links(text):
    """(line, target) of the links of a page to places that are not on the web."""
    for number, line in lines_of(text):
        bare = CODE_SPAN.sub("code", line)
        targets = LINK.findall(bare) + DEFINITION.findall(bare) + HTML.findall(bare)
        yield from ((number, target) for target in targets if not WEB.match(target))


def paths(text):
    """(line, path) of the paths that stand as code."""
    for number, line in lines_of(text):
        for span in CODE_SPAN.finditer(line):
            code = span[2].strip()
            if PATH.fullmatch(code) and not PLACEHOLDER.search(code):
                yield number, code


def broken_links(path, text, exists, page_text):
    """(line, message) of the links of the page `path` that lead nowhere. `exists` tells whether a path
    from the root is there, `page_text` gives the text of a page."""
    for number, target in links(text):
        file, _, anchor = unquote(target).partition("#")
        place = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
        if place.startswith(".."):
            yield number, f"{target}: leads out of the repository"
        elif not exists(place):
            yield number, f"{target}: there is no {place}"
        elif anchor and place.endswith(".md") and anchor not in anchors(page_text(place)):
            yield number, f"{target}: {place} has no heading of that name"
    for number, place in paths(text):
        if not exists(place):
            yield number, f"{place}: does not exist"


def main():
    bad = count = 0
    for path in pages():
        text = read(path)
        count += len(list(links(text))) + len(list(paths(text)))
        for number, what in broken_links(path, text, lambda place: os.path.exists(os.path.join(ROOT, place)), read):
            print(f"{path}:{number}: {what}")
            bad += 1
    print(f"{count} links and paths, {bad} offences")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main())
