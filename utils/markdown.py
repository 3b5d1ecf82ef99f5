"""What the checks of the pages share: which pages there are, and what of a page is prose."""

import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

FENCE = re.compile(r"^\s*(```|~~~)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$")
COMMENT = re.compile(r"<!--.*?-->", re.S)
CODE_SPAN = re.compile(r"(`+)(.+?)\1", re.S)
LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")


def pages():
    """The Markdown pages of the repository, by path from its root, in order."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", "*.md"], cwd=ROOT,
                            check=True, stdout=subprocess.PIPE, text=True).stdout.split("\n")
    return sorted(path for path in listed if path and os.path.isfile(os.path.join(ROOT, path)))


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as page:
        return page.read()


def blank(match):
    """As many line ends as were there, so that line numbers stay."""
    return "\n" * match.group(0).count("\n")


def lines_of(text):
    """(number, line) of what stands outside of code blocks and comments."""
    fence = None
    for number, line in enumerate(COMMENT.sub(blank, text).splitlines(), 1):
        mark = FENCE.match(line)
        if fence:
            fence = None if mark and mark[1] == fence else fence
        elif mark:
            fence = mark[1]
        else:
            yield number, line


def paragraphs(text):
    """(number of the first line, text) of each paragraph and list item. Headings, tables, code blocks
    and lines of HTML are no prose."""
    start, parts, last = 0, [], 0
    for number, line in lines_of(text):
        stripped = line.strip()
        prose = stripped and not stripped.startswith(("|", "#", "<", ">"))
        item = LIST_ITEM.match(line)
        if parts and (not prose or item or number != last + 1):
            yield start, " ".join(parts)
            parts = []
        if prose:
            if not parts:
                start = number
            parts.append(LIST_ITEM.sub("", stripped))
        last = number
    if parts:
        yield start, " ".join(parts)


def anchors(text):
    """The names under which GitHub finds the headings of a page."""
    seen, found = {}, set()
    for _, line in lines_of(text):
        heading = HEADING.match(line)
        if not heading:
            continue
        title = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", heading[1])
        name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        count = seen.get(name, 0)
        seen[name] = count + 1
        found.add(f"{name}-{count}" if count else name)
    found.update(re.findall(r"<a\s+(?:id|name)=\"([^\"]+)\"", text))
    return found
